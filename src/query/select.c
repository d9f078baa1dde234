/* What answers a query: a predictor of the very device, one for a family of devices, or
 * the device's specifications. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pairs.h"
#include "graph/graph_inside.h"
#include "predict/model/calibration_set.h"
#include "query/select.h"

struct selecting {
    ft_data *d;
    const ft_query *q;
    const ft_graph *g;
    bool named;                    /* the query names the predictor */
    const ft_predictor *predictor; /* NULL: none */
    ft_predictor_info info;
    const ft__calibration_set *known; /* NULL: nothing is to be corrected */
    char path[FT__PATH];
    ft_error damaged; /* of this machine's, which nobody named */
};

/* Of this library. */
static const char *const engines[] = {"fake",   "onednn", "onnxruntime",
                                      "opencl", "torch",  "tvm"};
enum { N_ENGINES = sizeof(engines) / sizeof(*engines) };

static const char *engine_of(const ft_query *q)
{
    return q->engine ? q->engine : FT_DEFAULT_ENGINE;
}

static bool is_own_engine(const char *name)
{
    for (size_t i = 0; i < N_ENGINES; i++)
        if (strcmp(engines[i], name) == 0)
            return true;
    return false;
}

ft_status ft__local_as_measured(const ft__selection *s, const char *setting,
                                ft_error *err)
{
    size_t len;
    const char *clock = ft__pair(setting, "clock", &len), *engine = s->engine;
    const unsigned long long threads = s->threads ? s->threads : 1;

    if (!clock || strchr(setting, ' '))
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "--device local is answered as it was measured, not at \"%s\"; "
                       "of a clock alone a predictor can be made",
                       setting);
    return ft_fail(err, FT_ENOTFOUND, 0,
                   "--device local is answered as it was measured; at %s: foretell "
                   "collect --quick --engine %s --threads %llu --clocks %.*s, then "
                   "foretell train --engine %s --setting 'threads=%llu clock=%.*s' -o "
                   "clocked.ftp, then --predictor clocked.ftp",
                   setting, engine, threads, (int)len, clock, engine, threads, (int)len,
                   clock);
}

/* NULL: physics. FT_EINVAL: says which there are. */
static ft_status read_analytic(ft__analytic *out, const char *name, ft_error *err)
{
    static const char *const names[] = {[FT__ANALYTIC_PHYSICS] = "physics",
                                        [FT__ANALYTIC_ROOFLINE] = "roofline",
                                        [FT__ANALYTIC_PALEO] = "paleo"};

    *out = FT__ANALYTIC_PHYSICS;
    for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (ft__analytic)i;
            return FT_OK;
        }
    return name ? ft_fail(err, FT_EINVAL, 0,
                          "--method wants physics, roofline or paleo, not \"%s\"", name)
                : FT_OK;
}

/* What is opened for a query, whatever the device. */

/* The one that is named, or that of this machine. */
static ft_status open_predictor(struct selecting *a, ft_error *err)
{
    const ft_query *q = a->q;
    ft_status st = FT_OK;

    if (q->predictor)
        snprintf(a->path, sizeof(a->path), "%s", q->predictor);
    else if (!q->loaded)
        ft_data_predictor_path(a->path, sizeof(a->path), a->d->user_dir, engine_of(q),
                               q->threads);
    if (q->loaded)
        a->predictor = q->loaded;
    else if (q->predictor)
        st = ft__data_predictor(&a->predictor, a->d, a->path, err);
    else if (*a->d->user_dir && access(a->path, F_OK) == 0)
        st = ft__data_predictor(&a->predictor, a->d, a->path, &a->damaged);
    if (*a->damaged.msg)
        return st == FT_ENOMEM ? ft_fail(err, st, 0, "%s", a->path) : FT_OK;
    if (st || !a->predictor)
        return st;
    ft_predictor_get_info(a->predictor, &a->info);
    if (*a->info.device && q->engine && strcmp(q->engine, a->info.engine) != 0)
        return ft_fail(err, FT_ENOTFOUND, 0, "%s was trained with engine %s, not %s",
                       a->path, a->info.engine, q->engine);
    return FT_OK;
}

static ft_status open_all(struct selecting *a, ft_error *err)
{
    const ft_query *q = a->q;
    ft_status st;

    a->named = q->predictor || q->loaded;
    if (q->method && q->correct)
        return ft_fail(err, FT_EINVAL, 0,
                       "--method %s uses no measurements: leave --correct out",
                       q->method);
    if (q->method && a->named)
        return ft_fail(err, FT_EINVAL, 0,
                       "--method %s uses no predictor: leave --predictor out",
                       q->method);
    st = q->method ? FT_OK : open_predictor(a, err);
    if (!st && q->correct)
        st = ft__data_calibration_set(&a->known, a->d, q->correct, err);
    return st;
}

/* Predictors for families of devices. */

/* Was it trained on the device? */
static bool is_trained_on(const ft_predictor *p, const char *device)
{
    ft_predictor_info info;

    ft_predictor_get_info(p, &info);
    for (uint32_t i = 0; i < info.n_datasets; i++) {
        ft_predictor_dataset d;

        ft_predictor_get_dataset(p, i, &d);
        /* Without an engine: workloads, nothing of operations. */
        if (*d.engine && strcmp(d.device, device) == 0)
            return true;
    }
    return false;
}

/* The family that knows the operations of g best, rather one that has the device, the
 * user's own first; *out NULL: none knows much of them, or g is NULL. Borrowed, with
 * its path. *damaged: why a file is not among them, or "". */
static ft_status find_family(const ft_predictor **out, const char **path,
                             const char **damaged, ft_data *d, const char *device,
                             const ft_graph *g, ft_error *err)
{
    /* Less than that learned: constants of other work fit no better than defaults. */
    static const double least = 0.3;
    const ft__families *f;
    double most = 0;
    ft_status st;

    *out = NULL;
    *path = "";
    st = ft__data_families(&f, d, err);
    *damaged = f->damaged;
    for (size_t i = 0; !st && g && i < f->n; i++) {
        const ft_predictor *p = f->predictor[i]->thing;
        double covers = ft__predictor_covers(p, device, g);

        if (covers < least)
            continue;
        covers += is_trained_on(p, device) ? 0.5 : 0;
        covers += i == 0 && f->own ? 1 : 0;
        if (covers > most) {
            most = covers;
            *out = p;
            *path = f->predictor[i]->asked;
        }
    }
    return st;
}

/* Is it one that estimates know, that the importers of public datasets write, or that a
 * dataset of the predictor has? */
static bool is_setting(const ft_predictor *p, const char *name)
{
    static const char *const known[] = {
        "clock",    "memory", "power",     "run_mode", "optimizer", "activation",
        "cache",    "host",   "precision", "session",  "state",     "split",
        "calls",    "op",     "to",        "threads",  "layout",    "cuda",
        "compiled", "mode",   "option",    "picks",    "loop",      "miopen"};
    ft_predictor_info info = {0};
    size_t len;

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i], name) == 0)
            return true;
    if (p)
        ft_predictor_get_info(p, &info);
    for (uint32_t i = 0; i < info.n_datasets; i++) {
        ft_predictor_dataset d;

        ft_predictor_get_dataset(p, i, &d);
        if (ft__pair(d.setting, name, &len))
            return true;
    }
    return false;
}

static ft_status check_setting(const ft_predictor *p, const char *setting,
                               ft_error *err)
{
    const char *loop;
    size_t len;

    for (const char *at = setting; at && *at;) {
        char name[64];

        len = strcspn(at, " ");
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "= "), at);
        if (!is_setting(p, name))
            return ft_fail(err, FT_EINVAL, 0,
                           "setting \"%.100s\": neither estimates nor the measurements "
                           "behind them know \"%s\"; clock=1200MHz memory=877MHz "
                           "power=250W are known",
                           setting, name);
        at += len + (at[len] == ' ');
    }
    loop = ft__pair(setting, "loop", &len);
    if (loop && !(len == 5 && strncmp(loop, "short", len) == 0) &&
        (strspn(loop, "0123456789") < len || strtod(loop, NULL) < 1))
        return ft_fail(err, FT_EINVAL, 0,
                       "loop=%.*s: a loop is \"short\", or a number of calls such as "
                       "3000",
                       (int)len, loop);
    return FT_OK;
}

/* The host that datasets of the device name, the one asked for before all others;
 * "not known": none or several. */
static void find_host(ft__selection *s, const struct selecting *a)
{
    const ft_predictor *p = s->source.predictor;
    const char *wanted = a->q->host;
    ft_predictor_info info = {0};
    char found[sizeof(s->host)] = "";

    if (p)
        ft_predictor_get_info(p, &info);
    for (uint32_t i = 0; i < info.n_datasets; i++) {
        ft_predictor_dataset d;
        const char *host;
        size_t len;

        ft_predictor_get_dataset(p, i, &d);
        host =
            strcmp(d.device, s->device) == 0 ? ft__pair(d.setting, "host", &len) : NULL;
        if (!host || len >= sizeof(found))
            continue;
        if (wanted && strlen(wanted) == len && memcmp(host, wanted, len) == 0) {
            snprintf(s->host, sizeof(s->host), "%s", wanted);
            return;
        }
        if (*found && (strlen(found) != len || memcmp(found, host, len) != 0))
            return;
        snprintf(found, sizeof(found), "%.*s", (int)len, host);
    }
    if (*found)
        snprintf(s->host, sizeof(s->host), "%s", found);
}

static void run_on_gpu(ft__selection *s, const char *engine, const char *policy)
{
    const bool tf32 = policy && strcmp(policy, "tf32") == 0;
    const bool ieee = policy && strcmp(policy, "ieee") == 0;

    snprintf(s->run_by, sizeof(s->run_by), "%s,device=cuda%s", engine,
             tf32   ? ",tf32=1"
             : ieee ? ",tf32=0"
                    : "");
}

/* The engine of this library that runs on the device; "": none does, or another
 * software was asked for. */
static void find_engine(ft__selection *s, const ft_device_facts *facts,
                        const ft_query *q)
{
    const bool eager = !q->run_mode || strcmp(q->run_mode, "eager") == 0;
    const bool torch = !q->engine || strcmp(q->engine, "torch") == 0;

    if (strcmp(facts->type, "cpu") == 0 && is_own_engine(engine_of(q)))
        snprintf(s->run_by, sizeof(s->run_by), "%s", engine_of(q));
    else if (strcmp(facts->vendor, "NVIDIA") == 0 && eager && torch)
        run_on_gpu(s, "torch", q->policy);
}

/* That of a predictor of one device, as it was run. What is no CPU is run by engines
 * that say so. */
static void take_engine(ft__selection *s, const struct selecting *a)
{
    const double threads = ft__pair_number(a->info.setting, "threads");
    const char *engine = a->info.engine;
    ft_predictor_dataset d = {.policy = ""};

    if (a->info.n_datasets)
        ft_predictor_get_dataset(a->predictor, 0, &d);
    snprintf(s->engine, sizeof(s->engine), "%s", engine);
    s->threads = a->q->threads ? a->q->threads : threads > 1 ? (uint64_t)threads : 0;
    if (strncmp(a->info.device, "cpu-", 4) != 0 &&
        (strcmp(engine, "torch") == 0 || strcmp(engine, "onnxruntime") == 0))
        run_on_gpu(s, engine, a->q->policy ? a->q->policy : d.policy);
    else if (is_own_engine(engine))
        snprintf(s->run_by, sizeof(s->run_by), "%s", engine);
}

static void add_name(char *list, size_t size, const char *name)
{
    const size_t len = strlen(list), n = strlen(name);

    for (const char *at = list; (at = strstr(at, name)) != NULL; at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ',' || !at[n]))
            return;
    snprintf(list + len, size - len, "%s%s", len ? ", " : "", name);
}

/* Engines that measurements behind p name, into the list; may `engine` be among them?
 * Those of workloads do not say. */
static bool add_engines(char *list, size_t size, const ft_predictor *p,
                        const ft_predictor *named, const char *engine)
{
    ft_predictor_info info;
    bool there = false;

    ft_predictor_get_info(p, &info);
    for (uint32_t i = 0; i < info.n_datasets; i++) {
        ft_predictor_dataset d;

        ft_predictor_get_dataset(p, i, &d);
        there = there || strcmp(d.engine, engine) == 0 || (p == named && !*d.engine);
        if (*d.engine)
            add_name(list, size, d.engine);
    }
    return there;
}

/* Of other devices an engine is one of ours, or one that measurements name. */
static ft_status check_engine(const struct selecting *a, ft_error *err)
{
    const char *engine = a->q->engine;
    const ft__families *f;
    char list[512] = "";
    bool there;
    ft_status st;

    if (!engine || is_own_engine(engine))
        return FT_OK;
    st = ft__data_families(&f, a->d, err);
    if (st)
        return st;
    there = a->predictor &&
            add_engines(list, sizeof(list), a->predictor, a->predictor, engine);
    for (size_t i = 0; i < f->n; i++)
        there = add_engines(list, sizeof(list), f->predictor[i]->thing, a->predictor,
                            engine) ||
                there;
    return there
               ? FT_OK
               : ft_fail(err, FT_EINVAL, 0,
                         "--engine %s: no predictor has measurements of it; there are "
                         "%s; how others serve a language model is asked with "
                         "--concurrency N",
                         engine, list);
}

/* Of software that nothing behind the answer was measured with. */
static void say_other_engine(ft__selection *s, const struct selecting *a)
{
    const ft_predictor *p = s->source.predictor;
    const char *engine = a->q->engine;
    char list[128] = "";

    if (engine && !a->q->method &&
        !(p && add_engines(list, sizeof(list), p, a->predictor, engine)))
        snprintf(s->other_engine, sizeof(s->other_engine),
                 "nothing measured with %s is behind this answer: it is that of %s",
                 engine, *list ? list : "the data sheet");
}

/* By the predictor of the device itself; where it is driven otherwise than it was
 * measured, with the help of its specifications. */
static ft_status select_device(ft__selection *s, const struct selecting *a,
                               ft_error *err)
{
    const bool driven = a->q->setting && *a->q->setting;
    const ft__data_kept *kept = NULL;
    const ft_device *file;
    ft_status st = FT_OK;

    if (strcmp(s->device, "local") != 0)
        st = ft__data_device(&kept, a->d, s->device, true, driven ? err : NULL);
    if (st && driven)
        return st;
    file = kept ? kept->thing : NULL;
    s->by = FT_ANSWERED_BY_DEVICE;
    take_engine(s, a);
    snprintf(s->engine_version, sizeof(s->engine_version), "%s",
             a->info.engine_version);
    snprintf(s->setting, sizeof(s->setting), "%s",
             driven ? a->q->setting : a->info.setting);
    snprintf(s->title, sizeof(s->title), "%s", a->info.device);
    s->source.predictor = a->predictor;
    s->source.on = (ft__device_use){
        .device = file, .setting = a->q->setting, .policy = a->q->policy};
    if (strncmp(a->info.device, "cpu-", 4) == 0) /* it issues its own */
        snprintf(s->host, sizeof(s->host), "%s", a->info.device);
    if (file)
        s->limit_bytes = ft_device_get(file)->memory_bytes;
    return FT_OK;
}

/* A CPU from its specifications runs as many threads as are asked for, otherwise one a
 * core. */
static ft_status take_threads(ft__selection *s, const ft_device_facts *facts,
                              const ft_query *q, ft_error *err)
{
    s->threads = q->threads;
    if (strcmp(facts->type, "cpu") != 0 || s->source.predictor || !(facts->cores > 0))
        return FT_OK;
    if ((double)q->threads > facts->cores)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "--threads %llu: %s has %.0f cores, of which each is estimated "
                       "with one thread",
                       (unsigned long long)q->threads, facts->title, facts->cores);
    if (!q->threads)
        s->threads = (uint64_t)facts->cores;
    snprintf(s->with_host, sizeof(s->with_host), "%s%sthreads=%llu", s->setting,
             *s->setting ? " " : "", (unsigned long long)s->threads);
    s->source.on.setting = s->with_host;
    return FT_OK;
}

/* Without a predictor of that very device: by a family of devices, otherwise from the
 * device's specifications. */
static ft_status select_any(ft__selection *s, const struct selecting *a, ft_error *err)
{
    const ft_query *q = a->q;
    const char *damaged = "";
    const ft__data_kept *kept;
    ft_status st = ft__data_device(&kept, a->d, s->device, true, err);
    const ft_device *device;
    const ft_device_facts *facts;

    if (!st)
        st = check_engine(a, err);
    if (st)
        return st;
    device = kept->thing;
    facts = ft_device_get(device);
    s->limit_bytes = facts->memory_bytes;
    snprintf(s->title, sizeof(s->title), "%s", facts->title);
    snprintf(s->setting, sizeof(s->setting), "%s", q->setting ? q->setting : "");
    s->source.on = (ft__device_use){
        .device = device,
        .setting = q->setting,
        .policy = q->policy,
        .known =
            a->known && ft__calibration_set_count(a->known, s->device, FT__METRIC_TIME)
                ? a->known
                : NULL,
        .networks = a->known && ft__calibration_set_networks(a->known, s->device)
                        ? a->known
                        : NULL,
        .engine = q->engine,
        .engine_version = q->engine_version,
        .launch_s = q->launch_s,
        .run_mode = q->run_mode};
    if (a->named) {
        s->source.predictor = a->predictor;
        s->predictor = q->predictor ? q->predictor : "";
    } else if (!q->method) {
        st = find_family(&s->source.predictor, &s->predictor, &damaged, a->d, s->device,
                         a->g, err);
    }
    if (*a->damaged.msg)
        damaged = a->damaged.msg;
    if (*damaged)
        snprintf(s->damaged, sizeof(s->damaged), "a predictor is left out: %s",
                 damaged);
    if (s->source.predictor && !ft__predictor_serves(s->source.predictor, device)) {
        s->source.predictor = NULL;
        s->predictor = "";
    }
    if (!st)
        st = take_threads(s, facts, q, err);
    if (!st)
        st = check_setting(s->source.predictor, q->setting, err);
    find_engine(s, facts, q);
    find_host(s, a);
    if (q->host && strcmp(s->host, q->host) == 0 && s->source.predictor) {
        snprintf(s->with_host, sizeof(s->with_host), "%s%shost=%s", s->setting,
                 *s->setting ? " " : "", q->host);
        s->source.on.setting = s->with_host;
    }
    s->by = s->source.predictor ? FT_ANSWERED_BY_FAMILY : FT_ANSWERED_BY_SPECIFICATION;
    s->among = s->source.predictor && is_trained_on(s->source.predictor, s->device);
    say_other_engine(s, a);
    return st;
}

static ft_status no_predictor(const struct selecting *a, ft_error *err)
{
    const char *engine = engine_of(a->q);
    char threads[32] = "";

    if (a->q->threads > 1)
        snprintf(threads, sizeof(threads), " --threads %llu",
                 (unsigned long long)a->q->threads);
    if (!*a->d->user_dir)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "no folder with a predictor for this machine is known (HOME is "
                       "not set, or the "
                       "program gave none); two commands make one, for --predictor "
                       "this.ftp:\n  foretell collect "
                       "--quick --engine %s%s --db this.db\n  foretell train --engine "
                       "%s%s --db this.db --out this.ftp",
                       engine, threads, engine, threads);
    return ft_fail(err, FT_ENOTFOUND, 0,
                   "%s%.400s%s; two commands make one:\n  foretell collect --quick "
                   "--engine %s%s\n  foretell train --engine %s%s",
                   a->predictor ? "" : "there is no predictor for this machine yet (",
                   a->path, a->predictor ? " is no predictor for this machine" : ")",
                   engine, threads, engine, threads);
}

/* The machine that the predictor was made on may be another one. Its memory is the
 * limit. */
static ft_status check_local(ft__selection *s, const struct selecting *a, bool learned,
                             ft_error *err)
{
    const ft__data_kept *kept;
    const ft_device *local;
    ft_status st;

    if (a->q->method)
        return ft_fail(err, FT_EINVAL, 0,
                       "--method %s needs a data sheet: --device with a name that "
                       "foretell devices lists",
                       a->q->method);
    if (*a->damaged.msg)
        return ft_fail(err, FT_EFORMAT, 0, "%s", a->damaged.msg);
    if (!learned)
        return no_predictor(a, err);
    take_engine(s, a);
    if (a->q->setting && *a->q->setting)
        return ft__local_as_measured(s, a->q->setting, err);
    st = ft__data_device(&kept, a->d, "local", true, err);
    if (st)
        return st;
    local = kept->thing;
    s->limit_bytes = ft_device_get(local)->memory_bytes;
    if (strcmp(ft_device_get(local)->fingerprint, a->info.device) != 0)
        snprintf(s->other_machine, sizeof(s->other_machine),
                 "the predictor was trained on %s, but this machine is %s: "
                 "collect and train again",
                 a->info.device, ft_device_get(local)->fingerprint);
    return FT_OK;
}

static bool knows(const struct selecting *a, const char *device)
{
    return a->predictor && *a->info.device &&
           (strcmp(device, "local") == 0 || strcmp(a->info.device, device) == 0);
}

static ft_status find(ft__selection *s, const struct selecting *a, const char *device,
                      ft_error *err)
{
    const bool local = strcmp(device, "local") == 0;
    const ft__data_kept *kept;
    bool learned = knows(a, device);
    ft_status st = FT_OK;

    if (strlen(device) >= sizeof(s->device))
        return ft_fail(err, FT_EINVAL, 0, "device %.60s...: too long a name", device);
    snprintf(s->device, sizeof(s->device), "%s", device);
    if (!learned) {
        st = ft__data_device(&kept, a->d, device, false, err);
        if (!st) {
            snprintf(s->device, sizeof(s->device), "%s", kept->name);
            snprintf(s->note, sizeof(s->note), "%s", kept->note);
        }
        learned = !st && knows(a, s->device);
    }
    if (!st && local)
        st = check_local(s, a, learned, err);
    if (!st && !learned && a->named && *a->info.device)
        st = ft_fail(err, FT_ENOTFOUND, 0, "%s is a predictor for %s, not for %s",
                     a->q->predictor ? a->q->predictor : "this", a->info.device,
                     s->device);
    if (st)
        return st;
    return learned ? select_device(s, a, err) : select_any(s, a, err);
}

ft_status ft__select(ft__selection *out, ft_data *d, const ft_query *q,
                     const ft_graph *g, ft_error *err)
{
    struct selecting a = {.d = d, .q = q, .g = g};
    ft_status st;

    *out = (ft__selection){.source.channels_last = q->channels_last != 0,
                           .predictor = "",
                           .limit_bytes = NAN,
                           .host = "not known"};
    if (q->channels_last && ft__graph_is_list(g))
        return ft_fail(err, FT_EINVAL, 0,
                       "--channels-last: a list of operations says "
                       "layout=channels_last in its lines");
    st = read_analytic(&out->source.model, q->method, err);
    if (!st)
        st = open_all(&a, err);
    return st ? st : find(out, &a, q->device ? q->device : "local", err);
}
