/* What steps cost on a device: every operation of the plan asked for at once, summed
 * into tables, and interpolated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph_inside.h"
#include "physics/power.h"
#include "query/answer.h"
#include "query/data.h"
#include "serve/serve.h"

static const double TILE = 128, FEW_ROWS = 384;

/* The grid interval of x: between points i and i + 1, at `part`; beyond the ends it
 * extrapolates from the last two. */
struct place {
    size_t i, next;
    double part;
};

static struct place place_of(const ft__serve_grid *g, double x)
{
    size_t low = 0, high = g->n - 1;
    struct place p;

    if (g->n == 1)
        return (struct place){0, 0, 0};
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;

        if (g->at[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    p = (struct place){low, low + 1, (x - g->at[low]) / (g->at[low + 1] - g->at[low])};
    if (p.part < 0)
        p.part = 0;
    return p;
}

static ft__serve_cost mixed(ft__serve_cost a, ft__serve_cost b, double part)
{
    return (ft__serve_cost){a.time_s + part * (b.time_s - a.time_s),
                            a.energy_j + part * (b.energy_j - a.energy_j)};
}

static ft__serve_cost at1(const ft__serve_cost *c, const ft__serve_grid *g, double x)
{
    const struct place p = place_of(g, x);

    return mixed(c[p.i], c[p.next], p.part);
}

static ft__serve_cost at2(const ft__serve_cost *c, const ft__serve_grid *g, double x,
                          const ft__serve_grid *h, double y)
{
    const struct place p = place_of(g, x), q = place_of(h, y);
    const ft__serve_cost *low = c + p.i * h->n, *high = c + p.next * h->n;

    return mixed(mixed(low[q.i], low[q.next], q.part),
                 mixed(high[q.i], high[q.next], q.part), p.part);
}

static double power_between(double a, double b, double part)
{
    return a > 0 && b > 0 ? a * pow(b / a, part) : a + part * (b - a);
}

/* Interpolates by a power law in tokens: the context per token grows with them. */
static ft__serve_cost at_chunk(const ft__serve_cost *c, const ft_serve_steps *s,
                               double tokens, double before)
{
    const struct place p = place_of(&s->chunk, tokens),
                       q = place_of(&s->before, before);
    const ft__serve_cost *low = c + p.i * s->before.n, *high = c + p.next * s->before.n;
    const ft__serve_cost a = mixed(low[q.i], low[q.next], q.part);
    const ft__serve_cost b = mixed(high[q.i], high[q.next], q.part);
    const double x = s->chunk.at[p.i], y = s->chunk.at[p.next];
    const double part = tokens > x && y > x ? log(tokens / x) / log(y / x) : 0;

    return (ft__serve_cost){power_between(a.time_s, b.time_s, part),
                            power_between(a.energy_j, b.energy_j, part)};
}

struct step_parts {
    ft__serve_cost shared, head, prefill, decode;
};

static ft__serve_cost sum(ft__serve_cost a, ft__serve_cost b, double times)
{
    return (ft__serve_cost){a.time_s + times * b.time_s,
                            a.energy_j + times * b.energy_j};
}

/* Prompts of a step attend as one of as many tokens that attends to as many: the rest
 * of them before it, or, where short ones are many, a share of its own. */
static ft__serve_cost prefill_own(const ft_serve_steps *s, const ft_serve_step *step)
{
    const double n = step->prefill_tokens, alone = n * (n + 1) / 2;
    const double before = fmax(0, (step->prefill_pairs - alone) / n);
    const double share = fmin(1, step->prefill_pairs / alone);

    return sum(at_chunk(s->cost[FT__SERVE_PREFILL], s, n, before),
               at_chunk(s->cost[FT__SERVE_ATTENTION], s, n, before), share);
}

/* Products have tiles of 128 rows, of few rows 64, which take as long whether they are
 * full or not. */
static double whole_tiles(double rows)
{
    const double tile = rows > FEW_ROWS ? TILE : TILE / 2;

    return rows > TILE ? tile * ceil(rows / tile) : rows;
}

static struct step_parts parts_of(const ft_serve_steps *s, const ft_serve_step *step)
{
    const double tokens = step->prefill_tokens + step->decode_seqs;
    const double seqs = step->prefill_seqs + step->decode_seqs;
    struct step_parts p = {.shared = {0, 0}};

    if (!(tokens > 0))
        return p;
    p.shared =
        sum(s->launch, at1(s->cost[FT__SERVE_ROWS], &s->rows, whole_tiles(tokens)), 1);
    p.head = at1(s->cost[FT__SERVE_HEAD], &s->seqs, fmax(seqs, 1));
    if (step->prefill_tokens > 0)
        p.prefill = prefill_own(s, step);
    if (step->decode_seqs > 0)
        p.decode = at2(s->cost[FT__SERVE_DECODE], &s->seqs, step->decode_seqs,
                       &s->context, step->decode_context / step->decode_seqs);
    return p;
}

static double factor(const ft__serve_ends *e, ft__serve_end end)
{
    return end == FT__SERVE_LOW ? e->low : end == FT__SERVE_HIGH ? e->high : e->value;
}

/* What Python takes for an operation of a mixture's prompt: between engines and their
 * versions it differs by that (85 to 200 us). */
static const ft__serve_ends issue_reach = {1, 1 / 1.5, 1.5};

/* s that the host takes to issue a step, which is no shorter. An eager engine's layers
 * took that on one host: on another as much more or less as steps differ by. */
static double issued_s(const ft_serve_steps *s, const ft_serve_step *step,
                       ft__serve_end end)
{
    const ft__serve_engine *e = &s->engine;
    const double tokens = step->prefill_tokens + step->decode_seqs;
    const bool graph = !(step->prefill_tokens > 0) || tokens <= e->graph_tokens;
    const double either_way =
        e->layer_s > 0 ? factor(&s->decode_time, end) / s->decode_time.value : 0;

    const double issue_s =
        s->block_experts && e->block_issue_s > 0 ? e->block_issue_s : e->issue_s;

    return fmax(fmax(s->host_s, (double)s->layers * e->layer_s * either_way),
                graph ? 0 : factor(&issue_reach, end) * (double)s->issued * issue_s);
}

ft__serve_split ft__serve_step_cost(const ft_serve_steps *s, const ft_serve_step *step,
                                    ft__serve_end end)
{
    const struct step_parts p = parts_of(s, step);
    const double stages = (double)s->stages; /* in turn; the last has the head */
    const ft__serve_cost shared = sum(p.shared, p.head, 1 / stages);
    const double tokens = step->prefill_tokens + step->decode_seqs;
    const double share = tokens > 0 ? step->prefill_tokens / tokens : 0;
    const double prefill = share * shared.time_s + p.prefill.time_s;
    const double decode = (1 - share) * shared.time_s + p.decode.time_s;
    const double prompts_s = factor(&s->prefill_time, end) * prefill;
    const double busy_s = prompts_s + factor(&s->decode_time, end) * decode;
    const double prefill_j = factor(&s->prefill_energy, end) *
                             (share * shared.energy_j + p.prefill.energy_j);
    const double decode_j = factor(&s->decode_energy, end) *
                            ((1 - share) * shared.energy_j + p.decode.energy_j);
    /* No device draws more than it is built for, however operations add up. */
    const double held = prefill_j + decode_j > s->most_w * busy_s
                            ? s->most_w * busy_s / (prefill_j + decode_j)
                            : 1;

    return (ft__serve_split){stages * fmax(busy_s, issued_s(s, step, end)),
                             stages * busy_s, busy_s > 0 ? prompts_s / busy_s : 0,
                             held * prefill_j, held * decode_j};
}

/* At the low end all tokens that a server may draft are accepted: two are made. */
double ft__serve_drafted(const ft_serve_steps *s, ft__serve_end end)
{
    return s->may_draft && end == FT__SERVE_LOW ? 0.5 : 1;
}

/* At the low end the engine holds prompts back until every replica has one. */
ft_serve_step ft__serve_replica_step(const ft_serve_steps *s, const ft_serve_step *step,
                                     ft__serve_end end)
{
    const double n = (double)s->replicas;
    const double prompts =
        end == FT__SERVE_LOW ? n : fmax(1, fmin(n, step->prefill_seqs));
    ft_serve_step one = *step;

    one.prefill_tokens /= prompts;
    one.prefill_pairs /= prompts;
    one.prefill_seqs /= prompts;
    one.decode_seqs /= n;
    one.decode_context /= n;
    return one;
}

/* At the low end the most likely tokens are taken, which needs none. */
double ft__serve_sampling(const ft_serve_steps *s, const ft_serve_step *step,
                          double overhead_s, ft__serve_end end)
{
    return overhead_s != 0 || end == FT__SERVE_LOW
               ? 0
               : s->engine.sampling_s * (step->decode_seqs + step->prefill_seqs);
}

double ft__serve_between(const ft_serve_steps *s, const ft_serve_step *step,
                         double overhead_s)
{
    const ft__serve_engine *e = &s->engine;

    if (overhead_s != 0)
        return fmax(overhead_s, 0);
    return e->step_s + e->sequence_s * (step->decode_seqs + step->prefill_seqs) +
           e->prompt_s * step->prefill_seqs;
}

void ft_serve_step_ask(ft_estimate *time, ft_estimate *energy, const ft_serve_steps *s,
                       const ft_serve_step *step)
{
    ft__serve_split x[3];
    const double idle = isfinite(s->idle_w) ? s->idle_w : 0;
    double j[3];

    for (int i = 0; i < 3; i++) {
        x[i] = ft__serve_step_cost(s, step, (ft__serve_end)i);
        j[i] = (x[i].prefill_j + x[i].decode_j +
                (x[i].time_s > x[i].busy_s ? x[i].time_s - x[i].busy_s : 0) * idle) *
               (double)(s->ranks * s->replicas);
    }
    *time = (ft_estimate){x[FT__SERVE_VALUE].time_s, x[FT__SERVE_LOW].time_s,
                          x[FT__SERVE_HIGH].time_s, s->basis, ""};
    *energy = (ft_estimate){j[FT__SERVE_VALUE], j[FT__SERVE_LOW], j[FT__SERVE_HIGH],
                            s->basis, ""};
    if (!isfinite(j[FT__SERVE_VALUE]))
        *energy = (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE,
                                "the device's power is not known"};
}

static ft_query query_of(const ft_query *q)
{
    ft_query out = *q;

    out.batch = 0;
    out.dims = NULL;
    out.n_dims = 0;
    out.graph = NULL;
    out.totals = 0;
    if (!out.run_mode)
        out.run_mode = "graph";
    return out;
}

/* An operation of the plan, also where it was asked in fp16 in the place of bf16. */
static uint32_t find_op(const ft_serve_plan *p, const ft_op *op)
{
    const uint32_t at = ft__serve_number_of(p, op);
    const ft_op planned = ft__op_cast(op, FT_DTYPE_fp16, FT_DTYPE_bf16);

    return at != FT_NONE ? at : ft__serve_number_of(p, &planned);
}

/* Of each operation of the plan alone: nothing stands beside it to be fused with. */
static ft_status ask_ops(ft__serve_cost *out, ft_data *d, const ft_serve_plan *p,
                         const ft_query *q, ft_error *err)
{
    ft_query list = query_of(q);
    ft_answer *a;
    ft_status st;

    list.model = "steps";
    list.graph = p->list;
    if (strncmp(list.run_mode, "compiled", 8) == 0)
        list.run_mode = strcmp(list.run_mode, "compiled") == 0 ? "eager" : "graph";
    st = ft_query_ask(&a, d, &list, err);
    for (uint32_t i = 0; !st && i < a->n_ops; i++) {
        const ft_answer_op *op = a->op[i];
        const uint32_t at = find_op(p, op->op);

        if (at != FT_NONE)
            out[at] =
                (ft__serve_cost){op->device_time.value,
                                 op->device_time.value * ft__answer_network_w(a)[i]};
    }
    if (!st)
        ft_answer_free(a);
    return st;
}

static size_t n_cells(const ft_serve_steps *s, int part)
{
    const size_t n[FT__SERVE_PARTS] = {
        [FT__SERVE_ROWS] = s->rows.n,
        [FT__SERVE_HEAD] = s->seqs.n,
        [FT__SERVE_DECODE] = s->seqs.n * s->context.n,
        [FT__SERVE_PREFILL] = s->chunk.n * s->before.n,
        [FT__SERVE_ATTENTION] = s->chunk.n * s->before.n,
    };

    return n[part];
}

static ft_status fill(ft_serve_steps *s, const ft_serve_plan *p,
                      const ft__serve_cost *op, ft_error *err)
{
    for (int i = 0; i < FT__SERVE_PARTS; i++) {
        const size_t n = n_cells(s, i);

        free(s->cost[i]);
        s->cost[i] = calloc(n + 1, sizeof(*s->cost[i]));
        if (!s->cost[i])
            return ft__serve_no_memory(err);
        for (size_t k = 0; k < n; k++)
            for (uint32_t e = 0; e < p->cell[i][k].n; e++) {
                const ft__serve_entry *x = &p->entry[p->cell[i][k].first + e];

                s->cost[i][k] = sum(s->cost[i][k], op[x->op], x->count);
            }
    }
    return FT_OK;
}

/* Two steps that the tables have, asked for as networks: what a compiler fuses of their
 * operations, what they take beside them, and their intervals hold for all such. */
struct networks {
    ft_answer *decode, *prefill;
};

static ft_status ask_network(ft_answer **a, ft_data *d, const ft_graph *g,
                             const ft_query *q, ft_error *err)
{
    ft_query one = query_of(q);

    one.model = q->model ? q->model : "model";
    one.graph = g;
    if (!q->run_mode)
        one.run_mode = "compiled-graph";
    return ft_query_ask(a, d, &one, err);
}

/* Adds up each kind's time, measured alone and fused in networks. */
static void add_fused(double alone[FT_KIND_COUNT], double fused[FT_KIND_COUNT],
                      const ft_serve_plan *p, const ft__serve_cost *op,
                      const ft_answer *a)
{
    for (uint32_t i = 0; i < a->n_ops; i++) {
        const ft_answer_op *x = a->op[i];
        const uint32_t at = find_op(p, x->op);
        const double count = (double)x->count;

        if (at != FT_NONE && op[at].time_s > 0 && x->device_time.value > 0) {
            alone[x->op->kind] += count * op[at].time_s;
            fused[x->op->kind] += count * x->device_time.value;
        }
    }
}

/* Reduces the plan's operations to what is left after fusion. */
static void fuse(ft__serve_cost *op, const ft_serve_plan *p, const struct networks *n)
{
    double alone[FT_KIND_COUNT] = {0}, fused[FT_KIND_COUNT] = {0};

    add_fused(alone, fused, p, op, n->decode);
    add_fused(alone, fused, p, op, n->prefill);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const ft_kind kind = p->op[i].kind;
        const double share = alone[kind] > 0 ? fused[kind] / alone[kind] : 1;

        op[i].time_s *= share;
        op[i].energy_j *= share;
    }
}

static ft__serve_ends ends_of(const ft_estimate *e, double summed)
{
    if (e->basis == FT_BASIS_UNAVAILABLE || !(summed > 0))
        return (ft__serve_ends){NAN, NAN, NAN};
    return (ft__serve_ends){e->value / summed, e->low / summed, e->high / summed};
}

static ft__serve_cost all_of(const ft_serve_steps *s, const ft_serve_step *step)
{
    const struct step_parts p = parts_of(s, step);

    return sum(sum(sum(p.shared, p.head, 1), p.prefill, 1), p.decode, 1);
}

/* What the device waits for at the beginning of a step, however long that is. It waits
 * longer for a host that is slower than it is, of a step that decodes, mostly. */
static ft__serve_cost launch_of(const ft_serve_steps *s, const struct networks *n)
{
    const double wait_s = fmin(n->decode->time.value - n->decode->busy_s,
                               n->prefill->time.value - n->prefill->busy_s);

    if (!(wait_s > 0))
        return (ft__serve_cost){0, 0};
    return (ft__serve_cost){wait_s, isfinite(s->idle_w) ? wait_s * s->idle_w : 0};
}

static void take_ends(ft__serve_ends *time, ft__serve_ends *energy,
                      const ft_serve_steps *s, const ft_serve_step *step,
                      const ft_answer *a)
{
    const ft__serve_cost all = all_of(s, step);

    *time = ends_of(&a->time, a->host_s > all.time_s ? a->host_s : all.time_s);
    *energy = ends_of(&a->energy, all.energy_j);
}

static void widen(ft__serve_ends *e, const ft__serve_ends *other)
{
    e->low = fmin(e->low, other->low);
    e->high = fmax(e->high, other->high);
}

/* Of an engine that nothing was measured of: its kernels may be as any measured one's.
 */
static ft_status span_engines(ft_serve_steps *s, ft_data *d, const ft_serve_plan *p,
                              const ft_query *q, ft_error *err)
{
    ft_status st = FT_OK;
    const char *name;

    for (size_t i = 0; !st && (name = ft__serve_engine_measured(i)); i++) {
        struct networks n = {NULL, NULL};
        ft__serve_ends time, energy;
        ft_query of = *q;

        of.engine = name;
        st = ask_network(&n.decode, d, p->decode, &of, err);
        if (!st)
            st = ask_network(&n.prefill, d, p->prefill, &of, err);
        if (!st) {
            take_ends(&time, &energy, s, &p->decode_step, n.decode);
            widen(&s->decode_time, &time);
            widen(&s->decode_energy, &energy);
            take_ends(&time, &energy, s, &p->prefill_step, n.prefill);
            widen(&s->prefill_time, &time);
            widen(&s->prefill_energy, &energy);
        }
        ft_answer_free(n.decode);
        ft_answer_free(n.prefill);
    }
    return st;
}

/* What engines do that nobody measured, as a factor either way: scheduling, versions,
 * kernels in the place of those that were measured (of one shape vLLM's and
 * TensorRT-LLM's differ by 1.2 to 1.4 in the median), most in mixtures. Of steps that
 * decode: of the spread between engines and models (docs/llm.md), 90 %; of prompts:
 * decided on H200's runs of vLLM. */
static const struct {
    double decode, prompt;
} dense_reach = {1.1, 1.2}, mixture_reach = {1.25, 1.5};

static void reach(ft__serve_ends *e, double factor)
{
    const double r = log(factor);

    e->low = e->value * exp(-hypot(log(e->value / e->low), r));
    e->high = e->value * exp(hypot(log(e->high / e->value), r));
}

static ft_status read_device(ft_serve_steps *s, ft_data *d, const ft_answer *a,
                             ft_error *err)
{
    const ft__physics_params params = ft__physics_default();
    const ft__data_kept *kept;
    ft_status st = ft__data_device(&kept, d, a->device, true, err);

    if (st)
        return st;
    snprintf(s->device, sizeof(s->device), "%s", a->device);
    snprintf(s->title, sizeof(s->title), "%s", a->title);
    snprintf(s->predictor, sizeof(s->predictor), "%s", a->predictor);
    for (size_t i = 0; i < a->n_warnings; i++)
        if (a->warning[i]->code == FT_REMARK_NO_HARDWARE) {
            const ft_remark *w = a->warning[i];

            snprintf(s->no_hardware, sizeof(s->no_hardware), "%s", w->text);
            s->no_hardware_for = w->dtype;
            s->no_hardware_ending = strlen(w->text) < sizeof(s->no_hardware)
                                        ? s->no_hardware + (w->ending - w->text)
                                        : NULL;
        }
    s->idle_w = s->most_w = s->link_bytes_per_s = NAN;
    if (kept->thing) {
        const ft_device_facts *f = ft_device_get(kept->thing);

        s->idle_w = ft__idle_power(&params, f);
        s->most_w = f->tdp_w > 0 ? f->tdp_w : NAN;
        s->link_bytes_per_s = f->link_bytes_per_s;
    }
    s->half = a->half;
    s->memory_bytes = a->limit_bytes;
    s->basis = a->time.basis;
    s->host_s = isfinite(a->host_s) ? a->host_s : 0;
    return FT_OK;
}

/* Width of what ranks sum; 0: nothing is. */
static int64_t summed_width(const ft_serve_plan *p)
{
    int64_t width = 0;

    for (uint32_t i = 0; i < p->n_ops && !width; i++)
        if (p->op[i].kind == FT_KIND_collective)
            width = ft_op_shape(&p->op[i], FT_K_x).dim[1];
    return width;
}

/* Replaces the costs of operations for which the engine has its own kernels. */
static ft_status take_engine(ft__serve_cost *op, ft_data *d, const ft_serve_plan *p,
                             const ft_serve_steps *s, const ft_query *q, ft_error *err)
{
    const double asked_hz = ft__operating_point_of(q->setting).clock_hz;
    const ft__data_kept *kept;
    const int64_t width = summed_width(p);
    ft_status st = ft__data_device(&kept, d, s->device, true, err);

    for (uint32_t i = 0; i < p->n_ops && !st && kept->thing; i++) {
        const ft_device_facts *f = ft_device_get(kept->thing);

        ft__serve_engine_cost(&op[i], &s->engine, &p->op[i], width, f,
                              asked_hz > 0 ? asked_hz : f->boost_clock_hz, s->idle_w);
    }
    return st;
}

static ft_status make_tables(ft_serve_steps *s, ft_data *d, const ft_serve_plan *p,
                             const ft_query *q, ft_error *err)
{
    ft__serve_cost *op = calloc(p->n_ops + 1u, sizeof(*op));
    struct networks n = {NULL, NULL};
    ft_status st = op ? ask_ops(op, d, p, q, err) : ft__serve_no_memory(err);

    if (!st)
        st = ask_network(&n.decode, d, p->decode, q, err);
    if (!st)
        st = ask_network(&n.prefill, d, p->prefill, q, err);
    if (!st) {
        fuse(op, p, &n);
        st = fill(s, p, op, err);
    }
    if (!st)
        st = read_device(s, d, n.decode, err);
    if (!st) {
        s->launch = launch_of(s, &n);
        take_ends(&s->decode_time, &s->decode_energy, s, &p->decode_step, n.decode);
        take_ends(&s->prefill_time, &s->prefill_energy, s, &p->prefill_step, n.prefill);
        s->power = ends_of(&n.decode->power, n.decode->power.value);
    }
    if (!st && s->engine.no_dataset)
        st = span_engines(s, d, p, q, err);
    if (!st) {
        reach(&s->decode_time, s->issued ? mixture_reach.decode : dense_reach.decode);
        reach(&s->prefill_time, s->issued ? mixture_reach.prompt : dense_reach.prompt);
    }
    if (!st && n.prefill->time.basis > s->basis)
        s->basis = n.prefill->time.basis;
    if (!st && ft__serve_engine_changes(&s->engine))
        st = take_engine(op, d, p, s, q, err);
    if (!st && ft__serve_engine_changes(&s->engine))
        st = fill(s, p, op, err);
    ft_answer_free(n.decode);
    ft_answer_free(n.prefill);
    free(op);
    return st;
}

ft_status ft_serve_steps_open(ft_serve_steps **out, ft_data *d, const ft_serve_plan *p,
                              const ft_query *asked, ft_error *err)
{
    ft_serve_steps *s = calloc(1, sizeof(*s));
    ft_query q;
    ft_status st = s ? ft__query_read(&q, asked, err) : ft__serve_no_memory(err);

    *out = NULL;
    if (!st)
        st = ft__serve_engine_check(q.engine, q.engine_version, err);
    if (!st) {
        s->rows = p->rows;
        s->seqs = p->seqs;
        s->context = p->context;
        s->chunk = p->chunk;
        s->before = p->before;
        s->bounds = p->bounds;
        s->ranks = p->ranks;
        s->replicas = p->replicas;
        s->stages = p->stages;
        s->layers = p->layers;
        s->issued = p->issued;
        s->block_experts = p->block_experts;
        s->may_draft = p->may_draft;
        s->engine = ft__serve_engine_of(q.engine, q.engine_version, q.run_mode);
        if (s->engine.no_dataset)
            q.engine = q.engine_version = NULL;
        if (s->engine.layer_s > 0 && !q.run_mode)
            q.run_mode = "eager";
        snprintf(s->run_mode, sizeof(s->run_mode), "%s",
                 q.run_mode ? q.run_mode : "compiled-graph");
        s->sizes = p->sizes;
        memcpy(s->divided, p->divided, sizeof(s->divided));
        s->kv_bytes_per_token = p->kv_bytes_per_token;
        st = make_tables(s, d, p, &q, err);
    }
    if (st)
        ft_serve_steps_close(s);
    else
        *out = s;
    return st;
}

void ft_serve_steps_close(ft_serve_steps *s)
{
    for (int i = 0; s && i < FT__SERVE_PARTS; i++)
        free(s->cost[i]);
    free(s);
}
