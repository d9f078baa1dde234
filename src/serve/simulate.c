/* Continuous batching as vLLM V1 documents its scheduler: running sequences first, with
 * one token or the next chunk of a prompt; then waiting prompts, in order, until the
 * step has its tokens. A sequence without a free block preempts the youngest one, which
 * recomputes its tokens except those whose blocks are still cached (docs.vllm.ai,
 * prefix caching: blocks are evicted as they were freed, a sequence's last first). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "serve/serve.h"

enum { MOST_LEAP = 64 };
/* Between devices without a link of their own: PCIe 4.0 with 16 lanes. */
static const double pcie_bytes_per_s = 25e9;

/* A sequence of prompt and generated tokens, of which `done` are in the cache. A step
 * that completes them generates another. */
struct sequence {
    double arrival_s, first_s, last_s;
    double ready_s; /* it may be scheduled from here on */
    uint64_t prompt, generate, generated, done, blocks;
    bool preempted; /* and not begun again */
};

struct queue {
    uint32_t *at;
    size_t first, n, size; /* size: a power of two, at least all sequences */
};

/* Blocks that a sequence freed which waits to begin again, or that nobody asks for. */
#define NOBODY UINT32_MAX
struct freed {
    uint32_t of;
    uint64_t blocks, tokens;
};

/* A group of devices with one scheduler. */
struct engine {
    struct queue waiting;
    uint32_t *running;
    size_t n;
    double now_s;
    uint64_t free_blocks;
    struct freed *freed; /* in the order in which they were, from first_freed on; of
                            engines that keep them */
    size_t first_freed, n_freed, cap_freed;
    bool warm; /* it has the prefix that prompts share */
};

struct run {
    const ft_serve_steps *steps;
    const ft_serve_load *load;
    ft__serve_end end;
    struct sequence *seq;
    size_t n_seqs, n_begun, n_ended;
    struct engine *engine;
    size_t n_engines, n_prompts; /* those that take prompts come first */
    uint64_t blocks;
    ft__serve_latency *gap;
    size_t n_gaps, cap_gaps;
    double transfer_s; /* a token's cache, to another group */
    double last_s;
    ft__serve_run *out;
    bool bad; /* memory is short */
};

static void push(struct queue *q, uint32_t i)
{
    q->at[(q->first + q->n++) & (q->size - 1)] = i;
}

static void push_front(struct queue *q, uint32_t i)
{
    q->first = (q->first - 1) & (q->size - 1);
    q->at[q->first] = i;
    q->n++;
}

static uint32_t pop(struct queue *q)
{
    const uint32_t i = q->at[q->first];

    q->first = (q->first + 1) & (q->size - 1);
    q->n--;
    return i;
}

static uint64_t tokens_of(const struct sequence *s)
{
    return s->prompt + s->generated;
}

static bool decodes(const struct sequence *s)
{
    return s->generated && s->done + 1 == tokens_of(s);
}

/* Tokens that a sequence needs blocks for when it is scheduled first. */
static uint64_t tokens_to_begin(const struct run *r, const struct sequence *s)
{
    return r->steps->engine.reserves ? s->prompt + s->generate : tokens_of(s);
}

static uint64_t blocks_for(const struct run *r, uint64_t tokens)
{
    return (tokens + r->load->block - 1) / r->load->block;
}

/* Evicts cached blocks, the first freed first; of one sequence its last blocks. */
static void take_freed(const struct run *r, struct engine *e, uint64_t n)
{
    e->free_blocks -= n;
    while (n && r->steps->engine.keeps_freed) {
        struct freed *f = &e->freed[e->first_freed];
        const uint64_t taken = f->blocks < n ? f->blocks : n;

        f->blocks -= taken;
        n -= taken;
        e->first_freed += !f->blocks;
    }
}

static void give_blocks(struct run *r, struct engine *e, const struct freed *f)
{
    struct freed *grown;

    e->free_blocks += f->blocks;
    if (!r->steps->engine.keeps_freed)
        return;
    if (e->first_freed == e->n_freed)
        e->first_freed = e->n_freed = 0;
    else if (f->of == NOBODY && e->freed[e->n_freed - 1].of == NOBODY) {
        e->freed[e->n_freed - 1].blocks += f->blocks;
        return;
    }
    grown = ft__list_grow(e->freed, e->n_freed, &e->cap_freed, sizeof(*grown));
    r->bad = r->bad || !grown;
    if (!grown)
        return;
    e->freed = grown;
    e->freed[e->n_freed++] = *f;
}

/* Reuses the blocks that are left from before a preemption. */
static void take_back(const struct run *r, struct engine *e, uint32_t i)
{
    struct sequence *s = &r->seq[i];
    uint64_t held;

    if (!s->preempted)
        return;
    s->preempted = false;
    for (size_t k = e->first_freed; k < e->n_freed; k++) {
        struct freed *f = &e->freed[k];

        if (f->of != i)
            continue;
        held = f->tokens / r->load->block;
        held = held < f->blocks ? held : f->blocks;
        s->blocks = held;
        s->done = held * r->load->block;
        f->blocks -= held;
        f->of = NOBODY;
        e->free_blocks -= held;
    }
}

/* Allocates blocks for that many tokens. */
static bool take_blocks(const struct run *r, struct engine *e, struct sequence *s,
                        uint64_t tokens)
{
    uint64_t more;

    if (tokens <= s->blocks * r->load->block)
        return true;
    more = blocks_for(r, tokens) - s->blocks;
    if (more > e->free_blocks)
        return false;
    take_freed(r, e, more);
    s->blocks += more;
    return true;
}

static void release(struct run *r, struct engine *e, struct sequence *s, uint32_t of)
{
    give_blocks(r, e, &(struct freed){of, s->blocks, s->done});
    s->blocks = 0;
}

static struct engine *least_loaded(struct run *r, size_t from, size_t to)
{
    struct engine *best = &r->engine[from];

    for (size_t i = from + 1; i < to; i++)
        if (r->engine[i].n + r->engine[i].waiting.n < best->n + best->waiting.n)
            best = &r->engine[i];
    return best;
}

static void hand_to(struct run *r, size_t from, size_t to, uint32_t i)
{
    struct engine *e = least_loaded(r, from, to);

    if (e->n == 0 && e->waiting.n == 0)
        e->now_s = fmax(e->now_s, r->seq[i].ready_s);
    push(&e->waiting, i);
}

static bool is_open(const ft_serve_load *load)
{
    return load->rate_per_s > 0 || load->n_recorded;
}

static bool has_room(const struct run *r)
{
    return r->n_begun < r->n_seqs &&
           (!r->load->concurrency || r->n_begun - r->n_ended < r->load->concurrency);
}

static void begin(struct run *r, double now_s)
{
    struct sequence *s = &r->seq[r->n_begun];

    s->arrival_s = s->ready_s = fmax(s->arrival_s, now_s);
    hand_to(r, 0, r->n_prompts, (uint32_t)r->n_begun++);
}

static void end(struct run *r, struct engine *e, struct sequence *s)
{
    s->last_s = e->now_s;
    release(r, e, s, NOBODY);
    r->n_ended++;
    r->last_s = fmax(r->last_s, e->now_s);
    if (has_room(r) && (!is_open(r->load) || r->seq[r->n_begun].arrival_s <= e->now_s))
        begin(r, e->now_s);
}

static void add_gap(struct run *r, double gap_s, double count)
{
    ft__serve_latency *grown =
        ft__list_grow(r->gap, r->n_gaps, &r->cap_gaps, sizeof(*grown));

    r->bad = r->bad || !grown;
    if (!grown)
        return;
    r->gap = grown;
    grown[r->n_gaps++] = (ft__serve_latency){gap_s, count};
}

struct schedule {
    ft_serve_step step;
    double left;     /* tokens that it may still have */
    uint64_t repeat; /* so many steps that only decode are alike */
    bool preempted;
};

static void preempt(struct run *r, struct engine *e, struct schedule *x)
{
    const uint32_t i = e->running[--e->n];
    struct sequence *s = &r->seq[i];

    release(r, e, s, i);
    s->done = 0;
    s->preempted = true;
    push_front(&e->waiting, i);
    r->out->preemptions++;
    x->preempted = true;
}

static void add_prompt(const struct run *r, struct schedule *x, struct sequence *s)
{
    const double all = (double)(tokens_of(s) - s->done), before = (double)s->done;
    const double n = r->load->whole_prompts ? all : fmin(all, x->left);

    if (!(n > 0))
        return;
    x->left -= n;
    x->step.prefill_tokens += n;
    x->step.prefill_pairs += n * before + n * (n + 1) / 2;
    x->step.prefill_seqs++;
    s->done += (uint64_t)n;
}

static void add_decoding(struct schedule *x, uint64_t seqs, uint64_t context)
{
    x->left -= (double)seqs;
    x->step.decode_seqs += (double)seqs;
    x->step.decode_context += (double)context;
}

/* Sums stay in registers until a prompt asks what is left. */
static void schedule_running(struct run *r, struct engine *e, struct schedule *x)
{
    uint64_t seqs = 0, context = 0;

    for (size_t i = 0; i < e->n; i++) {
        struct sequence *s = &r->seq[e->running[i]];

        if (!decodes(s)) {
            add_decoding(x, seqs, context);
            seqs = context = 0;
            add_prompt(r, x, s);
            continue;
        }
        while (i < e->n && !take_blocks(r, e, s, tokens_of(s)))
            preempt(r, e, x);
        if (i >= e->n)
            break;
        seqs++;
        context += tokens_of(s);
        s->done++;
    }
    add_decoding(x, seqs, context);
}

/* Finds the cached part of a prompt's shared prefix. */
static void find_cached(const struct run *r, struct engine *e, struct sequence *s)
{
    const uint64_t whole = (r->load->shared_prefix / r->load->block) * r->load->block;
    const uint64_t cached = whole < s->prompt ? whole : s->prompt - 1;

    if (e->warm && s->done < cached)
        s->done = cached;
    e->warm = true;
}

static bool takes_next(const struct run *r, const struct engine *e)
{
    const struct sequence *s =
        e->waiting.n ? &r->seq[e->waiting.at[e->waiting.first]] : NULL;

    return s && s->ready_s <= e->now_s && e->n < r->load->max_seqs &&
           blocks_for(r, tokens_to_begin(r, s)) <= e->free_blocks;
}

static void schedule_waiting(struct run *r, struct engine *e, struct schedule *x)
{
    while (x->left > 0 && takes_next(r, e)) {
        const uint32_t i = e->waiting.at[e->waiting.first];
        struct sequence *s = &r->seq[i];
        const double n = (double)(tokens_of(s) - s->done);

        if (r->load->whole_prompts && x->step.prefill_seqs > 0 && n > x->left)
            return;
        pop(&e->waiting);
        e->running[e->n++] = i;
        take_back(r, e, i);
        take_blocks(r, e, s, tokens_to_begin(r, s));
        if (decodes(s)) {
            add_decoding(x, 1, tokens_of(s));
            s->done++;
            continue;
        }
        find_cached(r, e, s);
        add_prompt(r, x, s);
    }
}

/* The number of identical decoding steps until a sequence ends or another event. */
static uint64_t alike(const struct run *r, const struct engine *e, double step_s)
{
    uint64_t n = MOST_LEAP;
    double until = INFINITY;

    for (size_t i = 0; i < e->n; i++) {
        const struct sequence *s = &r->seq[e->running[i]];

        if (s->generate - s->generated < n)
            n = s->generate - s->generated;
    }
    if (is_open(r->load) && r->n_begun < r->n_seqs)
        until = r->seq[r->n_begun].arrival_s;
    if (e->waiting.n && r->seq[e->waiting.at[e->waiting.first]].ready_s > e->now_s)
        until = fmin(until, r->seq[e->waiting.at[e->waiting.first]].ready_s);
    if (until - e->now_s < (double)n * step_s)
        n = (uint64_t)fmax(1, ceil((until - e->now_s) / step_s));
    return n > 1 && e->free_blocks < e->n * (blocks_for(r, n) + 1) ? 1 : n;
}

static void make_schedule(struct run *r, struct engine *e, struct schedule *x)
{
    const bool alone = r->load->whole_prompts || r->steps->engine.prompts_alone;

    *x = (struct schedule){.left = (double)r->load->max_batched_tokens, .repeat = 1};
    if (alone) {
        for (size_t i = 0; i < e->n; i++)
            if (!decodes(&r->seq[e->running[i]]))
                add_prompt(r, x, &r->seq[e->running[i]]);
        schedule_waiting(r, e, x);
    }
    if (x->step.prefill_tokens > 0)
        return;
    schedule_running(r, e, x);
    if (!x->preempted && !alone)
        schedule_waiting(r, e, x);
}

static void token(struct run *r, struct engine *e, struct sequence *s, uint64_t n,
                  double step_s, double *same)
{
    const double first = e->now_s - (double)(n - 1) * step_s;

    if (s->generated == 0)
        s->first_s = e->now_s;
    else if (first - s->last_s > step_s * (1 + 1e-9))
        add_gap(r, first - s->last_s, 1);
    else
        *same += 1;
    *same += (double)(n - 1);
    s->generated += n;
    s->done += n - 1;
    s->last_s = e->now_s;
}

static void finish_step(struct run *r, struct engine *e, uint64_t n, double step_s)
{
    const bool moves =
        r->n_prompts < r->n_engines && (size_t)(e - r->engine) < r->n_prompts;
    double same = 0;
    size_t kept = 0, all = e->n;

    for (size_t k = 0; k < all; k++) {
        struct sequence *s = &r->seq[e->running[k]];

        if (s->done == tokens_of(s))
            token(r, e, s, n, step_s, &same);
    }
    if (same > 0)
        add_gap(r, step_s, same);
    for (size_t k = 0; k < all; k++) {
        const uint32_t i = e->running[k];
        struct sequence *s = &r->seq[i];

        e->n = kept + all - k - 1;
        if (s->generated == s->generate)
            end(r, e, s);
        else if (moves && s->generated) {
            release(r, e, s, NOBODY);
            s->ready_s = e->now_s + r->transfer_s * (double)s->done;
            hand_to(r, r->n_prompts, r->n_engines, i);
        } else
            e->running[kept++] = i;
    }
    e->n = kept;
}

static void account(struct run *r, const struct schedule *x, const ft__serve_split *c,
                    double step_s, const struct engine *e)
{
    const double n = (double)x->repeat, devices = (double)r->steps->ranks;
    const double used = 1 - (double)e->free_blocks / (double)r->blocks;
    const uint64_t batch = (uint64_t)x->step.decode_seqs;
    ft__serve_run *out = r->out;

    out->steps += x->repeat;
    out->busy_s += n * c->busy_s;
    out->prefill_j += n * c->prefill_j * devices;
    out->decode_j += n * c->decode_j * devices;
    out->batch_s += n * step_s * x->step.decode_seqs;
    out->most_batch = batch > out->most_batch ? batch : out->most_batch;
    out->kv_peak = fmax(out->kv_peak, used);
}

/* Of a step with what follows it: seconds, corrected by the load's factors. Sampling is
 * at the power of the step. */
static double cost_of(const struct run *r, const ft_serve_step *step,
                      ft__serve_split *c, double *between_s)
{
    const ft_serve_load *l = r->load;
    const ft_serve_step own = ft__serve_replica_step(r->steps, step, r->end);
    const double sampling_s =
        ft__serve_sampling(r->steps, &own, l->step_overhead_s, r->end);
    double factor, longer;

    *c = ft__serve_step_cost(r->steps, &own, r->end);
    factor =
        c->prefill_share * l->prompt_factor +
        (1 - c->prefill_share) * l->decode_factor * ft__serve_drafted(r->steps, r->end);
    longer = c->busy_s > 0 ? factor * (1 + sampling_s / c->busy_s) : factor;
    *between_s = factor * ft__serve_between(r->steps, &own, l->step_overhead_s);
    c->time_s = factor * (c->time_s + sampling_s);
    c->busy_s *= longer;
    if (own.prefill_tokens > 0)
        c->prefill_j *= longer * step->prefill_tokens / own.prefill_tokens;
    c->decode_j *= longer * (double)r->steps->replicas;
    return c->time_s + *between_s;
}

static ft_status run_step(struct run *r, struct engine *e, ft_error *err)
{
    struct schedule x;
    ft__serve_split c;
    double step_s, between_s;

    make_schedule(r, e, &x);
    if (!(x.step.prefill_tokens + x.step.decode_seqs > 0))
        return ft_fail(err, FT_EINVAL, 0, "a step of serving has no tokens");
    step_s = cost_of(r, &x.step, &c, &between_s);
    if (!(step_s > 0) || !isfinite(step_s))
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "the time of a step of serving is not known");
    if (!(x.step.prefill_tokens > 0) && !takes_next(r, e))
        x.repeat = alike(r, e, step_s);
    for (size_t i = 0; x.repeat > 1 && i < e->n; i++) {
        struct sequence *s = &r->seq[e->running[i]];

        take_blocks(r, e, s, tokens_of(s) + x.repeat - 1);
    }
    if (x.repeat > 1) { /* as in the middle of them */
        x.step.decode_context += x.step.decode_seqs * (double)(x.repeat - 1) / 2;
        step_s = cost_of(r, &x.step, &c, &between_s);
    }
    e->now_s += (double)x.repeat * step_s;
    r->out->between_s += (double)x.repeat * between_s;
    account(r, &x, &c, step_s, e);
    finish_step(r, e, x.repeat, step_s);
    return r->bad ? ft_fail(err, FT_ENOMEM, 0, "serving") : FT_OK;
}

/* The time of the engine's next event; infinity: none. */
static double next_of(const struct run *r, const struct engine *e)
{
    if (e->n)
        return e->now_s;
    if (!e->waiting.n)
        return INFINITY;
    return fmax(e->now_s, r->seq[e->waiting.at[e->waiting.first]].ready_s);
}

static ft_status run_all(struct run *r, ft_error *err)
{
    ft_status st = FT_OK;

    while (!is_open(r->load) && has_room(r))
        begin(r, 0);
    while (r->n_ended < r->n_seqs && !st) {
        struct engine *e = r->engine;
        const double arrival =
            is_open(r->load) && has_room(r) ? r->seq[r->n_begun].arrival_s : INFINITY;

        for (size_t i = 1; i < r->n_engines; i++)
            if (next_of(r, &r->engine[i]) < next_of(r, e))
                e = &r->engine[i];
        if (arrival <= next_of(r, e)) {
            begin(r, 0);
            continue;
        }
        e->now_s = next_of(r, e);
        st = run_step(r, e, err);
    }
    return st;
}

static void requests_show(struct run *r, ft__serve_latency *v)
{
    static const ft_serve_metric of[] = {FT_SERVE_TTFT, FT_SERVE_TPOT, FT_SERVE_E2E};
    const uint64_t n_shown = r->load->n_shown;
    const size_t shown = n_shown && n_shown < r->n_seqs ? (size_t)n_shown : r->n_seqs;

    for (size_t m = 0; m < sizeof(of) / sizeof(*of); m++) {
        size_t n = 0;

        for (size_t i = 0; i < shown; i++) {
            const struct sequence *s = &r->seq[i];
            const double x = of[m] == FT_SERVE_TTFT ? s->first_s - s->arrival_s
                             : of[m] == FT_SERVE_E2E
                                 ? s->last_s - s->arrival_s
                                 : (s->last_s - s->first_s) / (double)(s->generate - 1);

            if (of[m] != FT_SERVE_TPOT || s->generate > 1)
                v[n++] = (ft__serve_latency){x, 1};
        }
        ft__serve_points(r->out->latency[of[m]], v, n);
    }
    ft__serve_points(r->out->latency[FT_SERVE_ITL], r->gap, r->n_gaps);
}

/* Requests that end before the last arrives, of those that arrived as long before as a
 * request takes on average; the first ones, which have more of the server, left out.
 * No more than come; where that is not most of the time, the run counts. */
static double steady_of(const struct run *r)
{
    const double n = (double)r->n_seqs;
    const double took_s = r->out->latency[FT_SERVE_E2E][FT_SERVE_MEAN];
    const double first_s = r->seq[0].arrival_s + took_s;
    const double last_s = r->seq[r->n_seqs - 1].arrival_s - took_s;
    double arrived = 0, ended = 0;

    for (size_t i = 0; i < r->n_seqs; i++) {
        const double at_s = r->seq[i].arrival_s, end_s = r->seq[i].last_s - took_s;

        arrived += at_s > first_s && at_s <= last_s;
        ended += end_s > first_s && end_s <= last_s;
    }
    if (2 * arrived <= n)
        return 1;
    return fmin(ended / arrived * (n - 1) / (last_s - first_s + 2 * took_s),
                r->load->rate_per_s) *
           r->out->duration_s / n;
}

static void show(struct run *r, ft__serve_latency *v)
{
    ft__serve_run *out = r->out;

    requests_show(r, v);
    for (size_t i = 0; i < r->n_seqs; i++)
        out->generated += (double)r->seq[i].generate;
    out->requests = r->n_seqs;
    out->between_s /= (double)out->steps;
    out->duration_s = r->last_s - r->seq[0].arrival_s;
    out->steady = steady_of(r);
    out->devices = r->n_engines * r->steps->ranks;
    out->idle_j = fmax(0, (double)r->n_engines * out->duration_s - out->busy_s) *
                  (double)r->steps->ranks * r->steps->idle_w;
}

static bool make_engines(struct run *r)
{
    size_t size = 1;

    while (size <= r->n_seqs)
        size *= 2;
    r->n_prompts = r->load->prefill_workers ? r->load->prefill_workers : 1;
    r->n_engines = r->n_prompts + r->load->decode_workers;
    r->engine = calloc(r->n_engines, sizeof(*r->engine));
    for (size_t i = 0; r->engine && i < r->n_engines; i++) {
        struct engine *e = &r->engine[i];

        give_blocks(r, e, &(struct freed){NOBODY, r->blocks, 0});
        e->waiting.size = size;
        e->waiting.at = calloc(size, sizeof(*e->waiting.at));
        e->running = calloc(r->load->max_seqs + 1, sizeof(*e->running));
        if (!e->waiting.at || !e->running || r->bad)
            return false;
    }
    return r->engine;
}

static bool make_sequences(struct run *r)
{
    ft_serve_request *q = ft__serve_requests(r->load, &r->n_seqs);

    r->seq = calloc(r->n_seqs + 1, sizeof(*r->seq));
    for (size_t i = 0; r->seq && q && i < r->n_seqs; i++)
        r->seq[i] = (struct sequence){.arrival_s = q[i].arrival_s,
                                      .prompt = q[i].prompt,
                                      .generate = q[i].generate};
    free(q);
    return r->seq && q;
}

static void free_run(struct run *r)
{
    for (size_t i = 0; r->engine && i < r->n_engines; i++) {
        free(r->engine[i].waiting.at);
        free(r->engine[i].running);
        free(r->engine[i].freed);
    }
    free(r->engine);
    free(r->seq);
    free(r->gap);
}

/* Batches under way at once: as many as a pipeline has stages, which work on one each;
 * no more than there are requests. */
static uint64_t batches_of(const ft_serve_steps *s, const ft_serve_load *load)
{
    const uint64_t n = s->stages;

    return load->concurrency && load->concurrency < n ? load->concurrency : n;
}

/* Of several batches one is simulated: they share the load evenly. All replicas of
 * attention have one scheduler, whose step has room for as many of each. */
static ft_serve_load of_one_batch(const ft_serve_load *load, const ft_serve_steps *s,
                                  uint64_t n)
{
    ft_serve_load l = *load;

    l.max_seqs *= s->replicas;
    l.max_batched_tokens *= s->replicas;
    l.concurrency = (l.concurrency + n - 1) / n;
    l.n_requests = (l.n_requests + n - 1) / n;
    l.n_shown = (l.n_shown + n - 1) / n;
    l.rate_per_s /= (double)n;
    return l;
}

static void count_batches(ft__serve_run *out, const ft_serve_steps *s, uint64_t n)
{
    out->generated *= (double)n;
    out->prefill_j *= (double)n;
    out->decode_j *= (double)n;
    out->idle_j *= (double)s->replicas;
    out->batch_s *= (double)n;
    out->requests *= n;
    out->devices *= s->replicas;
    out->preemptions *= n;
    out->most_batch *= n;
}

static uint64_t blocks_of(const ft_serve_steps *s, const ft_serve_load *load,
                          double kv_tokens)
{
    const double own = kv_tokens / (double)s->stages;
    const double least = fmin(kv_tokens, (double)s->bounds.most_context);

    return s->replicas * (uint64_t)(fmax(own, least) / (double)load->block);
}

ft_status ft__serve_simulate(ft__serve_run *out, const ft_serve_steps *s,
                             const ft_serve_load *asked, double kv_tokens,
                             ft__serve_end end, ft_error *err)
{
    const uint64_t batches = batches_of(s, asked);
    const ft_serve_load load = of_one_batch(asked, s, batches);
    struct run r = {.steps = s,
                    .load = &load,
                    .end = end,
                    .out = out,
                    .blocks = blocks_of(s, &load, kv_tokens),
                    .transfer_s = s->link_bytes_per_s > 0
                                      ? s->kv_bytes_per_token / s->link_bytes_per_s
                                      : s->kv_bytes_per_token / pcie_bytes_per_s};
    ft__serve_latency *v;
    ft_status st;

    memset(out, 0, sizeof(*out));
    v = make_sequences(&r) && make_engines(&r) ? calloc(r.n_seqs + 1, sizeof(*v))
                                               : NULL;
    st = v ? run_all(&r, err) : ft_fail(err, FT_ENOMEM, 0, "serving");
    if (!st) {
        show(&r, v);
        count_batches(out, s, batches);
    }
    free(v);
    free_run(&r);
    return st;
}
