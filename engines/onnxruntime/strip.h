#ifndef ORT_STRIP_H
#define ORT_STRIP_H

#include "foretell/op.h"
#include "pb.h"

/* The file that a rewritten model takes weights from: it lies in memory only. */
#define FT__WEIGHTS_FILE "weights-made-at-random"

/* A weight of a model that lies in another file, or that the model leaves out. */
typedef struct ft__missing {
    char *name;
    ft_dtype dtype;
    ft_shape shape;
    uint64_t bytes;
    char *location;  /* file, relative to the model's folder; NULL: it has no data */
    uint64_t need;   /* that file's least size in bytes */
    uint64_t offset; /* where the rewritten model looks for it */
} ft__missing;

typedef struct ft__weights_list {
    ft__missing *w; /* those without data in the model itself */
    size_t n, cap;
    uint64_t bytes;      /* of all weights, here or not */
    uint64_t file_bytes; /* of FT__WEIGHTS_FILE */
} ft__weights_list;

/* Look through a model's file for its weights. `rewritten` gets
 * the same model where those without data lie in FT__WEIGHTS_FILE. FT_EFORMAT: no
 * model. */
ft_status ft__weights_find(ft__weights_list *out, ft__pb *rewritten,
                           const unsigned char *model, size_t len, ft_error *err);
void ft__weights_free(ft__weights_list *l);

#endif
