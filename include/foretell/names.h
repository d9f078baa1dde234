#ifndef FT_NAMES_H
#define FT_NAMES_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* Names of enumeration values in files, options and answers. Kinds and element types of
 * operations have functions of their own (foretell/op.h). */
typedef enum ft_names {
    FT_NAMES_BASIS,      /* ft_basis: "measured", ... */
    FT_NAMES_MODE,       /* ft_mode: "inference", "training" */
    FT_NAMES_PART,       /* ft_part: "weights", ... */
    FT_NAMES_METHOD,     /* ft_method: "forest", ... */
    FT_NAMES_RANK_BY,    /* ft_rank_by: "time", "edp", ... */
    FT_NAMES_RANK_UNIT,  /* ft_rank_by: "s", "J s", "" */
    FT_NAMES_PLACE_BY,   /* ft_place_by: "time", ... */
    FT_NAMES_PROTOCOL,   /* ft_protocol: "folds", ... */
    FT_NAMES_BY,         /* ft_by: "kind", ... */
    FT_NAMES_CRITERION,  /* ft_criterion: "active", ... */
    FT_NAMES_QUANTITY,   /* ft_quantity: "time", ... */
    FT_NAMES_UNIT,       /* ft_quantity: "s", "J", "B" */
    FT_NAMES_ESTIMATOR,  /* ft_estimator: "sum", "prediction" */
    FT_NAMES_PARAM_TYPE, /* ft_param_type: "ordinal", ... */
    FT_NAMES_DESIGN,     /* ft_design: "latin", ... */
    FT_NAMES_SEARCHER,   /* ft_searcher: "model", ... */
    FT_NAMES_PTX_CLASS,  /* ft_ptx_class: "fp32", "load", ... */
    FT_NAMES_PTX_SPACE,  /* ft_ptx_space: "generic", ... */
    FT_NAMES_PTX_SOURCE, /* ft_ptx_source: "launch file", ... */
    FT_NAMES_PHASE,      /* ft_phase: "forward", ... */
    FT_NAMES_COUNT
} ft_names;

/* Static; NULL: no such value, so counting from 0 enumerates all names. */
FT_API const char *ft_name(ft_names list, uint32_t value);
/* The value; -1: no such name. */
FT_API int ft_from_name(ft_names list, const char *name, size_t len);

FT_END_DECLS

#endif
