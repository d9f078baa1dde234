#ifndef MEASURE_ROWS_H
#define MEASURE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "foretell/error.h"

/* A table as text, one row after the other: CSV (RFC 4180, CR LF or LF, an optional
 * byte order mark) with a header line, plain or packed by gzip. Columns are found by
 * their names, whatever their order. Packed text is read in pieces: memory is that of
 * one row, however much it unpacks to. */
typedef struct ft__rows ft__rows;

/* `name` is what messages call the table; bytes and name are borrowed. The header has
 * been read when it returns. FT_EFORMAT: no header, a column without a name or named
 * twice, damaged gzip. */
ft_status ft__rows_open(ft__rows **out, const void *bytes, size_t len, const char *name,
                        ft_error *err);
void ft__rows_close(ft__rows *r);
size_t ft__rows_n_columns(const ft__rows *r);
const char *ft__rows_column_name(const ft__rows *r, size_t column);
/* -1: there is no such column. */
int ft__rows_find(const ft__rows *r, const char *column);
/* The next row; *more is false behind the last one. Fields are valid until the next
 * call; each is UTF-8. FT_EFORMAT names table, line and column. */
ft_status ft__rows_next(ft__rows *r, bool *more, ft_error *err);
const char *ft__rows_text(const ft__rows *r, size_t column);
/* FT_EFORMAT with table, line and column of the row read last, and `what`. column -1:
 * the row as a whole. */
ft_status ft__rows_bad(const ft__rows *r, int column, const char *what, ft_error *err);
uint64_t ft__rows_count(const ft__rows *r); /* rows read so far */

/* All of packed text at once, for readers that want the whole; text that is not packed
 * is copied. At most `limit` bytes. */
ft_status ft__rows_unpack(ft__buf *out, const void *bytes, size_t len, size_t limit,
                          const char *name, ft_error *err);

/* A table's file as it is; *out is the caller's to free(). */
ft_status ft__table_read(char **out, size_t *len, const char *path, ft_error *err);

#endif
