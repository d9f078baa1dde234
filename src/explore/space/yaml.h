#ifndef EXPLORE_SPACE_YAML_H
#define EXPLORE_SPACE_YAML_H

#include <stdbool.h>
#include <yaml.h>

#include "base/arena.h"
#include "foretell/error.h"

/* A YAML document with line numbers to complain by. Failure is sticky: after the first
 * one, every function does nothing and gives NULL, NaN or 0, and `st` says so. */
typedef struct ft__yaml {
    yaml_document_t doc;
    const char *file;
    ft__arena *arena; /* of what is handed out */
    ft_error *err;
    ft_status st;
} ft__yaml;

/* False: it is no YAML; nothing to close. */
bool ft__yaml_open(ft__yaml *y, const char *text, size_t len);
void ft__yaml_close(ft__yaml *y);

typedef const yaml_node_t ft__node;

/* "FILE:12: where: what" */
FT_PRINTF(4, 5)
void ft__yaml_fail(ft__yaml *y, ft__node *at, const char *where, const char *fmt, ...);
ft__node *ft__yaml_root(ft__yaml *y);
/* A mapping that has these keys (ended by NULL) and no others, none twice. */
bool ft__yaml_keys(ft__yaml *y, ft__node *map, const char *where,
                   const char *const *keys);
/* NULL: not there. */
ft__node *ft__yaml_get(ft__yaml *y, ft__node *map, const char *key);
/* Complains when it is not there. */
ft__node *ft__yaml_need(ft__yaml *y, ft__node *map, const char *where, const char *key);
/* Entries of a sequence; a scalar is one of its own. NULL node: 0. */
size_t ft__yaml_count(ft__node *seq);
ft__node *ft__yaml_at(ft__yaml *y, ft__node *seq, size_t i);
/* Pairs of a mapping. */
size_t ft__yaml_pairs(ft__node *map);
ft__node *ft__yaml_key(ft__yaml *y, ft__node *map, size_t i);
ft__node *ft__yaml_value(ft__yaml *y, ft__node *map, size_t i);
bool ft__yaml_is(ft__node *n, yaml_node_type_t type);

/* A scalar's text, without zeros in it. */
const char *ft__yaml_text(ft__yaml *y, ft__node *n, const char *where);
double ft__yaml_number(ft__yaml *y, ft__node *n, const char *where);
/* In seconds: "500ms", "90s", "10min", "1h"; a number alone is seconds. */
double ft__yaml_seconds(ft__yaml *y, ft__node *n, const char *where);
bool ft__yaml_flag(ft__yaml *y, ft__node *n, const char *where); /* true, false */
void *ft__yaml_array(ft__yaml *y, size_t n, size_t size);

#endif
