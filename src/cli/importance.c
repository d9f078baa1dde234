/* What attributes are worth: of train --importance. */
#include "cli/importance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/record.h"
#include "report/text.h"

/* Lines of a regressor; what grows the error by less is noise to a reader. */
enum { MOST_LINES = 8 };
static const double least_shown = 0.001;

struct ft__importance_row {
    char kind[48], metric[16], phase[24], name[48];
    bool unseen;
    uint32_t order; /* in its regressor */
    ft_importance worth;
};

void ft__importance_take(void *user, const ft_regressor_attributes *of)
{
    ft__importance *all = user;
    struct ft__importance_row *row =
        realloc(all->row, (all->n + of->n + 1) * sizeof(*row));

    if (!row) {
        all->bad = true;
        return;
    }
    all->row = row;
    for (size_t i = 0; i < of->n; i++) {
        const ft_attribute *a = &of->attribute[i];
        struct ft__importance_row *r = &row[all->n];

        if (a->worth.increase == 0)
            continue;
        *r = (struct ft__importance_row){
            .unseen = of->unseen != 0, .order = (uint32_t)i, .worth = a->worth};
        snprintf(r->kind, sizeof(r->kind), "%s", of->kind);
        snprintf(r->metric, sizeof(r->metric), "%s", of->metric);
        snprintf(r->phase, sizeof(r->phase), "%s", of->phase);
        snprintf(r->name, sizeof(r->name), "%s", a->name);
        all->n++;
    }
}

/* "conv2d forward", "conv2d forward, other devices" */
static void put_regressor(ft__table *t, const struct ft__importance_row *r)
{
    ft__table_cell(t, "%s%s%s%s", r->kind, r->phase[0] ? " " : "", r->phase,
                   r->unseen ? ", other devices" : "");
    ft__table_cell(t, "%s", r->metric);
}

bool ft__importance_print(const ft__importance *all)
{
    ft__table *t =
        ft__table_new("regressor|metric|attribute|error grows by, points>|+->");

    for (size_t i = 0; i < all->n; i++) {
        const struct ft__importance_row *r = &all->row[i];

        if (r->order >= MOST_LINES || r->worth.increase < least_shown)
            continue;
        put_regressor(t, r);
        ft__table_cell(t, "%s", r->name);
        ft__table_cell(t, "%.1f", 100 * r->worth.increase);
        ft__table_cell(t, "%.1f", 100 * r->worth.spread);
    }
    puts(
        "\nWhat attributes are worth: points of MAPE by which operations held out are "
        "told worse when\nthe attribute is that of another operation; up to 8 of each "
        "regressor, --json has all. What\nothers repeat is worth little by itself, and "
        "what the physical estimate knows of an operation\nstays with it.\n");
    return ft__table_print_take(t, stdout) && !all->bad;
}

json_t *ft__importance_json(const ft__importance *all)
{
    json_t *list = all->bad ? NULL : json_array();

    for (size_t i = 0; i < all->n; i++) {
        const struct ft__importance_row *r = &all->row[i];

        ft__json_append_take(
            &list,
            ft__json("kind:s phase:s metric:s unseen:b attribute:s increase:g spread:g",
                     r->kind, r->phase, r->metric, r->unseen, r->name,
                     r->worth.increase, r->worth.spread));
    }
    return list;
}

void ft__importance_free(ft__importance *all)
{
    free(all->row);
    *all = (ft__importance){0};
}
