#ifndef PREDICT_FEATURES_H
#define PREDICT_FEATURES_H

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

/* A roof with one bandwidth. */
ft__roof ft__flat_roof(double peak_flops, double bandwidth, double launch_s);
double ft__roof_bandwidth(const ft__roof *r, double working_set);

/* Seconds: max(FLOPs / peak, transcendentals x their time, activations / bandwidth at
 * their size + weights / bandwidth of memory) + launch. Weights come from memory since
 * a network's whole set of them lies between two uses. The target of every time
 * regressor is log(measured / this). */
double ft__roofline(const ft_op *op, const ft__roof *r);

/* One row of numbers per operation, the same columns for all kinds: sizes as
 * log2(1 + v), so that a threshold splits ratios. A column that says nothing for
 * a kind is constant there and never split on. */
enum {
    FT__F_kind,
    FT__F_layout,
    FT__F_batch,
    FT__F_channels,
    FT__F_spatial,
    FT__F_width,
    FT__F_rank,
    FT__F_out,
    FT__F_kernel,
    FT__F_kernel_width,
    FT__F_stride,
    FT__F_pad,
    FT__F_dilation,
    FT__F_groups,
    FT__F_group_channels,
    FT__F_group_out,
    FT__F_bias,
    FT__F_input_elements,
    FT__F_operand_elements,
    FT__F_output_elements,
    FT__F_weight_elements,
    FT__F_flops,
    FT__F_bytes,
    FT__F_intensity,
    FT__F_roofline,
    FT__F_rows,
    FT__F_inner,
    FT__F_depth,
    FT__F_axis_size,
    FT__F_after_axis,
    FT__F_parts,
    FT__F_channel_fill,
    FT__F_out_fill,
    FT__F_row_fill,
    FT__F_output_width,
    FT__F_repeats,
    FT__F_moves_last,
    FT__F_last_input,
    FT__F_working_set,
    FT__F_weight_share,
    FT__N_FEATURES
};
void ft__features(float row[FT__N_FEATURES], const ft_op *op, const ft__roof *r);

#endif
