/* Memory by part, in words and in JSON. */
#include "cli/cli.h"
#include "foretell/names.h"
#include "report/units.h"

void ft__memory_print(const ft_memory *m)
{
    const char *lead = " = ";

    printf("memory at its peak: %s", ft__text_bytes((double)m->peak_bytes).s);
    for (int p = 0; p < FT_PART_COUNT; p++)
        if (m->part[p]) {
            printf("%s%s %s", lead, ft_name(FT_NAMES_PART, (ft_part)p),
                   ft__text_bytes((double)m->part[p]).s);
            lead = " + ";
        }
    putchar('\n');
}

void ft__memory_print_rules(double two_largest, double twice_mean)
{
    printf(
        "rough rules of others, for comparison: the two largest layers %s, twice the "
        "mean layer %s\n",
        ft__text_bytes(two_largest).s, ft__text_bytes(twice_mean).s);
}

json_t *ft__memory_json(const ft_memory *m)
{
    json_t *o = json_object();

    if (json_object_set_new(o, "peak", ft__json_count(m->peak_bytes)))
        goto fail;
    for (int p = 0; p < FT_PART_COUNT; p++)
        if (json_object_set_new(o, ft_name(FT_NAMES_PART, (ft_part)p),
                                ft__json_count(m->part[p])))
            goto fail;
    if (json_object_set_new(o, "two_largest", ft__json_real(m->two_largest_bytes)) ||
        json_object_set_new(o, "twice_mean", ft__json_real(m->twice_mean_bytes)))
        goto fail;
    return o;
fail:
    json_decref(o);
    return NULL;
}
