/* Spaces for tests, made in place. */
#ifndef EXPLORE_SPACE_FIXTURE_H
#define EXPLORE_SPACE_FIXTURE_H

#include <stdlib.h>

#include "explore/space/space.h"

/* Of all spaces, as long as the program runs. */
static ft__arena spaces;
static const char *const text[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

static inline ft_parameter categories(const char *name, uint32_t n)
{
    return (ft_parameter){.name = name, .value = text, .n_values = n};
}

static inline ft_parameter ordinals(const char *name, uint32_t n)
{
    return (ft_parameter){
        .name = name, .type = FT_PARAM_ORDINAL, .value = text, .n_values = n};
}

static inline ft_parameter integers(const char *name, double low, double high, int log)
{
    return (ft_parameter){.name = name,
                          .type = FT_PARAM_INTEGER,
                          .n_values = (uint32_t)(high - low + 1),
                          .low = low,
                          .high = high,
                          .log = log};
}

static inline ft_parameter reals(const char *name, double low, double high, int log)
{
    return (ft_parameter){
        .name = name, .type = FT_PARAM_REAL, .low = low, .high = high, .log = log};
}

/* n parameters of nothing but what `like` says. */
static inline ft_space *space_of(const ft_parameter *param, size_t n)
{
    ft_space *s;

    if (ft__space_new(&s, &spaces, param, n, NULL, 0, NULL, 0, NULL))
        abort();
    return s;
}

static inline ft_space *cube(size_t n, double low, double high)
{
    ft_parameter param[FT__MAX_PARAMS];

    for (size_t i = 0; i < n; i++)
        param[i] = reals("x", low, high, 0);
    return space_of(param, n);
}

/* compiler (gcc, clang, nvcc), ftz when nvcc, batch 1 .. 4, level (ftz = b) 0.5 .. 8;
 * clang forbids batch 3 and 4. */
static inline ft_space *conditional_space(int with_level)
{
    static const uint32_t nvcc[] = {2}, clang[] = {1}, on[] = {1}, large[] = {2, 3};
    const ft__condition condition[] = {{3, {1, 1, on}}, {1, {0, 1, nvcc}}};
    static const ft__among part[] = {{0, 1, clang}, {2, 2, large}};
    const ft__forbidden forbidden = {part, 2};
    const ft_parameter param[] = {categories("compiler", 3), categories("ftz", 2),
                                  integers("batch", 1, 4, 0),
                                  reals("level", 0.5, 8, 1)};
    ft_space *s;

    if (ft__space_new(&s, &spaces, param, with_level ? 4 : 3,
                      with_level ? condition : condition + 1, with_level ? 2 : 1,
                      &forbidden, 1, NULL))
        abort();
    return s;
}

#endif
