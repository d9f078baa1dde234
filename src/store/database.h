#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foretell/store.h"

/* What a store lies in: SQLite or PostgreSQL, by one set of functions. Statements are
 * written once, in what both understand: parameters are ?1, ?2; copies of another store
 * are temp.from_...; tables of the store main....; every number is INTEGER or REAL.
 * What PostgreSQL calls otherwise, postgres.c puts in its place. */

/* One value. NULL has the type that it would have. */
typedef struct ft__value {
    enum { FT__INTEGER, FT__REAL, FT__TEXT, FT__BLOB } type;
    bool null;
    int64_t i64;
    double f64;
    const void *bytes; /* of a text with its end */
    size_t size;       /* of a blob */
} ft__value;

typedef enum ft__query_kind {
    FT__ONCE, /* few rows */
    FT__KEPT, /* few rows, used again and again; the statement's text stays */
    FT__ROWS, /* any number of rows, one transaction; others may be asked meanwhile */
    FT__FILL, /* INSERT INTO table(columns) VALUES(?1, ...), of many rows; until it is
               * finished nothing else is asked */
} ft__query_kind;

/* A statement, as each kind of database begins its own. Failure is sticky: where
 * preparing, binding or reading a column failed, the next step says so. */
typedef struct ft__query {
    ft_store *s;
    int n_parameters;
    bool bad;
} ft__query;

/* What a database says of itself. */
typedef struct ft__identity {
    bool ours;
    bool blank; /* nothing in it */
    int64_t version;
    char *schema; /* SQLite: what made tables, indexes, views and triggers */
} ft__identity;

typedef struct ft__database {
    const char *begin;       /* a transaction that writes: one at a time */
    const char *snapshot;    /* a transaction that reads, all of one moment */
    const char *first;       /* before the first migration; NULL: nothing */
    const char *mark;        /* format: it is a store, of version %d from now on */
    const char *views;       /* made anew behind the last migration; NULL: none */
    const char *foreign;     /* what it is when it is no store */
    const char *measurement; /* the number of a new measurement, in a row of from_row */
    const char *many;        /* after many measurements came; NULL: nothing */
    bool staged;             /* imports go through a store of SQLite's */
    ft_status (*connect)(ft_store *s, const char *path, ft__identity *out,
                         ft_error *err);
    ft_status (*identify)(ft_store *s, ft__identity *out, ft_error *err);
    /* Whether it has what `steps` make; NULL: nobody asks. */
    ft_status (*check)(ft_store *s, const ft__identity *id, const char *const *steps,
                       ft_error *err);
    ft_status (*before_writing)(ft_store *s, ft_error *err); /* NULL: nothing */
    void (*close)(ft_store *s);
    /* One or several statements; *changed rows by the last; NULL: not asked. */
    ft_status (*exec)(ft_store *s, const char *sql, uint64_t *changed, ft_error *err);
    bool (*in_transaction)(ft_store *s);
    ft__query *(*query)(ft_store *s, const char *sql, ft__query_kind kind);
    void (*bind)(ft__query *q, int at, const ft__value *v); /* borrows until step */
    ft_status (*step)(ft__query *q, bool *row, ft_error *err);
    void (*reset)(ft__query *q);
    ft_status (*finish)(ft__query *q, ft_error *err);
    ft__value (*column)(ft__query *q, int column);
    const char *(*column_name)(ft__query *q, int column); /* after a step; NULL: none */
} ft__database;

extern const ft__database ft__sqlite, ft__postgres;

/* NULL, when memory is short, may be given to all of these; ft__step() says so. */
ft__query *ft__query_new(ft_store *s, const char *sql, ft__query_kind kind);
void ft__bind(ft__query *q, int at, const ft__value *v);
void ft__bind_text(ft__query *q, int at, const char *text);
void ft__bind_i64(ft__query *q, int at, int64_t v);
void ft__bind_f64(ft__query *q, int at, double v); /* NaN: NULL; -0: 0 */
/* As many members of the key as the statement has parameters. */
void ft__bind_key(ft__query *q, const ft_key *k);
/* *row: a row came, read it and step again or ft__reset(). Otherwise the use is over,
 * and the statement can be bound anew. */
ft_status ft__step(ft__query *q, bool *row, ft_error *err);
/* The only step of a statement of which no row is wanted. */
ft_status ft__run(ft__query *q, ft_error *err);
/* The same, and *out the number in its first column, where there was a row. */
ft_status ft__run_i64(ft__query *q, int64_t *out, bool *found, ft_error *err);
void ft__reset(ft__query *q);
/* Frees it. `st`, or what failed last. */
ft_status ft__finish(ft__query *q, ft_status st, ft_error *err);

int64_t ft__i64(ft__query *q, int column);
double ft__f64(ft__query *q, int column);       /* NaN for NULL */
const char *ft__text(ft__query *q, int column); /* "" for NULL */

#endif
