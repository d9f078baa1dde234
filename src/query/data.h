#ifndef QUERY_DATA_H
#define QUERY_DATA_H

#include <pthread.h>
#include <stdbool.h>

#include "foretell/query.h"
#include "predict/query/network.h"
#include "predict/query/op_costs.h"

enum { FT__PATH = 4096, FT__MAX_FAMILIES = 16, FT__NAME = 128, FT__NOTE = 512 };

/* Something read, by what it was asked for as. */
typedef struct ft__data_kept {
    struct ft__data_kept *next;
    void *thing;
    char name[FT__NAME]; /* of devices: that of the file */
    char note[FT__NOTE];
    char asked[];
} ft__data_kept;

/* Predictors for families of devices: the user's own, then those of the data folder. */
typedef struct ft__families {
    const ft__data_kept *predictor[FT__MAX_FAMILIES];
    size_t n;
    bool opened;
    bool own;           /* the first is the user's */
    char damaged[1000]; /* why a file is not among them: the first such; "" */
} ft__families;

/* What remembers operations, while no query has it; by the question that it was made
 * for; of networks 0.3 MB each. */
enum { FT__REMEMBERED_KEY = 2048, FT__MOST_REMEMBERED = 8 };
typedef struct ft__remembered {
    struct ft__remembered *next;
    ft__op_costs *costs;      /* of lists, and */
    ft__op_answers *answered; /* of networks; NULL: none yet */
    char asked[FT__REMEMBERED_KEY];
} ft__remembered;

struct ft_data {
    pthread_mutex_t lock; /* of all that follows the folders */
    char *data_dir;
    char *user_dir; /* "": none */
    ft__data_kept *device, *predictor, *known;
    char *no_sensors;     /* NULL: not looked for yet */
    ft__remembered *idle; /* the last used first */
    ft__families families;
};

/* data.c */
void ft__remembered_free(ft__remembered *r);
/* What is asked for, "local": this machine. *out has its file's name and a note, as
 * ft_device_resolve(), and, where it is to be read, the ft_device. */
ft_status ft__data_device(const ft__data_kept **out, ft_data *d, const char *asked,
                          bool read, ft_error *err);
ft_status ft__data_predictor(const ft_predictor **out, ft_data *d, const char *path,
                             ft_error *err);
/* What a store, or a file in our CSV, holds of devices. FT_EFORMAT also where it holds
 * no operation's time. */
ft_status ft__data_calibration_set(const ft__calibration_set **out, ft_data *d,
                                   const char *path, ft_error *err);
/* Predictors for families of devices, and of kernels: the user's own before others. */
ft_status ft__data_families(const ft__families **out, ft_data *d, ft_error *err);

/* read.c */
/* A struct of any size, which is its first member, as today's of `size` bytes. */
ft_status ft__read_sized(void *out, size_t size, const void *in, const char *type,
                         const char *init, ft_error *err);
/* A query of any size as today's, checked. */
ft_status ft__query_read(ft_query *out, const ft_query *q, ft_error *err);
struct ft__llm;
/* A language model that many steps are asked of, read once (FT_EINVAL: it is none), and
 * ft_query_import() of it (NULL: it was not read). */
ft_status ft__query_read_llm(struct ft__llm *out, const ft_query *q, ft_error *err);
ft_status ft__query_import(ft_graph **out, const ft_query *q,
                           const struct ft__llm *read, ft_error *err);
/* What it says of mode and optimizer. */
ft_status ft__query_step(ft_step *out, const ft_query *q, ft_error *err);

/* ask.c */
/* Bytes needed at a batch: the caller imports the model again and asks
 * ft_memory_make(). */
typedef ft_status (*ft__memory_at)(void *arg, int64_t batch, uint64_t *bytes,
                                   ft_error *err);
/* The largest batch, up to 2^20, that needs at most `limit` bytes; 0: not even
 * one does. Memory must not fall as the batch grows. Asks about 2 log2(batch)
 * times; the first failure of `at` is the result. */
ft_status ft__max_batch(int64_t *out, uint64_t limit, ft__memory_at at, void *arg,
                        ft_error *err);

#endif
