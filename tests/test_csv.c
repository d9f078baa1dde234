#include <sys/stat.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/prng.h"
#include "device/spec/device.h"
#include "foretell/device.h"
#include "foretell/op.h"
#include "put_member.h"
#include "store/csv.h"
#include "store_fixture.h"

static const char *root;

enum { ROWS = 40, COLUMNS = 5 };

/* Letters, and all that has a meaning in CSV. */
static void random_field(ft__buf *b, ft__prng *p)
{
    static const char *const piece[] = {"a",  "7",    " ", ",", "\"",
                                        "\n", "\r\n", "ü", ";"};
    uint32_t n = ft__prng_below(p, 6);

    for (uint32_t i = 0; i < n; i++)
        ft__buf_str(b, piece[ft__prng_below(p, sizeof(piece) / sizeof(*piece))]);
    ft__buf_add(b, "", 1);
}

static void write_field(ft__buf *out, const char *s)
{
    ft__buf_str(out, "\"");
    for (; *s; s++) {
        ft__buf_add(out, s, 1);
        if (*s == '"')
            ft__buf_str(out, "\"");
    }
    ft__buf_str(out, "\"");
}

/* gzip, as several members of at most `piece` bytes. */
static ft__buf packed(const char *text, size_t len, size_t piece)
{
    ft__buf out = {0};

    for (size_t at = 0; at < len; at += piece) {
        unsigned char bytes[8192];
        z_stream z = {0};
        size_t n = len - at < piece ? len - at : piece;

        CHECK_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        z.next_in = (Bytef *)(uintptr_t)(text + at);
        z.avail_in = (uInt)n;
        do {
            z.next_out = bytes;
            z.avail_out = sizeof(bytes);
            deflate(&z, Z_FINISH);
            ft__buf_add(&out, (const char *)bytes, sizeof(bytes) - z.avail_out);
        } while (z.avail_out == 0);
        deflateEnd(&z);
    }
    return out;
}

static void reads_back(const ft__buf *bytes, const ft__buf *fields, const size_t *at)
{
    size_t n_columns = 0;
    ft__csv *r;
    bool more;

    CHECK_EQ(ft__csv_open(&r, &n_columns, bytes->s, bytes->len, "t", NULL), FT_OK);
    if (!r)
        return;
    CHECK(EQ(n_columns, COLUMNS) && EQ(ft__csv_find(r, "c3"), 3) &&
          EQ(ft__csv_find(r, "c9"), -1));
    for (size_t i = 0; i < ROWS; i++) {
        CHECK(EQ(ft__csv_next(r, &more, NULL), FT_OK) && more);
        for (size_t c = 0; more && c < COLUMNS; c++)
            CHECK(SAME(ft__csv_text(r, c), fields->s + at[i * COLUMNS + c]));
    }
    CHECK(EQ(ft__csv_next(r, &more, NULL), FT_OK) && !more);
    ft__csv_close(r);
}

TEST(any_text_is_read_back_plain_and_packed)
{
    ft__prng p = ft__prng_stream(11, 0);

    for (int trial = 0; trial < 50; trial++) {
        ft__buf text = {0}, fields = {0}, gz;
        size_t at[ROWS * COLUMNS];

        ft__buf_str(&text, trial % 2 ? "\xef\xbb\xbf"
                                       "c0,c1,c2,c3,c4\r\n"
                                     : "c0,c1,c2,c3,c4\n");
        for (size_t i = 0; i < ROWS * COLUMNS; i++) {
            at[i] = fields.len;
            random_field(&fields, &p);
            write_field(&text, fields.s + at[i]);
            ft__buf_str(&text, (i + 1) % COLUMNS                           ? ","
                               : i + 1 == ROWS * COLUMNS && trial % 3 == 0 ? ""
                               : trial % 2                                 ? "\r\n"
                                                                           : "\n");
        }
        reads_back(&text, &fields, at);
        gz = packed(text.s, text.len, trial % 5 ? 100000 : 77);
        reads_back(&gz, &fields, at);
        ft__buf_free(&gz);
        ft__buf_free(&text);
        ft__buf_free(&fields);
    }
}

TEST(what_is_wrong_is_named_with_line_and_column)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t: it is empty"},
        {"a,,c\n", "t, line 1, column 2 (): a column without a name"},
        {"a,b,a\n", "t, line 1, column 3 (a): there are two columns of this name"},
        {"a,b\n1\n",
         "t, line 2, column 1 (a): the line ends here, further columns are missing"},
        {"a,b\n1,2\n1,2,3\n",
         "t, line 3, column 2 (b): more follows, but this is the last column"},
        {"a,b\n1,\"2\n", "t, line 2, column 2 (b): the quote is never closed"},
        {"a,b\n\"1\"2,3\n", "t, line 2, column 1 (a): something follows the closing "
                            "quote; double a quote that is "
                            "part of the text"},
        {"a,b\n1,2\"\n",
         "t, line 2, column 2 (b): text with a quote or a line end must be "
         "quoted"},
        {"a,b\n1,\xff\n", "t, line 2, column 2 (b): not UTF-8 text"},
        {"a,b\n1,2\rx\n",
         "t, line 2, column 2 (b): text with a quote or a line end must be "
         "quoted"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        ft__csv *r;
        bool more = true;
        ft_status st =
            ft__csv_open(&r, NULL, cases[i].text, strlen(cases[i].text), "t", &err);

        while (!st && more)
            st = ft__csv_next(r, &more, &err);
        CHECK_EQ(st, FT_EFORMAT);
        if (strcmp(err.msg, cases[i].message) != 0) {
            fprintf(stderr, "case %zu says: %s\n", i, err.msg);
            check_failed++;
        }
        ft__csv_close(r);
    }
}

static ft_status read_all(const char *bytes, size_t len)
{
    ft__csv *r;
    bool more = true;
    ft_status st = ft__csv_open(&r, NULL, bytes, len, "t", NULL);

    while (!st && more)
        st = ft__csv_next(r, &more, NULL);
    ft__csv_close(r);
    return st;
}

TEST(damaged_gzip_is_refused_and_not_believed)
{
    static const char text[] = "a,b\n1,2\n3,4\n5,6\n7,8\n";
    ft__buf gz = packed(text, sizeof(text) - 1, 100);

    CHECK_EQ(read_all(gz.s, gz.len), FT_OK);
    for (size_t n = 3; n < gz.len; n++)
        CHECK_EQ(read_all(gz.s, n), FT_EFORMAT);
    gz.s[gz.len - 6] ^= 1; /* CRC */
    CHECK_EQ(read_all(gz.s, gz.len), FT_EFORMAT);
    ft__buf_free(&gz);
}

static void write_file(const char *name, const char *text)
{
    write_text(in_scratch(name).s, text);
}

struct listing {
    int rows;
    char text[1000];
};

static int count_members(void *user, const ft_member *m)
{
    struct listing *s = user;
    size_t n = strlen(s->text);

    s->rows++;
    snprintf(s->text + n, sizeof(s->text) - n, "%s|%s|%s|%s|%g|%s\n", m->source,
             m->whole, m->phase, m->part, m->count, m->note);
    return 0;
}

static struct listing members(ft_store *s, const char *source, const char *whole)
{
    struct listing seen = {0};

    CHECK_EQ(ft_store_each_member(s, source, whole, count_members, &seen, NULL), FT_OK);
    return seen;
}

TEST(members_are_replaced_exported_and_merged)
{
    static const char both[] = "a|network name=n|forward|relu x=4 dtype=fp32|2|note\n"
                               "a|network name=n|forward|tanh x=4 dtype=fp32|1|\n";
    ft_member m = {"a", "network name=n", "forward", "relu x=4 dtype=fp32", 1, ""};
    ft_store *s = fresh("members.db"), *t = fresh("members-csv.db"),
             *u = fresh("members-merged.db");
    ft_merge_report report;
    uint64_t rows = 9;
    ft__buf csv = {0};
    FILE *fp;
    int c;

    CHECK_EQ(put_member(s, &m), FT_OK);
    m.part = "tanh x=4 dtype=fp32";
    CHECK_EQ(put_member(s, &m), FT_OK);
    m = (ft_member){"a", "network name=n", "forward", "relu x=4 dtype=fp32", 2, "note"};
    CHECK_EQ(put_member(s, &m), FT_OK);
    m.count = NAN;
    CHECK_EQ(put_member(s, &m), FT_EINVAL);
    CHECK(SAME(members(s, NULL, "").text, both));
    CHECK(EQ(members(s, "b", NULL).rows, 0) &&
          EQ(members(s, "a", "network name=n").rows, 2));

    CHECK_EQ(ft_store_export_csv(s, in_scratch("members.csv").s, NULL, 1, NULL), FT_OK);
    fp = fopen(in_scratch("members.csv").s, "r");
    while (fp && (c = fgetc(fp)) != EOF)
        ft__buf_add(&csv, &(char){(char)c}, 1);
    if (fp)
        fclose(fp);
    CHECK(EQ(ft_store_import_csv(t, csv.s, csv.len, "x", &rows, NULL), FT_OK) &&
          EQ(rows, 0));
    CHECK(SAME(members(t, NULL, NULL).text, both));
    CHECK(EQ(ft_store_merge(&report, u, &t, 1, NULL, NULL), FT_OK) &&
          EQ(report.members, 2));
    CHECK(SAME(members(u, NULL, NULL).text, both));
    CHECK(EQ(ft_store_merge(&report, u, &t, 1, NULL, NULL), FT_OK) &&
          EQ(report.members, 0));
    ft__buf_free(&csv);
    ft_store_close(s);
    ft_store_close(t);
    ft_store_close(u);
}

TEST(stores_of_the_first_version_learn_of_members)
{
    const ft_member m = {"a", "network name=n", "step", "relu x=4 dtype=fp32", 1, ""};
    char command[2000];
    ft_store *s;

    snprintf(command, sizeof(command), "cp %s/tests/data/store-v1.sqlite %s", root,
             in_scratch("old.db").s);
    CHECK_EQ(system(command), 0);
    s = must_open(in_scratch("old.db").s, FT_STORE_WRITE);
    CHECK(EQ(put_member(s, &m), FT_OK) && EQ(members(s, NULL, NULL).rows, 1));
    ft_store_close(s);
}

static void find(const char *title, const char *want)
{
    char name[64];
    ft_status st = ft__device_find(name, sizeof(name), in_scratch("").s, title, NULL);

    if (want)
        CHECK(EQ(st, FT_OK) && SAME(name, want));
    else
        CHECK_EQ(st, FT_ENOTFOUND);
}

#define DEVICE "vendor: V\ntype: gpu\nsource: none\n"

TEST(devices_are_found_by_name_title_and_alias)
{
    char name[8];

    CHECK_EQ(mkdir(in_scratch("devices").s, 0755), 0);
    write_file("devices/a-1.yaml",
               "title: V A One\n" DEVICE "aliases:\n- Tesla A1\n- A_1X\n");
    write_file("devices/b.yaml", "title: V B\n" DEVICE);
    find("a-1", "a-1");
    find("A 1", "a-1");
    find("v a one", "a-1");
    find("tesla-a1", "a-1");
    find("A 1x", "a-1");
    find("V_B", "b");
    find("B2", NULL);
    find("Tesla A1 ", NULL);
    CHECK_EQ(ft__device_find(name, 2, in_scratch("").s, "Tesla A1", NULL), FT_EINVAL);
    write_file("devices/c.yaml", "title: V C\n" DEVICE "aliases: [TESLA A1]\n");
    CHECK_EQ(ft__device_find(name, sizeof(name), in_scratch("").s, "Tesla A1", NULL),
             FT_EFORMAT);
}

/* No two files claim the same name, or import would not know which is meant. */
TEST(our_device_files_agree_on_aliases)
{
    char dir[300], found[100];
    char **names;
    size_t n;
    ft_device *d;

    snprintf(dir, sizeof(dir), "%s/data", root);
    CHECK_EQ(ft_device_names(&names, &n, dir, NULL), FT_OK);
    for (size_t i = 0; i < n; i++) {
        ft_error err = {0};

        CHECK_EQ(ft_device_load(&d, dir, names[i], NULL), FT_OK);
        for (size_t j = 0; d && j < ft_device_get(d)->n_aliases; j++)
            if (ft__device_find(found, sizeof(found), dir, ft_device_get(d)->aliases[j],
                                &err) != FT_OK ||
                strcmp(found, names[i]) != 0) {
                fprintf(stderr, "%s: %s\n", names[i], err.msg);
                check_failed++;
            }
        ft_device_free(d);
    }
    ft_device_names_free(names, n);
}

static uint64_t imported(ft_store *s, const char *name, ft_status want)
{
    uint64_t rows = 9;
    ft_error err = {0};
    ft_status st = ft_store_import_file(s, in_scratch(name).s, &rows, &err);

    if (st != want) {
        fprintf(stderr, "%s: %s\n", name, err.msg);
        check_failed++;
    }
    return rows;
}

#define LINES HEAD "\n" ROW "\n"
#define FIVE LINES ROW "\n" ROW "\n" ROW "\n" ROW "\n"

TEST(equal_rows_are_all_kept_and_never_put_again)
{
    ft_store *s = fresh("equal.db");
    ft__buf gz = packed(FIVE, sizeof(FIVE) - 1, 99);

    write_file("one.csv", LINES);
    write_file("three.csv", LINES ROW "\n" ROW "\n");
    write_bytes(in_scratch("five.csv.gz").s, gz.s, gz.len);
    CHECK_EQ(imported(s, "three.csv", FT_OK), 3);
    CHECK_EQ(imported(s, "three.csv", FT_OK), 0);
    CHECK_EQ(imported(s, "one.csv", FT_OK), 0);
    CHECK_EQ(imported(s, "five.csv.gz", FT_OK), 2);
    CHECK_EQ(imported(s, "none.csv", FT_EIO), 0);
    ft__buf_free(&gz);
    ft_store_close(s);
}

int main(int argc, char **argv)
{
    root = argc > 1 ? argv[1] : ".";
    make_scratch();
    check_all();
    remove_scratch();
    CHECK_DONE();
}
