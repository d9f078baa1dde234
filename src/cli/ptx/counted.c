/* What a launch executes and what a GPU makes of it: time, power, occupancy, and what
 * sets the time; as text, and all of it as JSON: the fields of the C structs. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ptx/ptx.h"
#include "foretell/names.h"
#include "report/record.h"
#include "report/units.h"

ft__ptx_dims ft__ptx_dims_text(const uint32_t d[3])
{
    ft__ptx_dims t;

    if (d[2] > 1)
        snprintf(t.s, sizeof(t.s), "%u x %u x %u", d[0], d[1], d[2]);
    else if (d[1] > 1)
        snprintf(t.s, sizeof(t.s), "%u x %u", d[0], d[1]);
    else
        snprintf(t.s, sizeof(t.s), "%u", d[0]);
    return t;
}

/* As they are given, with the launch or for all, or as ptxas says; 0: neither. */
static uint64_t find_registers(ft__ptx_counted *v, ft__ptxas *p,
                               const ft__ptx_options *o)
{
    v->registers_from = "given";
    if (o->registers || v->launch->registers)
        return o->registers ? o->registers : v->launch->registers;
    v->ptxas = p ? ft__ptxas_ask(p, v->launch) : NULL;
    v->no_ptxas = p && !ft__ptxas_found(p);
    v->registers_from = v->ptxas ? "ptxas" : "estimated";
    return v->ptxas ? v->ptxas->registers : 0;
}

ft_status ft__ptx_estimate(ft__ptx_counted *v, ft_data *data, const ft_device *d,
                           ft__ptxas *p, const ft__ptx_options *o, ft_error *err)
{
    ft_kernel_query q = FT_KERNEL_QUERY_INIT;

    if (!d)
        return FT_OK;
    v->device = ft_device_get(d);
    q.device = v->device;
    q.launch = v->launch;
    q.counts = &v->counts;
    q.registers = find_registers(v, p, o);
    if (v->ptxas)
        q.shared_bytes = v->launch->launch.dynamic_shared + v->ptxas->shared_bytes;
    q.predictor = o->predictor;
    q.method = o->method;
    return ft_kernel_ask(&v->estimate, data, &q, err);
}

static const struct {
    const char *name;
    size_t at;
} terms[] = {
#define TERM(name)                                                                     \
    {                                                                                  \
#name, offsetof(ft_kernel_terms, name##_s)                                     \
    }
    TERM(issue),  TERM(compute), TERM(shared), TERM(cache),
    TERM(memory), TERM(latency), TERM(launch),
#undef TERM
};

static double term(const ft_kernel_terms *t, size_t i)
{
    double s;

    memcpy(&s, (const char *)t + terms[i].at, sizeof(s));
    return s;
}

static void print_occupancy(const ft__ptx_counted *v)
{
    const ft_kernel_estimate *e = &v->estimate;
    const ft_kernel_terms *t = &e->terms;

    printf("occupancy   %s of the warps an SM can hold, %.0f block%s on each; %.2f "
           "waves; %" PRIu64 " registers a thread (%s%s%s%s)\n",
           ft__text_percent(t->occupancy).s, t->resident, t->resident > 1 ? "s" : "",
           t->waves, e->registers, v->registers_from, v->ptxas ? " for " : "",
           v->ptxas ? v->ptxas->arch : "",
           v->no_ptxas ? ", for no ptxas is on PATH" : "");
}

/* sm_80 runs on 8.0 and later ones, sm_90a on 9.0 alone, sm_100f on 10.x from 10.0 on.
 */
static bool runs(const ft__ptx_counted *v)
{
    const char *target = ft_ptx_get(v->launch->module)->target,
               *digits = strchr(target, '_');
    const long has = lround(v->device->compute_capability * 10);
    char *suffix;
    long needs;

    if (!digits)
        return true;
    needs = strtol(digits + 1, &suffix, 10);
    if (*suffix == 'a')
        return has == needs;
    return has >= needs && (*suffix != 'f' || has / 10 == needs / 10);
}

static double shared_bytes(const ft__ptx_counted *v)
{
    return (double)v->launch->kernel->shared_bytes + v->launch->launch.dynamic_shared;
}

static bool has_room(const ft__ptx_counted *v)
{
    return !(shared_bytes(v) > v->device->shared_memory_per_core_bytes);
}

static void print_target(const ft__ptx_counted *v)
{
    if (!has_room(v))
        printf("a block does not run there, where an SM has %s of shared memory: "
               "predicted as if it did\n",
               ft__text_bytes(v->device->shared_memory_per_core_bytes).s);
    if (!runs(v))
        printf("this PTX is for %s and does not run there, on compute capability %.1f: "
               "predicted as if it did\n",
               ft_ptx_get(v->launch->module)->target, v->device->compute_capability);
}

json_t *ft__ptx_assumptions(const ft__ptx_counted *v)
{
    const ft_ptx_kernel *k = v->launch->kernel;
    const char *text[2];
    char sizes[240];
    uint32_t i = 0, n = 0;

    while (i < k->n_params && !k->param[i].pointer)
        i++;
    if (v->device && i < k->n_params && !v->launch->memory_bytes &&
        strcmp(v->estimate.bound, "memory") == 0) {
        snprintf(sizes, sizeof(sizes),
                 "memory moves each sector once, and addresses that depend on data, or "
                 "are of wmma, are all different; where not, give the sizes of all "
                 "buffers (--param %u=pointer:64MiB)",
                 i);
        text[n++] = sizes;
    }
    if (v->device && !v->launch->n_open &&
        v->counts.warp[FT_PTX_CONTROL].high == UINT64_MAX)
        text[n++] = "loops that depend on data go round once, also in the intervals";
    return ft__json_texts(text, n);
}

static void print_assumed(const ft__ptx_counted *v)
{
    json_t *all = ft__ptx_assumptions(v), *text;
    size_t i;

    json_array_foreach(all, i, text) printf("assumed: %s\n", json_string_value(text));
    json_decref(all);
}

void ft__ptx_estimate_print(const ft__ptx_counted *v)
{
    const ft_kernel_estimate *e = &v->estimate;
    const char *before = "";

    if (!v->device)
        return;
    printf(
        "\non %s, by %s%s: %s (%s to %s), %s (%s to %s), %s (%s to %s), bound by %s\n",
        v->device->title, *e->predictor ? "" : "its ", ft__ptx_by(e),
        ft__text_seconds(e->time.value).s, ft__text_seconds(e->time.low).s,
        ft__text_seconds(e->time.high).s, ft__text_joules(e->energy.value).s,
        ft__text_joules(e->energy.low).s, ft__text_joules(e->energy.high).s,
        ft__text_watts(e->power.value).s, ft__text_watts(e->power.low).s,
        ft__text_watts(e->power.high).s, e->bound);
    print_assumed(v);
    if (e->call_s > 0)
        printf("the host needs %s for each call (%s)\n", ft__text_seconds(e->call_s).s,
               v->launch->call);
    print_target(v);
    print_occupancy(v);
    printf("each alone  ");
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
        if (term(&e->terms, i) > 0) {
            printf("%s%s %s", before, terms[i].name,
                   ft__text_seconds(term(&e->terms, i)).s);
            before = ", ";
        }
    printf("; %.2f instructions a cycle and SM\n", e->ipc);
}

/* high is null without a bound. */
static json_t *tally_json(const ft_ptx_tally *n)
{
    return ft__json("low:u value:u high:m", n->low, n->value, n->high);
}

static void add_tally(ft_ptx_tally *sum, const ft_ptx_tally *n)
{
    bool bounded = sum->high != UINT64_MAX && n->high != UINT64_MAX;

    sum->low += n->low;
    sum->value += n->value;
    sum->high = bounded ? sum->high + n->high : UINT64_MAX;
}

static json_t *sum_json(const ft_ptx_counts *n)
{
    ft_ptx_tally warp = {0}, thread = {0}, on = {0};

    for (int i = 0; i < FT_PTX_CLASSES; i++) {
        add_tally(&warp, &n->warp[i]);
        add_tally(&thread, &n->thread[i]);
        add_tally(&on, &n->on[i]);
    }
    return ft__json("warp:o thread:o on:o", tally_json(&warp), tally_json(&thread),
                    tally_json(&on));
}

static json_t *tallies_json(const ft_ptx_counts *n)
{
    json_t *all = json_object();

    for (int i = 0; i < FT_PTX_CLASSES; i++)
        if (n->warp[i].high)
            json_object_set_new(
                all, ft_name(FT_NAMES_PTX_CLASS, (ft_ptx_class)i),
                ft__json("warp:o thread:o on:o", tally_json(&n->warp[i]),
                         tally_json(&n->thread[i]), tally_json(&n->on[i])));
    return all;
}

static json_t *both_json(const ft_ptx_tally n[2])
{
    return ft__json("loaded:o stored:o", tally_json(&n[FT_PTX_LOADED]),
                    tally_json(&n[FT_PTX_STORED]));
}

/* "4": {"loaded", "stored"}: accesses by their width in bytes. */
static json_t *widths_json(const ft_ptx_tally n[2][FT_PTX_WIDTHS])
{
    json_t *all = json_object();

    for (int w = 0; w < FT_PTX_WIDTHS; w++) {
        ft_ptx_tally both[2] = {n[0][w], n[1][w]};
        char width[8];

        snprintf(width, sizeof(width), "%d", 1 << w);
        if (both[0].high || both[1].high)
            json_object_set_new(all, width, both_json(both));
    }
    return all;
}

static json_t *spaces_json(const ft_ptx_counts *n)
{
    json_t *all = json_object();

    for (int s = 0; s < FT_PTX_SPACES; s++)
        if (n->bytes[s][0].high || n->bytes[s][1].high)
            json_object_set_new(all, ft_name(FT_NAMES_PTX_SPACE, (ft_ptx_space)s),
                                ft__json("bytes:o access:o", both_json(n->bytes[s]),
                                         widths_json(n->access[s])));
    return all;
}

static json_t *flops_json(const ft_ptx_counts *n)
{
    return ft__json("fp32:o fp64:o fp16:o tensor:o", tally_json(&n->flops[0]),
                    tally_json(&n->flops[1]), tally_json(&n->flops[2]),
                    tally_json(&n->tensor_flops));
}

static json_t *counts_json(const ft_ptx_counts *n)
{
    json_t *v = ft__json(
        "blocks:u warps:u threads:u exact:b because:o classes:o all:o spaces:o "
        "flops:o",
        n->blocks, n->warps, n->threads, n->exact,
        n->exact || !n->because ? json_null() : ft__json_text(n->because),
        tallies_json(n), sum_json(n), spaces_json(n), flops_json(n));

    return ft__json_join_take(
        v, ft__json("requests:o sectors:o shared:o wavefronts:o descriptor_bytes:o "
                    "branches:o divergent:o barriers:o",
                    both_json(n->requests), both_json(n->sectors), both_json(n->shared),
                    both_json(n->wavefronts), tally_json(&n->descriptor_bytes),
                    tally_json(&n->branches), tally_json(&n->divergent),
                    tally_json(&n->barriers)));
}

static json_t *blocks_json(const ft__ptx_counted *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->parts.n_blocks; i++) {
        const ft_ptx_block *b = &v->parts.block[i];

        ft__json_append_take(&all,
                             ft__json("line:n last_line:n source:s source_line:n "
                                      "label:s instructions:n warp:o thread:o exact:b",
                                      b->line, b->last_line, b->source, b->source_line,
                                      b->label, b->instructions, tally_json(&b->warp),
                                      tally_json(&b->thread), b->exact));
    }
    return all;
}

static json_t *accesses_json(const ft__ptx_counted *v)
{
    json_t *all = json_array();

    for (size_t i = 0; i < v->parts.n_accesses; i++) {
        const ft_ptx_access *a = &v->parts.access[i];

        ft__json_append_take(
            &all, ft__json("line:n source:s source_line:n space:s stored:b bytes:n "
                           "requests:o took:o",
                           a->line, a->source, a->source_line,
                           ft_name(FT_NAMES_PTX_SPACE, a->space), a->stored, a->bytes,
                           tally_json(&a->requests), tally_json(&a->took)));
    }
    return all;
}

static json_t *launch_json(const ft_ptx_listed *v)
{
    const ft_ptx_launch *l = &v->launch;

    if (!v->module)
        return ft__json("name:s count:u library:s operation:s", v->name, v->count,
                        v->library, v->operation);
    return ft__json("name:s count:u module:s kernel:s grid:t block:t cluster:t "
                    "dynamic_shared:n memory_bytes:m not_given:o missing:s",
                    v->name, v->count, v->path, v->kernel->name, l->grid, l->block,
                    l->cluster, l->dynamic_shared,
                    v->memory_bytes ? v->memory_bytes : UINT64_MAX,
                    ft__json_texts(v->open, v->n_open), v->missing);
}

static json_t *estimate_json(const ft__ptx_counted *v)
{
    const ft_kernel_estimate *e = &v->estimate;
    json_t *parts;

    if (!v->device)
        return json_null();
    parts = json_object();
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
        json_object_set_new(parts, terms[i].name, ft__json_real(term(&e->terms, i)));
    return ft__json("device:s by:s runs_there:b time:e(s) power:e(W) energy:e(J) "
                    "physics_s:g call_s:g ipc:g bound:s registers:u registers_from:s "
                    "ptxas:o occupancy:g resident:g waves:g terms:o",
                    v->device->name, ft__ptx_by(e), runs(v) && has_room(v), &e->time,
                    &e->power, &e->energy, e->physics_s, e->call_s, e->ipc, e->bound,
                    e->registers, v->registers_from, ft__ptxas_json(v->ptxas),
                    e->terms.occupancy, e->terms.resident, e->terms.waves, parts);
}

json_t *ft__ptx_counted_json(const ft__ptx_counted *v, bool blocks)
{
    json_t *launch = launch_json(v->launch), *all;

    if (!v->launch->module || v->launch->missing)
        return launch;
    all = ft__json("launch:o counts:o estimate:o", launch, counts_json(&v->counts),
                   estimate_json(v));
    return blocks ? ft__json_join_take(all, ft__json("blocks:o accesses:o",
                                                     blocks_json(v), accesses_json(v)))
                  : all;
}

/* All launches of a list, on all cores: each thread reads the list anew, for what
 * analyses keep belongs to a list. Counts do not depend on which launches were counted
 * before. */

enum { LAUNCHES_A_THREAD = 8 }; /* for fewer, reading the list is not worth it */

struct counting {
    const char *path;
    ft_ptx_launches *first; /* of the thread that is first to ask */
    atomic_flag taken;
    const uint64_t *times;
    size_t n;
    atomic_size_t next;
    atomic_bool failed; /* no others are begun */
    ft__ptx_launch_count *out;
};

static bool is_counted(const ft_ptx_listed *v, uint64_t times)
{
    return times && v->module && !v->missing;
}

static void count(ft__ptx_launch_count *out, ft_ptx_launches *l, size_t i)
{
    ft_error err = {0};

    out->st = ft_ptx_launches_count(&out->counts, l, i, &err);
    if (out->st)
        out->text = strdup(err.msg);
    else if (out->counts.because)
        out->counts.because = out->text = strdup(out->counts.because);
}

static void *work(void *user)
{
    struct counting *c = user;
    ft_ptx_launches *l = c->first, *own = NULL;
    const ft_ptx_listed *v;
    size_t i;

    if (atomic_flag_test_and_set(&c->taken)) {
        if (ft_ptx_launches_open(&own, c->path, NULL, NULL))
            return NULL;
        l = own;
    }
    v = ft_ptx_launches_get(l)->listed;
    while (ft_ptx_launches_get(l)->n == c->n && !atomic_load(&c->failed) &&
           (i = atomic_fetch_add(&c->next, 1)) < c->n)
        if (is_counted(&v[i], c->times[i])) {
            count(&c->out[i], l, i);
            if (c->out[i].st)
                atomic_store(&c->failed, true);
        }
    ft_ptx_launches_free(own);
    return NULL;
}

ft__ptx_launch_count *ft__ptx_count_all(ft_ptx_launches *l, const char *path,
                                        const uint64_t *times)
{
    const ft_ptx_launches_facts *f = ft_ptx_launches_get(l);
    struct counting c = {.path = path,
                         .first = l,
                         .taken = ATOMIC_FLAG_INIT,
                         .times = times,
                         .n = f->n,
                         .out = calloc(f->n + 1, sizeof(*c.out))};
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++)
        n += is_counted(&f->listed[i], times[i]);
    if (c.out)
        ft__on_cores(work, &c, n / LAUNCHES_A_THREAD);
    return c.out;
}

void ft__ptx_counts_free(ft__ptx_launch_count *of, size_t n)
{
    for (size_t i = 0; of && i < n; i++)
        free(of[i].text);
    free(of);
}
