/* One launch, as options describe it: as text that pastes into an issue; as JSON and
 * CSV. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ptx/ptx.h"
#include "foretell/names.h"
#include "report/record.h"
#include "report/units.h"

enum { BLOCKS = 5 };

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
    ft__table_row(t, name, tally_text(warp).s, ft__ptx_ratio(warp->value, all),
                  tally_text(thread).s, tally_text(on).s,
                  ft__ptx_ratio(on->value, warp->value));
}

static bool print_classes(const ft_ptx_counts *c)
{
    ft__table *t = ft__table_new(
        "instructions<|of warps>|share>%|of threads>|predicated on>|threads of 32>.1");
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

static void put_access(ft__table *t, const ft_ptx_counts *c, ft_ptx_space s, int stored)
{
    const bool sectors = s == FT_PTX_GLOBAL, known = sectors || s == FT_PTX_SHARED;
    const ft_ptx_tally *n = &(sectors ? c->requests : c->shared)[stored];
    const ft_ptx_tally *took = &(sectors ? c->sectors : c->wavefronts)[stored];
    char name[32], requests[32] = "-", each[64] = "-", least[32] = "-", range[40] = "";

    snprintf(name, sizeof(name), "%s %s", ft_name(FT_NAMES_PTX_SPACE, s),
             stored ? "stores" : "loads");
    if (n->low == n->high && took->low != took->high)
        snprintf(range, sizeof(range), "(%.2f to %.2f) ",
                 ft__ptx_ratio(took->low, n->value),
                 ft__ptx_ratio(took->high, n->value));
    if (known && n->value) {
        snprintf(requests, sizeof(requests), "%" PRIu64, n->value);
        snprintf(each, sizeof(each), "%.2f %s%s", ft__ptx_ratio(took->value, n->value),
                 range, sectors ? "sectors" : "cycles");
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
        printf("; %.3g FLOP a byte of global memory", ft__ptx_ratio(flops, bytes));
    puts("");
}

static void print_flow(const ft_ptx_counts *c)
{
    printf("branches    %" PRIu64 " conditional ones of warps, %s divergent",
           c->branches.value,
           ft__text_percent(ft__ptx_ratio(c->divergent.value, c->branches.value)).s);
    if (c->barriers.value)
        printf("; %" PRIu64 " barriers of blocks", c->barriers.value);
    puts("");
}

static void put_block(ft__table *t, const ft_ptx_block *b, uint64_t all)
{
    char lines[32], from[320];
    int n = snprintf(lines, sizeof(lines), "%u", b->line);

    if (b->line != b->last_line)
        snprintf(lines + n, sizeof(lines) - (size_t)n, "-%u", b->last_line);
    if (b->source)
        snprintf(from, sizeof(from), "%s:%u", ft__path_name(b->source), b->source_line);
    else
        snprintf(from, sizeof(from), "%s", b->label ? b->label : "");
    ft__table_row(t, lines, b->instructions, tally_text(&b->warp).s,
                  ft__ptx_ratio(b->thread.value, b->warp.value),
                  ft__ptx_ratio(ft__ptx_weight(b), all), from);
}

static bool print_blocks(const ft__ptx_counted *v, size_t most)
{
    ft__table *t = ft__table_new(
        "lines<|instructions>n|entered by warps>|threads of 32>.1|share>%|from<");
    const ft_ptx_block **b = calloc(most, sizeof(const ft_ptx_block *));
    size_t n = b ? ft__ptx_heaviest(b, most, v) : 0;

    for (size_t i = 0; i < n; i++)
        put_block(t, b[i], ft__ptx_sum(v->counts.warp));
    free(b);
    puts("");
    return ft__table_print_take(t, stdout) && (b || !most);
}

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

    ft__put_clean(stdout, v->launch->kernel->source_name);
    printf(" of ");
    ft__put_clean(stdout, v->launch->path);
    printf(" (%s)\n", ft_ptx_get(v->launch->module)->target);
    printf("grid %s, block %s: %s, %s, %s", ft__ptx_dims_text(l->grid).s,
           ft__ptx_dims_text(l->block).s, ft__text_counted(c->blocks, "block").s,
           ft__text_counted(c->warps, "warp").s,
           ft__text_counted(c->threads, "thread").s);
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

static bool print_text(const ft__ptx_counted *v, const ft__ptx_options *o)
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

static json_t *remarks_json(const ft__ptx_counted *v)
{
    ft__ptx_remark r[FT__PTX_REMARKS];
    size_t n = ft__ptx_remarks(r, v);
    json_t *all = json_array();

    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&all, ft__json_text(r[i].s));
    return all;
}

static const char class_fields[] = "class:s warp:u warp_low:u warp_high:m thread:u "
                                   "thread_low:u thread_high:m on:u on_low:u on_high:m";

static bool print_csv(const ft__ptx_counted *v)
{
    const ft_ptx_counts *n = &v->counts;

    ft__csv_head(stdout, class_fields);
    for (int i = 0; i < FT_PTX_CLASSES; i++)
        if (n->warp[i].high)
            ft__csv_row(stdout, class_fields,
                        ft_name(FT_NAMES_PTX_CLASS, (ft_ptx_class)i), n->warp[i].value,
                        n->warp[i].low, n->warp[i].high, n->thread[i].value,
                        n->thread[i].low, n->thread[i].high, n->on[i].value,
                        n->on[i].low, n->on[i].high);
    return true;
}

static json_t *launch_json(const ft__ptx_counted *v)
{
    json_t *said =
        ft__json("assumptions:o remarks:o", ft__ptx_assumptions(v), remarks_json(v));

    return ft__json_join_take(ft__ptx_counted_json(v, true), said);
}

/* False: out of memory. */
static bool show(const ft__cli *c, const ft__ptx_counted *v, const ft__ptx_options *o)
{
    if (!c->json)
        return !c->csv ? print_text(v, o) : v->device ? ft__ptx_csv(v) : print_csv(v);
    return ft__json_print_take(launch_json(v), stdout);
}

/* "32,8"; NULL: the complaint is printed. */
static json_t *dims_json(ft__cli *c, const char *option, const char *text, int *code)
{
    uint64_t v[3];
    size_t n;
    json_t *dims;

    if (!ft__counts_from_text(v, &n, 3, text)) {
        *code = ft__usage(
            c, "--%s wants up to three whole numbers such as 32,8, not \"%s\"", option,
            text);
        return NULL;
    }
    dims = json_array();
    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&dims, ft__json_count(v[i]));
    return dims;
}

/* "pointer:64MiB", "bytes:00ff", "0x1f", or JSON; another word is "pointer" or a
 * mistake, which the reader of launches reports. */
static json_t *value_json(const char *text)
{
    static const char pointer[] = "pointer:", bytes[] = "bytes:";
    json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
    double size;
    char *end;

    if (v)
        return v;
    if (strncmp(text, bytes, strlen(bytes)) == 0)
        return ft__json("bytes:s", text + strlen(bytes));
    if (strncmp(text, pointer, strlen(pointer)) == 0 &&
        ft__number_from_text(&size, text + strlen(pointer), FT__BYTE_UNITS) &&
        size < 1e15)
        return ft__json("pointer:u", (uint64_t)size);
    if (strncmp(text, "0x", 2) == 0) {
        errno = 0;
        uint64_t n = strtoull(text, &end, 16);

        if (!*end && !errno && n <= INT64_MAX)
            return json_integer((json_int_t)n);
    }
    return json_string(text);
}

static int params_json(ft__cli *c, json_t *line, const ft__texts *params)
{
    json_t *all = json_object();
    char name[256];

    for (size_t i = 0; i < params->n; i++) {
        const char *text = params->v[i], *is = strchr(text, '=');
        size_t n = is ? (size_t)(is - text) : 0;

        if (n == 0 || n >= sizeof(name) || !is[1]) {
            json_decref(all);
            return ft__usage(c,
                             "--param wants NAME=VALUE such as n=4096 or "
                             "x=pointer:64MiB, not \"%s\"",
                             text);
        }
        memcpy(name, text, n);
        name[n] = '\0';
        json_object_set_new(all, name, value_json(is + 1));
    }
    json_object_set_new(line, "params", all);
    return FT__EXIT_GOOD;
}

static int line_json(ft__cli *c, json_t *line, const ft__ptx_options *o)
{
    const struct {
        const char *name, *text;
    } dims[] = {{"grid", o->grid}, {"block", o->block}, {"cluster", o->cluster}};
    int code = FT__EXIT_GOOD;

    json_object_set_new(line, "module", json_string(c->args.v[0]));
    if (o->entry)
        json_object_set_new(line, "kernel", json_string(o->entry));
    for (size_t i = 0; i < 3 && code == FT__EXIT_GOOD; i++)
        if (dims[i].text)
            json_object_set_new(line, dims[i].name,
                                dims_json(c, dims[i].name, dims[i].text, &code));
    if (o->shared)
        json_object_set_new(line, "shared", ft__json_count(o->shared));
    return code == FT__EXIT_GOOD ? params_json(c, line, &o->params) : code;
}

/* A wrong launch of a kernel that the file has is a mistake on the command line. */
static bool has_kernel(const char *path, const char *entry)
{
    ft_ptx **m;
    size_t n;
    bool is = false;

    if (ft_ptx_modules_open(&m, &n, path, NULL))
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < ft_ptx_get(m[i])->n_kernels; k++)
            is = is || !entry || ft_ptx_is_called(&ft_ptx_get(m[i])->kernel[k], entry);
    ft_ptx_modules_free(m, n);
    return is;
}

static int open_one(ft__cli *c, ft_ptx_launches **out, const ft__ptx_options *o)
{
    json_t *line = json_object();
    int code = line_json(c, line, o);
    char *text = code == FT__EXIT_GOOD ? json_dumps(line, JSON_COMPACT) : NULL;
    ft_status st;

    *out = NULL;
    json_decref(line);
    if (code != FT__EXIT_GOOD)
        return code;
    if (!text)
        return ft__cli_exit(c, FT__EXIT_BUG, "out of memory");
    st = ft_ptx_launches_parse(out, text, strlen(text), NULL, NULL, &c->err);
    free(text);
    return st && has_kernel(c->args.v[0], o->entry) ? ft__usage(c, "%s", c->err.msg)
                                                    : ft__cli_check(c, st);
}

static int count_one(ft__cli *c, ft_ptx_launches *l, ft_data *data, const ft_device *d,
                     const ft__ptx_options *o)
{
    ft__ptx_counted v = {.times = 1};
    ft__ptxas *p = NULL;
    ft_status st;
    int code;

    v.launch = ft_ptx_launches_get(l)->listed;
    st = ft_ptx_launches_count(&v.counts, l, 0, &c->err);
    if (st)
        return ft__cli_check_asked(c, st);
    v.parts = ft_ptx_launches_last(l);
    code = ft__ptxas_open(c, &p, d, v.launch, 1, o);
    if (code == FT__EXIT_GOOD && (st = ft__ptx_estimate(&v, data, d, p, o, &c->err)))
        code = ft__cli_check_asked(c, st);
    if (code == FT__EXIT_GOOD)
        code = ft__cli_done(c, show(c, &v, o));
    if (code == FT__EXIT_GOOD && o->html)
        code = ft__record_save_take(c, o->html, launch_json(&v));
    ft__ptxas_free(p);
    return code;
}

int ft__ptx_launch(ft__cli *c, const ft__ptx_options *o, const ft_device *d)
{
    ft_ptx_launches *l = NULL;
    ft_data *data = NULL;
    int code = open_one(c, &l, o);

    if (code == FT__EXIT_GOOD)
        code = ft__data_open(c, &data);
    if (code == FT__EXIT_GOOD)
        code = count_one(c, l, data, d, o);
    ft_data_close(data);
    ft_ptx_launches_free(l);
    return code;
}
