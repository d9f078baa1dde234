/* What the operating system says and does about this process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/session.h"

struct ft__pin {
    cpu_set_t before;
};

struct ft__pin *ft__pin_thread(void)
{
    struct ft__pin *p = malloc(sizeof(*p));
    cpu_set_t one;

    if (!p)
        return NULL;
    if (sched_getaffinity(0, sizeof(p->before), &p->before))
        goto fail;
    CPU_ZERO(&one);
    /* The last CPU: the first one serves most interrupts. */
    for (size_t cpu = CPU_SETSIZE; cpu-- > 0;)
        if (CPU_ISSET(cpu, &p->before)) {
            CPU_SET(cpu, &one);
            break;
        }
    if (sched_setaffinity(0, sizeof(one), &one))
        goto fail;
    return p;
fail:
    free(p);
    return NULL;
}

void ft__unpin_take(struct ft__pin *p)
{
    if (!p)
        return;
    (void)sched_setaffinity(0, sizeof(p->before), &p->before);
    free(p);
}

/* A "Name:   123 kB" line of /proc/self/status, in bytes; 0: not found. */
static uint64_t status_bytes(const char *name)
{
    FILE *fp = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long kib = 0;

    if (!fp)
        return 0;
    while (fgets(line, sizeof(line), fp))
        if (strncmp(line, name, strlen(name)) == 0)
            (void)sscanf(line + strlen(name), ": %llu", &kib);
    fclose(fp);
    return kib * 1024u;
}

uint64_t ft__resident_bytes(void)
{
    return status_bytes("VmRSS");
}

uint64_t ft__peak_resident_bytes(void)
{
    return status_bytes("VmHWM");
}

uint64_t ft__anonymous_bytes(void)
{
    return status_bytes("RssAnon");
}

bool ft__reset_peak(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY);
    bool good;

    if (fd < 0)
        return false;
    good = write(fd, "5", 1) == 1;
    close(fd);
    return good;
}

void ft__return_free_memory(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
