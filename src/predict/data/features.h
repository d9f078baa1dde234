#ifndef PREDICT_DATA_FEATURES_H
#define PREDICT_DATA_FEATURES_H

#include "foretell/op.h"

/* What the roofline (Williams, Waterman, Patterson 2009) is drawn with. Bandwidth
 * depends on how much an operation touches: points of (working set, bandwidth),
 * ascending, joined on a logarithmic scale; one point is a flat roof. */
enum { FT__MAX_ROOF_POINTS = 6 };
typedef struct ft__roof {
    double peak_flops;       /* FLOP/s */
    double launch_s;         /* least time of one operation */
    double transcendental_s; /* one exp, tanh or the like; 0: not known */
    double working_set[FT__MAX_ROOF_POINTS]; /* B */
    double bandwidth[FT__MAX_ROOF_POINTS];   /* B/s */
    uint32_t n_points;
    uint32_t reserved; /* 0: the struct is written to files as it is */
} ft__roof;

ft__roof ft__flat_roof(double peak_flops, double bandwidth, double launch_s);

/* Seconds: max(FLOPs / peak, transcendentals x their time, activations / bandwidth at
 * their size + weights / bandwidth of memory) + launch. Weights come from memory since
 * a network's whole set of them lies between two uses. The target of every time
 * regressor is log(measured / this). */
double ft__roofline(const ft_op *op, const ft__roof *r);

/* One row of numbers per operation, the same columns for all kinds: sizes as
 * log2(1 + v), so that a threshold splits ratios. A column that says nothing for
 * a kind is constant there and never split on. */
/* clang-format off */
#define FT__FEATURES(F) \
    F(kind) F(layout) F(batch) F(channels) F(spatial) F(width) F(rank) F(out) \
    F(kernel) F(kernel_width) F(stride) F(pad) F(dilation) F(groups) F(group_channels) \
    F(group_out) F(bias) F(input_elements) F(operand_elements) F(output_elements) \
    F(weight_elements) F(flops) F(bytes) F(intensity) F(roofline) F(rows) F(inner) \
    F(depth) F(axis_size) F(after_axis) F(parts) F(channel_fill) F(out_fill) \
    F(row_fill) F(output_width) F(repeats) F(moves_last) F(last_input) F(working_set) \
    F(weight_share)
/* clang-format on */

enum {
#define FT__FEATURE(name) FT__F_##name,
    FT__FEATURES(FT__FEATURE)
#undef FT__FEATURE
        FT__N_FEATURES
};
/* cost: ft_op_cost() of it. */
void ft__features(float row[FT__N_FEATURES], const ft_op *op, const ft_cost *cost,
                  const ft__roof *r);

/* Operations whose times give the machine's roofline. Collecting measures them
 * first; training looks them up. */
enum {
    FT__PROBE_PEAK,    /* a matrix product that keeps the arithmetic busy */
    FT__PROBE_LAUNCH,  /* next to no work */
    FT__PROBE_SPECIAL, /* a transcendental function of many elements */
    FT__PROBE_STREAM,  /* the first of those that stream more and more memory */
    FT__N_PROBES = FT__PROBE_STREAM + FT__MAX_ROOF_POINTS
};

ft_op ft__probe(uint32_t id);

#endif
