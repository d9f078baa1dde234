#ifndef REPORT_RECORD_H
#define REPORT_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "foretell/predictor.h"

/* Records: fields with names and types, described once and written as a JSON object or
 * a line of CSV. `fields` has a "name:type" for each value that follows, with blanks
 * between them:
 *
 *   ft__json("spec:s count:u time_s:g", op->spec, op->count, op->time_s)
 *
 *   s  const char *, NULL: null        z  the same, "" is null, too
 *   g  double, NaN: null, exact        b  int, true or false; 1 or 0 in CSV
 *   u  uint64_t or size_t              m  the same, UINT64_MAX is null
 *   n  uint32_t                        d  int
 *   i  int64_t                         l  int64_t, below 0: null
 *   t  const uint32_t[3], null where the first is 0; JSON only
 *   e  const ft_estimate *, with its unit, "time:e(s)"; JSON only
 *   o  json_t *, which it takes; JSON only
 *
 * In CSV null is an empty field. Bytes that are not UTF-8 become '?' in JSON.
 * tools/check-records holds the values' types against their letters. */

/* Failure is a NULL value, and travels: an object with a NULL of type `o` is NULL, so
 * that only the printing tests for it. */
json_t *ft__json(const char *fields, ...);
/* Members of both in one object. */
json_t *ft__json_join_take(json_t *a, json_t *b);
/* One member more. */
void ft__json_set_take(json_t **object, const char *name, json_t *value);
/* The value becomes the array's; on failure the array is freed and NULL. */
void ft__json_append_take(json_t **array, json_t *value);
json_t *ft__json_real(double v);      /* NaN and infinities are null */
json_t *ft__json_text(const char *s); /* NULL is null */
json_t *ft__json_count(uint64_t n);
json_t *ft__json_texts(const char *const *text, size_t n);
/* {"value", "low", "high", "unit", "basis"} and, where there is no value, "why". */
json_t *ft__json_estimate(const ft_estimate *e, const char *unit);
json_t *ft__json_errors(const ft_errors *e);
/* Prints, two blanks a level, and frees; false when it was NULL. */
bool ft__json_print_take(json_t *v, FILE *fp);

/* In one line, with numbers as printed; freed by the caller. NULL: v was, or memory is
 * short. */
char *ft__json_compact(const json_t *v);

/* The names of the fields, and the values of one record (RFC 4180). */
void ft__csv_head(FILE *fp, const char *fields);
void ft__csv_row(FILE *fp, const char *fields, ...);
/* Single values, for records whose fields are not known before; each is followed by
 * the end: ',' or '\n'. */
void ft__record_csv_text(FILE *fp, const char *s, char end);

/* Records of one kind: lines of CSV, where csv is a file, else an array. */
typedef struct ft__records {
    const char *fields;
    FILE *csv;
    json_t *array;
} ft__records;
ft__records ft__records_begin(const char *fields, FILE *csv);
void ft__records_add(ft__records *r, ...);

#endif
