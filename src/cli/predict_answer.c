/* One answer of predict: a model on one device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/predict_question.h"

/* ---- the command that verifies ---- */

static void add_text(ft__answer *a, const char *fmt, const char *text)
{
    size_t len = strlen(a->verify);

    snprintf(a->verify + len, sizeof(a->verify) - len, fmt, text);
}

static void make_verify(ft__answer *a, const ft__predict_question *q)
{
    char number[64];

    bool training = ft_graph_mode(a->graph) == FT_MODE_TRAINING;

    if (training && strcmp(q->engine, "torch") != 0)
        return; /* no other engine takes steps */
    add_text(a, "foretell measure %s", q->c->args.v[0]);
    add_text(a, " --engine %s", q->engine);
    if (training)
        add_text(a, " --mode %s", "training");
    if (training && q->o->step.optimizer)
        add_text(a, " --optimizer %s", q->o->step.optimizer);
    if (q->o->model.dtype)
        add_text(a, " --dtype %s", q->o->model.dtype);
    if (q->o->threads) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)q->o->threads);
        add_text(a, " --threads %s", number);
    }
    if (q->o->model.batch) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)q->o->model.batch);
        add_text(a, " --batch %s", number);
    }
    if (q->o->model.trips) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)q->o->model.trips);
        add_text(a, " --trips %s", number);
    }
    for (size_t i = 0; i < q->o->model.dims.n; i++)
        add_text(a, " --dim %s", q->o->model.dims.v[i]);
    for (size_t i = 0; i < q->o->model.inputs.n; i++)
        add_text(a, " --input %s", q->o->model.inputs.v[i]);
}

static void explain_energy(ft__answer *a)
{
    if (a->e.energy.basis == FT_BASIS_UNAVAILABLE)
        ft__energy_why(a->energy_why, sizeof(a->energy_why), a->device, &a->e);
}

/* Unique operations that are not of a forward pass, and whose time is a bound. */
static uint32_t n_backward(const ft__answer *a)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < a->e.n_ops; i++)
        n += a->e.op_time[i].basis == FT_BASIS_ROOFLINE &&
             ft_graph_op(a->graph, i)->phase != FT_PHASE_FORWARD;
    return n;
}

static void warn(ft__answer *a, const char *model)
{
    const ft_network_estimate *e = &a->e;
    uint32_t backward = n_backward(a);

    if (a->sheet && a->by == FT__BY_PHYSICS && e->n_roofline)
        ft__answer_warn(a,
                        "%u of %u unique operations are not known by name: their times "
                        "are lower bounds",
                        e->n_roofline, e->n_ops);
    if (a->sheet || (*a->family && !a->among) || *a->use.setting)
        return;
    if (e->n_scaled)
        ft__answer_warn(
            a,
            "%u of %u unique operations lie outside of what the predictor has "
            "seen; foretell collect %s, then foretell train, brings them in",
            e->n_scaled, e->n_ops, model);
    if (e->n_roofline > backward)
        ft__answer_warn(a,
                        "%u of %u unique operations are of kinds never measured: their "
                        "times are lower bounds",
                        e->n_roofline - backward, e->n_ops);
    if (backward)
        ft__answer_warn(
            a,
            "%u of %u unique operations belong to backward pass and "
            "optimizer, which were not measured: their times are rooflines, "
            "lower bounds",
            backward, e->n_ops);
}

static ft_status find_max_batch(ft__answer *a, const ft__predict_question *q,
                                const ft__source *from, ft_error *err)
{
    if (!q->o->max_batch)
        return FT_OK;
    if (!(a->limit_bytes > 0))
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "--max-batch: the memory of %s is not known", a->device);
    a->max_batch_asked = true;
    return ft__estimate_max_batch(&a->max_batch, from, q->c->args.v[0], &q->o->model,
                                  &q->step, a->limit_bytes, err);
}

/* ---- devices ---- */

struct ft__cached_device {
    char asked[128];
    char name[128];
    char note[512];
    ft_device *device; /* NULL: there is no such file */
};

void ft__device_cache_free(ft__device_cache *d)
{
    for (size_t i = 0; i < d->n; i++)
        ft_device_free(d->v[i].device);
    free(d->v);
    *d = (ft__device_cache){0};
}

static struct ft__cached_device *cached(const ft__device_cache *d, const char *asked)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->v[i].asked, asked) == 0)
            return &d->v[i];
    return NULL;
}

static ft_status cache(ft__device_cache *d, const char *asked, const char *data_dir,
                       ft_error *err)
{
    struct ft__cached_device *v = d->v;
    ft_status st;

    if (d->n == d->cap) {
        v = realloc(v, (2 * d->cap + 16) * sizeof(*v));
        if (!v)
            return ft_fail(err, FT_ENOMEM, 0, "%s", asked);
        d->v = v;
        d->cap = 2 * d->cap + 16;
    }
    v = &d->v[d->n];
    *v = (struct ft__cached_device){0};
    snprintf(v->asked, sizeof(v->asked), "%s", asked);
    snprintf(v->name, sizeof(v->name), "%s", asked);
    st = ft__device_resolve(v->name, sizeof(v->name), v->note, sizeof(v->note),
                            data_dir, err);
    if (!st)
        d->n++;
    return st;
}

/* a->device by the name of its file, with a note on which variant was taken. */
static ft_status resolve(ft__answer *a, const ft__predict_question *q, ft_error *err)
{
    const struct ft__cached_device *known;
    ft_status st;

    if (!q->devices)
        return ft__device_resolve(a->device, sizeof(a->device), a->device_note,
                                  sizeof(a->device_note), q->data_dir, err);
    if (!cached(q->devices, a->device) &&
        (st = cache(q->devices, a->device, q->data_dir, err)))
        return st;
    known = cached(q->devices, a->device);
    snprintf(a->device, sizeof(a->device), "%s", known->name);
    snprintf(a->device_note, sizeof(a->device_note), "%s", known->note);
    return FT_OK;
}

/* Into f, which owns it unless it is kept for other questions. */
static ft_status load_device(ft__found *f, const ft__answer *a,
                             const ft__predict_question *q, ft_error *err)
{
    struct ft__cached_device *known;
    ft_status st;

    if (!q->devices) {
        st = ft_device_load(&f->device, q->data_dir, a->device, err);
        f->from.on.device = f->device;
        return st;
    }
    if (!cached(q->devices, a->device) &&
        (st = cache(q->devices, a->device, q->data_dir, err)))
        return st;
    known = cached(q->devices, a->device);
    st = known->device ? FT_OK
                       : ft_device_load(&known->device, q->data_dir, a->device, err);
    f->from.on.device = known->device;
    return st;
}

/* ---- where the answer comes from ---- */

/* By the predictor of the device itself; where it is driven otherwise than it was
 * measured, with the help of its data sheet. */
static ft_status find_learned(ft__found *f, ft__answer *a,
                              const ft__predict_question *q, ft_error *err)
{
    ft_status st = FT_OK;

    snprintf(a->engine, sizeof(a->engine), "%s %s", q->info.engine,
             q->info.engine_version);
    snprintf(a->setting, sizeof(a->setting), "%s",
             *a->use.setting ? a->use.setting : q->info.setting);
    snprintf(a->known_as, sizeof(a->known_as), "%s", q->info.device);
    f->from.predictor = q->predictor;
    if (*a->use.setting)
        st = load_device(f, a, q, err);
    f->from.on =
        (ft_device_use){.device = f->from.on.device,
                        .setting = a->use.setting,
                        .policy = a->use.policy};
    return st;
}

/* The family that was named, or the best one there is; NULL: none. */
static ft_status find_family(const ft_predictor **out, ft__answer *a,
                             const ft__predict_question *q, ft_error *err)
{
    const char *path = q->predictor_path;
    ft_status st = FT_OK;

    *out = q->o->predictor ? q->predictor : NULL;
    if (q->o->method)
        return FT_OK;
    if (!*out)
        st = ft__families_open(q->families, q->data_dir, err);
    if (!*out && !st)
        *out = ft__families_best(q->families, a->device, q->graph, &path);
    if (*out)
        snprintf(a->family, sizeof(a->family), "%s", path);
    return st;
}

/* Without a predictor of that very device: by a family of devices, otherwise from what
 * the device's data sheet says. */
static ft_status find_any(ft__found *f, ft__answer *a, const ft__predict_question *q,
                          ft_error *err)
{
    ft_status st = load_device(f, a, q, err);
    const ft_device_facts *d;

    if (st)
        return st;
    d = ft_device_get(f->from.on.device);
    a->limit_bytes = d->memory_bytes;
    snprintf(a->known_as, sizeof(a->known_as), "%s", d->title);
    snprintf(a->setting, sizeof(a->setting), "%s", a->use.setting);
    f->from.on = (ft_device_use){.device = f->from.on.device,
                                 .setting = a->use.setting,
                                 .policy = a->use.policy,
                                 .known = ft__known_of(q->known, a->device)};
    st = find_family(&f->from.predictor, a, q, err);
    a->sheet = !f->from.predictor;
    a->among = f->from.predictor && ft__family_has(f->from.predictor, a->device);
    return st;
}

/* The machine that the predictor was made on may be another one. Its memory is the
 * limit. */
static ft_status check_machine(ft__answer *a, const ft__predict_question *q,
                               ft_error *err)
{
    ft_device *local;
    ft_status st = ft_device_local(&local, "", err);

    if (!st)
        a->limit_bytes = ft_device_get(local)->memory_bytes;
    if (!st && strcmp(ft_device_fingerprint(local), q->info.device) != 0)
        ft__answer_warn(a,
                        "the predictor was trained on %s, but this machine is %s: "
                        "collect and train again",
                        q->info.device, ft_device_fingerprint(local));
    ft_device_free(local);
    return st;
}

static int no_predictor(const ft__predict_question *q)
{
    char threads[32] = "";

    if (q->o->threads > 1)
        snprintf(threads, sizeof(threads), " --threads %llu",
                 (unsigned long long)q->o->threads);
    return ft__cli_exit(
        q->c, FT__EXIT_MISSING,
        "there is no predictor for this machine yet (%s); two commands "
        "make one:\n  foretell collect --quick --engine %s%s\n  foretell "
        "train --engine %s%s",
        q->predictor_path, q->engine, threads, q->engine, threads);
}

static bool knows(const ft__predict_question *q, const char *device)
{
    return q->predictor && !q->info.n_datasets &&
           (strcmp(device, "local") == 0 || strcmp(q->info.device, device) == 0);
}

static int check_local(const ft__answer *a, const ft__predict_question *q, bool learned)
{
    if (q->o->method)
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--method %s needs a data sheet: --device with a name that "
                            "foretell devices lists",
                            q->o->method);
    if (!learned)
        return no_predictor(q);
    if (*a->use.setting)
        return ft__cli_exit(q->c, FT__EXIT_MISSING, FT__LOCAL_AS_MEASURED);
    return FT__EXIT_GOOD;
}

int ft__predict_find(ft__found *f, ft__answer *a, const ft__predict_question *q)
{
    const bool local = strcmp(a->device, "local") == 0;
    bool learned = knows(q, a->device);
    ft_error err = {0};
    ft_status st = FT_OK;
    int code;

    *f = (ft__found){.from = {.by = q->by}};
    if (!learned) {
        st = resolve(a, q, &err);
        learned = knows(q, a->device);
    }
    if (st)
        return ft__cli_fail(q->c, st, &err);
    a->limit_bytes = NAN;
    code = local ? check_local(a, q, learned) : FT__EXIT_GOOD;
    if (code)
        return code;
    if (!learned && q->o->predictor && !q->info.n_datasets)
        return ft__cli_exit(q->c, FT__EXIT_MISSING,
                            "%s is a predictor for %s, not for %s", q->o->predictor,
                            q->info.device, a->device);
    if (local)
        st = check_machine(a, q, &err);
    if (!st)
        st = learned ? find_learned(f, a, q, &err) : find_any(f, a, q, &err);
    if (!st)
        return FT__EXIT_GOOD;
    ft__found_free(f);
    return ft__cli_fail_asked(q->c, st, &err);
}

void ft__found_free(ft__found *f)
{
    ft_device_free(f->device);
    f->device = NULL;
}

/* ---- answers ---- */

static ft_status predict(ft__answer *a, ft__estimate *x, const ft__predict_question *q,
                         const ft__source *from, ft_error *err)
{
    ft_status st = ft__estimate_make(x, from, q->graph, &q->step, err);

    if (st)
        return st;
    a->graph = x->graph;
    a->e = x->e;
    a->step = ft__step_name(&q->step, x->graph);
    a->by = q->by;
    return find_max_batch(a, q, from, err);
}

int ft__predict_answer(ft__answer *a, ft__estimate *x, const ft__predict_question *q)
{
    ft_error err = {0};
    ft__found found;
    ft_status st;
    int code = ft__predict_find(&found, a, q);

    if (code)
        return code;
    st = predict(a, x, q, &found.from, &err);
    ft__found_free(&found);
    if (st)
        return ft__cli_fail_asked(q->c, st, &err);
    if (q->o->must_fit && !(a->limit_bytes > 0))
        return ft__cli_exit(q->c, FT__EXIT_MISSING,
                            "--must-fit: the memory of %s is not known", a->device);
    a->batch = ft__graph_batch(q->graph);
    a->dtype = q->dtype;
    explain_energy(a);
    warn(a, q->c->args.v[0]);
    make_verify(a, q);
    return FT__EXIT_GOOD;
}
