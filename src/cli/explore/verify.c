/* foretell explore verify: points of a predicted front, measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explore/explore.h"

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

static void print_point(ft__table *t, const ft__explored *e, const ft_trial *trial,
                        double predicted_s, double measured_s)
{
    const char *workload = e->workload[trial->workload];
    char text[POINT_TEXT], name[POINT_TEXT + 256];

    ft__trial_text(e, trial, text, sizeof(text));
    snprintf(name, sizeof(name), "%.200s%s%s", workload, *workload ? " " : "", text);
    ft__table_row(t, name, predicted_s, measured_s, measured_s / predicted_s - 1);
}

static int ask(ft__point_queries *a, double *time_s, const ft_trial *t)
{
    const char *setting;
    ft__point_prediction f;
    char why[256];
    int code = ft__point_queries_setting(a, &setting, t->workload, t->point);

    if (!code)
        code = ft__point_queries_ask(a, &f, why, sizeof(why), t->workload, t->point,
                                     &setting, 1);
    *time_s = code ? NAN : f.brief.time_s;
    return code;
}

/* Those of the front that can be measured here. */
static void choose(unsigned char *may, ft__point_queries *a, const ft__explored *e)
{
    char command[COMMAND_MAX];

    for (size_t i = 0; i < e->t.n; i++) {
        const ft_trial *t = &e->t.v[i];

        may[i] = e->front[i] && ft__point_queries_measure(a, command, sizeof(command),
                                                          t->workload, t->point);
    }
}

static int verify(ft__point_queries *a, ft__table *t, const ft__explored *e,
                  const size_t *at, size_t n)
{
    char command[COMMAND_MAX];
    int code = FT__EXIT_GOOD;

    for (size_t k = 0; k < n && !code; k++) {
        const ft_trial *trial = &e->t.v[at[k]];
        double predicted_s = NAN;

        (void)ft__point_queries_measure(a, command, sizeof(command), trial->workload,
                                        trial->point);
        code = ask(a, &predicted_s, trial);
        if (!code)
            print_point(t, e, trial, predicted_s, measure(command));
    }
    return code;
}

static int verify_some(ft__cli *c, ft__point_queries *a, const ft__explored *e,
                       unsigned char *may, size_t *at, uint64_t most)
{
    ft__table *t;
    size_t n;
    int code;

    choose(may, a, e);
    n = ft__explored_spread(at, e, may, most < e->t.n ? (size_t)most : e->t.n);
    if (n == 0)
        return ft__cli_exit(c, FT__EXIT_MISSING,
                            "no point of the front is of this machine as it was "
                            "measured: device local, inference");
    t = ft__table_new("front point<|time predicted>s|measured>s|differs by>%");
    code = verify(a, t, e, at, n);
    if (code)
        (void)ft__table_print_take(t, NULL);
    return code ? code : ft__cli_done(c, ft__table_print_take(t, stdout));
}

int ft__design_verify(ft__cli *c, const ft__explored *e, uint64_t most)
{
    ft__point_queries *a = ft__point_queries_new(c, e->x);
    unsigned char *may = calloc(e->t.n + 1, 1);
    size_t *at = calloc(e->t.n + 1, sizeof(*at));
    int code =
        a && may && at ? verify_some(c, a, e, may, at, most) : ft__cli_done(c, false);

    ft__point_queries_free(a);
    free(may);
    free(at);
    return code;
}
