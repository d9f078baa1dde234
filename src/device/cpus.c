/* The processors of a machine: sets of them as text, what cpufreq says of their clocks
 * (Documentation/admin-guide/pm/cpufreq.rst), and how much others let them do. */
#include "device/cpus.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/sysfs.h"

void ft__cpus_put(ft__cpus *set, unsigned cpu, bool has)
{
    if (set->has[cpu] && !has)
        set->n--;
    if (!set->has[cpu] && has)
        set->n++;
    set->has[cpu] = has;
}

bool ft__cpus_parse(ft__cpus *set, const char *text)
{
    const char *p = text;

    memset(set, 0, sizeof(*set));
    while (isdigit((unsigned char)*p)) {
        char *end;
        unsigned long from = strtoul(p, &end, 10), to = from;

        if (*end == '-') {
            if (!isdigit((unsigned char)end[1]))
                return false;
            to = strtoul(end + 1, &end, 10);
        }
        for (; from <= to && from < FT__MAX_CPUS; from++)
            ft__cpus_put(set, (unsigned)from, true);
        if (*end != ',')
            return set->n && !*end;
        p = end + 1;
    }
    return false;
}

void ft__cpus_print(const ft__cpus *set, char *text, size_t size)
{
    size_t len = 0;

    *text = '\0';
    for (unsigned i = 0, to; i < FT__MAX_CPUS; i = to + 1) {
        for (to = i; set->has[i] && to + 1 < FT__MAX_CPUS && set->has[to + 1]; to++)
            ;
        if (!set->has[i] || len >= size)
            continue;
        len += (size_t)snprintf(text + len, size - len, to > i ? "%s%u-%u" : "%s%u",
                                len ? "," : "", i, to);
    }
}

unsigned ft__cpus_first(const ft__cpus *set)
{
    unsigned i = 0;

    while (i < FT__MAX_CPUS && !set->has[i])
        i++;
    return i;
}

void ft__cpus_online(ft__cpus *online, ft__cpus *present, const char *root)
{
    char text[4096];

    ft__sys_text(text, sizeof(text), root, FT__CPU "/online");
    (void)ft__cpus_parse(online, text);
    if (ft__sys_text(text, sizeof(text), root, FT__CPU "/present"))
        *present = *online;
    else
        (void)ft__cpus_parse(present, text);
    /* A recorded machine has the list and the switches, which nothing links. */
    for (unsigned i = 0; i < FT__MAX_CPUS; i++) {
        double is_on;

        if (present->has[i] && ft__sys_number(&is_on, root, FT__CPU "/cpu%u/online", i))
            ft__cpus_put(online, i, is_on != 0);
    }
}

static void khz(double *hz, const char *root, unsigned cpu, const char *file)
{
    *hz = ft__sys_number(hz, root, FT__CPUFREQ "%s", cpu, file) ? *hz * 1e3 : NAN;
}

static void read_steps(ft__policy *p, const char *root)
{
    char text[2048], *at = text, *end;

    p->n_steps = 0;
    ft__sys_text(text, sizeof(text), root, FT__CPUFREQ "scaling_available_frequencies",
                 p->cpu);
    for (double v; p->n_steps < FT__MAX_STEPS && (v = strtod(at, &end), end != at);
         at = end)
        p->step_hz[p->n_steps++] = v * 1e3;
    /* Without turbo: the highest step, where steps are listed. */
    for (size_t i = 0; i < p->n_steps; i++)
        p->nominal_hz = fmax(p->nominal_hz, p->step_hz[i]);
}

bool ft__policy_read(ft__policy *p, const char *root, unsigned cpu)
{
    *p = (ft__policy){.cpu = cpu};
    khz(&p->least_hz, root, cpu, "cpuinfo_min_freq");
    khz(&p->most_hz, root, cpu, "cpuinfo_max_freq");
    khz(&p->low_hz, root, cpu, "scaling_min_freq");
    khz(&p->high_hz, root, cpu, "scaling_max_freq");
    khz(&p->now_hz, root, cpu, "scaling_cur_freq");
    khz(&p->nominal_hz, root, cpu, "base_frequency");
    ft__sys_text(p->governor, sizeof(p->governor), root, FT__CPUFREQ "scaling_governor",
                 cpu);
    ft__sys_text(p->governors, sizeof(p->governors), root,
                 FT__CPUFREQ "scaling_available_governors", cpu);
    read_steps(p, root);
    return p->least_hz > 0 && p->most_hz >= p->least_hz && p->low_hz > 0 &&
           p->high_hz > 0;
}

bool ft__turbo_read(ft__turbo *t, const char *root)
{
    static const ft__turbo kinds[] = {
        {FT__CPU "/intel_pstate/no_turbo", "0", "1", false},
        {FT__CPU "/cpufreq/boost", "1", "0", false},
    };
    char now[16];

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        *t = kinds[i];
        if (ft__sys_text(now, sizeof(now), root, "%s", t->path) == 0) {
            t->is_on = strcmp(now, t->on) == 0;
            return true;
        }
    }
    return false;
}

/* Load: busy time of the machine minus our own. */

/* Ten ticks of the usual hundredth of a second: one tick more or less on each of a
 * few CPUs is then no alarm. */
static const double least_apart_s = 0.1;

/* proc(5): user nice system idle iowait irq softirq steal. What a hypervisor takes
 * away disturbs as much as what another process takes; what a guest of this machine
 * does is in user. */
static double busy_s(const char *root, double tick_s)
{
    double v[8] = {0};
    char text[512];

    ft__sys_text(text, sizeof(text), root, "/proc/stat");
    if (sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3],
               &v[4], &v[5], &v[6], &v[7]) < 7)
        return NAN;
    return (v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) * tick_s;
}

/* Finer than /proc/self/stat, which a recorded machine has. */
static double measured_own_s(void)
{
    struct rusage self, children;

    if (getrusage(RUSAGE_SELF, &self) || getrusage(RUSAGE_CHILDREN, &children))
        return NAN;
    return ft__timeval_s(self.ru_utime) + ft__timeval_s(self.ru_stime) +
           ft__timeval_s(children.ru_utime) + ft__timeval_s(children.ru_stime);
}

static double recorded_own_s(const char *root, double tick_s)
{
    char text[1024], *at;
    double v[4];

    ft__sys_text(text, sizeof(text), root, "/proc/self/stat");
    at = strrchr(text, ')'); /* a program's name may hold anything */
    if (!at ||
        sscanf(at + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lf %lf %lf %lf",
               &v[0], &v[1], &v[2], &v[3]) != 4)
        return NAN;
    return (v[0] + v[1] + v[2] + v[3]) * tick_s;
}

/* Where others are busy one may be interrupted in between: then again. */
ft__cpu_load ft__load_now(const char *root, double (*now)(void))
{
    enum { TRIES = 4 };
    const double at_once_s = 1e-3, tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    ft__cpu_load l;

    for (int i = 0; i < TRIES; i++) {
        double before_s = now ? now() : ft__now_s(), after_s;

        l.busy_s = busy_s(root, tick_s);
        l.own_s = *root ? recorded_own_s(root, tick_s) : measured_own_s();
        after_s = now ? now() : ft__now_s();
        l.at_s = (before_s + after_s) / 2;
        if (after_s - before_s < at_once_s)
            break;
    }
    return l;
}

double ft__load_foreign(const ft__cpu_load *from, const ft__cpu_load *to)
{
    double apart = to->at_s - from->at_s;
    double others = to->busy_s - from->busy_s - (to->own_s - from->own_s);

    if (apart < least_apart_s || isnan(others))
        return NAN;
    /* Ticks are coarser than our own time: the difference may be below 0. */
    return fmax(0, others / apart);
}
