/* Commands to measure: in real time, or in time of the test's own. */
#ifndef COMMAND_RIG_H
#define COMMAND_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "device/power/meter.h"
#include "measure/spawn.h"
#include "stepped_clock.h"

static char folder[] = "/tmp/foretell-command-XXXXXX";

static inline const char *in_folder(const char *name)
{
    static char path[4][64];
    static unsigned next;
    char *p = path[next++ % 4];

    snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
    return p;
}

static inline ft_command shell(const char *text)
{
    static const char *words[8][4];
    static unsigned next;
    const char **argv = words[next++ % 8];

    argv[0] = "sh";
    argv[1] = "-c";
    argv[2] = text;
    argv[3] = NULL;
    return (ft_command){.argv = argv};
}

static inline ft_command_result *measured_by(const ft__runner *runner,
                                             const ft_command *c, size_t n,
                                             const ft_command_options *o)
{
    ft_command_result *r = NULL;
    ft_error err = {0};

    CHECK_EQ(ft__runner_measure(&r, c, n, o, runner, &err), FT_OK);
    if (!r) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return r;
}

static inline ft_command_result *measured(const ft_command *c, size_t n,
                                          const ft_command_options *o)
{
    return measured_by(&ft__system_runner, c, n, o);
}

/* Commands in time of the test's own. */

struct world {
    struct stepped time;
    ft__clock clock;
    ft__runner runner;
    ft_meter *meter; /* or NULL */
    unsigned runs;
};

/* "takes SECONDS [FILE]": FILE is there as long as it takes. Between two runs lies a
 * millisecond. */
static inline ft_status take_time(void *user, ft_command_run *out, const ft__spawn *s,
                                  ft_error *err)
{
    struct world *w = user;
    double seconds = strtod(s->argv[1], NULL);
    FILE *fp = s->argv[2] ? fopen(s->argv[2], "w") : NULL;

    (void)err;
    CHECK(SAME(s->argv[0], "takes") && EQ(s->clock, &w->clock));
    if (fp)
        fclose(fp);
    w->runs++;
    *out = (ft_command_run){.start_s = w->time.now_s, .wall_s = seconds};
    if (w->meter)
        ft__meter_pass(w->meter, seconds);
    else
        ft__clock_sleep(&w->clock, seconds);
    if (fp)
        remove(s->argv[2]);
    ft__clock_sleep(&w->clock, 1e-3);
    return FT_OK;
}

static inline void make_world(struct world *w)
{
    *w = (struct world){.time = {.now_s = 0}};
    w->clock = stepped_clock(&w->time);
    w->runner = (ft__runner){take_time, w, &w->clock};
}

static inline void make_folder(void)
{
    CHECK(mkdtemp(folder) != NULL);
}

static inline void remove_folder(void)
{
    char text[96];

    snprintf(text, sizeof(text), "rm -r %s", folder);
    CHECK_EQ(system(text), 0);
}

#endif
