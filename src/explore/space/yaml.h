#ifndef EXPLORE_SPACE_YAML_H
#define EXPLORE_SPACE_YAML_H

#include <stdbool.h>
#include <yaml.h>

#include "base/arena.h"
#include "foretell/error.h"

/* A YAML document, parsed by libyaml, with line numbers to complain by. Failure is
 * sticky: after the first one, every function does nothing and gives NULL, NaN or 0,
 * and `st` says so. */
typedef struct ft__yaml {
    yaml_document_t doc;
    const char *file;
    ft__arena *arena; /* of what is handed out */
    ft_error *err;
    ft_status st;
} ft__yaml;

typedef const yaml_node_t ft__node;

/* False: it is no YAML; otherwise yaml_document_delete(&y->doc) ends it. */
bool ft__yaml_parse(ft__yaml *y, const char *text, size_t len);

static inline bool ft__yaml_is(ft__node *n, yaml_node_type_t type)
{
    return n && n->type == type;
}

/* Entries of a sequence; a scalar is one of its own. NULL node: 0. */
static inline size_t ft__yaml_count(ft__node *seq)
{
    if (!seq)
        return 0;
    return ft__yaml_is(seq, YAML_SEQUENCE_NODE)
               ? (size_t)(seq->data.sequence.items.top - seq->data.sequence.items.start)
               : 1;
}

static inline ft__node *ft__yaml_at(ft__yaml *y, ft__node *seq, size_t i)
{
    return ft__yaml_is(seq, YAML_SEQUENCE_NODE)
               ? yaml_document_get_node(&y->doc, seq->data.sequence.items.start[i])
               : seq;
}

/* Pairs of a mapping. */
static inline size_t ft__yaml_pairs(ft__node *map)
{
    return ft__yaml_is(map, YAML_MAPPING_NODE)
               ? (size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start)
               : 0;
}

static inline ft__node *ft__yaml_key(ft__yaml *y, ft__node *map, size_t i)
{
    return yaml_document_get_node(&y->doc, map->data.mapping.pairs.start[i].key);
}

static inline ft__node *ft__yaml_value(ft__yaml *y, ft__node *map, size_t i)
{
    return yaml_document_get_node(&y->doc, map->data.mapping.pairs.start[i].value);
}

/* "FILE:12: where: what" */
FT_PRINTF(4, 5)
void ft__yaml_fail(ft__yaml *y, ft__node *at, const char *where, const char *fmt, ...);
/* A mapping that has these keys (ended by NULL) and no others, none twice. */
bool ft__yaml_keys(ft__yaml *y, ft__node *map, const char *where,
                   const char *const *keys);
/* NULL: not there. */
ft__node *ft__yaml_get(ft__yaml *y, ft__node *map, const char *key);
/* Complains when it is not there. */
ft__node *ft__yaml_need(ft__yaml *y, ft__node *map, const char *where, const char *key);

/* A scalar's text, without zeros in it. */
const char *ft__yaml_text(ft__yaml *y, ft__node *n, const char *where);
/* Text that may be a name. */
const char *ft__yaml_name(ft__yaml *y, ft__node *n, const char *where);
double ft__yaml_number(ft__yaml *y, ft__node *n, const char *where);
void *ft__yaml_array(ft__yaml *y, size_t n, size_t size);

#endif
