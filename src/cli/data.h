#ifndef CLI_DATA_H
#define CLI_DATA_H

#include "cli/cli.h"
#include "foretell/store.h"

/* Check --from, which may be NULL. Complains itself; the exit code. */
int ft__data_from(ft__cli *c, const char *from);
/* Take from the files behind "import"; *printed as ft__cli_done() wants it. */
ft_status ft__data_import(ft__cli *c, ft_store *store, bool *printed, ft_error *err);

/* Bring the stores and CSV files in `from` into the one at `path`; renames are
 * "OLD=NEW". Complains itself; the exit code. */
int ft__data_merge(ft__cli *c, const char *path, const ft__texts *from,
                   const ft__texts *renames, bool same);

#endif
