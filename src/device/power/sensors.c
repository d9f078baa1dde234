/* Which power sources a machine has and which of them work: shown as sensors, or opened
 * as a meter, which watches how often their values change. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "device/power/meter.h"
#include "device/power/source.h"
#include "device/power/updates.h"
#include "device/sysfs.h"

static const ft__power_kind *const kinds[] = {
#define FT__POWER_KIND(kind) &ft__sources_##kind,
#include "device/power/kinds.def"
#undef FT__POWER_KIND
};
enum { N_KINDS = sizeof(kinds) / sizeof(*kinds) };

#define NVML_LIBRARY "libnvidia-ml.so.1"
/* The first that loads: rocm_smi has power beside energy. */
#define AMD_LIBRARIES                                                                  \
    "librocm_smi64.so.7|librocm_smi64.so.6|librocm_smi64.so.5|librocm_smi64.so|"       \
    "libamd_smi.so.26|libamd_smi.so.25|libamd_smi.so.24|libamd_smi.so"

/* Everything this machine has. nvml, amd: libraries, NULL for not looking. `all` may
 * not move afterwards. Memory: all->bad. */
static void find_sources(ft__sources *all, const char *root, const char *nvml,
                         const char *amd)
{
    char *cpuinfo = ft__cpuinfo(root), vendor[32];

    ft__cpuinfo_value(vendor, sizeof(vendor), cpuinfo, "vendor_id");
    free(cpuinfo);
    all->root = root;
    all->is_virtual = ft__is_virtual(root);
    all->is_x86 = *vendor != '\0';
    all->nvml_library = nvml;
    all->amd_library = amd;
    for (size_t i = 0; i < N_KINDS; i++)
        if (kinds[i]->find)
            kinds[i]->find(all);
}

/* The kind that "replay:FILE" asks for; NULL: it names sources that are found. */
static const ft__power_kind *kind_named(const char *text)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (text && kinds[i]->name &&
            strncmp(text, kinds[i]->name, strlen(kinds[i]->name)) == 0)
            return kinds[i];
    return NULL;
}

/* What would help against the last failure. */
static const char *remedy_for_failure(ft__sources *all, const ft__power_source *s)
{
    return s->locked ? ft__source_keep(all, "sudo chmod a+r %s", s->locked) : "";
}

/* It could be read, but what it showed in these seconds was no power. */
static void refuse_still(ft__sources *all, ft__power_source *s, bool has_joules,
                         double seconds)
{
    if (all->is_virtual)
        ft__source_refuse(s, "it stands still, as on many virtual machines",
                          "run on the host");
    else
        ft__source_refuse(
            s,
            has_joules
                ? ft__source_keep(all, "its counter did not move for %.3g s", seconds)
                : "it reads 0 W",
            "");
}

/* "no power sensor on this machine (...)": each family's first reason. */
static void say_why_none(const ft__sources *all, ft__buf *out)
{
    const char *family = "";
    size_t len = 0;

    ft__buf_str(out, "no power sensor on this machine (");
    for (size_t i = 0; i < all->n; i++) {
        const ft__power_source *s = &all->source[i];

        if (len && strncmp(s->d.name, family, len) == 0)
            continue;
        family = s->d.name;
        len = strcspn(family, ":");
        ft__buf_fmt(out, "%s%.*s: %s%s%s", i ? "; " : "", (int)len, family,
                    *s->reason ? s->reason : s->why, *s->remedy ? ", try: " : "",
                    s->remedy);
    }
    ft__buf_str(out, ")");
}

struct sensors {
    ft_sensors shown; /* first */
    ft__arena text;   /* of the sensors */
    ft_sensor *sensor;
    ft__buf why_none;
};

static bool read_now(ft__sources *all, ft__power_source *s, ft_power_reading *now)
{
    *now = (ft_power_reading){ft__now_s(), NAN, NAN};
    if (!s->read)
        return false;
    if (s->read(s, now) != FT__READ_FAILED)
        return true;
    ft__source_refuse(s, ft__source_keep(all, "%s", s->why),
                      remedy_for_failure(all, s));
    return false;
}

/* Mean power since `before`. NaN, and the source is refused: its counter did not move,
 * or it reads 0 W. */
static double watts_since(ft__sources *all, ft__power_source *s,
                          const ft_power_reading *before, double elapsed_s)
{
    ft_power_reading now;
    double joules, watts;

    if (!read_now(all, s, &now))
        return NAN;
    joules = now.joules - before->joules;
    if (joules < 0)
        joules += s->wraps_at_j;
    watts = joules > 0 ? joules / elapsed_s : (before->watts + now.watts) / 2;
    if (watts > 0 && isfinite(watts))
        return watts;
    refuse_still(all, s, !isnan(now.joules), elapsed_s);
    return NAN;
}

static ft_sensor describe(const ft__power_source *s, double power_w)
{
    return (ft_sensor){.name = s->d.name,
                       .usable = isfinite(power_w) != 0,
                       .power_w = power_w,
                       .reason = s->reason,
                       .remedy = s->remedy,
                       .part_of = s->d.part_of,
                       .note = s->d.note,
                       .counts = s->d.counts,
                       .tells_power = s->d.tells_power,
                       .window_s = s->d.window_s,
                       .duty = s->d.duty,
                       .least_s = ft__least_s(&s->d)};
}

/* Reads all sources twice, and describes them. False: memory is short. */
static bool probe(struct sensors *s, ft__sources *all, double probe_s,
                  double (*wait)(void *user, double seconds), void *user)
{
    ft_power_reading *before = calloc(all->n + 1, sizeof(*before));
    double elapsed_s;
    bool any = false;

    s->sensor = calloc(all->n + 1, sizeof(*s->sensor));
    if (before && s->sensor) {
        for (size_t i = 0; i < all->n; i++)
            (void)read_now(all, &all->source[i], &before[i]);
        elapsed_s = wait(user, probe_s);
        for (size_t i = 0; i < all->n; i++) {
            ft__power_source *x = &all->source[i];
            double watts = watts_since(all, x, &before[i], elapsed_s);

            s->sensor[i] = describe(x, watts);
            any = any || s->sensor[i].usable;
        }
        if (!any)
            say_why_none(all, &s->why_none);
    }
    all->bad = all->bad || s->why_none.bad || !before;
    free(before);
    return s->sensor && !all->bad;
}

ft_status ft__sensors_probe(ft_sensors **out, const char *root, double probe_s,
                            double (*wait)(void *user, double seconds), void *user,
                            const char *nvml, const char *amd, ft_error *err)
{
    struct sensors *s = calloc(1, sizeof(*s));
    ft__sources all = {0};
    bool good;

    *out = NULL;
    if (!s)
        return ft_fail(err, FT_ENOMEM, 0, "power sensors");
    find_sources(&all, root, nvml, amd);
    good = probe(s, &all, probe_s, wait, user);
    s->shown.n = all.n;
    s->text = all.arena; /* names and reasons stay */
    all.arena = (ft__arena){0};
    ft__sources_free(&all);
    if (!good) {
        ft_sensors_free(&s->shown);
        return ft_fail(err, FT_ENOMEM, 0, "power sensors");
    }
    s->shown.sensor = s->sensor;
    s->shown.why_none = s->why_none.s ? s->why_none.s : "";
    *out = &s->shown;
    return FT_OK;
}

static double sleep_for(void *user, double seconds)
{
    double begin = ft__now_s();

    (void)user;
    ft__sleep_s(seconds);
    return ft__now_s() - begin;
}

ft_status ft_sensors_probe(ft_sensors **out, const char *root, double probe_s,
                           ft_error *err)
{
    *out = NULL;
    if (!(probe_s >= 0 && probe_s <= 3600))
        return ft_fail(err, FT_EINVAL, 0, "sensors can be watched for 0 to 3600 s");
    return ft__sensors_probe(out, root, probe_s, sleep_for, NULL,
                             *root ? NULL : NVML_LIBRARY, *root ? NULL : AMD_LIBRARIES,
                             err);
}

void ft_sensors_free(ft_sensors *shown)
{
    struct sensors *s = (struct sensors *)shown;

    if (!s)
        return;
    ft__arena_free(&s->text);
    free(s->sensor);
    ft__buf_free(&s->why_none);
    free(s);
}

/* Whether the source answers to this name. */
static bool answers_to(const ft__power_source *s, const char *name, size_t len)
{
    size_t whole = strlen(s->d.name), family = strcspn(s->d.name, ":");

    if ((len == whole || len == family) && memcmp(s->d.name, name, len) == 0)
        return true;
    for (int i = 0; i < 2; i++)
        /* As in CUDA_VISIBLE_DEVICES the beginning of a UUID is enough. */
        if (s->alias[i] && len >= 12 && strncmp(s->alias[i], name, len) == 0)
            return true;
    return false;
}

/* The period of a lane's values, from watching it for a moment. False: it is useless.
 */
static bool learn(ft_meter *m, struct ft__lane *l)
{
    ft_domain *d = &l->source->d;
    double period = NAN;
    size_t steps = 0;
    bool has_watts = false;

    for (int j = 0; j < 2; j++) {
        ft__updates u;

        if (!(j ? d->counts : d->tells_power))
            continue;
        if (!ft__updates_find(&u, d, l->r, l->n, j, 0, INFINITY)) {
            m->short_of_memory = true;
            return true;
        }
        if (isfinite(u.period_s) && u.n > 3)
            period = isfinite(period) ? fmax(period, u.period_s) : u.period_s;
        steps = j ? u.n : 0;
        free(u.u);
    }
    for (size_t i = 0; i < l->n; i++)
        has_watts = has_watts || (isfinite(l->r[i].watts) && l->r[i].watts > 0);
    if (!isfinite(d->period_s))
        d->period_s = period;
    return !l->failed && (steps || has_watts);
}

static void drop_lane(ft_meter *m, uint32_t i)
{
    free(m->lane[i].r);
    memmove(&m->lane[i], &m->lane[i + 1], (m->n - i - 1) * sizeof(*m->lane));
    m->n--;
}

/* Whether a name of the list asks for this source; *whole: by its full name. */
static bool asked_for(const char *list, const ft__power_source *s, bool *whole)
{
    while (list && *list) {
        size_t len = strcspn(list, ",");

        *whole = len == strlen(s->d.name);
        if (answers_to(s, list, len))
            return true;
        list += len + (list[len] == ',');
    }
    return false;
}

/* FT_ENOTFOUND names a source that was asked for by its full name and does not
 * work, and what would help. */
static ft_status cannot_use(const ft__power_source *s, ft_error *err)
{
    return ft_fail(err, FT_ENOTFOUND, 0, "%s: %s%s%s", s->d.name, s->reason,
                   *s->remedy ? ", try: " : "", s->remedy);
}

static ft_status names_exist(ft_meter *m, const char *list, ft_error *err)
{
    while (list && *list) {
        size_t len = strcspn(list, ",");
        bool found = false;

        for (size_t i = 0; i < m->all.n; i++)
            found = found || answers_to(&m->all.source[i], list, len);
        if (!found)
            return ft_fail(err, FT_ENOTFOUND, 0,
                           "no source \"%.*s\" on this machine: foretell doctor lists "
                           "what there is",
                           (int)len, list);
        list += len + (list[len] == ',');
    }
    return FT_OK;
}

static ft_status add_lanes(ft_meter *m, const char *list, ft_error *err)
{
    m->lane = calloc(m->all.n + 1, sizeof(*m->lane));
    m->domain = calloc(m->all.n + 1, sizeof(*m->domain));
    if (!m->lane || !m->domain || m->all.bad)
        return ft_fail(err, FT_ENOMEM, 0, "a meter");
    for (size_t i = 0; i < m->all.n; i++) {
        ft__power_source *s = &m->all.source[i];
        bool whole = false;

        if (list && !asked_for(list, s, &whole))
            continue;
        if (s->read)
            m->lane[m->n++].source = s;
        else if (whole)
            return cannot_use(s, err);
    }
    return FT_OK;
}

static ft_status none_works(const ft_meter *m, ft_error *err)
{
    ft__buf why = {0};
    ft_status st;

    say_why_none(&m->all, &why);
    st = ft_fail(err, FT_EUNSUPPORTED, 0, "%s", why.s ? why.s : "");
    ft__buf_free(&why);
    return st;
}

/* Drops what stood still; what was named must work. */
static ft_status keep_the_living(ft_meter *m, const char *list, ft_error *err)
{
    for (uint32_t i = m->n; i-- > 0;) {
        struct ft__lane *l = &m->lane[i];
        ft__power_source *s = l->source;
        bool whole = false;

        if (learn(m, l))
            continue;
        if (l->failed)
            ft__source_refuse(
                s,
                ft__source_keep(&m->all, "%s", *s->why ? s->why : "it cannot be read"),
                remedy_for_failure(&m->all, s));
        else
            refuse_still(&m->all, s, s->d.counts, 0.7);
        if (asked_for(list, s, &whole) && whole)
            return cannot_use(s, err);
        drop_lane(m, i);
    }
    return m->n ? FT_OK : none_works(m, err);
}

/* Copies of the lanes' domains, which watching has completed. */
static void settle_domains(ft_meter *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        m->domain[i] = m->lane[i].source->d;
        m->domain[i].least_s = ft__least_s(&m->domain[i]);
    }
}

/* True: every lane has moved. */
static bool watch(ft_meter *m, double seconds, ft_status *st, ft_error *err)
{
    bool all = true;

    *st = ft__meter_try(m, seconds, err);
    if (*st)
        return false;
    for (uint32_t i = 0; i < m->n; i++)
        all = learn(m, &m->lane[i]) && all;
    if (m->short_of_memory)
        *st = ft_fail(err, FT_ENOMEM, 0, "a meter");
    return all;
}

/* The sources of this machine that are wanted. */
static ft_status use_found(ft_meter *m, const ft_meter_options *opt, ft_error *err)
{
    const bool any = opt->sources && strcmp(opt->sources, "all") == 0;
    const char *list = any ? NULL : opt->sources;
    bool real = !*m->all.root;
    ft_status st;

    find_sources(&m->all, m->all.root,
                 opt->nvml ? opt->nvml
                 : real    ? NVML_LIBRARY
                           : NULL,
                 opt->amd ? opt->amd
                 : real   ? AMD_LIBRARIES
                          : NULL);
    st = names_exist(m, list, err);
    if (!st)
        st = add_lanes(m, list, err);
    if (!st && m->n == 0)
        st = none_works(m, err);
    if (!st && !watch(m, 0.3, &st, err) && !st)
        (void)watch(m, 0.7, &st, err);
    return st ? st : keep_the_living(m, list, err);
}

static ft_status use_named(ft_meter *m, const ft__power_kind *kind, const char *what,
                           ft_error *err)
{
    ft_status st = kind->open(&m->all, what, err);

    m->plays = kind == &ft__sources_replay;
    if (!st)
        st = add_lanes(m, NULL, err);
    return !st && m->n == 0 ? none_works(m, err) : st;
}

static ft_status prepare(ft_meter *m, const ft_meter_options *opt, ft_error *err)
{
    const ft__power_kind *named = kind_named(opt->sources);
    ft_status st;

    /* It outlives the caller's. */
    m->all.root = ft__source_keep(&m->all, "%s", opt->root ? opt->root : "");
    st = named ? use_named(m, named, opt->sources + strlen(named->name), err)
               : use_found(m, opt, err);
    if (!st)
        settle_domains(m);
    return st;
}

ft_status ft__meter_open(ft_meter **out, const ft_meter_options *opt,
                         const ft__clock *clock, ft_error *err)
{
    const ft_meter_options none = {0};
    pthread_condattr_t attr;
    ft_meter *m;
    ft_status st;

    *out = NULL;
    opt = opt ? opt : &none;
    if (!(opt->period_s >= 0 && opt->period_s <= 60))
        return ft_fail(err, FT_EINVAL, 0, "a meter reads every 0 to 60 s");
    m = calloc(1, sizeof(*m));
    if (!m)
        return ft_fail(err, FT_ENOMEM, 0, "a meter");
    m->period_s = opt->period_s;
    m->all.clock = clock;
    pthread_mutex_init(&m->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&m->change, &attr);
    pthread_condattr_destroy(&attr);
    st = prepare(m, opt, err);
    if (st) {
        ft_meter_close(m);
        return st;
    }
    *out = m;
    return FT_OK;
}

ft_status ft_meter_open(ft_meter **out, const ft_meter_options *opt, ft_error *err)
{
    return ft__meter_open(out, opt, NULL, err);
}
