#ifndef QUERY_RIG_H
#define QUERY_RIG_H

/* A question about two operations on an A30, as tests begin with. */
#include "foretell/foretell.h"

#include <math.h>
#include <stdio.h>

#include "check.h"
#include "data_dir.h"

/* The first line of measurements as CSV. */
#define COLUMNS                                                                        \
    "device,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,"        \
    "value,error,mad,mean,std,n,iterations,taken_at,run\n"

static const char LIST[] =
    "conv2d x=1x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32 *3\n"
    "relu x=1x64x56x56 dtype=fp32\n";

static ft_query about_list(void)
{
    ft_query q = FT_QUERY_INIT;

    q.model = "two operations";
    q.list = LIST;
    q.list_len = sizeof(LIST) - 1;
    q.device = "a30";
    return q;
}

static ft_data *open_data(void)
{
    ft_data *d = NULL;

    CHECK(!ft_data_open(&d, data_dir, NULL, NULL));
    return d;
}

/* Seconds; NaN: it failed with *st. */
static double ask(ft_status *st, ft_data *d, const ft_query *q)
{
    ft_answer *a;
    ft_error err = {0};
    double s;

    *st = ft_query_ask(&a, d, q, &err);
    CHECK_EQ(!*st, !!a);
    CHECK(!*st || *err.msg);
    s = a ? a->time.value : NAN;
    ft_answer_free(a);
    return s;
}

#endif
