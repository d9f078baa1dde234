#ifndef FT_DATASET_H
#define FT_DATASET_H

#include "foretell/error.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Measurements that others published, brought into a store: rows of their tables
 * become specs, devices, settings, engines and phases of ours (docs/data.md). */

/* What is read: the name that is given, and in a few words what it is. NULL behind
 * the last one. */
FT_API const char *ft_dataset_source(size_t i);

typedef struct ft_dataset_report {
    uint64_t rows;         /* of the file */
    uint64_t measurements; /* taken */
    uint64_t present;      /* here before, equal in all that was measured */
    uint64_t members;      /* parts of networks, those that were here before included */
    uint64_t unknown_ops;  /* rows whose operation has no kind here: `generic` */
    char unknown_devices[400]; /* without a device file, in quotes, apart by ", " */
} ft_dataset_report;

/* Take everything from one file, CSV with a header line, plain or packed by gzip. All
 * or nothing; importing again changes nothing. Columns are found by name; those that
 * say nothing about what was measured are kept in the rows' conditions. `data_dir`
 * holds the device files whose titles and aliases give devices their names; NULL:
 * none, names are made of the titles.
 * FT_EINVAL: `source` is none of the above; FT_EFORMAT names file, line and column. */
FT_API ft_status ft_dataset_import(ft_dataset_report *out, ft_store *s,
                                   const char *source, const char *path,
                                   const char *data_dir, ft_error *err);

FT_END_DECLS

#endif
