/* The frame of every page: style, data, the scripts that draw them. */
#include "report/html.h"

#include <string.h>

static const char style[] = {
#include "page.css.inc"
    , 0};
static const char pieces[] = {
#include "page.js.inc"
    , 0};
static const char predict[] = {
#include "predict.js.inc"
    , 0};
static const char explore[] = {
#include "explore.js.inc"
    , 0};
static const char validate[] = {
#include "validate.js.inc"
    , 0};
static const char record[] = {
#include "record.js.inc"
    , 0};

static const struct page {
    const char *title, *script;
} pages[FT__PAGE_COUNT] = {
    [FT__PAGE_PREDICT] = {"foretell predict", predict},
    [FT__PAGE_EXPLORE] = {"foretell explore", explore},
    [FT__PAGE_VALIDATE] = {"foretell validate", validate},
    [FT__PAGE_RECORD] = {"foretell", record},
};

/* '<' stands in texts only; "</script>" or "<!--" there would end the data. */
static int put_piece(const char *s, size_t n, void *fp)
{
    for (const char *end = s + n; s < end;) {
        const char *less = memchr(s, '<', (size_t)(end - s));
        const size_t len = (size_t)((less ? less : end) - s);

        fwrite(s, 1, len, fp);
        if (less)
            fputs("\\u003c", fp);
        s += len + (less ? 1 : 0);
    }
    return 0;
}

bool ft__page_write_take(FILE *fp, ft__page page, json_t *data)
{
    bool good = data != NULL;

    if (good) {
        fprintf(
            fp,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
            "'none'; "
            "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n<title>%s</title>\n<style>\n%s"
            "</style>\n</head>\n<body>\n<main id=\"main\">\n<h1 id=\"title\">%s</h1>\n"
            "<p class=\"lead\" id=\"lead\"></p>\n<noscript><p>The drawings need "
            "scripts; "
            "the command prints the same as text.</p></noscript>\n</main>\n"
            "<script type=\"application/json\" id=\"data\">",
            pages[page].title, style, pages[page].title);
        good = json_dump_callback(data, put_piece, fp,
                                  JSON_COMPACT | JSON_REAL_PRECISION(6)) == 0;
        fprintf(fp, "</script>\n<script>\n%s%s</script>\n</body>\n</html>\n", pieces,
                pages[page].script);
    }
    json_decref(data);
    return good && !ferror(fp);
}
