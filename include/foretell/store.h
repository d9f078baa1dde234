#ifndef FT_STORE_H
#define FT_STORE_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* Measurements in one SQLite file, write-ahead mode, or in a database of PostgreSQL's.
 * Several processes may read while one writes. A kill at any moment loses nothing that was
 * written; a power cut may lose the last writes to a file. One thread at a time may use a
 * handle. */
typedef struct ft_store ft_store;

typedef enum ft_store_mode {
    FT_STORE_READ,  /* must exist */
    FT_STORE_WRITE, /* created and migrated when needed */
    FT_STORE_MERGE, /* must exist, may be of an older version: for ft_store_merge() to
                       read, and nothing else */
    FT_STORE_READ_ANY, /* as READ; where nothing is yet, an empty one in memory */
} ft_store_mode;

/* The path ":memory:" is a temporary store, postgresql://USER@HOST/DATABASE one on a
 * server; messages leave its password out.
 * FT_EIO: cannot be opened (the message says why and what to do);
 * FT_EFORMAT: not a store, damaged, or written by a newer foretell. */
FT_API ft_status ft_store_open(ft_store **out, const char *path, ft_store_mode mode,
                               ft_error *err);
FT_API void ft_store_close(ft_store *s);
/* Write a path without its password into out[size], cut off where it is longer (size 0:
 * nothing is written). Returns 1 for a database on a server, 0 for a file. */
FT_API int ft_store_shown(char *out, size_t size, const char *path);

/* Key of a measurement. Strings are UTF-8 and never NULL; "" where not applicable. Two
 * measurements with equal keys are repeats. */
typedef struct ft_key {
    const char *device;         /* name, e.g. "a30", or a local fingerprint */
    const char *setting;        /* canonical text, e.g. "threads=1" */
    const char *engine;         /* "onednn" */
    const char *engine_version; /* "2.6.3" */
    const char *spec;           /* the operation, canonical spec text */
    const char *phase;          /* "forward", ... */
    const char *dtype_policy;   /* "default", "tf32" */
    const char *metric;         /* "time", "memory", "workspace", "power", ... */
} ft_key;

enum { /* ft_reading.marks; marked readings are kept */
    FT_READING_OUTLIER = 1u << 0,   /* far from the others of its round */
    FT_READING_DISTURBED = 1u << 1, /* its round was disturbed, repeated and left out */
};

/* One raw value: for metric "time", `value` is the seconds of a whole batch of
 * `iterations`, begun start_s after the measurement began. Rounds are
 * interleaved with other operations. */
typedef struct ft_reading {
    double value;
    double start_s; /* NaN where unknown */
    uint64_t iterations;
    uint32_t round; /* from 0 */
    uint32_t marks; /* FT_READING_ bits */
} ft_reading;

/* Statistics of a set of readings, per iteration. NaN = unknown, never 0. */
typedef struct ft_measurement {
    const char *unit; /* "s", "B", "W", "J" */
    double value;     /* the figure to use: the median for time */
    double error;     /* standard error of value, run-to-run scatter included: two runs
                         differ by less than 1.645 sqrt(e1^2 + e2^2) nine times of
                         ten */
    double mad;       /* scaled to sigma */
    double mean;
    double std;
    uint64_t n;          /* readings behind it */
    uint64_t iterations; /* in all */
    /* Seconds of the calibration operation beside it: measurements of different hours
     * are compared divided by it. NaN or 0: not measured. */
    double calibration_s;
    /* Clocks, load, temperature and marks: a JSON object. NULL or "": unknown. */
    const char *conditions;
} ft_measurement;

/* NaN and FT_OK when there is none. */
FT_API ft_status ft_store_fact(ft_store *s, const char *device, const char *name,
                               double *value, ft_error *err);

/* An operation of a measured network: `count` times the operation `part`, as the dataset's
 * author listed it. `whole` is the network's spec ("network name=resnet50
 * x=32x3x224x224"), `source` the origin of the list. Writing the same (source, whole,
 * phase, part) again replaces count and note. `note`: "" or why the operation was not
 * measured there ("functional"). */
typedef struct ft_member {
    const char *source;
    const char *whole;
    const char *phase; /* of the network: "forward", "step" */
    const char *part;  /* an operation's spec */
    double count;
    const char *note;
} ft_member;
/* Members in the order in which they were put; NULL or "" matches all. As
 * ft_store_each(). */
FT_API ft_status ft_store_each_member(ft_store *s, const char *source, const char *whole,
                                      int (*each)(void *user, const ft_member *member),
                                      void *user, ft_error *err);

/* Rows that match `filter` (NULL or "" members match everything), ordered by
 * key then time. `latest`: of equal keys only the newest. The row handed to
 * `each` is valid during the call, and `each` may read from the store but not
 * write to it; it returns non-zero to stop early. */
typedef struct ft_row {
    ft_key key;
    ft_measurement m;
    int64_t id;       /* unique in this store */
    int64_t run;
    int64_t taken_at; /* seconds since 1970, UTC */
} ft_row;
FT_API ft_status ft_store_each(ft_store *s, const ft_key *filter, int latest,
                               int (*each)(void *user, const ft_row *row), void *user,
                               ft_error *err);

/* Of keys measured more than once: how far a later value is from the one before.
 * Raw, and with both divided by the calibration measured beside them (NaN where that
 * is missing). `covered`: share of pairs whose difference lies within what the two
 * stated 90 % intervals allow, calibrated where that can be. */
typedef struct ft_repeats {
    uint64_t pairs;
    uint64_t calibrated; /* of them with calibrations */
    double median;       /* of |later / earlier - 1| */
    double p90;
    double calibrated_median;
    double calibrated_p90;
    double covered;
    double scatter;  /* of the calibrated logarithm of one value: relative sigma */
    double apart_s;  /* median time between the two */
} ft_repeats;
/* Exactly one metric should be asked for. What has no error (sizes) is left out. */
FT_API ft_status ft_store_repeats(ft_repeats *out, ft_store *s, const ft_key *filter,
                                  ft_error *err);

/* CSV, RFC 4180 but for lines that end in LF alone, one header line, one line a
 * measurement, all columns of key and measurement plus taken_at and run; with
 * `readings`, a further column of "value:iterations:start_s:round:marks" separated
 * by blanks, where zeros and unknown starts at the end are left out. Floats survive
 * the round trip exactly. Missing = empty field. Where the filter asks for everything,
 * members (ft_member) follow: rows without a device, of metric "member", with source,
 * whole, part and note in the columns engine, setting, spec and conditions. */
FT_API ft_status ft_store_export_csv(ft_store *s, const char *path, const ft_key *filter,
                                     int readings, ft_error *err);
/* Import what export wrote, and what earlier versions wrote (without calibration
 * and conditions), plain or packed by gzip; CR LF is read too. All or nothing;
 * FT_EFORMAT names line and column. Runs become new ones, named after `source` and their number.
 * *n_rows: measurements taken. Rows already present (same key, time and value) are
 * skipped, so that importing twice changes nothing; of rows that are equal within the
 * file all are kept. */
FT_API ft_status ft_store_import_csv(ft_store *s, const void *csv, size_t len,
                                     const char *source, uint64_t *n_rows,
                                     ft_error *err);
/* The same of a file. */
FT_API ft_status ft_store_import_file(ft_store *s, const char *path, uint64_t *n_rows,
                                      ft_error *err);
/* A store in that mode, or a CSV file as a temporary store: by what the file holds. */
FT_API ft_status ft_store_open_any(ft_store **out, const char *path, ft_store_mode mode,
                                   ft_error *err);

/* Stores of several machines in one. */
typedef struct ft_rename {
    const char *from;
    const char *to;
} ft_rename;

typedef struct ft_merge_options {
    const ft_rename *renames; /* of devices of the other stores */
    size_t n_renames;
    int same_devices; /* equal names mean one machine, whatever its facts */
} ft_merge_options;

typedef struct ft_merge_report {
    uint64_t measurements; /* taken */
    uint64_t repeats;      /* of them with a key that was here: both are kept */
    uint64_t present;      /* already present, equal in every measured value */
    uint64_t runs;         /* taken */
    uint64_t facts;        /* taken, superseded ones included */
    uint64_t members;      /* taken: operations of networks not listed here */
    uint64_t trials;       /* taken: runs of explorations */
} ft_merge_report;

/* Take everything from n other stores, opened with FT_STORE_MERGE or any other way:
 * measurements with their raw readings, runs, facts; all or nothing. Merging again
 * changes nothing. A measurement that came without readings or without what only
 * newer versions record gets them when a store has them. Of two facts the newer
 * holds, and the other is kept beside it. FT_EINVAL: a name stands for two machines
 * (a fact differs by more than four times), and opt neither renames it nor allows
 * that. opt may be NULL. */
FT_API ft_status ft_store_merge(ft_merge_report *out, ft_store *into,
                                ft_store *const *from, size_t n,
                                const ft_merge_options *opt, ft_error *err);

FT_END_DECLS

#endif
