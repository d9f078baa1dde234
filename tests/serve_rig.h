/* Language models served on a device: steps, and what comes of a load. */
#ifndef SERVE_RIG_H
#define SERVE_RIG_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "check.h"
#include "data_dir.h"
#include "foretell/serve.h"

static char model[4096];

static inline void take_model(int argc, char **argv)
{
    take_folder(argc, argv);
    snprintf(model, sizeof(model), "%s/examples/llm/llama-3-8b.json", argv[1]);
}

static inline ft_query about_model(void)
{
    ft_query q = FT_QUERY_INIT;

    q.model = model;
    q.device = "a100-sxm-80gb";
    q.method = "physics";
    return q;
}

static inline ft_serve_load small_load(void)
{
    ft_serve_load l = FT_SERVE_LOAD_INIT;

    l.prompt = 512;
    l.generate = 64;
    l.concurrency = 8;
    return l;
}

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

static inline ft_serve_steps *steps_of_load(const ft_serve_load *l)
{
    const ft_query q = about_model();

    return steps_for(&q, l, 1);
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

static inline double mean_of(const ft_served *r, ft_serve_metric m)
{
    return r->latency[m][FT_SERVE_MEAN].value;
}

static inline bool near(double a, double b, double share)
{
    return fabs(a / b - 1) <= share;
}

#endif
