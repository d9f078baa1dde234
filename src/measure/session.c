/* A session: an engine loaded and opened on this machine, its device named, settings
 * held, the thread pinned. */
#define _GNU_SOURCE /* CPU sets, RUSAGE_THREAD */
#include "measure/session.h"

#include <dirent.h>
#include <malloc.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "foretell/device.h"
#include "foretell/names.h"
#include "measure/op_job.h"

struct ft__pin {
    cpu_set_t before;
};

/* Keep the calling thread on one CPU it may use; NULL when the system refuses. */
static struct ft__pin *pin_thread(void)
{
    struct ft__pin *p = malloc(sizeof(*p));
    cpu_set_t one;

    if (!p)
        return NULL;
    if (sched_getaffinity(0, sizeof(p->before), &p->before))
        goto fail;
    CPU_ZERO(&one);
    /* The last CPU: the first one serves most interrupts. */
    for (size_t cpu = CPU_SETSIZE; cpu-- > 0;)
        if (CPU_ISSET(cpu, &p->before)) {
            CPU_SET(cpu, &one);
            break;
        }
    if (sched_setaffinity(0, sizeof(one), &one))
        goto fail;
    return p;
fail:
    free(p);
    return NULL;
}

/* Give it back the CPUs it had; takes and frees, NULL is fine. */
static void unpin_take(struct ft__pin *p)
{
    if (!p)
        return;
    (void)sched_setaffinity(0, sizeof(p->before), &p->before);
    free(p);
}

/* A "Name:   123 kB" line of /proc/self/status, in bytes; 0: not found. */
static uint64_t status_bytes(const char *name)
{
    FILE *fp = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long kib = 0;

    if (!fp)
        return 0;
    while (fgets(line, sizeof(line), fp))
        if (strncmp(line, name, strlen(name)) == 0)
            (void)sscanf(line + strlen(name), ": %llu", &kib);
    fclose(fp);
    return kib * 1024u;
}

ft__memory_use ft__memory_now(void)
{
    return (ft__memory_use){.resident = status_bytes("VmRSS"),
                            .own = status_bytes("RssAnon"),
                            .peak = status_bytes("VmHWM")};
}

void ft__memory_trim(bool new_peak)
{
    FILE *fp;

#ifdef __GLIBC__
    malloc_trim(0);
#endif
    if (!new_peak || !(fp = fopen("/proc/self/clear_refs", "w")))
        return;
    fputs("5", fp); /* where it is refused, the old peak counts */
    fclose(fp);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "ft_onednn.so" -> length of "onednn"; 0: not a plug-in's name. */
static size_t engine_name(const char *file)
{
    size_t len = strlen(file);

    return len > 6 && strncmp(file, "ft_", 3) == 0 && strcmp(file + len - 3, ".so") == 0
               ? len - 6
               : 0;
}

ft_status ft_engine_names(char ***names, size_t *n, const char *dir, ft_error *err)
{
    DIR *d = opendir(dir);
    ft__buf all = {0};
    struct dirent *e;
    char *at;

    *names = NULL;
    *n = 0;
    if (!d)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "no engine plug-ins: cannot read folder %s", dir);
    while ((e = readdir(d)) != NULL) {
        size_t len = engine_name(e->d_name);

        if (len == 0)
            continue;
        ft__buf_add(&all, e->d_name + 3, len);
        ft__buf_add(&all, "", 1);
        ++*n;
    }
    closedir(d);
    *names = malloc((*n + 1) * sizeof(**names) + all.len + 1);
    if (!*names || all.bad) {
        ft__buf_free(&all);
        free(*names);
        *names = NULL;
        return ft_fail(err, FT_ENOMEM, 0, "engine names");
    }
    at = (char *)(*names + *n + 1);
    if (all.len)
        memcpy(at, all.s, all.len);
    for (size_t i = 0; i < *n; i++, at += strlen(at) + 1)
        (*names)[i] = at;
    (*names)[*n] = NULL;
    qsort(*names, *n, sizeof(**names), by_name);
    ft__buf_free(&all);
    return FT_OK;
}

/* The engine's name is not there: say which are. */
static ft_status unknown_engine(const char *engine, const char *dir, ft_error *err)
{
    char **names, list[256] = "";
    size_t n;

    if (ft_engine_names(&names, &n, dir, err))
        return FT_ENOTFOUND;
    for (size_t i = 0; i < n; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
                 i ? ", " : "", names[i]);
    free(names);
    return ft_fail(err, FT_ENOTFOUND, 0, "no engine \"%s\" in %s; there %s %s", engine,
                   dir, n == 1 ? "is" : "are", n ? list : "none");
}

static ft_status load_engine(ft_session *s, const ft_session_options *opt,
                             ft_error *err)
{
    char path[4096];
    FILE *fp;

    if (strchr(opt->engine, '/') ||
        (size_t)snprintf(path, sizeof(path), "%s/ft_%s.so", opt->plugin_dir,
                         opt->engine) >= sizeof(path))
        return unknown_engine(opt->engine, opt->plugin_dir, err);
    fp = fopen(path, "rb");
    if (!fp)
        return unknown_engine(opt->engine, opt->plugin_dir, err);
    fclose(fp);
    return ft_engine_load(&s->engine, path, err);
}

/* Does the engine's clock go on while nothing runs? */
static bool clock_moves(const ft_session *s)
{
    const struct timespec moment = {0, 100 * 1000};
    double before = s->engine->now(s->context);

    nanosleep(&moment, NULL);
    return s->engine->now(s->context) > before;
}

static double simulated_now(void *user)
{
    const ft_session *s = user;

    return s->engine->now(s->context) + s->waited_s;
}

static void wait_simulated(void *user, double seconds)
{
    ft_session *s = user;

    s->waited_s += seconds;
}

const ft__clock *ft__session_clock(const ft_session *s)
{
    return s->clock_is_real ? NULL : &s->simulated;
}

/* "threads=1 clock=1200MHz". Of a GPU the dataset's device speaks already. */
static ft_status name_setting(ft_session *s, bool on_gpu, ft_error *err)
{
    size_t size = sizeof(s->setting);
    size_t len = (size_t)snprintf(s->setting, size, "threads=%u ", s->threads);
    ft_settings held = {0};
    size_t more;

    if (s->held)
        held = *ft_settings_held(s->held);
    if (s->held && on_gpu && (!held.device || strcmp(held.device, "cpu") == 0))
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "the engine runs on a GPU; for the CPU's clocks: foretell "
                       "clocks set ... -- foretell ...");
    if (on_gpu)
        held.device = NULL;
    more = ft_settings_print(&held, s->setting + len, size - len);
    if (!more)
        s->setting[len - 1] = '\0';
    return len + more < size ? FT_OK
                             : ft_fail(err, FT_EUNSUPPORTED, 0,
                                       "too many settings at once: a dataset's may "
                                       "have %zu letters",
                                       size - 1);
}

/* Whether drivers' threads work, even on this machine's processor. What is measured on
 * another device is that one's, unless the caller named one. */
static bool uses_device(ft_session *s, bool is_named)
{
    ft_engine_device d;
    uint32_t n = 0;

    for (; s->engine->device && s->engine->device(s->context, n, &d, NULL) == FT_OK;
         n++)
        if (d.is_used && !d.is_host && !is_named)
            snprintf(s->device, sizeof(s->device), "%s", d.name);
    return n > 0;
}

/* What its dataset is called: device, setting, policy. Settings are held from here on,
 * before the engine starts threads and this one is pinned. */
static ft_status begin(ft_session *s, const ft_session_options *opt, ft_error *err)
{
    ft_device *device;
    ft_status st = ft_device_local(&device, "", err);

    if (st)
        return st;
    snprintf(s->device, sizeof(s->device), "%s",
             opt->device ? opt->device : ft_device_get(device)->fingerprint);
    ft_device_free(device);
    if (opt->settings)
        st = ft_settings_hold(&s->held, opt->settings, opt->settings_options, err);
    if (!st)
        st = name_setting(s, opt->device != NULL, err);
    snprintf(s->dtype_policy, sizeof(s->dtype_policy), "%s",
             opt->dtype_policy ? opt->dtype_policy : "default");
    return st;
}

/* More threads than CPUs are measured as they are, but seldom meant. */
static void warn_of_turns(const ft_session *s)
{
    cpu_set_t usable;
    int n = sched_getaffinity(0, sizeof(usable), &usable) ? 0 : CPU_COUNT(&usable);

    if (n > 0 && s->threads > (uint32_t)n)
        ft__log(s->log, FT_LOG_WARN,
                "%u threads take turns on the %d CPU%s that may be used here: "
                "--threads %d measures what a CPU each takes",
                s->threads, n, n > 1 ? "s" : "", n);
}

static ft_status start_engine(ft_session *s, const ft_session_options *opt,
                              ft_error *err)
{
    const ft_engine_config cfg = {.threads = s->threads,
                                  .seed = s->seed,
                                  .options =
                                      opt->engine_options ? opt->engine_options : ""};
    bool elsewhere;
    ft_status st = load_engine(s, opt, err);

    if (st)
        return st;
    if (s->threads == 1)
        s->pin = pin_thread();
    st = s->engine->open(&s->context, &cfg, err);
    if (st)
        return st;
    s->clock_is_real = clock_moves(s);
    if (s->clock_is_real)
        warn_of_turns(s);
    elsewhere = uses_device(s, opt->device != NULL) || opt->device;
    s->works_itself = s->clock_is_real && s->threads == 1 && !elsewhere;
    s->simulated = (ft__clock){simulated_now, wait_simulated, s};
    if (!s->clock_is_real) {
        unpin_take(s->pin);
        s->pin = NULL;
    }
    return FT_OK;
}

ft_status ft_session_open(ft_session **out, const ft_session_options *opt,
                          ft_error *err)
{
    ft_session *s = calloc(1, sizeof(*s));
    ft_status st;

    *out = NULL;
    if (!s)
        return ft_fail(err, FT_ENOMEM, 0, "session");
    s->log = opt->log;
    s->seed = opt->seed;
    s->threads = opt->threads ? opt->threads : 1;
    s->calm = 1;
    s->usual_s = NAN;
    for (uint32_t i = 0; i < FT__N_CALIBRATIONS; i++)
        s->usual_ratio[i] = NAN;
    s->before_bytes = ft__memory_now().own;
    st = begin(s, opt, err);
    if (!st)
        st = start_engine(s, opt, err);
    if (st) {
        ft_session_close(s);
        return st;
    }
    s->facts = (ft_session_facts){.device = s->device,
                                  .setting = s->setting,
                                  .engine = s->engine->name,
                                  .engine_version = s->engine->version(),
                                  .policy = s->engine->policy};
    s->opened_bytes = ft__memory_now().own;
    *out = s;
    return FT_OK;
}

void ft_session_close(ft_session *s)
{
    ft_error why = {0};

    if (!s)
        return;
    for (uint32_t i = 0; i < FT__N_CALIBRATIONS; i++)
        ft__op_job_free(s->calibration[i]);
    if (s->context)
        s->engine->close(s->context);
    unpin_take(s->pin);
    if (ft_settings_restore_take(s->held, &why))
        ft__log(s->log, FT_LOG_WARN, "%s", why.msg);
    free(s);
}

const ft_session_facts *ft_session_get(const ft_session *s)
{
    return &s->facts;
}

ft_key ft__session_key(const ft_session *s)
{
    return (ft_key){.device = s->device,
                    .setting = s->setting,
                    .engine = s->engine->name,
                    .engine_version = s->engine->version(),
                    .dtype_policy = s->dtype_policy};
}

void ft__op_key_make(ft__op_key *out, const ft_session *s, const ft_op *op,
                     const char *metric)
{
    out->spec[0] = '\0';
    if (op)
        ft_op_print(op, out->spec, sizeof(out->spec));
    out->key = ft__session_key(s);
    out->key.spec = out->spec;
    out->key.phase = ft_name(FT_NAMES_PHASE, op ? op->phase : FT_PHASE_FORWARD);
    out->key.metric = metric;
}

/* Where a thread has been so far. */
struct run_time {
    double cpu_s;
    long taken; /* how often the CPU was taken from it, */
    long given; /* and how often it gave the CPU up to wait */
};

static struct run_time run_time_now(void)
{
    struct rusage use = {0};
    struct timespec t = {0};

    (void)getrusage(RUSAGE_THREAD, &use);
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (struct run_time){.cpu_s = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec,
                             .taken = use.ru_nivcsw,
                             .given = use.ru_nvcsw};
}

/* What others had the CPU for while this thread, which never waited, was to run. */
static double taken_away(const struct run_time *from, double seconds)
{
    const struct run_time now = run_time_now();

    return now.taken > from->taken && now.given == from->given
               ? fmax(0, seconds - (now.cpu_s - from->cpu_s))
               : 0;
}

ft_status ft__run_batch(double *seconds, const ft__job *job, uint64_t first, uint64_t n,
                        ft_error *err)
{
    const ft_session *s = job->session;
    const ft_engine *e = s->engine;
    struct run_time from = {0};
    ft_status st = FT_OK;
    double t0;

    if (s->works_itself)
        from = run_time_now();
    t0 = e->now(s->context);
    for (uint64_t i = 0; i < n && !st; i++)
        st = job->run(job->self, first + i, err);
    if (!st)
        st = e->sync(s->context, err);
    *seconds = e->now(s->context) - t0;
    if (s->works_itself)
        *seconds -= taken_away(&from, *seconds);
    return st;
}
