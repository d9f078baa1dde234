/* What evaluate found: text, JSON, CSV. */
#include "cli/evaluate.h"

#include <math.h>

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
