/* evaluate --choose: what choosing the operations to measure brings. */
#include "cli/evaluate.h"

#include <math.h>
#include <stddef.h>

#include "foretell/names.h"
#include "report/units.h"

/* FT_CHOICE_PERCENT as text. */
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
#define PERCENT TEXT_OF(FT_CHOICE_PERCENT)

static bool is_there(const ft_choice_curves *r, int by)
{
    return !isnan(r->area[by]);
}

static void put_row(ft__table *t, const char *name, const double *v)
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
        {PERCENT " % of them: above it", offsetof(ft_choice_curves, excess)},
        {"standard error", offsetof(ft_choice_curves, excess_error)},
    };
    ft__table *t = ft__table_new(
        "operations>|?active>%|?spread>%|?random>%", is_there(r, FT_CRITERION_ACTIVE),
        is_there(r, FT_CRITERION_SPREAD), is_there(r, FT_CRITERION_RANDOM));

    printf("MAPE of %zu held-out measurements, learned from some of %zu operations; "
           "means of %u seeds\n\n",
           r->n_tested, r->n_ops, r->n_seeds);
    for (size_t k = 0; k < r->n_points; k++)
        put_row(t, ft__text_in("1", r->point[k].ops).s, r->point[k].mape);
    ft__table_rule(t);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        put_row(t, rows[i].name,
                (const double *)(const void *)((const char *)r + rows[i].at));
    if (!ft__table_print_take(t, stdout))
        return false;
    puts("\nmean of the curve: over the logarithm of the operations (its area); less "
         "than random:\nshare of the seeds; error of all at: part of the operations "
         "from which on the error is\nthat of learning from all of them; " PERCENT
         " % of them: how far their error\nis above that, and the standard error of "
         "this over seeds.");
    return true;
}

static json_t *by_criterion(const ft_choice_curves *r, const double *v)
{
    json_t *all = json_object();

    for (int by = 0; by < FT_CRITERION_COUNT; by++)
        if (is_there(r, by))
            ft__json_set_take(&all, ft_name(FT_NAMES_CRITERION, (uint32_t)by),
                              ft__json_real(v[by]));
    return all;
}

static json_t *curves_json(const ft_choice_curves *r)
{
    json_t *curve = json_array();

    for (size_t k = 0; k < r->n_points; k++)
        ft__json_append_take(&curve, ft__json("operations:g mape:o", r->point[k].ops,
                                              by_criterion(r, r->point[k].mape)));
    return ft__json("n_operations:u n_tested:u n_seeds:n curve:o area:o better:o "
                    "full_at:o close_at:o near_at:o excess_at_" PERCENT
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
        for (size_t k = 0; is_there(r, by) && k < r->n_points; k++)
            ft__csv_row(stdout, curve_fields,
                        ft_name(FT_NAMES_CRITERION, (ft_criterion)by), r->point[k].ops,
                        r->point[k].mape[by], r->area[by], r->better[by],
                        r->full_at[by], r->near_at[by]);
    return true;
}

int ft__choices_compare(ft__cli *c, const char *path, const ft_choice_options *how,
                        const char *html)
{
    ft_store *store = NULL;
    ft_choice_curves r;
    ft_status st = ft_store_open(&store, path, FT_STORE_READ, &c->err);
    bool printed;
    int code;

    if (!st)
        st = ft_choice_evaluate(&r, store, how, &c->err);
    ft_store_close(store);
    if (st)
        return ft__cli_check_asked(c, st);
    printed = c->json  ? ft__json_print_take(curves_json(&r), stdout)
              : c->csv ? print_curves_csv(&r)
                       : print_curves(&r);
    code = ft__cli_done(c, printed);
    if (!code && html)
        code = ft__record_save_take(c, html, curves_json(&r));
    ft_choice_curves_free(&r);
    return code;
}
