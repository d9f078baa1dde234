/* The meter for operations and networks, and what it told of one. */
#include <math.h>
#include <string.h>

#include "cli/power.h"
#include "report/units.h"

int ft__power_open(ft__cli *c, ft_meter **out, const char *sources, ft_error *why)
{
    bool any = !sources || strcmp(sources, "all") == 0;
    ft_meter_options how = {.sources = any ? NULL : sources};
    ft_status st = ft_meter_open(out, &how, why);

    if (!st || any)
        return FT__EXIT_GOOD;
    return ft__cli_fail(c, st, why);
}

static void print_one(const char *title, const ft_energy *e)
{
    if (e->reason[0]) {
        printf("%-16s not told: %s\n", title, e->reason);
        return;
    }
    printf("%-16s %s +- %s, at %s +- %s\n", title, ft__text_joules(e->energy.value).s,
           ft__text_joules(e->energy.error).s, ft__text_watts(e->power.value).s,
           ft__text_watts(e->power.error).s);
    if (!isnan(e->counter_j) && !isnan(e->integral_j))
        printf("%16s by its counter %s, by its watts %s\n", "",
               ft__text_joules(e->counter_j).s, ft__text_joules(e->integral_j).s);
}

void ft__energy_print(const ft_network_timing *t, const char *why_not)
{
    if (!t->n_energy) {
        printf("energy           not told: ");
        ft__put_clean(stdout, why_not);
        putchar('\n');
        return;
    }
    /* The sum of one is that one. */
    if (t->n_energy != 2)
        print_one("energy", &t->energy[0]);
    for (uint32_t i = 1; i < t->n_energy; i++)
        print_one(t->n_energy == 2 ? "energy" : t->energy[i].domain, &t->energy[i]);
}

static json_t *readings_json(const ft_energy *e)
{
    json_t *all = json_array();

    for (size_t i = 0; i < e->n_readings; i++)
        ft__json_append_take(&all,
                             json_pack("{s:o, s:o, s:o}", "at_s",
                                       ft__json_real(e->readings[i].start_s), "watts",
                                       ft__json_real(e->readings[i].value), "joules",
                                       ft__json_real(e->counted[i].value)));
    return all;
}

static json_t *domain_json(const ft_energy *e)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "domain",
        ft__json_text(e->domain), "energy_j", ft__json_real(e->energy.value),
        "energy_error_j", ft__json_real(e->energy.error), "power_w",
        ft__json_real(e->power.value), "power_error_w", ft__json_real(e->power.error),
        "counter_j", ft__json_real(e->counter_j), "integral_j",
        ft__json_real(e->integral_j), "iterations", ft__json_count(e->iterations),
        "seconds", ft__json_real(e->seconds), "unavailable",
        e->reason[0] ? ft__json_text(e->reason) : json_null(), "readings",
        readings_json(e));
}

json_t *ft__energy_json(const ft_network_timing *t, const char *why_not)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < t->n_energy; i++)
        ft__json_append_take(&all, domain_json(&t->energy[i]));
    return json_pack("{s:o, s:o}", "domains", all, "unavailable",
                     t->n_energy ? json_null() : ft__json_text(why_not));
}
