#ifndef STORE_CSV_H
#define STORE_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "foretell/error.h"

/* A table as text, one row after the other: CSV (RFC 4180, CR LF or LF, an optional
 * byte order mark) with a header line, plain or packed by gzip. Columns are found by
 * their names, whatever their order. Packed text is read in pieces: memory is that of
 * one row, however much it unpacks to. */
typedef struct ft__csv ft__csv;

/* `name` is what messages call the table; bytes and name are borrowed. The header has
 * been read when it returns; *n_columns, where it is not NULL, says how many there are.
 * FT_EFORMAT: no header, a column without a name or named twice, damaged gzip. */
ft_status ft__csv_open(ft__csv **out, size_t *n_columns, const void *bytes, size_t len,
                       const char *name, ft_error *err);
void ft__csv_close(ft__csv *r);
/* -1: there is no such column. */
int ft__csv_find(const ft__csv *r, const char *column);
/* The next row; *more is false behind the last one. Fields are valid until the next
 * call; each is UTF-8, the caller's to change. FT_EFORMAT names table, line and
 * column. */
ft_status ft__csv_next(ft__csv *r, bool *more, ft_error *err);
char *ft__csv_text(ft__csv *r, size_t column);
/* FT_EFORMAT with table, line and column of the row read last, and `what`. */
ft_status ft__csv_bad(const ft__csv *r, size_t column, const char *what, ft_error *err);

#endif
