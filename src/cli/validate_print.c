/* What validate found: text, JSON, CSV, a page. */
#include "cli/validate.h"

#include <math.h>
#include <string.h>

#include "cli/session.h"
#include "foretell/names.h"
#include "report/units.h"

enum { SPEC_MAX = 2048 };

/* "resnet18", with the dataset where there are several. */
static void label_of(char *buf, size_t size, const ft__validations *a,
                     const ft_validated *v)
{
    if (a->datasets)
        snprintf(buf, size, "%s, %s, %s, %s", v->name, v->device, v->engine,
                 v->setting);
    else
        snprintf(buf, size, "%s", v->name);
}

/* 0: measured, 1: the sum of operations, 2: predicted. */
static const ft_figure *figure_of(const ft_validated *v, ft_quantity q, int which)
{
    return which == 0 ? &v->measured[q] : which == 1 ? &v->sum[q] : &v->predicted[q];
}

static ft__formatted quantity_text(ft_quantity q, double v)
{
    return ft__text_in(ft_name(FT_NAMES_UNIT, q), v);
}

double ft__validated_error(const ft_validated *v, ft_quantity q, ft_estimator e)
{
    const ft_figure *f = e == FT_ESTIMATOR_SUM ? &v->sum[q] : &v->predicted[q];

    return f->value / v->measured[q].value - 1;
}

static ft__formatted sigma_text(ft_quantity q, const ft_figure *f)
{
    return isnan(f->sigma) ? (ft__formatted){""} : quantity_text(q, f->sigma);
}

static bool print_quantity(const ft__validations *a, ft_quantity q)
{
    const bool sigma = q != FT_QUANTITY_MEMORY;
    char columns[160], label[FT__PATH_MAX];
    ft__table *t;

    snprintf(columns, sizeof(columns),
             "%s<|measured>|?+->|sum>|?+->|error>+%%|predicted>|?+->|error>+%%",
             ft_name(FT_NAMES_QUANTITY, q));
    t = ft__table_new(columns, sigma, sigma, sigma);
    for (size_t i = 0; i < a->n; i++) {
        const ft_validated *v = &a->v[i];

        label_of(label, sizeof(label), a, v);
        ft__table_row(t, label, quantity_text(q, v->measured[q].value).s,
                      sigma_text(q, &v->measured[q]).s,
                      quantity_text(q, v->sum[q].value).s, sigma_text(q, &v->sum[q]).s,
                      ft__validated_error(v, q, FT_ESTIMATOR_SUM),
                      quantity_text(q, v->predicted[q].value).s,
                      sigma_text(q, &v->predicted[q]).s,
                      ft__validated_error(v, q, FT_ESTIMATOR_PREDICTION));
    }
    return ft__table_print_take(t, stdout);
}

/* A reason that all networks give is given once. */
static void print_reasons(const ft__validations *a, ft_quantity q)
{
    static const char *const what[] = {"measurement", "sum", "prediction"};

    for (int w = 0; w < 3; w++) {
        const char *last = "";

        for (size_t i = 0; i < a->n; i++) {
            const ft_validated *v = &a->v[i];
            const ft_figure *f = figure_of(v, q, w);

            if (!isnan(f->value) || strcmp(last, f->why) == 0)
                continue;
            printf("no %s of %s", what[w], ft_name(FT_NAMES_QUANTITY, q));
            ft__put_line(stdout, ": ", f->why);
            last = f->why;
        }
    }
}

static bool is_known(const ft__validations *a, ft_quantity q)
{
    for (size_t i = 0; i < a->n; i++)
        if (isfinite(a->v[i].measured[q].value) || isfinite(a->v[i].sum[q].value))
            return true;
    return false;
}

static bool print_summary(const ft__validations *a)
{
    ft__table *t =
        ft__table_new("against measured<|n>u|MAPE>%|median>%|max>%|bias>+%|R2>~");
    char name[64];

    for (uint32_t q = 0; q < FT_QUANTITY_COUNT; q++)
        for (uint32_t e = 0; e < FT_ESTIMATOR_COUNT; e++) {
            const ft_errors *x = &a->errors[q][e];

            if (!x->n)
                continue;
            snprintf(name, sizeof(name), "%s, %s", ft_name(FT_NAMES_QUANTITY, q),
                     ft_name(FT_NAMES_ESTIMATOR, e));
            ft__table_row(t, name, x->n, x->mape, x->median_ape, x->max_ape, x->bias,
                          x->r2);
        }
    return ft__table_print_take(t, stdout);
}

static void print_chart(const ft__validations *a)
{
    static const char *const name[] = {"measured", "sum", "predicted"};
    char label[FT__PATH_MAX];

    for (size_t i = 0; i < a->n; i++) {
        const ft_validated *v = &a->v[i];
        const double one = v->measured[FT_QUANTITY_TIME].value;

        if (!(one > 0))
            continue;
        label_of(label, sizeof(label), a, v);
        ft__put_line(stdout, "", label);
        for (int k = 0; k < 3; k++) {
            double value = figure_of(v, FT_QUANTITY_TIME, k)->value;

            if (isfinite(value))
                ft__bar_print(stdout, name[k], value / one, ft__text_seconds(value).s);
        }
    }
    putchar('\n');
}

static bool print_kinds(const ft__validations *a)
{
    bool fitted = a->n_kinds && isfinite(a->kind[0].factor);
    ft__table *t = ft__table_new("kind<|networks>u|share of sum>%|"
                                 "?in the network/alone>.3|?adds to the difference>+%",
                                 fitted, fitted);

    for (size_t i = 0; i < a->n_kinds && i < a->top; i++) {
        const ft_kind_effect *k = &a->kind[i];
        const bool forward = k->phase == FT_PHASE_FORWARD;
        char name[64];

        snprintf(name, sizeof(name), "%s%s%s", ft_kind_name(k->kind),
                 forward ? "" : " ", forward ? "" : ft_name(FT_NAMES_PHASE, k->phase));
        ft__table_row(t, name, k->n_networks, k->share, k->factor, k->effect);
    }
    if (!ft__table_print_take(t, stdout))
        return false;
    if (!fitted)
        puts("which kinds explain the difference is computed from three networks on");
    putchar('\n');
    return true;
}

static void print_unpriced(const ft__validations *a)
{
    char spec[SPEC_MAX];

    for (size_t i = 0; i < a->n; i++) {
        const ft_validated *v = &a->v[i];

        if (!v->n_unpriced)
            continue;
        ft__put_clean(stdout, v->name);
        printf(": %zu of %u operations are not in the sum\n", v->n_unpriced, v->n_ops);
        for (size_t j = 0; j < v->n_unpriced && j < a->top; j++) {
            ft_op_print(&v->unpriced[j].op, spec, sizeof(spec));
            printf("  unpriced: %s *%llu", spec,
                   (unsigned long long)v->unpriced[j].count);
            ft__put_line(stdout, ": ", v->unpriced[j].why);
        }
        if (v->n_unpriced > a->top)
            printf("  ... and %zu more (--top)\n", v->n_unpriced - (size_t)a->top);
    }
}

static void print_title(const ft__validations *a)
{
    const ft_validated *v = &a->v[0];
    const char *const by[] = {", ", v->engine,  " ",  v->engine_version,
                              ", ", v->setting, ", ", v->device};

    printf("%zu %s, %s", a->n,
           a->datasets ? "measurements"
           : a->n == 1 ? "network"
                       : "networks",
           v->mode == FT_MODE_TRAINING ? "one training step" : "one forward pass");
    for (size_t i = 0; i < sizeof(by) / sizeof(*by) && !a->datasets; i++)
        ft__put_clean(stdout, by[i]);
    puts("\n");
}

static bool print_text(const ft__validations *a)
{
    print_title(a);
    for (int q = 0; q < FT_QUANTITY_COUNT; q++) {
        if (is_known(a, (ft_quantity)q) && !print_quantity(a, (ft_quantity)q))
            return false;
        print_reasons(a, (ft_quantity)q);
        putchar('\n');
    }
    if (!print_summary(a))
        return false;
    putchar('\n');
    print_chart(a);
    if (!print_kinds(a))
        return false;
    print_unpriced(a);
    return true;
}

static json_t *figure_json(const ft_figure *f)
{
    return ft__json("value:g sigma:g why:s", f->value, f->sigma,
                    isnan(f->value) ? f->why : NULL);
}

static json_t *quantity_json(const ft_validated *v, ft_quantity q)
{
    return ft__json(
        "unit:s measured:o sum:o predicted:o sum_error:g prediction_error:g",
        ft_name(FT_NAMES_UNIT, q), figure_json(&v->measured[q]),
        figure_json(&v->sum[q]), figure_json(&v->predicted[q]),
        ft__validated_error(v, q, FT_ESTIMATOR_SUM),
        ft__validated_error(v, q, FT_ESTIMATOR_PREDICTION));
}

static json_t *kinds_of_network(const ft_validated *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->n_kinds; i++) {
        const ft_kind_sum *k = &v->kind[i];

        ft__json_append_take(
            &all, ft__json("kind:s phase:s unique:n count:u time:g energy:g",
                           ft_kind_name(k->kind), ft_name(FT_NAMES_PHASE, k->phase),
                           k->n_unique, (uint64_t)k->count, k->time_s, k->energy_j));
    }
    return all;
}

static json_t *unpriced_json(const ft_validated *v)
{
    json_t *all = json_array();
    char spec[SPEC_MAX];

    for (size_t i = 0; i < v->n_unpriced; i++) {
        ft_op_print(&v->unpriced[i].op, spec, sizeof(spec));
        ft__json_append_take(&all, ft__json("spec:s count:u why:s", spec,
                                            v->unpriced[i].count, v->unpriced[i].why));
    }
    return all;
}

static json_t *rounds_json(const ft_validated *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->n_rounds; i++)
        ft__json_append_take(&all,
                             ft__json("begin_s:g time:g batches:u", v->round[i].begin_s,
                                      v->round[i].time_s, v->round[i].n));
    return all;
}

static json_t *network_json(const ft_validated *v)
{
    return ft__json(
        "model:s device:s setting:s engine:s engine_version:s mode:s time:o energy:o "
        "memory:o shared_sigma:g operations:n priced:n kinds:o unpriced:o rounds:o",
        v->name, v->device, v->setting, v->engine, v->engine_version,
        ft_name(FT_NAMES_MODE, v->mode), quantity_json(v, FT_QUANTITY_TIME),
        quantity_json(v, FT_QUANTITY_ENERGY), quantity_json(v, FT_QUANTITY_MEMORY),
        v->shared, v->n_ops, v->n_priced, kinds_of_network(v), unpriced_json(v),
        rounds_json(v));
}

static json_t *summary_json(const ft__validations *a)
{
    json_t *all = json_array();

    for (int q = 0; q < FT_QUANTITY_COUNT; q++)
        for (int e = 0; e < FT_ESTIMATOR_COUNT; e++)
            ft__json_append_take(&all,
                                 ft__json("quantity:s estimate:s errors:o",
                                          ft_name(FT_NAMES_QUANTITY, (ft_quantity)q),
                                          ft_name(FT_NAMES_ESTIMATOR, (ft_estimator)e),
                                          ft__json_errors(&a->errors[q][e])));
    return all;
}

static json_t *kinds_json(const ft__validations *a)
{
    json_t *all = json_array();

    for (size_t i = 0; i < a->n_kinds; i++) {
        const ft_kind_effect *k = &a->kind[i];

        ft__json_append_take(
            &all, ft__json("kind:s phase:s networks:u share:g factor:g effect:g",
                           ft_kind_name(k->kind), ft_name(FT_NAMES_PHASE, k->phase),
                           k->n_networks, k->share, k->factor, k->effect));
    }
    return all;
}

static json_t *document(const ft__validations *a)
{
    json_t *networks = json_array();

    for (size_t i = 0; i < a->n; i++)
        ft__json_append_take(&networks, network_json(&a->v[i]));
    return ft__json("networks:o summary:o kinds:o within:o", networks, summary_json(a),
                    kinds_json(a),
                    isnan(a->within) ? json_null() : json_boolean(a->holds));
}

static const char figure_fields[] =
    "model:s device:s setting:s engine:s engine_version:s mode:s quantity:s unit:s "
    "measured:g measured_sigma:g sum:g sum_sigma:g predicted:g predicted_sigma:g "
    "operations:n priced:n";

static void print_csv(const ft__validations *a)
{
    ft__csv_head(stdout, figure_fields);
    for (size_t i = 0; i < a->n; i++)
        for (int q = 0; q < FT_QUANTITY_COUNT; q++) {
            const ft_validated *v = &a->v[i];

            ft__csv_row(stdout, figure_fields, v->name, v->device, v->setting,
                        v->engine, v->engine_version, ft_name(FT_NAMES_MODE, v->mode),
                        ft_name(FT_NAMES_QUANTITY, (ft_quantity)q),
                        ft_name(FT_NAMES_UNIT, (ft_quantity)q), v->measured[q].value,
                        v->measured[q].sigma, v->sum[q].value, v->sum[q].sigma,
                        v->predicted[q].value, v->predicted[q].sigma, v->n_ops,
                        v->n_priced);
        }
}

bool ft__validations_print(const ft__cli *c, const ft__validations *a,
                           const ft__slow_ops *slow)
{
    if (!a->n && c->csv)
        ft__slow_ops_csv(slow);
    if (!a->n)
        return c->csv || (c->json ? ft__json_print_take(ft__slow_ops_json(slow), stdout)
                                  : ft__slow_ops_print(c, slow, a->top));
    if (c->json)
        return ft__json_print_take(
            slow ? ft__json_join_take(document(a), ft__slow_ops_json(slow))
                 : document(a),
            stdout);
    if (c->csv)
        print_csv(a);
    return c->csv || (print_text(a) && (!slow || ft__slow_ops_print(c, slow, a->top)));
}

/* How long must a batch be? Of interest beside any time; looked at for the page. */
static const char linearity_spec[] = "relu x=1x16 dtype=fp32";

static json_t *line_json(const ft_linearity *l)
{
    json_t *durations = json_array(), *deviations = json_array();

    for (size_t i = 0; i < l->n; i++) {
        ft__json_append_take(&durations, ft__json_real(l->duration_s[i]));
        ft__json_append_take(&deviations, ft__json_real(l->deviation[i]));
    }
    return ft__json("slope_s:g sigma:g floor_s:g n:u duration_s:o deviation:o",
                    l->slope_s, l->sigma, l->floor_s, l->n, durations, deviations);
}

static json_t *pair_json(double a, double b)
{
    json_t *pair = json_array();

    ft__json_append_take(&pair, ft__json_real(a));
    ft__json_append_take(&pair, ft__json_real(b));
    return pair;
}

/* Batches of each round, [middle since it began, time of a pass]; power, [time, W]. */
static bool set_readings(json_t *network, const ft_validated *v)
{
    json_t *rounds = json_array(), *power = json_array();

    for (size_t k = 0; k < v->n_rounds; k++) {
        const ft_round *round = &v->round[k];
        json_t *batches = json_array();

        for (size_t i = 0; i < round->n; i++) {
            const ft_reading *r = &v->reading[round->first + i];

            ft__json_append_take(&batches,
                                 pair_json(r->start_s - round->begin_s + r->value / 2,
                                           r->value / (double)r->iterations));
        }
        ft__json_append_take(&rounds, batches);
    }
    for (size_t i = 0; i < v->n_power; i++)
        if (isfinite(v->power[i].value))
            ft__json_append_take(&power,
                                 pair_json(v->power[i].start_s, v->power[i].value));
    return json_object_set_new(network, "batches", rounds) == 0 &&
           json_object_set_new(network, "power", power) == 0;
}

int ft__validations_page(ft__cli *c, const char *path, const ft__validations *a,
                         ft_session *s)
{
    json_t *page = document(a), *networks = json_object_get(page, "networks");
    ft_linearity line;
    ft_error err = {0};
    ft_op op;
    const bool drawn =
        s && !ft_op_parse(&op, linearity_spec, strlen(linearity_spec), &err) &&
        !ft_measure_linearity(&line, s, &op, &err);

    for (size_t i = 0; i < json_array_size(networks); i++)
        if (!set_readings(json_array_get(networks, i), &a->v[i])) {
            json_decref(page);
            return ft__cli_done(c, false);
        }
    page = ft__json_join_take(
        page, ft__json("line:o spec:s no_line:s",
                       drawn ? line_json(&line) : json_null(), linearity_spec,
                       s ? err.msg : "nothing was run: all figures are the store's"));
    return ft__page_save_take(c, path, FT__PAGE_VALIDATE, page);
}
