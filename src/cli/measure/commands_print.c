/* What commands took: text, Markdown, JSON, CSV. */
#include <math.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli/measure/commands.h"
#include "foretell/version.h"
#include "report/units.h"

static double ratio_of(const ft_command_result *r, const ft_command_result *reference,
                       double *error)
{
    double ratio = r->time.value / reference->time.value;

    *error = ratio * hypot(r->time.error / r->time.value,
                           reference->time.error / reference->time.value);
    return ratio;
}

/* The domain that commands are compared by: the first that is no part of another and
 * is known of all of them. NULL: there is none. */
static const char *common_domain(const ft_command_result *r, size_t n)
{
    for (uint32_t d = 0; d < r->n_domains; d++) {
        size_t known = 0;

        while (known < n && isfinite(r[known].energy[d].energy.value))
            known++;
        if (known == n && !*r->energy[d].part_of)
            return r->energy[d].domain;
    }
    return NULL;
}

/* NaN: of no domain. */
static double joules_of(const ft_command_result *r, const char *domain)
{
    for (uint32_t i = 0; domain && i < r->n_domains; i++)
        if (strcmp(r->energy[i].domain, domain) == 0)
            return r->energy[i].energy.value;
    return NAN;
}

static void print_energy(const ft_command_result *r)
{
    if (*r->no_energy)
        printf("  energy        unavailable: %s\n", r->no_energy);
    for (uint32_t i = 0; i < r->n_domains; i++) {
        const ft_command_energy *e = &r->energy[i];

        if (!isfinite(e->energy.value)) {
            printf("  energy        %s: unavailable: %s\n", e->domain, e->reason);
            continue;
        }
        printf("  energy        %s +- %s   %s at %s",
               ft__text_joules(e->energy.value).s, ft__text_joules(e->energy.error).s,
               e->domain, ft__text_watts(e->power.value).s);
        if (isfinite(e->idle_w))
            printf(", idle %s", ft__text_watts(e->idle_w).s);
        putchar('\n');
    }
}

static void print_one(const ft_command_result *r, size_t i)
{
    printf("%zu: ", i + 1);
    ft__put_clean(stdout, r->name);
    printf("\n  mean          %s", ft__text_seconds(r->time.mean).s);
    if (r->n_runs > 1) /* of one it is not known */
        printf(" +- %s (std)", ft__text_seconds(r->time.std).s);
    printf("   user %s, system %s\n", ft__text_seconds(r->user.mean).s,
           ft__text_seconds(r->system.mean).s);
    printf("  median        %s, 95 %% below %s, range %s .. %s, %s\n",
           ft__text_seconds(r->time.value).s, ft__text_seconds(r->p95_s).s,
           ft__text_seconds(r->min_s).s, ft__text_seconds(r->max_s).s,
           ft__text_counted(r->n_runs, "run").s);
    printf("  peak memory   %s\n", ft__text_bytes(r->memory.value).s);
    print_energy(r);
}

static double mean_load(const ft_command_result *r)
{
    double sum = 0;

    for (size_t i = 0; i < r->n_runs; i++)
        sum += r->run[i].conditions.foreign_load;
    return sum / (double)r->n_runs;
}

static void print_warnings(const ft_command_result *r)
{
    double load = mean_load(r);

    if (r->n_failed)
        printf("  note: %zu of %s had a non-zero exit code\n", r->n_failed,
               ft__text_counted(r->n_runs, "run").s);
    if (r->n_runs > 3 && r->run[0].wall_s > r->time.value + 5 * r->time.mad &&
        r->run[0].wall_s > 1.5 * r->time.value)
        printf(
            "  note: the first run took %.1f times the median: with --warmup 3 caches "
            "are warm,\n        with --prepare each run can begin without them\n",
            r->run[0].wall_s / r->time.value);
    if (r->n_outliers)
        printf("  note: %zu of %zu runs lie far from the others; they are in all "
               "figures\n",
               r->n_outliers, r->n_runs);
    if (load > 0.1)
        printf("  note: other programs kept %.2g CPUs busy meanwhile\n", load);
}

static void print_comparison(const ft_command_result *r, size_t n, size_t reference,
                             bool fixed)
{
    const char *domain = common_domain(r, n);
    double own = joules_of(&r[reference], domain);

    printf("\n");
    ft__put_clean(stdout, r[reference].name);
    puts(fixed ? ", beside it:" : " has the shortest median; the others take");
    for (size_t i = 0; i < n; i++) {
        double error, ratio = ratio_of(&r[i], &r[reference], &error);

        if (i == reference)
            continue;
        printf("  %.2f +- %.2f times its time", ratio, error);
        if (own > 0)
            printf(", %.2f times its energy", joules_of(&r[i], domain) / own);
        printf(", %.2f times its memory: ",
               r[i].memory.value / r[reference].memory.value);
        ft__put_clean(stdout, r[i].name);
        puts(fabs(ratio - 1) < 2 * error ? "   (cannot be distinguished)" : "");
    }
}

static bool print_text(const ft_command_result *r, size_t n, size_t reference,
                       bool fixed_reference)
{
    for (size_t i = 0; i < n; i++) {
        print_one(&r[i], i);
        print_warnings(&r[i]);
    }
    if (n > 1)
        print_comparison(r, n, reference, fixed_reference);
    return true;
}

/* One unit for a column, so that its numbers can be compared at a glance. */
static double unit_for(double least_s, const char **name)
{
    *name = least_s < 1e-3 ? "us" : least_s < 1 ? "ms" : "s";
    return least_s < 1e-3 ? 1e6 : least_s < 1 ? 1e3 : 1;
}

bool ft__command_results_markdown(FILE *fp, const ft_command_result *r, size_t n,
                                  size_t reference)
{
    const char *unit, *domain = common_domain(r, n);
    double scale = unit_for(r[reference].time.mean, &unit);

    fprintf(
        fp,
        "| command | mean [%s] | median [%s] | min [%s] | max [%s] | peak memory "
        "[MiB] | energy [J] | relative |\n|:---|---:|---:|---:|---:|---:|---:|---:|\n",
        unit, unit, unit, unit);
    for (size_t i = 0; i < n; i++) {
        double joules = joules_of(&r[i], domain), error;
        double ratio = ratio_of(&r[i], &r[reference], &error);

        fputs("| `", fp);
        for (const char *s = r[i].name; *s; s++)
            fprintf(fp, *s == '|' ? "\\%c" : "%c", (unsigned char)*s < ' ' ? ' ' : *s);
        fprintf(fp, "` | %.1f +- %.1f | %.1f | %.1f | %.1f | %.1f |",
                r[i].time.mean * scale, r[i].time.std * scale, r[i].time.value * scale,
                r[i].min_s * scale, r[i].max_s * scale, r[i].memory.value / 1048576);
        fprintf(fp, isfinite(joules) ? " %.3g |" : " |", joules);
        fprintf(fp, i == reference ? " 1 |\n" : " %.2f +- %.2f |\n", ratio, error);
    }
    return !ferror(fp);
}

static json_t *run_json(const ft_command_run *x)
{
    return ft__json(
        "start_s:g wall_s:g user_s:g system_s:g peak_bytes:u read_bytes:u "
        "written_bytes:u page_faults:u switches:u exit_code:d signal:d timed_out:b "
        "outlier:b foreign_load:g clock_hz:g temperature_max_k:g",
        x->start_s, x->wall_s, x->user_s, x->system_s, x->peak_bytes, x->read_bytes,
        x->written_bytes, x->page_faults, x->switches, x->exit_code, x->signal,
        x->timed_out != 0, x->outlier != 0, x->conditions.foreign_load,
        x->conditions.clock_hz, x->conditions.temperature_max_k);
}

static json_t *joules_json(const ft_command_energy *e, size_t n_runs)
{
    json_t *all = json_array();

    for (size_t k = 0; e->joules && k < n_runs; k++)
        ft__json_append_take(&all, ft__json_real(e->joules[k]));
    return all;
}

static json_t *energy_json(const ft_command_result *r)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < r->n_domains; i++) {
        const ft_command_energy *e = &r->energy[i];

        ft__json_append_take(
            &all, ft__json("domain:s part_of:z value:g error:g unit:s power_w:g "
                           "power_error_w:g idle_w:g runs:u joules:o why:z",
                           e->domain, e->part_of, e->energy.value, e->energy.error, "J",
                           e->power.value, e->power.error, e->idle_w, e->runs,
                           joules_json(e, r->n_runs), e->reason));
    }
    return all;
}

static json_t *result_json(const ft_command_result *r,
                           const ft_command_result *reference)
{
    json_t *runs = json_array();
    double error, ratio = ratio_of(r, reference, &error);

    for (size_t i = 0; i < r->n_runs; i++)
        ft__json_append_take(&runs, run_json(&r->run[i]));
    return ft__json(
        "command:s time:o user_s:g system_s:g memory:o energy:o energy_why:z ratio:g "
        "ratio_error:g outliers:u runs:o",
        r->name,
        ft__json("mean:g std:g median:g error:g min:g max:g p95:g unit:s", r->time.mean,
                 r->time.std, r->time.value, r->time.error, r->min_s, r->max_s,
                 r->p95_s, "s"),
        r->user.mean, r->system.mean,
        ft__json("peak:g mean:g unit:s", r->memory.value, r->memory.mean, "B"),
        energy_json(r), r->no_energy, ratio, error, r->n_outliers, runs);
}

static json_t *machine_json(void)
{
    struct utsname u = {0};
    ft_device *d = NULL;
    json_t *m;

    (void)uname(&u);
    if (ft_device_local(&d, "", NULL))
        return NULL;
    m = ft__json("device:s title:s cores:g memory_bytes:g system:s release:s",
                 ft_device_get(d)->fingerprint, ft_device_get(d)->title,
                 ft_device_get(d)->cores, ft_device_get(d)->memory_bytes, u.sysname,
                 u.release);
    ft_device_free(d);
    return m;
}

json_t *ft__command_results_json(const ft__cli *c, const ft_command_result *r, size_t n,
                                 size_t reference)
{
    json_t *all = json_array();

    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&all, result_json(&r[i], &r[reference]));
    return ft__json("machine:o foretell:s line:s reference:s results:o", machine_json(),
                    ft_version(), c->line, r[reference].name, all);
}

static const char run_fields[] = "command:s start_s:g wall_s:g user_s:g system_s:g "
                                 "peak_bytes:u exit_code:d outlier:d";

static bool print_csv(const ft_command_result *r, size_t n)
{
    ft__csv_head(stdout, run_fields);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < r[i].n_runs; k++) {
            const ft_command_run *x = &r[i].run[k];
            /* As a shell would say it. */
            int code = x->signal ? 128 + x->signal : x->exit_code;

            ft__csv_row(stdout, run_fields, r[i].name, x->start_s, x->wall_s, x->user_s,
                        x->system_s, x->peak_bytes, code, x->outlier);
        }
    return true;
}

bool ft__command_results_print(const ft__cli *c, const ft_command_result *r, size_t n,
                               size_t reference, bool fixed_reference)
{
    return c->json  ? ft__json_print_take(ft__command_results_json(c, r, n, reference),
                                          stdout)
           : c->csv ? print_csv(r, n)
                    : print_text(r, n, reference, fixed_reference);
}
