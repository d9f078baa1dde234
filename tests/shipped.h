/* What lies in the tree's data folder. */
#ifndef SHIPPED_H
#define SHIPPED_H

#include <stdbool.h>

#include "check.h"
#include "data_dir.h"
#include "foretell/predictor.h"

static inline ft_device *device_of(const char *name)
{
    ft_device *d = NULL;

    CHECK_EQ(ft_device_load(&d, data_dir, name, NULL), FT_OK);
    return d;
}

static inline ft_predictor *predictor_of(const char *name)
{
    char path[4200];
    ft_predictor *p = NULL;

    snprintf(path, sizeof(path), "%s/predictors/%s", data_dir, name);
    CHECK_EQ(ft_predictor_load(&p, path, NULL), FT_OK);
    return p;
}

/* To the bit, or neither is a number. */
static inline bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0 || (isnan(a) && isnan(b));
}

#endif
