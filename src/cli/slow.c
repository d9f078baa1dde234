/* Operations that take longer than others like them: found and printed. */
#include "cli/slow.h"

#include <stdlib.h>
#include <string.h>

#include "report/units.h"

enum { SPEC_MAX = 1024 };

static void add(char *where, size_t size, const char *name, const char *value)
{
    const size_t len = strlen(where);

    if (value && *value)
        snprintf(where + len, size - len, "%s%s%s", len ? " " : "", name, value);
}

int ft__slow_find(ft__cli *c, ft__slow *out, ft_store *store, const char *device,
                  const char *setting, const char *engine)
{
    char where[FT__PATH_MAX] = "", data[FT__PATH_MAX];
    ft_status st;

    add(where, sizeof(where), "device=", device);
    add(where, sizeof(where), "engine=", engine);
    add(where, sizeof(where), "", setting);
    ft__path_data(c, data);
    st = ft_slow_ops_find(&out->op, &out->n, &out->n_datasets, store, where, data, 0,
                          &c->err);
    return ft__cli_check(c, st);
}

static bool print_table(const ft__slow *s, uint64_t top)
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

bool ft__slow_print(const ft__slow *s, uint64_t top)
{
    if (s->n_datasets == 0) {
        puts("Too few operations are measured to tell which are slow: 20 of one "
             "device, "
             "setting and\nengine are needed.");
        return true;
    }
    if (s->n == 0) {
        puts("No operation is slower than chance and others like it allow.");
        return true;
    }
    if (!print_table(s, top))
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

json_t *ft__slow_json(const ft__slow *s)
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

void ft__slow_free(ft__slow *s)
{
    free(s->op);
    *s = (ft__slow){0};
}
