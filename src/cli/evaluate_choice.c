/* evaluate --curve --choose: what choosing the operations to measure brings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/evaluated.h"
#include "foretell/names.h"
#include "report/record.h"
#include "report/text.h"
#include "report/units.h"

/* FT_CHOICE_PERCENT as text. */
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
#define PERCENT TEXT_OF(FT_CHOICE_PERCENT)

static bool is_there(const ft_choice_curves *r, int by)
{
    return !isnan(r->area[by]);
}

static void put_row(ft__table *t, const ft_choice_curves *r, const char *name,
                    const double *v)
{
    ft__table_cell(t, "%s", name);
    for (int by = 0; by < FT_CRITERION_COUNT; by++)
        if (is_there(r, by))
            ft__table_cell(t, "%s", ft__text_percent(v[by]).s);
}

static bool print_text(const ft_choice_curves *r)
{
    char columns[64] = "operations>";
    size_t len = strlen(columns);
    ft__table *t;

    for (int by = 0; by < FT_CRITERION_COUNT; by++)
        if (is_there(r, by))
            len += (size_t)snprintf(columns + len, sizeof(columns) - len, "|%s>",
                                    ft_name(FT_NAMES_CRITERION, (ft_criterion)by));
    printf("MAPE of %zu held-out measurements, learned from some of %zu operations; "
           "means of %u seeds\n\n",
           r->n_tested, r->n_ops, r->n_seeds);
    t = ft__table_new(columns);
    for (size_t k = 0; k < r->n_points; k++) {
        char ops[32];

        snprintf(ops, sizeof(ops), "%.0f", r->point[k].ops);
        put_row(t, r, ops, r->point[k].mape);
    }
    ft__table_rule(t);
    put_row(t, r, "mean of the curve", r->area);
    put_row(t, r, "less than random", r->better);
    put_row(t, r, "error of all at", r->full_at);
    put_row(t, r, "2 % above it at", r->close_at);
    put_row(t, r, "5 % above it at", r->near_at);
    put_row(t, r, PERCENT " % of them: above it", r->excess);
    put_row(t, r, "standard error", r->excess_error);
    if (!ft__table_print_take(t, stdout))
        return false;
    puts("\nmean of the curve: over the logarithm of the operations (its area); less "
         "than random:\nshare of the seeds; error of all at: part of the operations "
         "from which on the error is\nthat of learning from all of them; " PERCENT
         " % of them: "
         "how far their error\nis above that, and the standard error of this over "
         "seeds.");
    return true;
}

static json_t *by_criterion(const ft_choice_curves *r, const double *v)
{
    json_t *all = json_object();

    for (int by = 0; by < FT_CRITERION_COUNT; by++)
        if (is_there(r, by))
            json_object_set_new(all, ft_name(FT_NAMES_CRITERION, (ft_criterion)by),
                                ft__json_real(v[by]));
    return all;
}

static bool print_json(const ft_choice_curves *r)
{
    json_t *curve = json_array();

    for (size_t k = 0; k < r->n_points; k++)
        ft__json_append_take(&curve, ft__json("operations:g mape:o", r->point[k].ops,
                                              by_criterion(r, r->point[k].mape)));
    return ft__json_print_take(
        ft__json("n_operations:u n_tested:u n_seeds:n curve:o area:o better:o "
                 "full_at:o close_at:o near_at:o excess_at_" PERCENT
                 ":o excess_error:o",
                 r->n_ops, r->n_tested, r->n_seeds, curve, by_criterion(r, r->area),
                 by_criterion(r, r->better), by_criterion(r, r->full_at),
                 by_criterion(r, r->close_at), by_criterion(r, r->near_at),
                 by_criterion(r, r->excess), by_criterion(r, r->excess_error)),
        stdout);
}

static const char row_fields[] =
    "criterion:s operations:g mape:g area:g better:g full_at:g near_at:g";

static bool print_csv(const ft_choice_curves *r)
{
    ft__csv_head(stdout, row_fields);
    for (int by = 0; by < FT_CRITERION_COUNT; by++)
        for (size_t k = 0; is_there(r, by) && k < r->n_points; k++)
            ft__csv_row(stdout, row_fields,
                        ft_name(FT_NAMES_CRITERION, (ft_criterion)by), r->point[k].ops,
                        r->point[k].mape[by], r->area[by], r->better[by],
                        r->full_at[by], r->near_at[by]);
    return true;
}

int ft__choice_evaluate(ft__cli *c, const char *path, const ft_choice_options *how)
{
    ft_store *store = NULL;
    ft_choice_curves r;
    ft_status st = ft_store_open(&store, path, FT_STORE_READ, &c->err);
    bool printed;

    if (!st)
        st = ft_choice_evaluate(&r, store, how, &c->err);
    ft_store_close(store);
    if (st)
        return st == FT_EINVAL ? ft__usage(c, "%s", c->err.msg) : ft__cli_check(c, st);
    printed = c->json ? print_json(&r) : c->csv ? print_csv(&r) : print_text(&r);
    ft_choice_curves_free(&r);
    return ft__cli_done(c, printed);
}

int ft__criteria_parse(ft__cli *c, uint32_t *out, const char *text)
{
    *out = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, ",");
        int by = ft_from_name(FT_NAMES_CRITERION, p, n);

        if (by < 0)
            return ft__usage(c, "--choose is active, spread or random, not \"%.*s\"",
                             (int)n, p);
        *out |= 1u << by;
        p += n + (p[n] == ',');
    }
    return FT__EXIT_GOOD;
}
