#ifndef STORE_COLUMNS_H
#define STORE_COLUMNS_H

/* Measurements as CSV: one list of columns for the header line and the place of each
 * field. */
/* clang-format off */
#define FT__COLUMNS(X)                                                                 \
    X(device) X(setting) X(engine) X(engine_version) X(spec) X(phase) X(dtype_policy)  \
    X(metric) X(unit) X(value) X(error) X(mad) X(mean) X(std) X(n) X(iterations)       \
    X(taken_at) X(run) X(calibration) X(conditions) X(readings)
/* clang-format on */

enum ft__csv_column {
#define X(name) FT__COL_##name,
    FT__COLUMNS(X)
#undef X
        FT__N_COLUMNS
};

static const char *const ft__column_name[FT__N_COLUMNS] = {
#define X(name) #name,
    FT__COLUMNS(X)
#undef X
};

#endif
