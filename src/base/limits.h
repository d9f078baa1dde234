#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* Every bound that untrusted input meets, in one place. */
enum {
    FT__MAX_DEPTH = 64,             /* nesting of messages, subgraphs, brackets */
    FT__MAX_NAME = 4096,            /* bytes of one name in a model file */
    FT__MAX_NODES = 1 << 22,        /* operations of one graph */
    FT__MAX_CONST_VALUES = 1 << 16, /* elements of a tensor that is folded */
    FT__MAX_TEXT_FILE = 1 << 24,    /* bytes of a device file or of /proc/cpuinfo */
    FT__MAX_YAML_FILE = 1 << 20,    /* bytes of a space or a fleet */
    FT__MAX_PARTS = 80,     /* tensors of a concat or split, so that they fit a spec */
    FT__MAX_CPUS = 1 << 13, /* processors of one machine, as in Linux */
    FT__MAX_CONST_REALS = 1 << 10, /* the same, floating point */
    FT__MAX_FOLDED = 1 << 22,      /* elements of all of them together */
    FT__MAX_INLINED = 1 << 24,     /* bytes of functions and branches, each time */
    FT__MAX_JSON = 1 << 30,        /* bytes of a graph that an archive holds packed */
    FT__MAX_PIPED = 1 << 30,       /* bytes of a model that comes through a pipe */
    FT__MAX_COLUMNS = 256,         /* of a table as text */
    FT__MAX_ROW = 1 << 26,         /* bytes of one row of it */
    FT__MAX_TABLE_FILE = 1 << 30,  /* bytes of the file it comes in */
    FT__MAX_ZIP_RATIO = 256,       /* bytes that one packed byte may become */
};

/* No tensor dimension, element count or byte count may pass this; sums of two
 * and the product with a dtype's size still fit int64_t. */
#define FT__MAX_ELEMENTS ((int64_t)1 << 52)
/* More rounds of a loop than this mean "until it is done". */
#define FT__MAX_TRIPS ((int64_t)1 << 31)

#endif
