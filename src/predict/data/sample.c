/* Measurements of operations and workloads out of a store as samples of datasets, with
 * what is known of their devices. */
#include "predict/data/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/pairs.h"
#include "device/spec/device.h"
#include "graph/op_inside.h"
#include "predict/data/features.h"

static const char *const metric_names[FT__N_METRICS] = {
    [FT__METRIC_TIME] = "time",           [FT__METRIC_POWER] = "power",
    [FT__METRIC_ENERGY] = "energy",       [FT__METRIC_MEMORY] = "memory",
    [FT__METRIC_WORKSPACE] = "workspace",
};

const char *ft__metric_name(ft__metric m)
{
    return metric_names[m];
}

ft__metric ft__metric_from_name(const char *name)
{
    int m = 0;

    while (m < FT__N_METRICS && strcmp(name, metric_names[m]) != 0)
        m++;
    return (ft__metric)m;
}

/* Is `value` one of the list's items? */
static bool is_listed(const char *list, size_t len, const char *value, size_t n)
{
    const char *end = list + len;

    for (;;) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        size_t item = (size_t)((comma ? comma : end) - list);

        if (item == n && memcmp(list, value, n) == 0)
            return true;
        if (!comma)
            return false;
        list = comma + 1;
    }
}

static bool is_kind_listed(const char *list, size_t len, const char *spec, bool cls)
{
    size_t n = strcspn(spec, " ");
    const char *name;
    ft_kind k;

    if (!cls)
        return is_listed(list, len, spec, n);
    if (!ft__kind_from_name(&k, spec, n))
        return false;
    name = ft__class_name(ft_kind_class(k));
    return is_listed(list, len, name, strlen(name));
}

/* Does the row have the value that one pair "name=a,b" asks for? */
static bool has_pair(const ft_key *k, const char *name, size_t n, const char *list,
                     size_t len)
{
    const struct {
        const char *name, *value;
    } part[] = {{"device", k->device},
                {"engine", k->engine},
                {"version", k->engine_version},
                {"policy", k->dtype_policy},
                {"phase", k->phase}};
    char pair[64];
    const char *value;
    size_t got;

    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
        if (strlen(part[i].name) == n && memcmp(part[i].name, name, n) == 0)
            return is_listed(list, len, part[i].value, strlen(part[i].value));
    if (n == 4 && memcmp(name, "kind", 4) == 0)
        return is_kind_listed(list, len, k->spec, false);
    if (n == 5 && memcmp(name, "class", 5) == 0)
        return is_kind_listed(list, len, k->spec, true);
    if (n >= sizeof(pair))
        return false;
    memcpy(pair, name, n);
    pair[n] = '\0';
    value = ft__pair(k->setting, pair, &got);
    if (!value) /* dtypes and the like stand in the spec */
        value = ft__pair(k->spec, pair, &got);
    return value && is_listed(list, len, value, got);
}

bool ft__where_has(const char *where, const ft_key *k)
{
    while (*where) {
        size_t all = strcspn(where, " "), n = strcspn(where, "= ");

        if (all && !has_pair(k, where, n, where + n + 1, all - n - 1))
            return false;
        where += all + (where[all] == ' ');
    }
    return true;
}

ft_status ft__where_check(const char *where, ft_error *err)
{
    for (const char *p = where; *p;) {
        size_t all = strcspn(p, " "), n = strcspn(p, "= ");

        if (all && (n == 0 || n >= all - 1))
            return ft_fail(err, FT_EINVAL, (uint64_t)(p - where),
                           "\"%.*s\" is not NAME=VALUE", (int)all, p);
        p += all + (p[all] == ' ');
    }
    return FT_OK;
}

struct samples_reading {
    ft__samples *s;
    const char *where;
    bool workloads;             /* what was measured whole is wanted, nothing else */
    size_t first;               /* sample of the key that is being read */
    size_t n_of[FT__N_METRICS]; /* values of that key so far, */
    int64_t run[FT__N_METRICS]; /* all of this run */
    ft__buf setting;            /* of the row, with its run mode */
    ft_status st;
    ft_error err;
};

static ft__sample *new_sample(ft__samples *s, const ft_op *op, uint32_t dataset)
{
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 256;
        ft__sample *v = realloc(s->v, cap * sizeof(*v));

        if (!v)
            return NULL;
        s->v = v;
        s->cap = cap;
    }
    s->v[s->n] = (ft__sample){
        .op = *op, .hash = ft__op_hash(op), .dataset = dataset, .error_s = NAN};
    for (int m = 0; m < FT__N_METRICS; m++)
        s->v[s->n].value[m] = NAN;
    s->dataset[dataset].n++;
    return &s->v[s->n++];
}

/* A later run replaces the values of earlier runs of the key. */
static void take_run(struct samples_reading *r, ft__metric metric, int64_t run)
{
    if (r->n_of[metric] && r->run[metric] != run) {
        for (size_t i = 0; i < r->n_of[metric]; i++)
            r->s->v[r->first + i].value[metric] = NAN;
        r->n_of[metric] = 0;
    }
    r->run[metric] = run;
}

/* The sample that the next value of `metric` belongs to. */
static ft__sample *sample_for(struct samples_reading *r, const ft_op *op,
                              uint32_t dataset, ft__metric metric, int64_t run)
{
    ft__samples *s = r->s;
    const ft__sample *last = s->n > r->first ? &s->v[r->first] : NULL;

    /* Rows come ordered by key, of which the metric is the last part, then by time. */
    if (!last || last->dataset != dataset || !ft_op_equal(&last->op, op)) {
        r->first = s->n;
        memset(r->n_of, 0, sizeof(r->n_of));
    }
    take_run(r, metric, run);
    if (r->first + r->n_of[metric] == s->n && !new_sample(s, op, dataset))
        return NULL;
    return &s->v[r->first + r->n_of[metric]++];
}

/* Activities that sources tell of a kernel while it ran. */
static const char *const hints[] = {"dram_active", "fp32_active",   "fp64_active",
                                    "fp16_active", "tensor_active", "sm_active",
                                    "sm_occ"};

static double condition(const char *json, const char *name)
{
    char key[40];
    const char *at;

    snprintf(key, sizeof(key), "\"%s\":", name);
    at = json ? strstr(json, key) : NULL;
    return at ? strtod(at + strlen(key) + strspn(at + strlen(key), " \""), NULL) : NAN;
}

static bool add_workload(struct samples_reading *r, ft__sample *v, const ft_row *row)
{
    ft__workload **grown = realloc(r->s->own, (r->s->n_own + 1) * sizeof(*grown));
    ft__workload *w = calloc(1, sizeof(*w));

    if (grown)
        r->s->own = grown;
    if (w)
        w->spec = strdup(row->key.spec);
    if (!grown || !w || !w->spec) {
        free(w);
        return false;
    }
    for (size_t i = 0; i < FT__WORKLOAD_HINTS; i++)
        w->hint[i] = i < sizeof(hints) / sizeof(*hints)
                         ? condition(row->m.conditions, hints[i])
                         : NAN;
    v->whole = grown[r->s->n_own++] = w;
    return true;
}

/* A whole's phase stands beside its spec. */
static void set_phase(ft_op *op, const char *phase)
{
    ft_phase p;

    if (ft__phase_from_name(&p, phase, strlen(phase)))
        op->phase = p;
}

/* Engines whose published measurements replay CUDA graphs (docs/data.md). */
static const char *const graph_engines[] = {"trtllm", "vllm", "sglang", "aiter"};

static void add_pair(ft__buf *out, const char *pair)
{
    ft__buf_fmt(out, "%s%s", out->len ? " " : "", pair);
}

/* A setting with what its engine's published measurements have in common: the run mode
 * (none where it is eager), that attention of TensorRT-LLM takes queries, keys and
 * values as one tensor, and that mixtures of vLLM walk over the picks of all experts.
 */
static void add_of_engine(ft__buf *out, const char *setting, const char *engine)
{
    size_t len;

    ft__buf_str(out, setting);
    for (size_t i = 0; i < sizeof(graph_engines) / sizeof(*graph_engines); i++)
        if (strcmp(engine, graph_engines[i]) == 0 &&
            !ft__pair(setting, "run_mode", &len))
            add_pair(out, "run_mode=graph");
    if (strcmp(engine, "trtllm") == 0 && !ft__pair(setting, "cache", &len))
        add_pair(out, "cache=packed");
    if (strcmp(engine, "vllm") == 0 && !ft__pair(setting, "picks", &len))
        add_pair(out, "picks=all");
}

static int take_row(void *user, const ft_row *row)
{
    struct samples_reading *r = user;
    ft__metric metric = ft__metric_from_name(row->key.metric);
    uint32_t dataset;
    ft__sample *s;
    ft_op op;

    if (metric == FT__N_METRICS || !ft__where_has(r->where, &row->key))
        return 0;
    if ((strncmp(row->key.spec, "network ", 8) == 0 ||
         strncmp(row->key.spec, "kernel ", 7) == 0) != r->workloads)
        return 0;
    if (r->workloads && !(ft__pair_number(row->key.setting, "clock") > 0) &&
        !(ft__pair_number(row->key.setting, "power") > 0))
        return 0;
    if (ft_op_parse(&op, row->key.spec, strlen(row->key.spec), &r->err)) {
        r->st = ft_fail(&r->err, FT_EFORMAT, 0,
                        "the store holds a spec that cannot be read: %.200s",
                        row->key.spec);
        return 1;
    }
    if (r->workloads)
        set_phase(&op, row->key.phase);
    r->setting.len = 0;
    add_of_engine(&r->setting, row->key.setting, row->key.engine);
    dataset = r->setting.bad ? UINT32_MAX
                             : ft__dataset_of(&r->s->dataset, &r->s->n_datasets,
                                              &row->key, r->setting.s, true);
    s = dataset == UINT32_MAX ? NULL : sample_for(r, &op, dataset, metric, row->run);
    if (!s || (r->workloads && !s->whole && !add_workload(r, s, row))) {
        r->st = ft_fail(&r->err, FT_ENOMEM, 0, "training set");
        return 1;
    }
    s->value[metric] = row->m.value;
    if (metric == FT__METRIC_TIME)
        s->error_s = row->m.error;
    return 0;
}

struct context_reading {
    ft__samples *s;
    bool per_op;
};

static int take_context(void *user, const ft_row *row)
{
    const struct context_reading *c = user;
    const uint32_t i = ft__dataset_of(&c->s->dataset, &c->s->n_datasets, &row->key,
                                      row->key.setting, false);

    if (i == UINT32_MAX)
        return 0;
    if (c->per_op)
        c->s->dataset[i].context_per_op_bytes = row->m.value;
    else
        c->s->dataset[i].context_bytes = row->m.value;
    return 0;
}

/* Reads what was collected beside operations: the engine's own memory, and its lowering
 * policy. */
static ft_status read_engines(ft__samples *s, ft_store *store, ft_error *err)
{
    ft_status st = FT_OK;

    for (int per_op = 0; per_op < 2 && !st; per_op++) {
        struct context_reading c = {s, per_op};
        const ft_key key = {.metric = per_op ? "context_per_operation" : "context"};

        st = ft_store_each(store, &key, true, take_context, &c, err);
    }
    for (uint32_t i = 0; i < s->n_datasets && !st; i++) {
        ft__dataset *d = &s->dataset[i];
        double policy = 0;
        char fact[64];

        snprintf(fact, sizeof(fact), "policy:%.50s", d->engine);
        st = ft_store_fact(store, d->device, fact, &policy, err);
        if (policy > 0)
            d->lowering = (uint32_t)policy;
    }
    /* Without a fact any of the operations, which are lowered, shows it. */
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].op.layout == FT_LAYOUT_CHANNELS_LAST &&
            !s->dataset[s->v[i].dataset].lowering)
            s->dataset[s->v[i].dataset].lowering = FT_POLICY_CHANNELS_LAST;
    return st;
}

static ft_status append(ft__samples *s, ft_store *store, const ft_key *filter,
                        const char *where, bool workloads, ft_error *err)
{
    struct samples_reading r = {
        .s = s, .where = where ? where : "", .workloads = workloads, .first = s->n};
    size_t begin = s->n;
    ft_status st = ft__where_check(r.where, err);

    if (!st)
        st = ft_store_each(store, filter, false, take_row, &r, err);
    ft__buf_free(&r.setting);
    if (!st && r.st) {
        st = r.st;
        if (err)
            *err = r.err;
    }
    for (size_t i = begin; i < s->n; i++) {
        double *value = s->v[i].value;

        if (isnan(value[FT__METRIC_ENERGY]))
            value[FT__METRIC_ENERGY] = value[FT__METRIC_POWER] * value[FT__METRIC_TIME];
    }
    return st ? st : read_engines(s, store, err);
}

ft_status ft__samples_read(ft__samples *s, ft_store *store, const ft_key *filter,
                           const char *where, ft_error *err)
{
    const ft_status st = append(s, store, filter, where, false, err);

    if (st)
        ft__samples_free(s);
    return st;
}

ft_status ft__samples_read_workloads(ft__samples *s, ft_store *store,
                                     const ft_key *filter, const char *where,
                                     ft_error *err)
{
    const ft_status st = append(s, store, filter, where, true, err);

    if (st)
        ft__samples_free(s);
    return st;
}

/* A dataset may call its device by an alias; from here on it has one name. */
static ft_status know_alias(ft__dataset *d, const char *data_dir, ft_error *err)
{
    char name[128], *own;
    ft_status st = ft__device_find(name, sizeof(name), data_dir, d->device, err);

    if (st)
        return st;
    own = strdup(name);
    if (!own)
        return ft_fail(err, FT_ENOMEM, 0, "training set");
    free(d->device);
    d->device = own;
    return ft_device_load(&d->file, data_dir, name, err);
}

static ft_status know_device(ft__samples *s, uint32_t i, const char *data_dir,
                             ft_error *err)
{
    ft__dataset *d = &s->dataset[i];
    ft_status st;

    if (d->file || !data_dir)
        return FT_OK;
    st = ft_device_load(&d->file, data_dir, d->device, err);
    if (st == FT_ENOTFOUND)
        st = know_alias(d, data_dir, err);
    return st == FT_ENOTFOUND || st == FT_EIO ? FT_OK : st;
}

/* Which probe an operation is; FT__N_PROBES: none. */
static uint32_t probe_of(const ft_op *op, const ft_op *probe)
{
    uint32_t i = 0;

    while (i < FT__N_PROBES && !ft_op_equal(op, &probe[i]))
        i++;
    return i;
}

static ft__roof roof_from_probes(const double time_s[FT__N_PROBES])
{
    ft_op op = ft__probe(FT__PROBE_PEAK);
    ft__roof r = {.launch_s = time_s[FT__PROBE_LAUNCH],
                  .n_points = FT__MAX_ROOF_POINTS};
    ft_cost c;

    ft_op_cost(&op, &c);
    r.peak_flops = c.flops / time_s[FT__PROBE_PEAK];
    op = ft__probe(FT__PROBE_SPECIAL);
    ft_op_cost(&op, &c);
    r.transcendental_s = time_s[FT__PROBE_SPECIAL] / c.transcendentals;
    for (uint32_t i = 0; i < FT__MAX_ROOF_POINTS; i++) {
        double t = time_s[FT__PROBE_STREAM + i];

        op = ft__probe(FT__PROBE_STREAM + i);
        ft_op_cost(&op, &c);
        r.working_set[i] = c.bytes_read + c.bytes_written;
        /* The launch is a term of its own; never let it eat the whole time. */
        r.bandwidth[i] = r.working_set[i] / fmax(t - r.launch_s, t / 2);
    }
    return r;
}

static ft_status know_roof(ft__samples *s, uint32_t dataset, const ft_op *probe,
                           ft_error *err)
{
    double time_s[FT__N_PROBES] = {0};
    ft__dataset *d = &s->dataset[dataset];

    for (size_t i = 0; i < s->n; i++) {
        uint32_t p =
            s->v[i].dataset == dataset ? probe_of(&s->v[i].op, probe) : FT__N_PROBES;

        if (p < FT__N_PROBES && s->v[i].value[FT__METRIC_TIME] > 0)
            time_s[p] = s->v[i].value[FT__METRIC_TIME];
    }
    for (uint32_t i = 0; i < FT__N_PROBES; i++)
        if (!(time_s[i] > 0))
            return FT_OK;
    if (!d->roof)
        d->roof = malloc(sizeof(*d->roof));
    if (!d->roof)
        return ft_fail(err, FT_ENOMEM, 0, "training set");
    *d->roof = roof_from_probes(time_s);
    return FT_OK;
}

static ft_status know_roofs(ft__samples *s, ft_error *err)
{
    ft_op probe[FT__N_PROBES];
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < FT__N_PROBES; i++)
        probe[i] = ft__probe(i);
    for (uint32_t i = 0; i < s->n_datasets && !st; i++)
        st = know_roof(s, i, probe, err);
    return st;
}

ft_status ft__samples_know(ft__samples *s, const char *data_dir, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < s->n_datasets && !st; i++)
        st = know_device(s, i, data_dir, err);
    return st ? st : know_roofs(s, err);
}

static int by_dataset(const void *a, const void *b)
{
    return ft__dataset_order(*(const ft__dataset *const *)a,
                             *(const ft__dataset *const *)b);
}

static int compare_values(double a, double b)
{
    return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a > b) - (a < b);
}

static int by_content(const void *a, const void *b)
{
    const ft__sample *x = a, *y = b;
    int order = (x->dataset > y->dataset) - (x->dataset < y->dataset);

    if (!order)
        order = (x->hash > y->hash) - (x->hash < y->hash);
    for (int m = 0; m < FT__N_METRICS && !order; m++)
        order = compare_values(x->value[m], y->value[m]);
    return order;
}

/* New numbers of the datasets that rows are of, in order; to: scratch of all. */
static ft_status number_datasets(ft__samples *out, const ft__samples *s,
                                 const uint32_t *row, size_t n, uint32_t *to,
                                 ft_error *err)
{
    const ft__dataset **order = calloc(s->n_datasets + 1u, sizeof(ft__dataset *));
    bool good = true;

    out->dataset = calloc(s->n_datasets + 1u, sizeof(*out->dataset));
    if (!order || !out->dataset) {
        free(order);
        return ft_fail(err, FT_ENOMEM, 0, "%u datasets", s->n_datasets);
    }
    memset(to, 0, s->n_datasets * sizeof(*to));
    for (size_t i = 0; i < n; i++)
        to[s->v[row[i]].dataset]++;
    for (uint32_t i = 0; i < s->n_datasets; i++)
        if (to[i])
            order[out->n_datasets++] = &s->dataset[i];
    qsort(order, out->n_datasets, sizeof(*order), by_dataset);
    for (uint32_t i = 0; i < out->n_datasets; i++) {
        size_t from = (size_t)(order[i] - s->dataset);

        good = good && ft__dataset_copy(&out->dataset[i], &s->dataset[from]);
        out->dataset[i].n = to[from];
        to[from] = i;
    }
    free(order);
    return good ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%u datasets", s->n_datasets);
}

ft_status ft__samples_subset(ft__samples *out, const ft__samples *s,
                             const uint32_t *row, size_t n, ft_error *err)
{
    uint32_t *to = calloc(s->n_datasets + 1u, sizeof(*to));
    ft_status st;

    *out = (ft__samples){.v = calloc(n + 1, sizeof(*out->v)), .n = n};
    st = to && out->v ? number_datasets(out, s, row, n, to, err)
                      : ft_fail(err, FT_ENOMEM, 0, "%zu rows", n);
    for (size_t i = 0; i < n && !st; i++) {
        out->v[i] = s->v[row[i]];
        out->v[i].dataset = to[out->v[i].dataset];
    }
    free(to);
    if (!st) {
        qsort(out->v, n, sizeof(*out->v), by_content);
        st = know_roofs(out, err);
    }
    if (st)
        ft__samples_free(out);
    return st;
}

void ft__samples_free(ft__samples *s)
{
    for (uint32_t i = 0; i < s->n_datasets; i++)
        ft__dataset_free(&s->dataset[i]);
    for (size_t i = 0; i < s->n_own; i++) {
        free(s->own[i]->spec);
        free(s->own[i]);
    }
    free(s->own);
    free(s->dataset);
    free(s->v);
    *s = (ft__samples){0};
}

int ft__by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

size_t ft__count_different(const uint64_t *v, size_t n, uint64_t *scratch)
{
    size_t count = n > 0;

    memcpy(scratch, v, n * sizeof(*scratch));
    qsort(scratch, n, sizeof(*scratch), ft__by_number);
    for (size_t i = 1; i < n; i++)
        count += scratch[i] != scratch[i - 1];
    return count;
}
