/* What validate found, in words, JSON and CSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/validate/validate.h"
#include "foretell/names.h"
#include "report/units.h"

enum { SPEC_MAX = 2048 };

/* ---- text ---- */

static ft__formatted sigma_text(ft_quantity q, const ft_figure *f)
{
    return isnan(f->sigma) ? (ft__formatted){""} : ft__quantity_text(q, f->sigma);
}

static bool print_quantity(const ft__validation_page *a, ft_quantity q)
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

        ft__validation_label(label, sizeof(label), a, v);
        ft__table_row(
            t, label, ft__quantity_text(q, v->measured[q].value).s,
            sigma_text(q, &v->measured[q]).s, ft__quantity_text(q, v->sum[q].value).s,
            sigma_text(q, &v->sum[q]).s, ft__validation_error(v, q, FT_ESTIMATOR_SUM),
            ft__quantity_text(q, v->predicted[q].value).s,
            sigma_text(q, &v->predicted[q]).s,
            ft__validation_error(v, q, FT_ESTIMATOR_PREDICTION));
    }
    return ft__table_print_take(t, stdout);
}

/* A reason that all networks give is given once. */
static void print_reasons(const ft__validation_page *a, ft_quantity q)
{
    static const char *const what[] = {"measurement", "sum", "prediction"};

    for (int w = 0; w < 3; w++) {
        const char *last = "";

        for (size_t i = 0; i < a->n; i++) {
            const ft_validated *v = &a->v[i];
            const ft_figure *f = ft__validation_figure(v, q, w);

            if (!isnan(f->value) || strcmp(last, f->why) == 0)
                continue;
            printf("no %s of %s", what[w], ft_name(FT_NAMES_QUANTITY, q));
            ft__put_line(stdout, ": ", f->why);
            last = f->why;
        }
    }
}

/* Is any of it known? */
static bool is_known(const ft__validation_page *a, ft_quantity q)
{
    for (size_t i = 0; i < a->n; i++)
        if (isfinite(a->v[i].measured[q].value) || isfinite(a->v[i].sum[q].value))
            return true;
    return false;
}

static bool print_summary(const ft__validation_page *a)
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

static void print_chart(const ft__validation_page *a)
{
    static const char *const name[] = {"measured", "sum", "predicted"};
    char label[FT__PATH_MAX];

    for (size_t i = 0; i < a->n; i++) {
        const ft_validated *v = &a->v[i];
        const double one = v->measured[FT_QUANTITY_TIME].value;

        if (!(one > 0))
            continue;
        ft__validation_label(label, sizeof(label), a, v);
        ft__put_line(stdout, "", label);
        for (int k = 0; k < 3; k++) {
            double value = ft__validation_figure(v, FT_QUANTITY_TIME, k)->value;

            if (isfinite(value))
                ft__bar_print(stdout, name[k], value / one, ft__text_seconds(value).s);
        }
    }
    putchar('\n');
}

static bool print_kinds(const ft__validation_page *a)
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
                 forward ? "" : " ", forward ? "" : ft_phase_name(k->phase));
        ft__table_row(t, name, k->n_networks, k->share, k->factor, k->effect);
    }
    if (!ft__table_print_take(t, stdout))
        return false;
    if (!fitted)
        puts("which kinds explain the difference is computed from three networks on");
    putchar('\n');
    return true;
}

static void print_unpriced(const ft__validation_page *a)
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

static void print_title(const ft__validation_page *a)
{
    const ft_validated *v = &a->v[0];

    printf("%zu %s, %s", a->n,
           a->datasets ? "measurements"
           : a->n == 1 ? "network"
                       : "networks",
           v->mode == FT_MODE_TRAINING ? "one training step" : "one forward pass");
    if (!a->datasets)
        printf(", %s %s, %s, %s", v->engine, v->engine_version, v->setting, v->device);
    puts("\n");
}

static bool print_text(const ft__validation_page *a)
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

/* ---- JSON and CSV ---- */

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
        ft__validation_error(v, q, FT_ESTIMATOR_SUM),
        ft__validation_error(v, q, FT_ESTIMATOR_PREDICTION));
}

static json_t *kinds_of_network(const ft_validated *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->n_kinds; i++) {
        const ft_kind_sum *k = &v->kind[i];

        ft__json_append_take(
            &all, ft__json("kind:s phase:s unique:n count:u time:g energy:g",
                           ft_kind_name(k->kind), ft_phase_name(k->phase), k->n_unique,
                           (uint64_t)k->count, k->time_s, k->energy_j));
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
        v->mode == FT_MODE_TRAINING ? "training" : "inference",
        quantity_json(v, FT_QUANTITY_TIME), quantity_json(v, FT_QUANTITY_ENERGY),
        quantity_json(v, FT_QUANTITY_MEMORY), v->shared, v->n_ops, v->n_priced,
        kinds_of_network(v), unpriced_json(v), rounds_json(v));
}

static json_t *summary_json(const ft__validation_page *a)
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

static json_t *kinds_json(const ft__validation_page *a)
{
    json_t *all = json_array();

    for (size_t i = 0; i < a->n_kinds; i++) {
        const ft_kind_effect *k = &a->kind[i];

        ft__json_append_take(
            &all, ft__json("kind:s phase:s networks:u share:g factor:g effect:g",
                           ft_kind_name(k->kind), ft_phase_name(k->phase),
                           k->n_networks, k->share, k->factor, k->effect));
    }
    return all;
}

static json_t *document(const ft__validation_page *a)
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

static void print_csv(const ft__validation_page *a)
{
    ft__csv_head(stdout, figure_fields);
    for (size_t i = 0; i < a->n; i++)
        for (int q = 0; q < FT_QUANTITY_COUNT; q++) {
            const ft_validated *v = &a->v[i];

            ft__csv_row(stdout, figure_fields, v->name, v->device, v->setting,
                        v->engine, v->engine_version,
                        v->mode == FT_MODE_TRAINING ? "training" : "inference",
                        ft_name(FT_NAMES_QUANTITY, (ft_quantity)q),
                        ft_name(FT_NAMES_UNIT, (ft_quantity)q), v->measured[q].value,
                        v->measured[q].sigma, v->sum[q].value, v->sum[q].sigma,
                        v->predicted[q].value, v->predicted[q].sigma, v->n_ops,
                        v->n_priced);
        }
}

/* ---- slow operations ---- */

static bool slow_table(const ft__slow *s, uint64_t top)
{
    ft__table *t = ft__table_new("slow operation|times slower>.1|time>s|alone>.2|on");

    for (size_t i = 0; i < s->n && i < top; i++) {
        const ft_slow_op *op = &s->op[i];
        char spec[SPEC_MAX], on[FT__PATH_MAX];

        ft_op_print(&op->op, spec, sizeof(spec));
        snprintf(on, sizeof(on), "%s %s %s", op->device, op->setting, op->engine);
        ft__table_row(t, spec, op->slower, op->time_s, op->isolation, on);
    }
    return ft__table_print_take(t, stdout);
}

static bool slow_print(const ft__slow *s, uint64_t top)
{
    if (s->n_datasets == 0) {
        puts("Too few operations are measured to say which are slow: 20 of one "
             "device, "
             "setting and\nengine are needed.");
        return true;
    }
    if (s->n == 0) {
        puts("No operation is slower than chance and others like it allow.");
        return true;
    }
    if (!slow_table(s, top))
        return false;
    if (s->n > top)
        printf("and %zu more\n", s->n - (size_t)top);
    puts(
        "Slower than operations like it, by their sizes, in the same dataset: tune it, "
        "or measure it\nagain. alone: from 0.6 on there are few like it, and the "
        "factor "
        "says less.");
    return true;
}

static json_t *slow_json(const ft__slow *s)
{
    json_t *all = json_array();

    for (size_t i = 0; i < s->n; i++) {
        const ft_slow_op *op = &s->op[i];
        char spec[SPEC_MAX];

        ft_op_print(&op->op, spec, sizeof(spec));
        ft__json_append_take(
            &all,
            ft__json("spec:s device:s setting:s engine:s time:g slower:g isolation:g",
                     spec, op->device, op->setting, op->engine, op->time_s, op->slower,
                     op->isolation));
    }
    return ft__json("slow:o", all);
}

/* ---- all of it ---- */

bool ft__validation_print(const ft__cli *c, const ft__validation_page *a,
                          const ft__slow *slow)
{
    if (c->json)
        return ft__json_print_take(
            slow ? ft__json_join_take(document(a), slow_json(slow)) : document(a),
            stdout);
    if (c->csv)
        print_csv(a);
    return c->csv || (print_text(a) && (!slow || slow_print(slow, a->top)));
}
