#ifndef LEARN_TREE_FOREST_H
#define LEARN_TREE_FOREST_H

#include <assert.h>
#include <string.h>

#include "learn/learn_inside.h"

/* Node 0 is the root; siblings are neighbours and every child lies behind its
 * parent. A leaf has left == 0 and predicts `value`. Elsewhere x[col] > value goes
 * to left + 1, all else to left; a missing value goes left unless missing_right.
 * The threshold -infinity parts missing values from present ones. */
typedef struct ft__node {
    float value;
    uint32_t left;
    uint16_t col, missing_right;
} ft__node;

typedef struct ft__tree {
    ft__node *node;
    uint32_t n;
} ft__tree;

/* A threshold between two neighbouring values: half way, never at the upper one. */
static inline float ft__between(float low, float high)
{
    const float middle = low / 2 + high / 2;

    return middle >= low && middle < high ? middle : low;
}

/* The image of a forest.
 *
 * Little-endian, used where it lies; meant to begin at a multiple of 64 bytes, which
 * a cache line has, though every multiple of 8 works:
 *
 *   header | u32 start[n_trees], filled up with 0 to whole lines | line[n_lines]
 *
 * A line has FT__LINE cells. Tree t begins with line start[t] and ends where the
 * next begins; its first cell is the root. A cell is a node:
 *
 *   link >= FT__MAX_WIDTH   key(x[link % FT__MAX_WIDTH]) > key ? right : left, where
 *                           left is the cell `link / FT__MAX_WIDTH` further on and
 *                           right follows it
 *   link == width           a leaf; `key` is the float it predicts
 *
 * Keys of floats are in the order of floats (ft__key_of). A row is looked at through
 * its columns' keys, missing the least of all; behind them 0, which is above nothing,
 * so that a walk that has reached its leaf stays there; and, in forests whose header
 * says so, the same columns once more with missing the greatest of all.
 *
 * Siblings are neighbours in a line. A line holds the four pairs that walks from its
 * first pair meet most, so that a walk touches few lines. */
typedef struct ft__forest_header {
    char magic[4];
    uint32_t version, width, n_trees, n_lines;
    uint32_t both; /* 1: nodes ask for columns in which missing is the greatest */
    double base;   /* a prediction is base + sum of the trees / share */
    double share;
    uint32_t reserved[6];
} ft__forest_header;

typedef struct ft__cell {
    uint32_t key, link;
} ft__cell;

#define FT__FOREST_MAGIC "FTFO"
#define FT__FOREST_VERSION 2u

enum {
    FT__LINK_SHIFT = 10,
    FT__MAX_WIDTH = 1 << FT__LINK_SHIFT,             /* keys of a row */
    FT__MAX_TREE_NODES = 1 << (32 - FT__LINK_SHIFT), /* cells of one tree */
    FT__MAX_TREE_ROWS = FT__MAX_TREE_NODES / 4,      /* 2n - 1 nodes, room to fill up */
    FT__LINE = 8,
    FT__MAX_LINES = 1 << 28, /* so that an int32_t counts cells */
};

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "images are used in place");
static_assert(sizeof(ft__forest_header) == 64 && sizeof(ft__cell) == 8, "image layout");

#define FT__KEY_LEAST 0x007fffffu    /* of -infinity */
#define FT__KEY_GREATEST 0xff800000u /* of +infinity */

/* a > b as floats and ft__key_of(a) > ft__key_of(b) are the same; not for NaN. */
static inline uint32_t ft__key_of(float v)
{
    uint32_t bits;

    v += 0.0F; /* -0 becomes 0 */
    memcpy(&bits, &v, sizeof(bits));
    return bits ^ ((0u - (bits >> 31)) | 0x80000000u);
}

/* Keys that a row has: width and one, or twice the width and one. */
static inline uint32_t ft__forest_keys(const ft__forest_header *h)
{
    return h->width * (1 + h->both) + 1;
}

/* Lines that header and starts take. */
static inline size_t ft__forest_lines_before(uint32_t n_trees)
{
    return 1 + ((size_t)n_trees + 15) / 16;
}

typedef struct ft__walks ft__walks;

struct ft__forest {
    const ft__walks *walks;
    const ft__forest_header *head;
    const uint32_t *start;
    const ft__cell *cell;
    size_t len;
    void *owned; /* what holds the image, when it was made here */
};

/* Make the image of a forest that owns it: a prediction is base + sum / share.
 * FT_EINVAL when columns or trees are too large for an image. */
ft_status ft__forest_join(ft__forest **out, uint32_t width, const ft__tree *tree,
                          uint32_t n_trees, double base, double share, ft_error *err);

/* How walks are carried out. Each way gives the same bits: walks compare integers, and
 * the trees' values are added in their order, in double. */
struct ft__walks {
    /* The sum of the trees for one row. */
    double (*row)(const ft__forest *f, const float *row);
    /* The same for n rows, to out[n]; x is room for as many times ft__keys_room(). */
    void (*rows)(const ft__forest *f, uint32_t *x, const float *rows, size_t n,
                 double *out);
};

/* What each tree says of a row, tree[n_trees]. */
void ft__forest_each(const ft__forest *f, const float *row, double *tree);

extern const ft__walks ft__walks_plain;
/* What this processor does best. */
const ft__walks *ft__walks_here(void);
/* With AVX-512; NULL: not on this processor. */
const ft__walks *ft__walks_avx512(void);

static inline double ft__leaf_value(const ft__cell *c)
{
    float v;

    memcpy(&v, &c->key, sizeof(v));
    return (double)v;
}

/* Room for the keys of a row: whole registers where they are few. */
static inline size_t ft__keys_room(const ft__forest *f)
{
    const size_t keys = ft__forest_keys(f->head);

    if (keys > 64)
        return keys;
    return keys > 32 ? 64 : 32;
}

/* The keys of a row, `apart` from each other. */
static inline void ft__write_keys(const ft__forest_header *h, uint32_t *x,
                                  const float *row, size_t apart)
{
    const uint32_t width = h->width;

    for (uint32_t k = 0; k < width; k++)
        x[k * apart] = row[k] != row[k] ? 0 : ft__key_of(row[k]);
    x[width * apart] = 0;
    for (uint32_t k = 0; h->both && k < width; k++)
        x[(width + 1 + k) * apart] = row[k] != row[k] ? UINT32_MAX : ft__key_of(row[k]);
}

#endif
