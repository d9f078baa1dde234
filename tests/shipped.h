/* What lies in the tree's data folder. */
#ifndef SHIPPED_H
#define SHIPPED_H

#include <stdbool.h>

#include "check.h"
#include "foretell/predictor.h"

static char root[900]; /* the tree's */

static inline ft_device *device_of(const char *name)
{
    char data[1024];
    ft_device *d = NULL;

    snprintf(data, sizeof(data), "%s/data", root);
    CHECK_EQ(ft_device_load(&d, data, name, NULL), FT_OK);
    return d;
}

static inline ft_predictor *predictor_of(const char *name)
{
    char path[1024];
    ft_predictor *p = NULL;

    snprintf(path, sizeof(path), "%s/data/predictors/%s", root, name);
    CHECK_EQ(ft_predictor_load(&p, path, NULL), FT_OK);
    return p;
}

/* To the bit, or neither is a number. */
static inline bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0 || (isnan(a) && isnan(b));
}

#endif
