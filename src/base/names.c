/* Enumerated values to names and back, for every list that users see. */
#include "foretell/names.h"

#include <string.h>

#include "foretell/choose.h"
#include "foretell/evaluate.h"
#include "foretell/explore.h"
#include "foretell/graph.h"
#include "foretell/learn.h"
#include "foretell/place.h"
#include "foretell/predictor.h"
#include "foretell/ptx_launches.h"
#include "foretell/rank.h"
#include "foretell/validate.h"

static const char *const basis[FT_BASIS_COUNT] = {
    [FT_BASIS_NONE] = "none",
    [FT_BASIS_MEASURED] = "measured",
    [FT_BASIS_LEARNED] = "learned",
    [FT_BASIS_SCALED] = "scaled",
    [FT_BASIS_ROOFLINE] = "roofline",
    [FT_BASIS_ANALYTIC] = "analytic",
    [FT_BASIS_UNAVAILABLE] = "unavailable",
};
static const char *const phase[FT_PHASE_COUNT] = {
    [FT_PHASE_FORWARD] = "forward",
    [FT_PHASE_BACKWARD] = "backward",
    [FT_PHASE_FORWARD_BACKWARD] = "forward_backward",
    [FT_PHASE_OPTIMIZER] = "optimizer",
    [FT_PHASE_STEP] = "step",
};
static const char *const mode[] = {
    [FT_MODE_INFERENCE] = "inference",
    [FT_MODE_TRAINING] = "training",
};
static const char *const part[FT_PART_COUNT] = {
    [FT_PART_WEIGHTS] = "weights",     [FT_PART_INPUTS] = "inputs",
    [FT_PART_GRADIENTS] = "gradients", [FT_PART_STATE] = "state",
    [FT_PART_SAVED] = "saved",         [FT_PART_ACTIVATIONS] = "activations",
    [FT_PART_WORKSPACE] = "workspace",
};
static const char *const method[FT_METHOD_COUNT] = {
    [FT_METHOD_RIDGE] = "ridge",       [FT_METHOD_KNN] = "knn",
    [FT_METHOD_TEMPLATE] = "template", [FT_METHOD_TREE] = "tree",
    [FT_METHOD_FOREST] = "forest",     [FT_METHOD_EXTRA] = "extra",
    [FT_METHOD_BOOST] = "boost",       [FT_METHOD_MLP] = "mlp",
    [FT_METHOD_SVR] = "svr",           [FT_METHOD_GP] = "gp",
    [FT_METHOD_HIST] = "hist",         [FT_METHOD_MIDDLE] = "middle",
};
static const char *const rank_by[FT_RANK_BY_COUNT] = {
    [FT_RANK_BY_TIME] = "time",     [FT_RANK_BY_ENERGY] = "energy",
    [FT_RANK_BY_POWER] = "power",   [FT_RANK_BY_EDP] = "edp",
    [FT_RANK_BY_MEMORY] = "memory", [FT_RANK_BY_COST] = "cost",
    [FT_RANK_BY_CO2] = "co2",
};
static const char *const rank_unit[FT_RANK_BY_COUNT] = {
    [FT_RANK_BY_TIME] = "s",  [FT_RANK_BY_ENERGY] = "J", [FT_RANK_BY_POWER] = "W",
    [FT_RANK_BY_EDP] = "J s", [FT_RANK_BY_MEMORY] = "B", [FT_RANK_BY_COST] = "",
    [FT_RANK_BY_CO2] = "g",
};
static const char *const place_by[FT_PLACE_BY_COUNT] = {
    [FT_PLACE_BY_TIME] = "time",
    [FT_PLACE_BY_PERIOD] = "period",
    [FT_PLACE_BY_ENERGY] = "energy",
};
static const char *const protocol[FT_PROTOCOL_COUNT] = {
    [FT_PROTOCOL_FOLDS] = "folds",     [FT_PROTOCOL_SHARE] = "share",
    [FT_PROTOCOL_DEVICE] = "device",   [FT_PROTOCOL_KIND] = "kind",
    [FT_PROTOCOL_SETTING] = "setting", [FT_PROTOCOL_NETWORK] = "network",
    [FT_PROTOCOL_CLOCKS] = "clocks",   [FT_PROTOCOL_ARCHITECTURE] = "family",
    [FT_PROTOCOL_KERNEL] = "kernel",   [FT_PROTOCOL_STORES] = "stores",
    [FT_PROTOCOL_LAYER] = "layer",
};
static const char *const by[FT_BY_COUNT] = {
    [FT_BY_KIND] = "kind",
    [FT_BY_DEVICE] = "device",
    [FT_BY_SIZE] = "size",
    [FT_BY_SPLIT] = "split",
};
static const char *const criterion[FT_CRITERION_COUNT] = {
    [FT_CRITERION_ACTIVE] = "active",
    [FT_CRITERION_SPREAD] = "spread",
    [FT_CRITERION_RANDOM] = "random",
};
static const char *const quantity[FT_QUANTITY_COUNT] = {
    [FT_QUANTITY_TIME] = "time",
    [FT_QUANTITY_ENERGY] = "energy",
    [FT_QUANTITY_MEMORY] = "memory",
};
static const char *const unit[FT_QUANTITY_COUNT] = {
    [FT_QUANTITY_TIME] = "s",
    [FT_QUANTITY_ENERGY] = "J",
    [FT_QUANTITY_MEMORY] = "B",
};
static const char *const estimator[FT_ESTIMATOR_COUNT] = {
    [FT_ESTIMATOR_SUM] = "sum",
    [FT_ESTIMATOR_PREDICTION] = "prediction",
};
static const char *const param_type[FT_PARAM_TYPE_COUNT] = {
    [FT_PARAM_CATEGORICAL] = "categorical",
    [FT_PARAM_ORDINAL] = "ordinal",
    [FT_PARAM_INTEGER] = "integer",
    [FT_PARAM_REAL] = "real",
};
static const char *const design[FT_DESIGN_COUNT] = {
    [FT_DESIGN_FULL] = "full",     [FT_DESIGN_FRACTIONAL] = "fractional",
    [FT_DESIGN_RANDOM] = "random", [FT_DESIGN_LATIN] = "latin",
    [FT_DESIGN_SOBOL] = "sobol",
};
static const char *const searcher[FT_SEARCH_COUNT] = {
    [FT_SEARCH_MODEL] = "model",
    [FT_SEARCH_NSGA2] = "nsga2",
    [FT_SEARCH_RANDOM] = "random",
};
static const char *const ptx_class[FT_PTX_CLASSES] = {
#define FT_PTX_CLASS(e, name, about) name,
#include "foretell/ptx_classes.def"
#undef FT_PTX_CLASS
};
static const char *const ptx_space[FT_PTX_SPACES] = {
    [FT_PTX_GENERIC] = "generic", [FT_PTX_GLOBAL] = "global",
    [FT_PTX_SHARED] = "shared",   [FT_PTX_LOCAL] = "local",
    [FT_PTX_CONST] = "const",     [FT_PTX_PARAM] = "param",
    [FT_PTX_TEXTURE] = "texture", [FT_PTX_TENSOR_MEMORY] = "tensor",
};
static const char *const ptx_source[] = {
    [FT_PTX_LAUNCH_FILE] = "launch file",    [FT_PTX_TRITON] = "Triton cache",
    [FT_PTX_INDUCTOR] = "Inductor cache",    [FT_PTX_XLA] = "XLA dump",
    [FT_PTX_FOLDER] = "folder of PTX files",
};

static const struct {
    const char *const *name;
    uint32_t n;
} lists[FT_NAMES_COUNT] = {
#define LIST(table)                                                                    \
    {                                                                                  \
        table, sizeof(table) / sizeof(*(table))                                        \
    }
    [FT_NAMES_BASIS] = LIST(basis),
    [FT_NAMES_MODE] = LIST(mode),
    [FT_NAMES_PART] = LIST(part),
    [FT_NAMES_METHOD] = LIST(method),
    [FT_NAMES_RANK_BY] = LIST(rank_by),
    [FT_NAMES_RANK_UNIT] = LIST(rank_unit),
    [FT_NAMES_PLACE_BY] = LIST(place_by),
    [FT_NAMES_PROTOCOL] = LIST(protocol),
    [FT_NAMES_BY] = LIST(by),
    [FT_NAMES_CRITERION] = LIST(criterion),
    [FT_NAMES_QUANTITY] = LIST(quantity),
    [FT_NAMES_UNIT] = LIST(unit),
    [FT_NAMES_ESTIMATOR] = LIST(estimator),
    [FT_NAMES_PARAM_TYPE] = LIST(param_type),
    [FT_NAMES_DESIGN] = LIST(design),
    [FT_NAMES_SEARCHER] = LIST(searcher),
    [FT_NAMES_PTX_CLASS] = LIST(ptx_class),
    [FT_NAMES_PTX_SPACE] = LIST(ptx_space),
    [FT_NAMES_PTX_SOURCE] = LIST(ptx_source),
    [FT_NAMES_PHASE] = LIST(phase),
#undef LIST
};

const char *ft_name(ft_names list, uint32_t value)
{
    return (unsigned)list < FT_NAMES_COUNT && value < lists[list].n
               ? lists[list].name[value]
               : NULL;
}

int ft_from_name(ft_names list, const char *name, size_t len)
{
    const char *s;

    for (uint32_t i = 0; (s = ft_name(list, i)); i++)
        if (strlen(s) == len && memcmp(s, name, len) == 0)
            return (int)i;
    return -1;
}
