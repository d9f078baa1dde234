/* Small networks, layer by layer, for tests of what is made from graphs. */
#ifndef NETS_H
#define NETS_H

#include <string.h>

#include "check.h"
#include "foretell/graph.h"
#include "graph/build.h"
#include "graph/op_inside.h"
#include "parse_spec.h"

static inline uint32_t tensor(ft__build *b, const char *name, ft_role role, ft_shape s)
{
    return ft__build_tensor(b, name, strlen(name), role, FT_DTYPE_fp32, &s);
}

static inline uint32_t input(ft__build *b, ft_shape s)
{
    return tensor(b, "in", FT_ROLE_INPUT, s);
}

static inline uint32_t weight(ft__build *b, const char *name, ft_shape s)
{
    return tensor(b, name, FT_ROLE_WEIGHT, s);
}

/* The first result; more of them follow it. */
static inline uint32_t layer(ft__build *b, const char *spec, const uint32_t *in,
                             uint32_t n_in, const uint32_t *params, uint32_t n_params)
{
    ft_op op = parse(spec);
    uint32_t out[8], n_out = ft_op_n_outputs(&op);

    for (uint32_t i = 0; i < n_out; i++) {
        ft_shape s;
        ft_dtype t;

        ft_op_output(&op, i, &s, &t);
        out[i] = ft__build_tensor(b, "t", 1, FT_ROLE_ACTIVATION, t, &s);
    }
    ft__build_node(b, ft_kind_name(op.kind), strlen(ft_kind_name(op.kind)), &op, in,
                   n_in, params, n_params, out, n_out);
    return out[0];
}

static inline uint32_t one(ft__build *b, const char *spec, uint32_t x)
{
    return layer(b, spec, &x, 1, NULL, 0);
}

static inline uint32_t two(ft__build *b, const char *spec, uint32_t x, uint32_t y)
{
    return layer(b, spec, (uint32_t[]){x, y}, 2, NULL, 0);
}

static inline uint32_t with(ft__build *b, const char *spec, uint32_t x, uint32_t w)
{
    return layer(b, spec, &x, 1, &w, 1);
}

static inline ft_graph *finish(ft__build *b, uint32_t output)
{
    ft_graph *g;
    ft_error err = {0};

    ft__build_output(b, output);
    if (ft__build_finish_take(&g, b, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(g != NULL);
    return g;
}

#endif
