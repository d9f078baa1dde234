/* Language models served on a device: steps, and what comes of a load. */
#ifndef SERVE_RIG_H
#define SERVE_RIG_H

#include <stdio.h>

#include "check.h"
#include "foretell/serve.h"

static char data_dir[4096];

static inline ft_serve_steps *steps_for(const ft_query *q, const ft_serve_load *l,
                                        size_t n)
{
    ft_serve_plan *p = NULL;
    ft_serve_steps *s = NULL;
    ft_data *d = NULL;
    ft_error err = {0};

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    CHECK(!ft_serve_plan_open(&p, q, l, n, &err));
    if (p && ft_serve_steps_open(&s, d, p, q, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(s);
    ft_serve_plan_close(p);
    ft_data_close(d);
    return s;
}

static inline ft_served served(const ft_serve_steps *s, const ft_serve_load *l)
{
    ft_error err = {0};
    ft_served r;

    if (ft_serve_run(&r, s, l, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(r.fits);
    return r;
}

#endif
