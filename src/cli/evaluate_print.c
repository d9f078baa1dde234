/* What evaluate found, and curves of --choose: text, JSON, CSV. */
#include "cli/evaluate.h"

#include <math.h>
#include <stddef.h>

#include "foretell/names.h"
#include "report/units.h"

static void put_evaluated(ft__table *t, const ft_evaluated *v)
{
    const ft_errors *e = &v->learned;

    ft__table_row(t, v->name, e->n, e->mape, e->median_ape, e->p90_ape, e->within_10,
                  e->r2, e->bias, v->constant.mape, v->base.mape, v->covered, v->width);
}

static bool print_tables(const ft_evaluation *e, uint32_t by)
{
    ft__table *t = ft__table_new("rows<|n>u|MAPE>%|median>%|p90>%|within 10 %>%|R2>~|"
                                 "bias>+%|constant>%|physics>%|covered>%|high/low>.2");

    put_evaluated(t, &e->all);
    for (int b = 0; b < FT_BY_COUNT; b++) {
        if (!(by >> b & 1))
            continue;
        ft__table_rule(t);
        for (size_t i = 0; i < e->n_by[b]; i++)
            put_evaluated(t, &e->by[b][i]);
    }
    return ft__table_print_take(t, stdout);
}

/* Coverage of fewer rows is mostly chance. */
enum { COUNTED_ROWS = 50 };

/* The group whose intervals hold least often, or NULL. */
static const ft_evaluated *least_covered(const ft_evaluation *e, ft_by by)
{
    const ft_evaluated *least = NULL;

    for (size_t i = 0; i < e->n_by[by]; i++) {
        const ft_evaluated *v = &e->by[by][i];

        if (v->learned.n >= COUNTED_ROWS && (!least || v->covered < least->covered))
            least = v;
    }
    return least;
}

static void print_least(const ft_evaluation *e)
{
    const ft_evaluated *kind = least_covered(e, FT_BY_KIND);
    const ft_evaluated *size = least_covered(e, FT_BY_SIZE);

    if (kind)
        printf("least covered kind of %d rows or more: %s, %s\n", COUNTED_ROWS,
               kind->name, ft__text_percent(kind->covered).s);
    if (size)
        printf("least covered tenth by size: %s, %s\n", size->name,
               ft__text_percent(size->covered).s);
}

static bool print_curve(const ft_evaluation *e)
{
    ft__table *t =
        ft__table_new("learned from>.0|MAPE>%|median>%|p90>%|within 10 %>%|R2>~");

    for (size_t i = 0; i < e->n_curve; i++) {
        const ft_errors *v = &e->curve[i].learned;

        ft__table_row(t, e->curve[i].rows, v->mape, v->median_ape, v->p90_ape,
                      v->within_10, v->r2);
    }
    putchar('\n');
    return ft__table_print_take(t, stdout);
}

/* Whether following the order pays, beside what always taking one would cost. */
static void print_order(const ft_rank_evaluation *r)
{
    printf("\norder of %zu choices over %zu operations that have all of them\n",
           r->n_choices, r->n_items);
    printf("predicted            right %s, regret %s (expected %s)\n",
           ft__text_percent(r->right).s, ft__text_percent(r->regret).s,
           ft__text_percent(r->expected_regret).s);
    printf("                     %s of the best two cannot be distinguished; regret of "
           "the others %s\n",
           ft__text_percent(r->level).s, ft__text_percent(r->regret_apart).s);
    printf("best constant answer right %s, regret %s: always ",
           ft__text_percent(r->constant_right).s,
           ft__text_percent(r->constant_regret).s);
    ft__put_line(stdout, "", r->constant);
    printf("worst constant       regret %s\n", ft__text_percent(r->worst_regret).s);
}

static bool print_text(const ft__cli *c, const ft_evaluation *e,
                       const ft_evaluate_options *how, uint32_t by)
{
    bool good;

    printf("%s of %s of %s, held out by %s: %s, learned from %.0f on average\n\n",
           how->metric ? how->metric : "time",
           ft__text_counted(e->n_rows, "measurement").s,
           ft__text_counted(e->n_datasets, "dataset").s,
           ft_name(FT_NAMES_PROTOCOL, how->protocol),
           ft__text_counted(e->n_splits, "time").s, e->n_learned);
    good = print_tables(e, by);
    printf(
        "\nconstant and physics: MAPE of %s; covered: inside the 90 %% interval; "
        "high/low: its median width.\n",
        how->protocol == FT_PROTOCOL_CLOCKS
            ? "the formulae alone, without\nwhat trees learn of their errors"
            : "always the same ratio to the physical estimate, and of\nthat estimate "
              "alone");
    print_least(e);
    if (e->n_unanswered)
        printf("%zu more have no answer: %s\n", e->n_unanswered, e->unanswered);
    if (how->choices != FT_CHOICES_NONE)
        print_order(&e->order);
    if (e->n_curve)
        good = print_curve(e) && good;
    if (c->verbose)
        printf("\nregressors of the last split:\n%s", e->chosen);
    return good;
}

static json_t *line_json(const ft_evaluated *v)
{
    return ft__json("name:s learned:o constant:o physics:o covered:g width:g", v->name,
                    ft__json_errors(&v->learned), ft__json_errors(&v->constant),
                    ft__json_errors(&v->base), v->covered, v->width);
}

static json_t *lines_json(const ft_evaluation *e, ft_by by)
{
    json_t *all = json_array();

    for (size_t i = 0; i < e->n_by[by]; i++)
        ft__json_append_take(&all, line_json(&e->by[by][i]));
    return all;
}

static json_t *least_json(const ft_evaluation *e, ft_by by)
{
    const ft_evaluated *v = least_covered(e, by);

    return v ? line_json(v) : json_null();
}

static json_t *curve_json(const ft_evaluation *e)
{
    json_t *all = json_array();

    for (size_t i = 0; i < e->n_curve; i++)
        ft__json_append_take(&all, ft__json("rows:g learned:o", e->curve[i].rows,
                                            ft__json_errors(&e->curve[i].learned)));
    return all;
}

static json_t *order_json(const ft_rank_evaluation *r)
{
    return ft__json(
        "n_items:u n_choices:u right:g regret:g expected_regret:g level:g "
        "regret_apart:g constant:s constant_right:g constant_regret:g worst_regret:g",
        r->n_items, r->n_choices, r->right, r->regret, r->expected_regret, r->level,
        r->regret_apart, r->constant, r->constant_right, r->constant_regret,
        r->worst_regret);
}

json_t *ft__evaluation_json(const ft_evaluation *e, const ft_evaluate_options *how)
{
    return ft__json(
        "protocol:s metric:s n_rows:u n_datasets:n n_splits:u n_learned:g "
        "n_unanswered:u unanswered:s all:o by_kind:o by_device:o by_size:o "
        "by_split:o least_covered_kind:o least_covered_size:o curve:o order:o",
        ft_name(FT_NAMES_PROTOCOL, how->protocol), how->metric ? how->metric : "time",
        e->n_rows, e->n_datasets, e->n_splits, e->n_learned, e->n_unanswered,
        e->unanswered, line_json(&e->all), lines_json(e, FT_BY_KIND),
        lines_json(e, FT_BY_DEVICE), lines_json(e, FT_BY_SIZE),
        lines_json(e, FT_BY_SPLIT), least_json(e, FT_BY_KIND),
        least_json(e, FT_BY_SIZE), curve_json(e),
        how->choices == FT_CHOICES_NONE ? json_null() : order_json(&e->order));
}

static const char group_fields[] =
    "by:s name:s n:u mape:g median_ape:g p90_ape:g within_10:g max_ape:g bias:g r2:g "
    "mae:g constant_mape:g constant_median_ape:g physics_mape:g physics_median_ape:g "
    "covered:g width:g";

static void csv_line(const char *by, const ft_evaluated *v)
{
    const ft_errors *e = &v->learned;

    ft__csv_row(stdout, group_fields, by, v->name, e->n, e->mape, e->median_ape,
                e->p90_ape, e->within_10, e->max_ape, e->bias, e->r2, e->mae,
                v->constant.mape, v->constant.median_ape, v->base.mape,
                v->base.median_ape, v->covered, v->width);
}

static bool print_csv(const ft_evaluation *e, uint32_t by)
{
    ft__csv_head(stdout, group_fields);
    csv_line("all", &e->all);
    for (int b = 0; b < FT_BY_COUNT; b++)
        for (size_t i = 0; (by >> b & 1) && i < e->n_by[b]; i++)
            csv_line(ft_name(FT_NAMES_BY, (ft_by)b), &e->by[b][i]);
    for (size_t i = 0; i < e->n_curve; i++) {
        ft_evaluated v = {.learned = e->curve[i].learned,
                          .covered = NAN,
                          .width = NAN,
                          .constant = {.mape = NAN, .median_ape = NAN},
                          .base = {.mape = NAN, .median_ape = NAN}};

        snprintf(v.name, sizeof(v.name), "%.0f", e->curve[i].rows);
        csv_line("learned_from", &v);
    }
    return true;
}

bool ft__evaluation_print(const ft__cli *c, const ft_evaluation *e,
                          const ft_evaluate_options *how, uint32_t by)
{
    if (c->json)
        return ft__json_print_take(ft__evaluation_json(e, how), stdout);
    return c->csv ? print_csv(e, by) : print_text(c, e, how, by);
}

#define QUOTED(x) #x
#define TEXT_OF(x) QUOTED(x)
#define CHOICE_PERCENT TEXT_OF(FT_CHOICE_PERCENT)

static bool has_criterion(const ft_choice_curves *r, int by)
{
    return !isnan(r->area[by]);
}

static void put_criteria(ft__table *t, const char *name, const double *v)
{
    ft__table_row(t, name, v[FT_CRITERION_ACTIVE], v[FT_CRITERION_SPREAD],
                  v[FT_CRITERION_RANDOM]);
}

static bool print_curves(const ft_choice_curves *r)
{
    static const struct {
        const char *name;
        size_t at;
    } rows[] = {
        {"mean of the curve", offsetof(ft_choice_curves, area)},
        {"less than random", offsetof(ft_choice_curves, better)},
        {"error of all at", offsetof(ft_choice_curves, full_at)},
        {"2 % above it at", offsetof(ft_choice_curves, close_at)},
        {"5 % above it at", offsetof(ft_choice_curves, near_at)},
        {CHOICE_PERCENT " % of them: above it", offsetof(ft_choice_curves, excess)},
        {"standard error", offsetof(ft_choice_curves, excess_error)},
    };
    ft__table *t = ft__table_new("operations>|?active>%|?spread>%|?random>%",
                                 has_criterion(r, FT_CRITERION_ACTIVE),
                                 has_criterion(r, FT_CRITERION_SPREAD),
                                 has_criterion(r, FT_CRITERION_RANDOM));

    printf("MAPE of %zu held-out measurements, learned from some of %zu operations; "
           "means of %u seeds\n\n",
           r->n_tested, r->n_ops, r->n_seeds);
    for (size_t k = 0; k < r->n_points; k++)
        put_criteria(t, ft__text_in("1", r->point[k].ops).s, r->point[k].mape);
    ft__table_rule(t);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        put_criteria(t, rows[i].name,
                     (const double *)(const void *)((const char *)r + rows[i].at));
    if (!ft__table_print_take(t, stdout))
        return false;
    puts(
        "\nmean of the curve: over the logarithm of the operations (its area); less "
        "than random:\nshare of the seeds; error of all at: part of the operations "
        "from which on the error is\nthat of learning from all of them; " CHOICE_PERCENT
        " % of them: how far their error\nis above that, and the standard error of "
        "this over seeds.");
    return true;
}

static json_t *by_criterion(const ft_choice_curves *r, const double *v)
{
    json_t *all = json_object();

    for (int by = 0; by < FT_CRITERION_COUNT; by++)
        if (has_criterion(r, by))
            ft__json_set_take(&all, ft_name(FT_NAMES_CRITERION, (uint32_t)by),
                              ft__json_real(v[by]));
    return all;
}

json_t *ft__choice_curves_json(const ft_choice_curves *r)
{
    json_t *curve = json_array();

    for (size_t k = 0; k < r->n_points; k++)
        ft__json_append_take(&curve, ft__json("operations:g mape:o", r->point[k].ops,
                                              by_criterion(r, r->point[k].mape)));
    return ft__json("n_operations:u n_tested:u n_seeds:n curve:o area:o better:o "
                    "full_at:o close_at:o near_at:o excess_at_" CHOICE_PERCENT
                    ":o excess_error:o",
                    r->n_ops, r->n_tested, r->n_seeds, curve, by_criterion(r, r->area),
                    by_criterion(r, r->better), by_criterion(r, r->full_at),
                    by_criterion(r, r->close_at), by_criterion(r, r->near_at),
                    by_criterion(r, r->excess), by_criterion(r, r->excess_error));
}

static const char curve_fields[] =
    "criterion:s operations:g mape:g area:g better:g full_at:g near_at:g";

static bool print_curves_csv(const ft_choice_curves *r)
{
    ft__csv_head(stdout, curve_fields);
    for (int by = 0; by < FT_CRITERION_COUNT; by++)
        for (size_t k = 0; has_criterion(r, by) && k < r->n_points; k++)
            ft__csv_row(stdout, curve_fields,
                        ft_name(FT_NAMES_CRITERION, (ft_criterion)by), r->point[k].ops,
                        r->point[k].mape[by], r->area[by], r->better[by],
                        r->full_at[by], r->near_at[by]);
    return true;
}

bool ft__choice_curves_print(const ft__cli *c, const ft_choice_curves *r)
{
    return c->json  ? ft__json_print_take(ft__choice_curves_json(r), stdout)
           : c->csv ? print_curves_csv(r)
                    : print_curves(r);
}
