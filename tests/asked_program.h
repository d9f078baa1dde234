#ifndef ASKED_PROGRAM_H
#define ASKED_PROGRAM_H

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

/* A program for a meter ("command:...") that prints a line whenever it is asked to, and
 * says when it has: how soon it gets to run makes no difference. */
struct asked {
    char ask[128], said[128];
    int to, from;
    int lines; /* left; then it ends */
};

/* Nothing but a hung program takes this long. */
enum { HANGS_MS = 300 * 1000 };

/* The command: `print` is shell text, done so many times. Files lie in `folder`, "pid"
 * among them. The last answer comes behind the end of all that is printed. */
static inline const char *be_asked(struct asked *a, const char *folder,
                                   const char *print, int lines)
{
    static char command[2400];

    snprintf(a->ask, sizeof(a->ask), "%s/ask", folder);
    snprintf(a->said, sizeof(a->said), "%s/said", folder);
    a->lines = lines + 1;
    CHECK(EQ(mkfifo(a->ask, 0600), 0) && EQ(mkfifo(a->said, 0600), 0));
    a->to = open(a->ask, O_RDWR | O_CLOEXEC);
    a->from = open(a->said, O_RDWR | O_CLOEXEC);
    CHECK(CMP(a->to, >=, 0) && CMP(a->from, >=, 0));
    snprintf(command, sizeof(command),
             "command:echo $$ >'%s/pid'; exec 3<'%s' 4>'%s'; n=0; "
             "while [ $n -lt %d ]; do read -r x <&3; %s; printf . >&4; n=$((n + 1)); "
             "done; read -r x <&3; exec >&-; printf . >&4",
             folder, a->ask, a->said, lines, print);
    return command;
}

/* As the tick of a stepped clock. */
static inline void ask_for_line(void *user, double now_s)
{
    struct asked *a = user;
    struct pollfd wait = {.fd = a->from, .events = POLLIN};
    char c;

    (void)now_s;
    if (!a->lines)
        return;
    a->lines--;
    CHECK_EQ(write(a->to, "\n", 1), 1);
    CHECK(EQ(poll(&wait, 1, HANGS_MS), 1) && EQ(read(a->from, &c, 1), 1));
}

static inline void ask_no_more(struct asked *a)
{
    close(a->to);
    close(a->from);
    unlink(a->ask);
    unlink(a->said);
}

#endif
