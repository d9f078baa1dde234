#ifndef QUERY_SELECT_H
#define QUERY_SELECT_H

#include "predict/query/network.h"
#include "query/data.h"

/* What answers a query. */

/* A model of specifications alone. */
typedef enum ft__analytic {
    FT__ANALYTIC_PHYSICS,
    FT__ANALYTIC_ROOFLINE,
    FT__ANALYTIC_PALEO,
} ft__analytic;

/* Where estimates come from; all it points to is borrowed. */
typedef struct ft__answer_source {
    const ft_predictor *predictor; /* of one device, or of a family; or NULL */
    ft__device_use on;  /* of a family, or without a predictor; otherwise NULL */
    ft__analytic model; /* without a predictor */
    bool channels_last; /* images of the inputs, where PyTorch's strides are followed */
} ft__answer_source;

/* Borrows of the ft_data and the query; stays where it is. */
typedef struct ft__selection {
    ft__answer_source source;
    ft_answered_by by;
    char device[128]; /* "local", or the name of its file */
    char title[128];
    char note[512];       /* which variant of a product was taken; "" */
    char setting[1024];   /* asked for, otherwise as it was measured */
    char with_host[1200]; /* the same and "host=": what a family is asked; and
                             "threads=": a CPU from its specifications */
    char engine[64];      /* of a predictor of one device: "onednn" */
    char run_by[96];      /* the engine of this library that measures it there, with its
                             options: "torch,device=cuda"; "": none does */
    uint64_t threads;     /* that it runs with; 0: not said */
    char engine_version[64];
    char host[128];          /* whose launches are in it; "not known" */
    const char *predictor;   /* file of a family; "" */
    uint32_t among;          /* 1: the family was trained on this device, too */
    double limit_bytes;      /* memory of the device; NaN: not known */
    char other_machine[512]; /* the warning that the predictor is of another one; "" */
    char damaged[1040];      /* that a predictor nobody named is left out; "" */
    char other_engine[320];  /* that nothing was measured with the one asked for; "" */
} ft__selection;

/* For the network g, as imported, by which a family is chosen (NULL: none is); q->model
 * is not read. Errors as ft_query_ask(). */
ft_status ft__select(ft__selection *out, ft_data *d, const ft_query *q,
                     const ft_graph *g, ft_error *err);
/* That a setting was asked of local, which is answered as it was measured:
 * FT_ENOTFOUND.
 */
ft_status ft__local_as_measured(const ft__selection *s, const char *setting,
                                ft_error *err);

#endif
