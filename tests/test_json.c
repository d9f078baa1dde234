/* The JSON reader: what it accepts, what it refuses, and where. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "check.h"

enum { MAX = 4096 };

static ft__text text_of(const char *s)
{
    return (ft__text){s, strlen(s)};
}

/* Every value read by the call that is for it. */
static void walk(ft__json *r)
{
    ft__text text;
    char out[MAX];
    size_t len;
    double d;
    bool b;

    switch (ft__json_peek(r)) {
    case '{':
        if (ft__json_object(r))
            while (ft__json_member(r, &text))
                walk(r);
        return;
    case '[':
        if (ft__json_array(r))
            while (ft__json_element(r))
                walk(r);
        return;
    case '"':
        if (ft__json_string(r, &text))
            (void)ft__json_unescape(text, out, sizeof(out), &len);
        return;
    case '0': ft__json_number(r, &d); return;
    case 'n': ft__json_skip(r, NULL); return;
    default: ft__json_bool(r, &b); return;
    }
}

/* NULL: the text is one whole value; else why not. Read in memory that is no
 * longer than the text, so that reading past its end is seen. */
static const char *pass_whole(const char *s, size_t n, void (*pass)(ft__json *),
                              size_t *pos)
{
    char *copy = malloc(n ? n : 1);
    ft__json_doc doc = {.base = copy, .len = n};
    ft__json r;

    if (!copy)
        return "out of memory";
    memcpy(copy, s, n);
    r = ft__json_open(&doc, (ft__text){copy, n});
    pass(&r);
    ft__json_done(&r);
    if (pos)
        *pos = doc.pos;
    free(copy);
    return doc.why;
}

static const char *read_whole(const char *s, size_t n, size_t *pos)
{
    return pass_whole(s, n, walk, pos);
}

static void skip(ft__json *r)
{
    ft__json_skip(r, NULL);
}

static const char *skip_whole(const char *s, size_t n)
{
    return pass_whole(s, n, skip, NULL);
}

TEST(valid_texts_are_read)
{
    static const char *const good[] = {
        "{}",
        "[]",
        " [ ] ",
        "0",
        "-0.5e+3",
        "true",
        "null",
        "\"\"",
        "[1,2,3]",
        "{\"a\":1}",
        "{ \"a\" : [ 1 , { \"b\" : null } ] , \"c\" : \"d\" }",
        "{\"a\": {\"b\": [true, false, null]}, \"long name of a member\": 1.5}",
        "\"\\\\\"",
        "\"a\\\\\\\"b\"",
        "\"\\u00e9\\ud83d\\ude00\"",
        "[NaN, Infinity, -Infinity]",
        "\t[\r\n1\t]\n",
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        if (read_whole(good[i], strlen(good[i]), NULL) ||
            skip_whole(good[i], strlen(good[i])))
            fprintf(stderr, "%s\n", good[i]);
        CHECK(!read_whole(good[i], strlen(good[i]), NULL));
        CHECK(!skip_whole(good[i], strlen(good[i])));
    }
}

TEST(broken_texts_are_refused_with_a_place)
{
    static const struct {
        const char *text, *why;
        size_t pos;
    } bad[] = {
        {"", "true or false was expected", 0},
        {"[1,]", "this begins no value", 3},
        {"[1 2]", "a comma or ] is missing", 3},
        {"[1}", "a comma or ] is missing", 2},
        {"{\"a\":1,}", "a string was expected", 7},
        {"{\"a\" 1}", "a colon is missing", 5},
        {"{a:1}", "a string was expected", 1},
        {"{\"a\":1 \"b\":2}", "a comma or } is missing", 7},
        {"{\"a\":}", "true or false was expected", 5},
        {"[", "the text ends early", 1},
        {"[1", "the text ends early", 2},
        {"\"abc", "the text ends early", 4},
        {"\"abc\\\"", "the text ends early", 6},
        {"tru", "true or false was expected", 0},
        {"truefalse", "something follows the value", 4},
        {"01", "a number was expected", 0},
        {"-", "a number was expected", 0},
        {"1.", "a number was expected", 0},
        {"1e", "a number was expected", 0},
        {".5", "true or false was expected", 0},
        {"+1", "true or false was expected", 0},
        {"1 2", "something follows the value", 2},
        {"[]]", "something follows the value", 2},
        {"'a'", "true or false was expected", 0},
        {"nul", "this begins no value", 0},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        size_t pos = 0;
        const char *why = read_whole(bad[i].text, strlen(bad[i].text), &pos);

        if (!*bad[i].text)
            CHECK(why != NULL);
        else if (!why || strcmp(why, bad[i].why) != 0 || pos != bad[i].pos)
            fprintf(stderr, "%s: %s, byte %zu\n", bad[i].text, why ? why : "good", pos);
        if (*bad[i].text)
            CHECK(why && SAME(why, bad[i].why) && EQ(pos, bad[i].pos));
    }
}

TEST(skipping_checks_brackets_and_strings)
{
    static const char good[] = "{\"a\": [1, \"]\", {\"b\": \"}\"}]}";

    CHECK(!skip_whole(good, sizeof(good) - 1));
    CHECK(skip_whole("{\"a\": [1}", 9) != NULL);
    CHECK(skip_whole("[[]", 3) != NULL);
    CHECK(skip_whole("[\"abc]", 6) != NULL);
    CHECK(skip_whole("]", 1) != NULL);
}

/* Alike for every cut: the text ends early, whatever it was about to be. */
TEST(a_text_that_is_cut_anywhere_is_refused)
{
    static const char text[] =
        "{\"graph\": {\"nodes\": [{\"target\": \"a.b\", \"inputs\": [{\"as_int\": "
        "-12}, "
        "{\"as_float\": 1.5e-3}, true, null, \"x\\\"y\\\\\"]}], \"n\": []}}";

    CHECK(!read_whole(text, sizeof(text) - 1, NULL));
    for (size_t n = 0; n + 1 < sizeof(text); n++) {
        CHECK(read_whole(text, n, NULL) != NULL);
        CHECK(skip_whole(text, n) != NULL);
    }
}

TEST(nesting_is_bounded)
{
    char text[MAX];

    for (size_t depth = 1; depth < MAX / 2; depth *= 2) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        CHECK_EQ((depth <= 64), !read_whole(text, 2 * depth, NULL));
        CHECK_EQ((depth <= 64), !skip_whole(text, 2 * depth));
    }
    memset(text, '[', sizeof(text));
    CHECK(read_whole(text, sizeof(text), NULL) != NULL);
    CHECK(skip_whole(text, sizeof(text)) != NULL);
}

static bool reads_int(const char *s, int64_t want)
{
    ft__json_doc doc = {.base = s, .len = strlen(s)};
    ft__json r = ft__json_open(&doc, text_of(s));
    int64_t v = 0;

    return ft__json_int(&r, &v) && !doc.why && v == want;
}

TEST(integers_are_exact_or_refused)
{
    CHECK(reads_int("0", 0) && reads_int("-1", -1) && reads_int("42", 42));
    CHECK(reads_int("9223372036854775807", INT64_MAX));
    CHECK(reads_int("-9223372036854775808", INT64_MIN));
    CHECK(reads_int("9223372036854775799", 9223372036854775799));
    CHECK(!reads_int("9223372036854775808", 0) &&
          !reads_int("-9223372036854775809", 0));
    CHECK(!reads_int("99999999999999999999999999", 0) && !reads_int("1.0", 0));
    CHECK(!reads_int("1e3", 0) && !reads_int("\"1\"", 0) && !reads_int("", 0));
}

static double number(const char *s)
{
    ft__json_doc doc = {.base = s, .len = strlen(s)};
    ft__json r = ft__json_open(&doc, text_of(s));
    double v = -1;

    return ft__json_number(&r, &v) ? v : -1;
}

TEST(numbers_are_read_as_written)
{
    char digits[100];

    CHECK_NEAR(number("1e-05"), 1e-5, 0);
    CHECK_NEAR(number("-12.5E+2"), -1250, 0);
    CHECK(isinf(number("1e999")) && isinf(number("Infinity")) && isnan(number("NaN")));
    memset(digits, '9', sizeof(digits) - 1);
    digits[sizeof(digits) - 1] = '\0';
    CHECK_NEAR(number(digits), -1, 0); /* refused */
}

static bool unescapes(const char *s, const char *want)
{
    char out[64];
    size_t len;

    return ft__json_unescape(text_of(s), out, sizeof(out), &len) &&
           len == strlen(want) && memcmp(out, want, len) == 0;
}

static bool refused(const char *s)
{
    char out[64];
    size_t len;

    return !ft__json_unescape(text_of(s), out, sizeof(out), &len);
}

TEST(escapes_become_what_they_stand_for)
{
    char out[3];
    size_t len;

    CHECK(unescapes("plain", "plain") && unescapes("", ""));
    CHECK(unescapes("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"));
    CHECK(unescapes("\\u0041\\u00e9\\u20ac", "A\xc3\xa9\xe2\x82\xac"));
    CHECK(unescapes("\\ud83d\\ude00", "\xf0\x9f\x98\x80"));
    CHECK(refused("\\x41") && refused("\\") && refused("\\u12") && refused("\\u12g4"));
    CHECK(refused("\\ud83d") && refused("\\ud83d\\u0041") && refused("\\ude00"));
    CHECK(refused("a\nb"));
    CHECK(ft__json_unescape(text_of("abc"), out, 3, &len) && EQ(len, 3));
    CHECK(!ft__json_unescape(text_of("abcd"), out, 3, &len));
}

TEST(a_wrong_type_fails_the_document)
{
    ft__json_doc doc = {.base = "[\"a\"]", .len = 5};
    ft__json r = ft__json_open(&doc, text_of("[\"a\"]"));
    int64_t v;

    doc.base = r.p;
    CHECK(!ft__json_object(&r) && !doc.why); /* asking is no failure */
    CHECK(ft__json_array(&r) && ft__json_element(&r) && !ft__json_int(&r, &v));
    CHECK(doc.why && EQ(doc.pos, 1));
    CHECK(!ft__json_element(&r) && !ft__json_skip(&r, NULL)); /* and it stays one */
}

TEST(what_is_left_of_an_object_can_be_jumped_over)
{
    static const char text[] = "[{\"a\": 1, \"b\": {\"c\": [2]}, \"d\": \"}\"}, 7]";
    ft__json_doc doc = {.base = text, .len = sizeof(text) - 1};
    ft__json r = ft__json_open(&doc, text_of(text));
    ft__text name;
    int64_t v = 0;

    CHECK(ft__json_array(&r) && ft__json_element(&r) && ft__json_object(&r));
    CHECK(ft__json_member(&r, &name) && FT__IS(name, "a") && ft__json_int(&r, &v));
    ft__json_leave(&r);
    CHECK(ft__json_element(&r) && ft__json_int(&r, &v) && EQ(v, 7));
    CHECK(!ft__json_element(&r) && ft__json_done(&r) && !doc.why);
}
