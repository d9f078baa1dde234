/* Many launches: a table of those that differ, totals, library calls by name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ptx.h"
#include "foretell/op.h"
#include "report/units.h"

struct list {
    ft__cli *c;
    ft_ptx_launches *l;
    const ft_ptx_listed *v;
    size_t n;
    uint64_t *times;           /* of each that is no repeat; 0: it is one */
    ft__table *table;          /* text */
    json_t *json;              /* --json */
    uint64_t launches, unique; /* counted */
    uint64_t calls;            /* of libraries */
    uint64_t missing;
    double warps, bytes, flops, tensor_flops; /* of all that were counted */
    bool exact;
};

/* ---- launches ---- */

static bool add_times(struct list *s)
{
    s->times = calloc(s->n + 1, sizeof(*s->times));
    for (size_t i = 0; s->times && i < s->n; i++)
        s->times[s->v[i].same] += s->v[i].count;
    return s->times != NULL;
}

static void put_launch(struct list *s, const ft__ptx_counted *v)
{
    const ft_ptx_counts *n = &v->counts;
    double requests = (double)(n->requests[0].value + n->requests[1].value);
    double sectors = (double)(n->sectors[0].value + n->sectors[1].value);

    ft__table_cell(s->table, "%s", v->launch->kernel->name);
    ft__table_cell(s->table, "%" PRIu64, v->times);
    ft__table_cell(s->table, "%s", ft__ptx_dims_text(v->launch->launch.grid).s);
    ft__table_cell(s->table, "%s", ft__ptx_dims_text(v->launch->launch.block).s);
    ft__table_cell(s->table, "%" PRIu64 "%s", ft__ptx_sum(n->warp),
                   n->exact ? "" : " *");
    ft__table_cell(s->table, "%s", ft__text_flops((double)ft__ptx_flops(n)).s);
    ft__table_cell(s->table, "%s", ft__text_bytes((double)ft__ptx_global_bytes(n)).s);
    if (requests > 0)
        ft__table_cell(s->table, "%.2f", sectors / requests);
    else
        ft__table_cell(s->table, "-");
}

static void csv_launch(const ft__ptx_counted *v)
{
    const ft_ptx_launch *l = &v->launch->launch;
    const ft_ptx_counts *n = &v->counts;

    ft__csv_row(stdout, "ssuuuuuuuuuuuuuuu", v->launch->path, v->launch->kernel->name,
                v->times, (uint64_t)l->grid[0], (uint64_t)l->grid[1],
                (uint64_t)l->grid[2], (uint64_t)l->block[0], (uint64_t)l->block[1],
                (uint64_t)l->block[2], ft__ptx_sum(n->warp), ft__ptx_sum(n->thread),
                ft__ptx_sum(n->on), ft__ptx_flops(n) - n->tensor_flops.value,
                n->tensor_flops.value, ft__ptx_global_bytes(n),
                n->sectors[0].value + n->sectors[1].value, (uint64_t)(n->exact != 0));
}

static void add_up(struct list *s, const ft__ptx_counted *v)
{
    double times = (double)v->times;

    s->unique++;
    s->launches += v->times;
    s->warps += times * (double)ft__ptx_sum(v->counts.warp);
    s->bytes += times * (double)ft__ptx_global_bytes(&v->counts);
    s->flops += times * (double)ft__ptx_flops(&v->counts);
    s->tensor_flops += times * (double)v->counts.tensor_flops.value;
    s->exact = s->exact && v->counts.exact;
}

static ft_status count_launch(struct list *s, size_t i, ft_error *err)
{
    ft__ptx_counted v = {.launch = &s->v[i], .times = s->times[i]};
    ft_error inner = {0};
    ft_status st = ft_ptx_launches_count(&v.counts, s->l, i, &inner);

    if (st)
        return ft_fail(err, st == FT_EINVAL ? FT_EFORMAT : st, 0, "%s: %s",
                       v.launch->name ? v.launch->name : v.launch->kernel->name,
                       inner.msg);
    add_up(s, &v);
    if (s->c->json) {
        json_t *one = ft__ptx_counted_json(&v, false);

        json_object_set_new(one, "times", ft__json_count(v.times));
        ft__json_append_take(&s->json, one);
    } else if (s->c->csv) {
        csv_launch(&v);
    } else {
        put_launch(s, &v);
    }
    return FT_OK;
}

static void leave_out(struct list *s, size_t i)
{
    s->missing += s->times[i];
    if (s->c->json)
        ft__json_append_take(&s->json, ft__ptx_launch_json(&s->v[i]));
}

static ft_status count_all(struct list *s, ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < s->n && !st; i++) {
        if (!s->times[i])
            continue;
        if (s->v[i].missing)
            leave_out(s, i);
        else if (s->v[i].module)
            st = count_launch(s, i, err);
    }
    return st;
}

/* ---- libraries ---- */

/* FLOPs of the operation; NaN: it is not known. */
static double operation_flops(const char *spec)
{
    ft_cost cost;
    ft_op op;

    if (!spec || ft_op_parse(&op, spec, strlen(spec), NULL))
        return __builtin_nan("");
    ft_op_cost(&op, &cost);
    return cost.flops;
}

static bool print_libraries(struct list *s)
{
    ft__table *t =
        ft__table_new("library call, not in PTX<|times>|FLOP>|as operation<");

    for (size_t i = 0; i < s->n; i++) {
        if (!s->times[i] || s->v[i].module)
            continue;
        s->calls += s->times[i];
        ft__table_cell(t, "%s", s->v[i].library);
        ft__table_cell(t, "%" PRIu64, s->times[i]);
        ft__table_cell(t, "%s", ft__text_flops(operation_flops(s->v[i].operation)).s);
        ft__table_cell(t, "%s", s->v[i].operation ? s->v[i].operation : "-");
    }
    if (s->calls)
        puts("");
    return ft__table_print_take(t, s->calls ? stdout : NULL);
}

static void print_missing(const struct list *s)
{
    int shown = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (!s->times[i] || !s->v[i].missing)
            continue;
        if (shown++ == 0)
            puts("\nnot counted, for what is missing:");
        printf("  ");
        ft__put_clean(stdout, s->v[i].kernel->name);
        printf(": %s\n", s->v[i].missing);
    }
}

/* ---- all of it ---- */

static bool print_text(struct list *s)
{
    bool good;

    if (s->unique) {
        puts("");
        ft__table_rule(s->table);
        ft__table_cell(s->table, "%" PRIu64 " different", s->unique);
        ft__table_cell(s->table, "%" PRIu64, s->launches);
        ft__table_cell(s->table, " ");
        ft__table_cell(s->table, " ");
        ft__table_cell(s->table, "%.0f", s->warps);
        ft__table_cell(s->table, "%s", ft__text_flops(s->flops).s);
        ft__table_cell(s->table, "%s", ft__text_bytes(s->bytes).s);
        ft__table_cell(s->table, " ");
    }
    good = ft__table_print_take(s->table, s->unique ? stdout : NULL);
    s->table = NULL;
    if (s->unique && s->exact)
        puts("\ncounts are exact");
    else if (s->unique)
        puts("\n* an estimate between bounds; --json has them");
    if (s->tensor_flops > 0)
        printf("%s of the FLOPs are the tensor cores'\n",
               ft__text_percent(s->tensor_flops / s->flops).s);
    good = print_libraries(s) && good;
    print_missing(s);
    return good;
}

static bool print_json(struct list *s)
{
    json_t *calls = json_array(), *all;

    for (size_t i = 0; i < s->n; i++)
        if (s->times[i] && !s->v[i].module) {
            json_t *one = ft__ptx_launch_json(&s->v[i]);

            json_object_set_new(one, "times", ft__json_count(s->times[i]));
            json_object_set_new(one, "flops",
                                ft__json_real(operation_flops(s->v[i].operation)));
            ft__json_append_take(&calls, one);
        }
    all = json_pack("{s:s, s:o, s:o, s:{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}}",
                    "source", ft_ptx_source_name(ft_ptx_launches_source(s->l)),
                    "launches", s->json, "libraries", calls, "totals", "launches",
                    ft__json_count(s->launches), "different", ft__json_count(s->unique),
                    "not_counted", ft__json_count(s->missing), "warp",
                    ft__json_real(s->warps), "flops", ft__json_real(s->flops),
                    "tensor_flops", ft__json_real(s->tensor_flops), "global_bytes",
                    ft__json_real(s->bytes), "exact", s->exact);
    s->json = NULL;
    return ft__json_print_take(all, stdout);
}

static int print_all(struct list *s)
{
    ft_error err = {0};
    ft_status st;

    if (s->c->csv)
        puts("module,kernel,times,grid_x,grid_y,grid_z,block_x,block_y,block_z,warp,"
             "thread,on,flops,tensor_flops,global_bytes,sectors,exact");
    st = count_all(s, &err);
    if (st)
        return ft__cli_fail(s->c, st, &err);
    return ft__cli_done(s->c, s->c->json  ? print_json(s)
                              : s->c->csv ? true
                                          : print_text(s));
}

static void print_head(const struct list *s, const char *path)
{
    uint64_t all = 0;

    for (size_t i = 0; i < s->n; i++)
        all += s->v[i].count;
    ft__put_clean(stdout, path);
    printf(": %s, %" PRIu64 " launch%s\n",
           ft_ptx_source_name(ft_ptx_launches_source(s->l)), all, all == 1 ? "" : "es");
}

int ft__ptx_list(ft__cli *c, const ft__ptx_options *o)
{
    struct list s = {.c = c, .exact = true};
    ft_error err = {0};
    ft_status st = ft_ptx_launches_open(&s.l, o->launches, &c->log, &err);
    int code;

    if (st)
        return ft__cli_fail(c, st, &err);
    s.n = ft_ptx_launches_list(s.l, &s.v);
    if (!add_times(&s)) {
        ft_ptx_launches_free(s.l);
        return ft__cli_exit(c, FT__EXIT_BUG, "out of memory");
    }
    if (c->json)
        s.json = json_array();
    else if (!c->csv) {
        print_head(&s, o->launches);
        s.table =
            ft__table_new("kernel<|times>|grid>|block>|warps' instructions>|FLOP>|"
                          "global memory>|sectors a request>");
    }
    code = print_all(&s);
    json_decref(s.json);
    ft__table_print_take(s.table, NULL);
    free(s.times);
    ft_ptx_launches_free(s.l);
    return code;
}
