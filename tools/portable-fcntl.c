/* fcntl64 for glibc older than 2.28: where off_t has 64 bits it is fcntl. Every
 * command's argument, a number or a pointer, fits one that has a pointer's size. */
#include <fcntl.h>
#include <stdarg.h>

int fcntl64(int fd, int command, ...);

int fcntl64(int fd, int command, ...)
{
    va_list ap;
    void *argument;

    va_start(ap, command);
    argument = va_arg(ap, void *);
    va_end(ap);
    return fcntl(fd, command, argument);
}
