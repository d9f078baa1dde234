/* A folder of its own for what a test writes. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char scratch[64];

struct path {
    char s[512];
};

static inline struct path path_to(const char *folder, const char *name)
{
    struct path p;

    if (snprintf(p.s, sizeof(p.s), "%s/%s", folder, name) >= (int)sizeof(p.s))
        exit(1);
    return p;
}

static inline struct path in_scratch(const char *name)
{
    return path_to(scratch, name);
}

/* Others may read it: daemons of another user. */
static inline void make_scratch(void)
{
    snprintf(scratch, sizeof(scratch), "/tmp/foretell-test-XXXXXX");
    if (!mkdtemp(scratch) || chmod(scratch, 0755)) {
        perror(scratch);
        exit(1);
    }
}

static inline void remove_scratch(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", scratch);
    if (system(command))
        exit(1);
}

#endif
