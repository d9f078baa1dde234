#ifndef MEASURE_DATASET_H
#define MEASURE_DATASET_H

#include "foretell/dataset.h"
#include "foretell/op.h"
#include "graph/op_inside.h"
#include "measure/rows.h"

/* One import: a row is read, says what it measured and where, and its values wait
 * until the row is done, when what nobody asked for becomes their conditions. */

/* Every column that any source gives a meaning to. */
/* clang-format off */
#define FT__COLUMNS(X)                                                                 \
    X(device) X(mode) X(dtype) X(op) X(time_s) X(power_w) X(energy_j) X(batch)         \
    X(time_std_s) X(power_std_w) X(energy_std_j) X(iterations) X(start)                \
    X(split) X(b) X(m) X(n) X(k) X(h) X(cin) X(cout) X(ksize) X(insize) X(stride)      \
    X(pad) X(network) X(seqlen) X(option) X(fwd_s) X(bwd_s) X(acc_s) X(in_shapes)      \
    X(out_shape) X(repeat) X(session) X(core_clock_mhz) X(module_state) X(model)       \
    X(input_shape) X(output_shape) X(model_input) X(in_channels) X(out_channels)       \
    X(kernel_h) X(kernel_w) X(stride_h) X(stride_w) X(pad_h) X(pad_w) X(dilation_h)    \
    X(dilation_w) X(groups) X(bias) X(out_features) X(inplace) X(p) X(output_h)        \
    X(output_w) X(normalized_shape) X(ceil_mode) X(count_thesis) X(count_all_calls)    \
    X(in_thesis_filter) X(in_full_filter) X(backend) X(version) X(power_cap_w) X(isl)  \
    X(step) X(num_heads) X(num_kv_heads) X(head_dim) X(num_tokens) X(hidden_size)      \
    X(inter_size) X(topk) X(num_experts) X(moe_tp_size) X(moe_ep_size) X(optimizer)    \
    X(activation) X(padding) X(suite) X(ta) X(tb) X(w) X(kh) X(kw) X(hidden)           \
    X(timesteps) X(bytes) X(num_devices) X(source) X(benchmark) X(kernel) X(args)      \
    X(core_mhz) X(mem_mhz) X(rel_perf) X(layout) X(torch) X(cuda) X(compiled)          \
    X(img_size)
/* clang-format on */

typedef enum ft__column {
#define X(name) FT__C_##name,
    FT__COLUMNS(X)
#undef X
        FT__N_COLUMNS
} ft__column;

typedef struct ft__import ft__import;

/* How one form of table is read. */
typedef struct ft__form {
    const ft__column *needs; /* columns by which the form is known */
    size_t n_needs;
    const char *run_engine; /* ""; the row says otherwise */
    const char *run_version;
    void (*row)(ft__import *im); /* says what the row measured */
} ft__form;

extern const ft__form ft__neusight_forms[3], ft__thesis_forms[3], ft__aic_forms[4],
    ft__justus_forms[1], ft__deepbench_forms[1], ft__dvfs_forms[1], ft__timm_forms[1];

/* ---- the row, read ---- */
/* Failure is sticky: once a field was wrong the row is given up, with an error that
 * names line and column; what these return then is harmless. Asked for, a column is no
 * longer part of the conditions. */

/* "" where the column or its field is missing. */
const char *ft__text(ft__import *im, ft__column c);
bool ft__is(ft__import *im, ft__column c, const char *text);
/* The field must be there, a whole number from 0 to 2^52. */
int64_t ft__whole(ft__import *im, ft__column c);
int64_t ft__whole_or(ft__import *im, ft__column c, int64_t otherwise);
/* NaN where it is missing. */
double ft__real(ft__import *im, ft__column c);
/* "32x3x224x224", "(16,512,1024)", "128"; at least one extent. */
ft_shape ft__shape(ft__import *im, ft__column c);
/* A shape at *text, which is moved behind it. */
bool ft__shape_read(ft_shape *out, const char **text);
void ft__wrong(ft__import *im, ft__column c, const char *what);
/* Back among the conditions, though it was asked for. */
void ft__keep(ft__import *im, ft__column c);

/* ---- what it measured ---- */
/* All of these last until the row is done. */
void ft__device(ft__import *im, const char *title);
/* Facts of the row's device; NaN where nobody knows. */
double ft__device_tdp(const ft__import *im);
void ft__engine(ft__import *im, const char *name, const char *version);
void ft__policy(ft__import *im, const char *policy);
/* Append "name=value" to the setting, blanks in value become '_'; in canonical order
 * (clock, memory, power, then by name). Nothing for an empty value. */
void ft__setting(ft__import *im, const char *name, const char *value);
void ft__setting_unit(ft__import *im, const char *name, double value, const char *unit);
/* When it was measured, "2025-02-12_13-18-17"; otherwise in 1970. */
void ft__when(ft__import *im, const char *text);

/* A kind with its shapes, to be filled by ft__op_set(). */
ft_op ft__op(ft_kind k, ft_dtype t, const ft_shape *x);
/* What follows is about this operation; checks it. */
void ft__about(ft__import *im, const ft_op *op);
/* Or about something measured whole: kind, name (blanks become '_'), and what else
 * tells it apart, "x=32x3x224x224 dtype=fp32". */
void ft__about_whole(ft__import *im, const char *kind, const char *name,
                     const char *rest, ft_phase phase);
/* The spec of what it is about now; valid until something else is. */
const char *ft__spec(const ft__import *im);
/* A value of it; nothing for NaN. Units: time s, power W, energy J. */
void ft__value(ft__import *im, const char *metric, const char *unit, double value,
               double std, uint64_t iterations);
/* It is `count` times part of `whole`, as `source` lists it: counts of one part add up
 * within a file. Of a whole that several devices list, the first device's list is
 * taken. */
void ft__member(ft__import *im, const char *source, const char *whole, ft_phase phase,
                double count, const char *note);
void ft__count_unknown(ft__import *im);

#endif
