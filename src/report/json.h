#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "foretell/predictor.h"

/* JSON values on top of jansson. Failure is a NULL value, and travels: built
 * into an object by json_pack("{s:o}"), a NULL makes the whole object NULL, so
 * that only the printing tests for it. */

json_t *ft__json_real(double v);      /* NaN and infinities are null */
json_t *ft__json_text(const char *s); /* bytes that are not UTF-8 become '?' */
json_t *ft__json_count(uint64_t n);
/* {"value", "low", "high", "unit", "basis"} and, where there is no value, "why". */
json_t *ft__json_estimate(const ft_estimate *e, const char *unit);
json_t *ft__json_errors(const ft_errors *e);
/* The value becomes the array's; on failure the array is freed and NULL. */
void ft__json_append_take(json_t **array, json_t *value);
/* Prints, two blanks a level, and frees; false when it was NULL. */
bool ft__json_print_take(json_t *v, FILE *fp);

/* Members of both in one object; NULL when memory is short. */
json_t *ft__json_join_take(json_t *a, json_t *b);

#endif
