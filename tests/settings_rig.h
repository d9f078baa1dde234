#ifndef SETTINGS_RIG_H
#define SETTINGS_RIG_H

/* Recorded machines that may be changed, for the tests of settings. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "files.h"
#include "foretell/settings.h"
#include "scratch.h"

static const char *source_root;
static char fake_nvml[1024];

FT_PRINTF(1, 2) static struct path path(const char *fmt, ...)
{
    struct path p;
    va_list ap;

    va_start(ap, fmt);
    if (vsnprintf(p.s, sizeof(p.s), fmt, ap) >= (int)sizeof(p.s))
        exit(1);
    va_end(ap);
    return p;
}

static int shell(const char *command)
{
    int status = system(command);

    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A recorded machine that may be changed, a folder for its state beside it. */
struct rig {
    struct path original, root, state;
    ft_settings_options how;
};

static void make_rig(struct rig *r, const char *machine)
{
    static int n;

    r->original = path("%s/tests/recorded/%s", source_root, machine);
    r->root = path("%s/%s-%d", scratch, machine, n);
    r->state = path("%s/state-%d/deep", scratch, n++);
    r->how = (ft_settings_options){.root = r->root.s, .state_dir = r->state.s};
    if (shell(path("cp -r '%s' '%s'", r->original.s, r->root.s).s))
        exit(1);
}

static bool has_record(const struct rig *r, const char *name)
{
    return access(path("%s/%s", r->state.s, name).s, F_OK) == 0;
}

/* What main() was given: the source's folder. */
static void set_up(int argc, char **argv)
{
    source_root = argc > 1 ? argv[1] : ".";
    path_beside(fake_nvml, sizeof(fake_nvml), argv[0], "libfake-nvidia-ml.so");
    make_scratch();
}

#endif
