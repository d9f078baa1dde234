#ifndef LEARN_MODEL_H
#define LEARN_MODEL_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "learn/learn_inside.h"
#include "learn/tree/forest.h"

/* The image of a model, little-endian, used where it lies: a header and a body, whose
 * form is its method's. Offsets in the body are multiples of what they hold. */
typedef struct ft__model_header {
    char magic[4];
    uint32_t version;
    uint32_t method; /* as numbered by ft_method */
    uint32_t width;
    uint64_t bytes; /* of header and body */
    /* Of version 2: what the body says is v, and the prediction least + (most - least)
     * / (1 + exp(-v)). Of version 1 both are 0, and v is the prediction. */
    double least, most;
    uint64_t zero[3]; /* up to a cache line, where forests like to begin */
} ft__model_header;

#define FT__MODEL_MAGIC "FTMO"
#define FT__MODEL_VERSION 2u
#define FT__MODEL_UNBOUNDED 1u /* the version of models without bounds */

static_assert(sizeof(ft__model_header) == 64, "image layout");
/* Files number the methods: new ones go to the end. */
static_assert(FT_METHOD_RIDGE == 0 && FT_METHOD_SVR == 8 && FT_METHOD_GP == 9 &&
                  FT_METHOD_HIST == 10 && FT_METHOD_MIDDLE == 11,
              "numbers in images");

typedef struct ft__method_ops ft__method_ops;

struct ft__learn_model {
    const ft__model_header *head;
    const ft__method_ops *ops;
    const void *body;   /* behind the header */
    size_t len;         /* of the body */
    ft__forest *forest; /* of methods made of trees: over a part of the body */
    void *owned;        /* the image, when the model was fitted here */
};

/* An image that is being made. */
typedef struct ft__draft {
    ft__model_header *head; /* NULL: not yet */
} ft__draft;

/* Room for a body of `len` bytes, all 0; NULL: no memory. Once for each draft. */
void *ft__draft_body(ft__draft *d, size_t len);

/* What is to be learned, checked: at least one row of weight above 0, nothing infinite.
 */
typedef struct ft__task {
    const ft__matrix *x;
    const double *y;
    const double *weights; /* or NULL */
    const ft__learn_model_options *opt;
} ft__task;

struct ft__method_ops {
    /* What is missing to fit it here, NULL: nothing; itself NULL: never anything. */
    const char *(*missing)(void);
    ft_status (*fit)(ft__draft *out, const ft__task *t, ft_error *err);
    /* Check every part of the body, so that predicting needs no bounds. */
    ft_status (*open)(ft__learn_model *m, ft_error *err);
    void (*predict)(const ft__learn_model *m, const float *rows, size_t n, double *out);
};

extern const ft__method_ops ft__method_ridge;
extern const ft__method_ops ft__method_knn;
extern const ft__method_ops ft__method_template;
extern const ft__method_ops ft__method_tree;
extern const ft__method_ops ft__method_forest;
extern const ft__method_ops ft__method_extra;
extern const ft__method_ops ft__method_boost;
extern const ft__method_ops ft__method_mlp;
extern const ft__method_ops ft__method_svr;
extern const ft__method_ops ft__method_gp;
extern const ft__method_ops ft__method_hist;
extern const ft__method_ops ft__method_middle;

/* Methods whose body is the image of a forest. */
ft_status ft__trees_write(ft__draft *out, const ft__forest *f, ft_error *err);
ft_status ft__trees_open(ft__learn_model *m, ft_error *err);
void ft__trees_predict(const ft__learn_model *m, const float *rows, size_t n,
                       double *out);

/* How one column is seen: (value - mean) * scale, with `fill` for a missing value.
 * Columns that never change are left out. Part of images. */
typedef struct ft__column {
    uint32_t col;
    float fill; /* median of what is present */
    double mean;
    double scale; /* 1 / standard deviation */
} ft__column;

static_assert(sizeof(ft__column) == 24, "image layout");

enum { FT__MAX_COLUMNS = FT__MAX_WIDTH - 1 }; /* of any model */

/* One row as it is seen; out[n]. */
static inline void ft__columns_apply(float *out, const ft__column *c, uint32_t n,
                                     const float *row)
{
    for (uint32_t j = 0; j < n; j++) {
        const float v = row[c[j].col];
        /* A missing value is not equal to itself. */
        const float present = v == v ? v : c[j].fill;

        out[j] = (float)(((double)present - c[j].mean) * c[j].scale);
    }
}

/* Columns of a stored model: all of them inside its width, all numbers finite. */
ft_status ft__columns_check(const ft__learn_model *m, const ft__column *c, uint32_t n,
                            ft_error *err);

static inline bool ft__model_is_bounded(const ft__learn_model *m)
{
    return m->head->version != FT__MODEL_UNBOUNDED;
}

/* The prediction that v of a bounded model's body means. */
static inline double ft__model_bounded(const ft__learn_model *m, double v)
{
    return m->head->least + (m->head->most - m->head->least) / (1 + exp(-v));
}

/* The option, or what it is by default. */
static inline double ft__or(double given, double otherwise)
{
    return given > 0 ? given : otherwise;
}

static inline uint32_t ft__or_u32(uint32_t given, uint32_t otherwise)
{
    return given ? given : otherwise;
}

/* FT_EFORMAT that points at a place in the model's image. */
FT_PRINTF(4, 5)
ft_status ft__model_damaged(const ft__learn_model *m, const void *at, ft_error *err,
                            const char *fmt, ...);

#endif
