#ifndef FT_DATASET_H
#define FT_DATASET_H

#include "foretell/error.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Import of published tables of measurements into a store (docs/data.md). */

/* Names of supported sources; NULL after the last one. */
FT_API const char *ft_dataset_source(size_t i);

typedef struct ft_dataset_report {
    uint64_t rows;         /* of the file */
    uint64_t measurements; /* taken */
    uint64_t present;      /* here before, equal in all that was measured */
    uint64_t members;      /* operations of networks, those already present included */
    uint64_t unknown_ops;  /* rows whose operation has no kind: `generic` */
    char unknown_devices[400]; /* without a device file, in quotes, separated by ", " */
} ft_dataset_report;

/* Import one file, CSV with a header line, plain or gzip. All or nothing; idempotent.
 * Columns are found by name; those outside the key are kept in `conditions`. `data_dir`
 * has the device files whose titles and aliases name devices; NULL: none, names are made
 * of the titles.
 * FT_EINVAL: `source` is none of the above; FT_EFORMAT names file, line and column. */
FT_API ft_status ft_dataset_import(ft_dataset_report *out, ft_store *s,
                                   const char *source, const char *path,
                                   const char *data_dir, ft_error *err);

FT_END_DECLS

#endif
