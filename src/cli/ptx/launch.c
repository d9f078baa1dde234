/* One launch as text, as it pastes into an issue. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ptx/ptx.h"
#include "foretell/names.h"
#include "report/units.h"

enum { BLOCKS = 5 };

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

/* "1024", "1024 (512 to 4096)", or "1024 (512 to unbounded)". */
struct tally_text {
    char s[80];
};

static struct tally_text tally_text(const ft_ptx_tally *n)
{
    struct tally_text t;
    size_t len = (size_t)snprintf(t.s, sizeof(t.s), "%" PRIu64, n->value);

    if (n->low == n->high)
        return t;
    len += (size_t)snprintf(t.s + len, sizeof(t.s) - len, " (%" PRIu64 " to ", n->low);
    if (n->high == UINT64_MAX)
        snprintf(t.s + len, sizeof(t.s) - len, "unbounded)");
    else
        snprintf(t.s + len, sizeof(t.s) - len, "%" PRIu64 ")", n->high);
    return t;
}

/* ---- classes ---- */

static int by_warps(const void *a, const void *b)
{
    const ft_ptx_tally *x = *(const ft_ptx_tally *const *)a,
                       *y = *(const ft_ptx_tally *const *)b;

    return x->value < y->value ? 1 : x->value > y->value ? -1 : x < y ? -1 : x > y;
}

static void add(uint64_t *to, uint64_t n)
{
    if (__builtin_add_overflow(*to, n, to))
        *to = UINT64_MAX;
}

static ft_ptx_tally total(const ft_ptx_tally *of)
{
    ft_ptx_tally sum = {0};

    for (int i = 0; i < FT_PTX_CLASSES; i++) {
        add(&sum.low, of[i].low);
        add(&sum.value, of[i].value);
        add(&sum.high, of[i].high);
    }
    return sum;
}

static void put_class(ft__table *t, const char *name, const ft_ptx_tally *warp,
                      const ft_ptx_tally *thread, const ft_ptx_tally *on, uint64_t all)
{
    ft__table_row(t, name, tally_text(warp).s, ratio(warp->value, all),
                  tally_text(thread).s, tally_text(on).s,
                  ratio(on->value, warp->value));
}

static bool print_classes(const ft_ptx_counts *c)
{
    ft__table *t =
        ft__table_new("instructions<|of warps>|share>%|of threads>|predicated on>|"
                      "threads of 32>.1");
    ft_ptx_tally warp = total(c->warp), thread = total(c->thread), on = total(c->on);
    const ft_ptx_tally *order[FT_PTX_CLASSES];

    for (int i = 0; i < FT_PTX_CLASSES; i++)
        order[i] = &c->warp[i];
    qsort(order, FT_PTX_CLASSES, sizeof(order[0]), by_warps);
    for (int i = 0; i < FT_PTX_CLASSES && order[i]->high; i++) {
        size_t k = (size_t)(order[i] - c->warp);

        put_class(t, ft_name(FT_NAMES_PTX_CLASS, (ft_ptx_class)k), &c->warp[k],
                  &c->thread[k], &c->on[k], warp.value);
    }
    ft__table_rule(t);
    put_class(t, "all", &warp, &thread, &on, warp.value);
    return ft__table_print_take(t, stdout);
}

/* ---- memory ---- */

static void put_access(ft__table *t, const ft_ptx_counts *c, ft_ptx_space s, int stored)
{
    const bool sectors = s == FT_PTX_GLOBAL, known = sectors || s == FT_PTX_SHARED;
    const uint64_t n = (sectors ? c->requests : c->shared)[stored].value;
    const uint64_t took = (sectors ? c->sectors : c->wavefronts)[stored].value;
    char name[32], requests[32] = "-", each[48] = "-", least[32] = "-";

    snprintf(name, sizeof(name), "%s %s", ft_name(FT_NAMES_PTX_SPACE, s),
             stored ? "stores" : "loads");
    if (known && n) {
        snprintf(requests, sizeof(requests), "%" PRIu64, n);
        snprintf(each, sizeof(each), "%.2f %s", ratio(took, n),
                 sectors ? "sectors" : "cycles");
        snprintf(least, sizeof(least), "%.2f", ft__ptx_ideal(c, s, stored));
    }
    ft__table_row(t, name, (double)c->bytes[s][stored].value, requests, each, least);
}

static bool print_memory(const ft_ptx_counts *c)
{
    ft__table *t = ft__table_new("memory<|bytes>B|requests>|a request>|would do>");
    bool any = false;

    for (int s = 0; s < FT_PTX_SPACES; s++)
        for (int stored = 0; stored < 2 && s != FT_PTX_PARAM; stored++)
            if (c->bytes[s][stored].high) {
                put_access(t, c, (ft_ptx_space)s, stored);
                any = true;
            }
    if (c->descriptor_bytes.high) {
        ft__table_row(t, "shared, by wgmma", (double)c->descriptor_bytes.value, "-",
                      "-", "-");
        any = true;
    }
    puts("");
    return ft__table_print_take(t, any ? stdout : NULL);
}

static void print_work(const ft_ptx_counts *c)
{
    static const char *const name[] = {"fp32", "fp64", "fp16"};
    uint64_t flops = ft__ptx_flops(c), bytes = ft__ptx_global_bytes(c);
    const char *before = "";

    printf("\nwork        ");
    for (int i = 0; i < 3; i++)
        if (c->flops[i].value) {
            printf("%s%s in %s", before, ft__text_flops((double)c->flops[i].value).s,
                   name[i]);
            before = ", ";
        }
    if (c->tensor_flops.value)
        printf("%s%s in tensor cores", before,
               ft__text_flops((double)c->tensor_flops.value).s);
    if (!flops)
        printf("no floating-point arithmetic");
    if (flops && bytes)
        printf("; %.3g FLOP a byte of global memory", ratio(flops, bytes));
    puts("");
}

static void print_flow(const ft_ptx_counts *c)
{
    printf("branches    %" PRIu64 " conditional ones of warps, %s divergent",
           c->branches.value,
           ft__text_percent(ratio(c->divergent.value, c->branches.value)).s);
    if (c->barriers.value)
        printf("; %" PRIu64 " barriers of blocks", c->barriers.value);
    puts("");
}

/* ---- blocks of instructions ---- */

size_t ft__ptx_heaviest(const ft_ptx_block **out, size_t n, const ft__ptx_counted *v)
{
    size_t found = 0;

    for (size_t i = 0; i < v->n_blocks; i++) {
        const ft_ptx_block *b = &v->block[i];
        size_t at = found;

        if (!ft__ptx_weight(b))
            continue;
        while (at > 0 && ft__ptx_weight(out[at - 1]) < ft__ptx_weight(b))
            at--;
        if (at == n)
            continue;
        if (found < n)
            found++;
        memmove(&out[at + 1], &out[at], (found - at - 1) * sizeof(*out));
        out[at] = b;
    }
    return found;
}

static void put_block(ft__table *t, const ft_ptx_block *b, uint64_t all)
{
    char lines[32], from[320];
    int n = snprintf(lines, sizeof(lines), "%u", b->line);

    if (b->line != b->last_line)
        snprintf(lines + n, sizeof(lines) - (size_t)n, "-%u", b->last_line);
    if (b->source)
        snprintf(from, sizeof(from), "%s:%u", ft__ptx_base(b->source), b->source_line);
    else
        snprintf(from, sizeof(from), "%s", b->label ? b->label : "");
    ft__table_row(t, lines, b->instructions, tally_text(&b->warp).s,
                  ratio(b->thread.value, b->warp.value), ratio(ft__ptx_weight(b), all),
                  from);
}

static bool print_blocks(const ft__ptx_counted *v, size_t most)
{
    ft__table *t =
        ft__table_new("lines<|instructions>n|entered by warps>|threads of 32>.1|"
                      "share>%|from<");
    const ft_ptx_block **b = calloc(most, sizeof(const ft_ptx_block *));
    size_t n = b ? ft__ptx_heaviest(b, most, v) : 0;

    for (size_t i = 0; i < n; i++)
        put_block(t, b[i], ft__ptx_sum(v->counts.warp));
    free(b);
    puts("");
    return ft__table_print_take(t, stdout) && (b || !most);
}

/* ---- all of it ---- */

/* A size that was left open looks like data. */
static void print_open(const ft_ptx_listed *v)
{
    for (uint32_t i = 0; i < v->n_open; i++) {
        printf("%s", i ? ", " : "not given, which may be why: ");
        ft__put_clean(stdout, v->open[i]);
    }
    puts(v->n_open ? " (--param NAME=VALUE)\n" : "");
}

static void print_head(const ft__ptx_counted *v)
{
    const ft_ptx_launch *l = &v->launch->launch;
    const ft_ptx_counts *c = &v->counts;

    ft__put_clean(stdout, v->launch->kernel->name);
    printf(" of ");
    ft__put_clean(stdout, v->launch->path);
    printf(" (%s)\n", ft_ptx_get(v->launch->module)->target);
    printf("grid %s, block %s: %" PRIu64 " block%s, %" PRIu64 " warp%s, %" PRIu64
           " thread%s",
           ft__ptx_dims_text(l->grid).s, ft__ptx_dims_text(l->block).s, c->blocks,
           plural(c->blocks), c->warps, plural(c->warps), c->threads,
           plural(c->threads));
    if (l->cluster[0])
        printf("; clusters of %s", ft__ptx_dims_text(l->cluster).s);
    printf("\nshared memory of a block: %" PRIu64 " B",
           v->launch->kernel->shared_bytes + l->dynamic_shared);
    if (l->dynamic_shared)
        printf(", %u of them dynamic", l->dynamic_shared);
    puts("");
    if (c->exact)
        puts("counts are exact\n");
    else
        printf("counts are estimates between bounds: %s\n",
               c->because ? c->because : "a branch depends on data");
    if (!c->exact)
        print_open(v->launch);
}

static void print_remarks(const ft__ptx_counted *v)
{
    ft__ptx_remark r[FT__PTX_REMARKS];
    size_t n = ft__ptx_remarks(r, v);

    for (size_t i = 0; i < n; i++)
        printf("%s- %s\n", i ? "" : "\n", r[i].s);
}

bool ft__ptx_print(const ft__ptx_counted *v, const ft__ptx_options *o)
{
    bool good;

    print_head(v);
    good = print_classes(&v->counts) && print_memory(&v->counts);
    print_work(&v->counts);
    print_flow(&v->counts);
    ft__ptx_estimate_print(v);
    good = good && print_blocks(v, o->blocks ? o->blocks : BLOCKS);
    print_remarks(v);
    return good;
}
