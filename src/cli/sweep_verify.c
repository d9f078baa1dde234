/* foretell explore verify: points of a foretold front, really measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explored.h"
#include "cli/swept.h"

enum { COMMAND_MAX = 1 << 14, POINT_TEXT = 4096 };

/* What a point took when it was measured; NaN: it could not be. */
static double measure(const char *command)
{
    FILE *fp = popen(command, "r");
    json_t *doc = fp ? json_loadf(fp, 0, NULL) : NULL;
    double time_s =
        json_number_value(json_object_get(json_object_get(doc, "time"), "value"));
    int status = fp ? pclose(fp) : -1;

    json_decref(doc);
    return status == 0 && time_s > 0 ? time_s : NAN;
}

/* The next of the front by the first objective; e->t.n: none. */
static size_t next_of(const ft__explored *e, const unsigned char *done)
{
    size_t best = e->t.n;
    double sign = e->objective[0].maximize ? -1 : 1;

    for (size_t i = 0; i < e->t.n; i++)
        if (e->front[i] && !done[i] &&
            (best == e->t.n ||
             sign * e->t.v[i].value[0] < sign * e->t.v[best].value[0]))
            best = i;
    return best;
}

static void print_point(ft__table *t, const ft__explored *e, const ft_trial *trial,
                        double foretold_s, double measured_s)
{
    char text[POINT_TEXT];

    ft__trial_text(e, trial, text, sizeof(text));
    ft__table_cell(t, "%s%s%s", e->workload[trial->workload],
                   *e->workload[trial->workload] ? " " : "", text);
    ft__table_cell(t, "%s", ft__text_seconds(foretold_s).s);
    ft__table_cell(t, "%s", ft__text_seconds(measured_s).s);
    ft__table_cell(t, "%s", ft__text_percent(measured_s / foretold_s - 1).s);
}

static int ask(ft__asker *a, double *time_s, const ft_trial *t)
{
    const char *setting;
    ft__forecast f;
    char why[256];
    int code = ft__asker_setting(a, &setting, t->workload, t->point);

    if (!code)
        code =
            ft__asker_ask(a, &f, why, sizeof(why), t->workload, t->point, &setting, 1);
    *time_s = code ? NAN : f.brief.time_s;
    return code;
}

static int verify(ft__cli *c, ft__asker *a, const ft__explored *e, unsigned char *done,
                  uint64_t most)
{
    ft__table *t = ft__table_new("front point<|time foretold>|measured>|differs by>");
    char command[COMMAND_MAX];
    uint64_t n = 0;
    size_t i;
    int code = FT__EXIT_GOOD;

    while (!code && n < most && (i = next_of(e, done)) < e->t.n) {
        const ft_trial *trial = &e->t.v[i];
        double foretold_s = NAN;

        done[i] = 1;
        if (!ft__asker_measure(a, command, sizeof(command), trial->workload,
                               trial->point))
            continue;
        code = ask(a, &foretold_s, trial);
        if (!code)
            print_point(t, e, trial, foretold_s, measure(command));
        n++;
    }
    if (code || n == 0) {
        (void)ft__table_print_take(t, NULL);
        return code ? code
                    : ft__cli_exit(c, FT__EXIT_MISSING,
                                   "no point of the front is of this machine as it was "
                                   "measured: device local, inference");
    }
    return ft__cli_done(c, ft__table_print_take(t, stdout));
}

int ft__sweep_verify(ft__cli *c, const ft__explored *e, uint64_t most)
{
    ft__asker *a = ft__asker_new(c, e->x);
    unsigned char *done = calloc(e->t.n + 1, 1);
    int code = a && done ? verify(c, a, e, done, most) : ft__cli_done(c, false);

    ft__asker_free(a);
    free(done);
    return code;
}
