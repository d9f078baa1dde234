#ifndef FT_SELECT_H
#define FT_SELECT_H

#include "foretell/query.h"

FT_BEGIN_DECLS

/* The steps of ft_query_ask(), for those who ask about many graphs or settings. */

/* A model of specifications alone. */
typedef enum ft_analytic_model {
    FT_ANALYTIC_PHYSICS,
    FT_ANALYTIC_ROOFLINE,
    FT_ANALYTIC_PALEO,
} ft_analytic_model;
/* NULL: physics. FT_EINVAL: says which there are. */
FT_API ft_status ft_analytic_model_read(ft_analytic_model *out, const char *name,
                                        ft_error *err);

/* Where estimates come from; all it points to is borrowed. */
typedef struct ft_source {
    const ft_predictor *predictor; /* of one device, or of a family; or NULL */
    ft_device_use on; /* of a family, or without a predictor; otherwise NULL */
    ft_analytic_model model; /* without a predictor */
} ft_source;
/* FT_POLICY_ bits: how graphs are lowered before it is asked. */
FT_API uint32_t ft_source_policy(const ft_source *s);
/* g is lowered so. */
FT_API ft_status ft_source_predict(ft_network_estimate *out, const ft_source *s,
                                   const ft_graph *g, ft_error *err);
/* Lowers g, or its training step, and predicts it. *lowered (or NULL): what was made,
 * the caller's; NULL where it is g itself. */
FT_API ft_status ft_source_network(ft_network_estimate *out, ft_graph **lowered,
                                   const ft_source *s, const ft_graph *g,
                                   const ft_step *step, ft_error *err);
/* The largest batch that needs no more than limit_bytes; 0: none does. The model of q is
 * imported at several batches. */
FT_API ft_status ft_source_max_batch(int64_t *batch, const ft_source *s,
                                     const ft_query *q, double limit_bytes,
                                     ft_error *err);
/* Why e has no energy, in words. This machine's sensors are looked up, not watched. */
FT_API void ft_energy_why(char *why, size_t size, const char *device,
                          const ft_network_estimate *e);

/* What answers a query; borrows of d and q. */
typedef struct ft_selection {
    ft_source source;
    ft_answered_by by;
    char device[128];      /* "local", or the name of its file */
    char title[128];
    char note[512];        /* which variant of a product was taken; "" */
    char setting[128];
    char engine[64];       /* that measures it here: "onednn" */
    char engine_version[64];
    const char *predictor; /* file of a family; "" */
    uint32_t among;        /* 1: the family was trained on this device, too */
    double limit_bytes;    /* memory of the device; NaN: not known */
    char other_machine[512]; /* the warning that the predictor is of another one; "" */
} ft_selection;
/* For the network g, as imported, by which a family is chosen; q->model is not read.
 * Errors as ft_query_ask(). */
FT_API ft_status ft_select(ft_selection *out, ft_data *d, const ft_query *q,
                           const ft_graph *g, ft_error *err);
/* That a setting was asked of local, which is answered as it was measured. */
#define FT_LOCAL_AS_MEASURED                                                           \
    "--device local is answered as it was measured: foretell collect --clocks, then "  \
    "foretell train --setting and --predictor, for another clock or cap"

/* The family that knows the operations of g best, rather one that has the device, the
 * user's own first; *out NULL: none knows much of them. Borrowed, with its path. */
FT_API ft_status ft_data_family(const ft_predictor **out, const char **path, ft_data *d,
                                const char *device, const ft_graph *g, ft_error *err);
/* What a store, or a file in our CSV, holds of devices. FT_EFORMAT also where it holds no
 * operation's time. */
FT_API ft_status ft_known_open(ft_known **out, const char *path, const char *data_dir,
                               ft_error *err);

FT_END_DECLS

#endif
