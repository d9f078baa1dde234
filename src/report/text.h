#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "foretell/error.h"

/* Text that may come from a model file: control characters, which could drive a
 * terminal, are written as '?'. */
void ft__put_clean(FILE *fp, const char *s);

/* As one word of a shell, behind `lead`: in quotes where it needs them. */
void ft__put_word(FILE *fp, const char *lead, const char *s);

/* A line: `lead` as it is, then such a text. */
void ft__put_line(FILE *fp, const char *lead, const char *s);

/* Columns that COLUMNS or the terminal behind fp says there are; 0: neither does. */
size_t ft__text_width(FILE *fp);

/* Paragraphs, filled to `width` columns (0: as they are), each line `indent` blanks in;
 * where the first one begins, `at` columns are used. Lines that begin with a blank stay
 * as they are. */
void ft__put_wrapped(FILE *fp, const char *s, size_t width, size_t indent, size_t at);

/* A ruled table of plain characters that pastes into an issue.
 *
 *   operation            count     time
 *   -----------------------------------
 *   conv2d x=1x3x224        12  1.20 ms
 *
 * Columns are given as "operation<|count>u|time>s|?energy>J": '>' right-aligned, '<'
 * left and shortened when a terminal is too narrow; behind it the type of the values:
 * none const char * (NULL: "-"), u uint64_t or size_t, n uint32_t, i int64_t, ".2"
 * double with two decimals, ~ four digits, else double in that unit (ft__text_in). A
 * column with '?' is shown only if its int is not 0; these follow in order. Out of
 * memory is remembered and reported by printing. */
typedef struct ft__table ft__table;

ft__table *ft__table_new(const char *columns, ...); /* NULL: out of memory */
/* A value for each column, hidden ones too. */
void ft__table_row(ft__table *t, ...);
/* One cell, for rows that are unlike the others; of columns that are shown. */
FT_PRINTF(2, 3) void ft__table_cell(ft__table *t, const char *fmt, ...);
void ft__table_rule(ft__table *t); /* a line before the next row */
/* Prints (unless fp is NULL) and frees; false when memory was short, as when t is
 * NULL. */
bool ft__table_print_take(ft__table *t, FILE *fp);

/* A line of a bar chart, one being 30 characters; `value` stands behind it. */
void ft__bar_print(FILE *fp, const char *name, double ratio, const char *value);

/* A progress bar: drawn on standard error when that is a terminal, and wiped away once
 * `done` is `total`, both 0 at any time. */
typedef struct ft__bar {
    bool shown; /* something is on the current line */
    double last_s;
} ft__bar;
void ft__bar_draw(ft__bar *b, uint64_t done, uint64_t total, const char *what);
/* Seconds of the clock that it goes by, which nobody sets. */
double ft__monotonic_s(void);

#endif
