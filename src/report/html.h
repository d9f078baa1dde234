#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "foretell/device.h"
#include "foretell/query.h"

/* Pages: one HTML file each, with its data as JSON, its drawings made of them by a
 * script in the file. Nothing is fetched; texts of the data cannot become markup or
 * scripts. */

/* What a page draws, src/report/page/NAME.js. */
typedef enum ft__page {
    FT__PAGE_PREDICT, /* ft__prediction_page() */
    FT__PAGE_EXPLORE,
    FT__PAGE_VALIDATE,
    FT__PAGE_RECORD, /* any record: texts, estimates, tables */
    FT__PAGE_COUNT
} ft__page;

/* Takes data; its numbers with six digits. False: memory was short, as when data is
 * NULL, or fp failed. */
bool ft__page_write_take(FILE *fp, ft__page page, json_t *data);

/* Answers beside each other, and of the first ones every operation, all modules, the
 * roofline and memory over time; facts[n]: of their devices, NULL where they are not
 * known. */
json_t *ft__prediction_page(const ft_answer *const *a,
                            const ft_device_facts *const *facts, size_t n);

#endif
