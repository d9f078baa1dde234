/* The meter for operations and networks, and the energy it measured of one. */
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
        printf("%-16s unavailable: %s\n", title, e->reason);
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
        printf("energy           unavailable: ");
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
                             ft__json("at_s:g watts:g joules:g", e->readings[i].start_s,
                                      e->readings[i].value, e->counted[i].value));
    return all;
}

static json_t *domain_json(const ft_energy *e)
{
    return ft__json(
        "domain:s energy_j:g energy_error_j:g power_w:g power_error_w:g counter_j:g "
        "integral_j:g iterations:u seconds:g unavailable:z readings:o",
        e->domain, e->energy.value, e->energy.error, e->power.value, e->power.error,
        e->counter_j, e->integral_j, e->iterations, e->seconds, e->reason,
        readings_json(e));
}

json_t *ft__energy_json(const ft_network_timing *t, const char *why_not)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < t->n_energy; i++)
        ft__json_append_take(&all, domain_json(&t->energy[i]));
    return ft__json("domains:o unavailable:o", all,
                    t->n_energy ? json_null() : ft__json_text(why_not));
}
