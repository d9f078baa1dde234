#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "base/prng.h"
#include "check.h"
#include "foretell/store.h"
#include "store/store.h"

static const char *source_root;
static char scratch[64];

struct path {
    char s[256];
};

static struct path in_scratch(const char *name)
{
    struct path p;

    snprintf(p.s, sizeof(p.s), "%s/%s", scratch, name);
    return p;
}

static const ft_key key = {
    .device = "a30",
    .setting = "threads=1",
    .engine = "onednn",
    .engine_version = "2.6.3",
    .spec = "conv2d x=32x64x56x56 out=64 kernel=3x3 dtype=fp32",
    .phase = "forward",
    .dtype_policy = "default",
    .metric = "time",
};

/* The result; the caller knows it to be there. */
static ft_store *must_open(const char *path, ft_store_mode mode)
{
    ft_error err = {0};
    ft_store *s;

    if (ft_store_open(&s, path, mode, &err) != FT_OK) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return s;
}

static ft_store *fresh(const char *name)
{
    return must_open(in_scratch(name).s, FT_STORE_WRITE);
}

static ft_measurement measured(double value)
{
    return (ft_measurement){.unit = "s",
                            .value = value,
                            .error = value / 100,
                            .mad = 0.1,
                            .mean = value * 1.01,
                            .std = NAN,
                            .n = 3,
                            .iterations = 300};
}

static void put(ft_store *s, const ft_key *k, double value)
{
    ft_measurement m = measured(value);
    int64_t run;

    CHECK(ft_store_begin_run(s, &run, "test", "{}", NULL) == FT_OK);
    CHECK(ft_store_put(s, run, k, &m, NULL, 0, NULL) == FT_OK);
}

/* Collects rows as text, so that whole results compare at once. */
struct seen {
    char text[1 << 16];
    size_t len;
    size_t n;
    int64_t last_id;
    ft_store *s;
};

static void note_readings(struct seen *s, int64_t id)
{
    ft_reading *r;
    size_t n;

    CHECK(ft_store_readings(s->s, id, &r, &n, NULL) == FT_OK);
    for (size_t i = 0; i < n; i++)
        s->len += (size_t)snprintf(s->text + s->len, sizeof(s->text) - s->len,
                                   " %.17g:%.17g:%llu", r[i].value, r[i].start_s,
                                   (unsigned long long)r[i].iterations);
    free(r);
}

static int note(void *user, const ft_row *r)
{
    struct seen *s = user;

    s->n++;
    s->last_id = r->id;
    s->len += (size_t)snprintf(
        s->text + s->len, sizeof(s->text) - s->len,
        "%s|%s|%s|%s|%s|%s|%s|%s|%s|%.17g|%.17g|%.17g|%.17g|%.17g|%llu|%llu\n",
        r->key.device, r->key.setting, r->key.engine, r->key.engine_version,
        r->key.spec, r->key.phase, r->key.dtype_policy, r->key.metric, r->m.unit,
        r->m.value, r->m.error, r->m.mad, r->m.mean, r->m.std,
        (unsigned long long)r->m.n, (unsigned long long)r->m.iterations);
    note_readings(s, r->id);
    return 0;
}

static struct seen all(ft_store *s, const ft_key *filter, int latest)
{
    struct seen seen = {.s = s};
    ft_error err = {0};

    CHECK(ft_store_each(s, filter, latest, note, &seen, &err) == FT_OK);
    return seen;
}

static int count_all(void *user, const ft_row *row)
{
    (void)row;
    ++*(size_t *)user;
    return 0;
}

/* For sqlite3_exec(): one row that says "ok" and no further one. */
static int says_ok(void *user, int n, char **value, char **name)
{
    int64_t *rows = user;

    (void)name;
    *rows += n == 1 && value[0] && strcmp(value[0], "ok") == 0 ? 1 : 2;
    return 0;
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0 || (isnan(a) && isnan(b));
}

static char *slurp(const char *path, size_t *len)
{
    FILE *fp = fopen(path, "rb");
    char *s = calloc(1, 1 << 20);

    if (!fp || !s)
        exit(1);
    *len = fread(s, 1, (1 << 20) - 1, fp);
    fclose(fp);
    return s;
}

static void spill(const char *path, const char *bytes, size_t len)
{
    FILE *fp = fopen(path, "wb");

    if (!fp || fwrite(bytes, 1, len, fp) != len || fclose(fp))
        exit(1);
}

static void copy_file(const char *from, const char *to)
{
    size_t len;
    char *bytes = slurp(from, &len);

    spill(to, bytes, len);
    free(bytes);
}

static void keeps_what_was_put_to_the_last_bit(void)
{
    const ft_reading readings[] = {
        {0.1, 0.25, 100}, {1.0 / 3, NAN, 100}, {5e-324, 0, 1}};
    const ft_measurement m = {"s", 0.1, NAN, 1e-300, 1.0 / 3, 0, 3, INT64_MAX};
    ft_store *s = fresh("kept");
    ft_reading *r;
    struct seen seen;
    int64_t run;
    size_t n;

    CHECK(ft_store_begin_run(s, &run, "collect", "{\"cpu\": \"x\"}", NULL) == FT_OK);
    CHECK(ft_store_put(s, run, &key, &m, readings, 3, NULL) == FT_OK);
    ft_store_close(s);

    s = must_open(in_scratch("kept").s, FT_STORE_READ);
    seen = all(s, NULL, 0);
    CHECK(strcmp(seen.text,
                 "a30|threads=1|onednn|2.6.3|conv2d x=32x64x56x56 out=64 kernel=3x3 "
                 "dtype=fp32|forward|default|time|s|0.10000000000000001|nan|1e-300|"
                 "0.33333333333333331|0|3|9223372036854775807\n"
                 " 0.10000000000000001:0.25:100 0.33333333333333331:nan:100"
                 " 4.9406564584124654e-324:0:1") == 0);
    CHECK(ft_store_readings(s, seen.last_id, &r, &n, NULL) == FT_OK && n == 3);
    for (size_t i = 0; i < n; i++)
        CHECK(same(r[i].value, readings[i].value) &&
              same(r[i].start_s, readings[i].start_s) &&
              r[i].iterations == readings[i].iterations);
    free(r);
    ft_store_close(s);
}

static void refuses_what_cannot_be_kept(void)
{
    ft_store *s = fresh("refused");
    ft_measurement m = measured(INFINITY);
    ft_key k = key;
    ft_error err = {0};
    int64_t run;

    CHECK(ft_store_begin_run(s, &run, "", "", NULL) == FT_OK);
    CHECK(ft_store_put(s, run, &key, &m, NULL, 0, NULL) == FT_EINVAL);
    m = measured(1);
    CHECK(ft_store_put(s, run, &key, &m, (ft_reading[]){{INFINITY, 0, 1}}, 1, NULL) ==
          FT_EINVAL);
    CHECK(ft_store_put(s, run + 1, &key, &m, NULL, 0, &err) == FT_EINVAL);
    CHECK(strstr(err.msg, "run") != NULL);
    k.phase = NULL;
    CHECK(ft_store_put(s, run, &k, &m, NULL, 0, NULL) == FT_EINVAL);
    CHECK(all(s, NULL, 0).n == 0);
    CHECK(ft_store_put(s, run, &key, &m, NULL, 0, NULL) == FT_OK);
    ft_store_close(s);

    s = must_open(in_scratch("refused").s, FT_STORE_READ);
    CHECK(ft_store_put(s, run, &key, &m, NULL, 0, &err) == FT_EINVAL);
    CHECK(strstr(err.msg, "opened for reading") != NULL);
    ft_store_close(s);
}

static int first_only(void *user, const ft_row *r)
{
    (void)r;
    ++*(int *)user;
    return 1;
}

static void finds_rows_by_any_part_of_the_key(void)
{
    ft_store *s = fresh("filters");
    ft_key k = key;
    int found, calls = 0;

    put(s, &key, 1);
    put(s, &key, 3); /* a repeat: newer, though in the same second */
    put(s, &key, 2);
    k.device = "a100";
    put(s, &k, 4);
    k.metric = "power";
    put(s, &k, 5);
    CHECK(all(s, NULL, 0).n == 5);
    CHECK(all(s, NULL, 1).n == 3);
    CHECK(all(s, &key, 0).n == 3);
    CHECK(strstr(all(s, &key, 1).text, "|s|2|") != NULL);
    CHECK(all(s, &(ft_key){.device = "a100"}, 0).n == 2);
    CHECK(all(s, &(ft_key){.metric = "time", .device = ""}, 0).n == 4);
    CHECK(all(s, &(ft_key){.engine_version = "9"}, 0).n == 0);
    CHECK(strncmp(all(s, NULL, 0).text, "a100|", 5) == 0);

    CHECK(ft_store_each(s, NULL, 0, first_only, &calls, NULL) == FT_OK && calls == 1);
    CHECK(ft_store_has(s, &k, &found, NULL) == FT_OK && found == 1);
    k.setting = "threads=2";
    CHECK(ft_store_has(s, &k, &found, NULL) == FT_OK && found == 0);
    ft_store_close(s);
}

struct nested {
    ft_store *s;
    size_t readings;
};

static int count_readings(void *user, const ft_row *row)
{
    struct nested *x = user;
    ft_reading *r;
    size_t n;

    CHECK(ft_store_readings(x->s, row->id, &r, &n, NULL) == FT_OK);
    CHECK(all(x->s, &row->key, 0).n == 2);
    x->readings += n;
    free(r);
    return 0;
}

static void a_callback_may_read_the_store(void)
{
    const ft_measurement m = measured(1);
    struct nested x = {.s = fresh("nested")};
    int64_t run;

    CHECK(ft_store_begin_run(x.s, &run, "", "", NULL) == FT_OK);
    for (int i = 0; i < 2; i++)
        CHECK(ft_store_put(x.s, run, &key, &m, (ft_reading[2]){{1, 0, 1}}, 2, NULL) ==
              FT_OK);
    CHECK(ft_store_each(x.s, NULL, 0, count_readings, &x, NULL) == FT_OK);
    CHECK(x.readings == 4);
    ft_store_close(x.s);
}

static void the_newest_fact_wins(void)
{
    ft_store *s = fresh("facts");
    double v;

    CHECK(ft_store_fact(s, "a30", "peak_flops_fp32", &v, NULL) == FT_OK && isnan(v));
    CHECK(ft_store_put_fact(s, "a30", "peak_flops_fp32", 1e13, NULL) == FT_OK);
    CHECK(ft_store_put_fact(s, "a30", "peak_flops_fp32", 1.03e13, NULL) == FT_OK);
    CHECK(ft_store_put_fact(s, "a100", "peak_flops_fp32", 2e13, NULL) == FT_OK);
    CHECK(ft_store_fact(s, "a30", "peak_flops_fp32", &v, NULL) == FT_OK);
    CHECK_NEAR(v, 1.03e13, 0);
    CHECK(ft_store_put_fact(s, "a30", "peak_flops_fp32", NAN, NULL) == FT_EINVAL);
    ft_store_close(s);
}

/* Everything that CSV finds hard, and figures that need all their digits. */
static void fill_with_hard_text(ft_store *s, int with_readings)
{
    static const char *const hard[] = {
        "",           "plain",    "a,b",
        "say \"so\"", "\"",       "two\nlines",
        "\r\n",       " blanks ", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"};
    const ft_reading readings[] = {
        {0.1, 0.2, 7}, {NAN, NAN, 0}, {-1e308, NAN, INT64_MAX}};
    ft__prng p = {1};
    int64_t run;

    for (int i = 0; i < 200; i++) {
        ft_key k = key;
        ft_measurement m =
            measured(ldexp(ft__prng_unit(&p) - 0.5, (int)(i * 10 - 1000)));

        k.device = hard[i % 9];
        k.spec = hard[i / 9 % 9];
        k.metric = hard[i / 81 % 9];
        m.error = i % 3 ? NAN : m.error;
        m.unit = hard[i % 5];
        if (i % 20 == 0)
            CHECK(ft_store_begin_run(s, &run, "fill", "", NULL) == FT_OK);
        CHECK(ft_store_put(s, run, &k, &m, readings, (size_t)(i % 4 * with_readings),
                           NULL) == FT_OK);
    }
}

static void csv_gives_back_exactly_what_it_was_given(void)
{
    for (int with = 0; with < 2; with++) {
        ft_store *a = fresh(with ? "csv-a1" : "csv-a0"), *b = fresh(with ? "b1" : "b0");
        char *csv;
        size_t len;
        uint64_t n;
        ft_error err = {0};

        fill_with_hard_text(a, with);
        CHECK(ft_store_export_csv(a, in_scratch("a.csv").s, NULL, with, NULL) == FT_OK);
        csv = slurp(in_scratch("a.csv").s, &len);
        CHECK(ft_store_import_csv(b, csv, len, "a.csv", &n, &err) == FT_OK);
        CHECK(n == 200);
        CHECK(strcmp(all(a, NULL, 0).text, all(b, NULL, 0).text) == 0);

        /* Importing twice changes nothing. */
        CHECK(ft_store_import_csv(b, csv, len, "a.csv", &n, &err) == FT_OK);
        CHECK(n == 0 && all(b, NULL, 0).n == 200);

        free(csv);
        ft_store_close(a);
        ft_store_close(b);
    }
}

#define HEAD                                                                           \
    "device,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,value,"  \
    "error,mad,mean,std,n,iterations,taken_at,run"
#define ROW "a30,,onednn,2.6.3,conv2d,forward,default,time,s,1.5,,,,,3,300,1700000000,1"

static void bad_csv_is_refused_with_line_and_column(void)
{
    static const struct {
        const char *csv, *where;
    } cases[] = {
        /* clang-format off */
        {"", "line 1, column 1 (device)"},
        {"device,setting\n", "line 1, column 2 (setting)"},
        {"Device" , "line 1, column 1 (device)"},
        {"a,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,value,"
         "error,mad,mean,std,n,iterations,taken_at,run\n", "line 1, column 1 (device): the header"},
        {HEAD ",readings,more\n", "line 1, column 18 (run)"},
        {HEAD ",reading\n", "line 1, column 19 (readings): the header"},
        {HEAD "\n\n", "line 2, column 1 (device)"},
        {HEAD "\n" ROW ",5\n", "line 2, column 18 (run)"},
        {HEAD "\n" ROW "\n" ROW "\na30,\n", "line 4, column 2 (setting)"},
        {HEAD "\n\"two\nlines\",a\n", "line 3, column 2 (setting)"},
        {HEAD "\n\"open", "line 2, column 1 (device): the quote is never closed"},
        {HEAD "\na\"b,", "line 2, column 1 (device): text with a quote"},
        {HEAD "\na\rb,", "line 2, column 1 (device): text with a quote"},
        {HEAD "\n\"a\"b,", "line 2, column 1 (device): something follows"},
        {HEAD "\na,\xff,", "line 2, column 2 (setting): not UTF-8"},
        {HEAD "\na,\xed\xa0\x80,", "line 2, column 2 (setting): not UTF-8"},
        {HEAD "\na,,o,2,c,f,d,t,s,1.5x,,,,,3,3,1,1\n", "line 2, column 10 (value)"},
        {HEAD "\na,,o,2,c,f,d,t,s,nan,,,,,3,3,1,1\n", "line 2, column 10 (value)"},
        {HEAD "\na,,o,2,c,f,d,t,s,0x10,,,,,3,3,1,1\n", "line 2, column 10 (value)"},
        {HEAD "\na,,o,2,c,f,d,t,s,1e999,,,,,3,3,1,1\n", "line 2, column 10 (value)"},
        {HEAD "\na,,o,2,c,f,d,t,s,1,2,3,4, 5,3,3,1,1\n", "line 2, column 14 (std)"},
        {HEAD "\na,,o,2,c,f,d,t,s,1,,,,,-3,3,1,1\n", "line 2, column 15 (n)"},
        {HEAD "\na,,o,2,c,f,d,t,s,1,,,,,,3,1,1\n", "line 2, column 15 (n)"},
        {HEAD "\na,,o,2,c,f,d,t,s,1,,,,,3,9223372036854775808,1,1\n", "column 16 (iterations)"},
        {HEAD ",readings\n" ROW ",1\n", "line 2, column 19 (readings)"},
        {HEAD ",readings\n" ROW ",1:2  1:2\n", "line 2, column 19 (readings)"},
        {HEAD ",readings\n" ROW ",1:2:\n", "line 2, column 19 (readings)"},
        {HEAD ",readings\n" ROW ",1:2:3:4\n", "line 2, column 19 (readings)"},
        /* clang-format on */
    };
    ft_store *s = fresh("bad-csv");

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        uint64_t n = 7;

        CHECK(ft_store_import_csv(s, cases[i].csv, strlen(cases[i].csv), "x.csv", &n,
                                  &err) == FT_EFORMAT);
        CHECK(n == 0);
        if (!strstr(err.msg, cases[i].where))
            fprintf(stderr, "case %zu: %s\n", i, err.msg);
        CHECK(strncmp(err.msg, "x.csv, line ", 12) == 0);
        CHECK(strstr(err.msg, cases[i].where) != NULL);
    }
    /* A zero byte would cut the text short. */
    CHECK(ft_store_import_csv(s, HEAD "\na\0b,", sizeof(HEAD "\na\0b,") - 1, "x",
                              &(uint64_t){0}, NULL) == FT_EFORMAT);
    CHECK(all(s, NULL, 0).n == 0); /* good rows before the bad one are not kept */
    ft_store_close(s);
}

static void csv_of_other_programs_is_read(void)
{
    static const char *const good[] = {
        HEAD "\r\n" ROW "\r\n",
        HEAD "\n" ROW,
        "\xef\xbb\xbf" HEAD "\n" ROW "\n",
        "\"device\",setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,"
        "value,error,mad,mean,std,n,iterations,taken_at,run,readings\r\n" ROW ",\r\n",
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        ft_store *s = must_open(":memory:", FT_STORE_WRITE);
        uint64_t n;

        CHECK(ft_store_import_csv(s, good[i], strlen(good[i]), "x", &n, NULL) == FT_OK);
        CHECK(n == 1 && strstr(all(s, NULL, 0).text, "a30||onednn|2.6.3|conv2d|forward|"
                                                     "default|time|s|1.5|nan|nan|nan|"
                                                     "nan|3|300\n"));
        ft_store_close(s);
    }
}

static void numbers_are_read_strictly_and_printed_exactly(void)
{
    static const char *const bad[] = {"",    " 1", "1 ",  "1,5",   "inf",   "nan",
                                      "0x1", "1e", "--1", "1e999", "1_000", "."};
    ft__prng p = {7};
    double v;

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK(!ft__number_parse(bad[i], &v));
    CHECK(ft__number_parse("-1.5e-3", &v) && same(v, -1.5e-3));
    for (int i = 0; i < 2000; i++) {
        char text[FT__NUMBER_TEXT];
        double x = ldexp(ft__prng_unit(&p) - 0.5, i - 1000);

        ft__number_text(text, x);
        CHECK(ft__number_parse(text, &v) && same(v, x));
    }
}

static const char *data_file(const char *name)
{
    static char path[1024];

    snprintf(path, sizeof(path), "%s/tests/data/%s", source_root, name);
    return path;
}

/* Files as each version wrote them. */
static void stores_of_every_version_are_read(void)
{
    static const char *const versions[] = {"store-v1.sqlite"};

    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
        copy_file(data_file(versions[i]), in_scratch("old").s);
        for (int mode = FT_STORE_WRITE; mode >= FT_STORE_READ; mode--) {
            ft_store *s = must_open(in_scratch("old").s, (ft_store_mode)mode);
            double v;

            CHECK(strcmp(all(s, NULL, 0).text,
                         "a30|threads=1|onednn|2.6.3|conv2d x=1x3x8x8 out=4 kernel=3x3|"
                         "forward|default|power|W|nan|nan|nan|nan|nan|0|0\n"
                         "a30|threads=1|onednn|2.6.3|conv2d x=1x3x8x8 out=4 kernel=3x3|"
                         "forward|default|time|s|0.10000000000000001|0.001|0.002|"
                         "0.11|nan|2|200\n 0.10000000000000001:0:100 0.12:nan:100") ==
                  0);
            CHECK(ft_store_fact(s, "a30", "peak_flops_fp32", &v, NULL) == FT_OK);
            CHECK_NEAR(v, 1.03e13, 0);
            ft_store_close(s);
        }
    }
}

/* The machinery for versions to come, tried with steps of our own. */
static void a_store_moves_up_step_by_step_and_never_down(void)
{
    static const char *const steps[] = {
        "CREATE TABLE a(x); INSERT INTO a VALUES(1);",
        "INSERT INTO a SELECT x + 1 FROM a;",
        "this is not SQL;",
    };
    const struct path path = in_scratch("steps");
    int64_t intact = 0;
    ft_error err = {0};
    ft_store *s;

    for (int twice = 0; twice < 2; twice++)
        for (int n = 1; n <= 2; n++) {
            ft_status st = ft__store_open(&s, path.s, FT_STORE_WRITE, steps, n, &err);

            CHECK(st == (twice && n == 1 ? FT_EFORMAT : FT_OK));
            ft_store_close(s);
        }
    CHECK(strstr(err.msg, "version 2, written by a newer foretell") != NULL);

    /* A failing step leaves the version before it, whole. */
    CHECK(ft__store_open(&s, path.s, FT_STORE_WRITE, steps, 3, NULL) == FT_EFORMAT);
    CHECK(ft__store_open(&s, path.s, FT_STORE_READ, steps, 3, &err) == FT_EFORMAT);
    CHECK(strstr(err.msg, "any command that writes") != NULL);
    CHECK(ft__store_open(&s, path.s, FT_STORE_READ, steps, 2, NULL) == FT_OK);
    CHECK(sqlite3_exec(s->db, "SELECT iif(group_concat(x) = '1,2', 'ok', '') FROM a",
                       says_ok, &intact, NULL) == SQLITE_OK);
    CHECK(intact == 1);
    ft_store_close(s);
}

static void what_is_not_a_store_is_told_apart(void)
{
    static const struct {
        const char *name, *bytes;
        size_t len;
        const char *word;
    } files[] = {
        {"text", "hello, this is not a database", 29, "not a foretell store"},
        {"empty", "", 0, "is empty"},
    };
    ft_error err = {0};
    sqlite3 *db;
    ft_store *s;

    for (size_t i = 0; i < 2; i++) {
        spill(in_scratch(files[i].name).s, files[i].bytes, files[i].len);
        CHECK(ft_store_open(&s, in_scratch(files[i].name).s, FT_STORE_READ, &err) ==
              FT_EFORMAT);
        CHECK(s == NULL && strstr(err.msg, files[i].word) != NULL);
    }
    CHECK(ft_store_open(&s, in_scratch("text").s, FT_STORE_WRITE, &err) == FT_EFORMAT);

    CHECK(sqlite3_open(in_scratch("foreign").s, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, "CREATE TABLE music(title)", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
    for (int mode = FT_STORE_READ; mode <= FT_STORE_WRITE; mode++) {
        CHECK(ft_store_open(&s, in_scratch("foreign").s, (ft_store_mode)mode, &err) ==
              FT_EFORMAT);
        CHECK(strstr(err.msg, "not a foretell store") != NULL);
    }

    CHECK(ft_store_open(&s, "", FT_STORE_WRITE, &err) == FT_EINVAL);
    CHECK(ft_store_open(&s, in_scratch("absent").s, FT_STORE_READ, &err) == FT_EIO);
    CHECK(strstr(err.msg, "there is no store") != NULL);
    CHECK(ft_store_open(&s, in_scratch("no/folder").s, FT_STORE_WRITE, &err) == FT_EIO);
    CHECK(strstr(err.msg, "mkdir -p") != NULL);
}

/* Spoil one page after another: reading says FT_EFORMAT or gives rows, and
 * never anything else. */
static void a_damaged_store_says_so(void)
{
    const size_t page = 1024;
    size_t len, told = 0;
    char *good = slurp(data_file("store-v1.sqlite"), &len);
    char *bad = malloc(len);

    for (size_t at = 0; bad && at < len; at += page) {
        ft_error err = {0};
        ft_reading *r = NULL;
        size_t n = 0;
        ft_status st;
        ft_store *s;

        memcpy(bad, good, len);
        memset(bad + at, 0xa5, page);
        spill(in_scratch("damaged").s, bad, len);
        st = ft_store_open(&s, in_scratch("damaged").s, FT_STORE_READ, &err);
        if (st == FT_OK)
            st = ft_store_each(s, NULL, 1, count_all, &n, &err);
        if (st == FT_OK)
            st = ft_store_readings(s, 1, &r, &n, &err);
        free(r);
        CHECK(st == FT_OK || st == FT_EFORMAT);
        CHECK(st == FT_OK || strstr(err.msg, in_scratch("damaged").s) != NULL);
        told += st == FT_EFORMAT;
        ft_store_close(s);
    }
    CHECK(told >= 6); /* the header and the tables that each() reads */
    free(good);
    free(bad);
}

/* Run `body` in a process that has no special rights; its CHECKs count. */
static void without_rights(void (*body)(void))
{
    int status = 1;
    pid_t pid;

    fflush(stderr);
    pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(1);
        check_failed = 0;
        body();
        _exit(check_failed != 0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

static void in_a_read_only_folder(void)
{
    ft_error err = {0};
    ft_store *s;

    CHECK(ft_store_open(&s, in_scratch("ro/new").s, FT_STORE_WRITE, &err) == FT_EIO);
    CHECK(strstr(err.msg, "folder must be writable") && strstr(err.msg, "chmod u+rwx"));
    CHECK(ft_store_open(&s, in_scratch("ro/old?#%").s, FT_STORE_WRITE, &err) == FT_EIO);
    CHECK(strstr(err.msg, "no permission to write it") &&
          strstr(err.msg, "chmod u+rw "));
    CHECK(ft_store_open(&s, in_scratch("ro/secret").s, FT_STORE_READ, &err) == FT_EIO);
    CHECK(strstr(err.msg, "no permission to read it") != NULL);
    CHECK(ft_store_open(&s, in_scratch("ro/unmerged").s, FT_STORE_READ, &err) ==
          FT_EIO);
    CHECK(strstr(err.msg, "folder must be writable") != NULL);

    /* Data that a package installed can be read where it lies. */
    CHECK(ft_store_open(&s, in_scratch("ro/old?#%").s, FT_STORE_READ, &err) == FT_OK);
    CHECK(all(s, NULL, 0).n == 2);
    ft_store_close(s);
}

static void a_read_only_folder_can_be_read_and_not_written(void)
{
    mkdir(in_scratch("ro").s, 0755);
    copy_file(data_file("store-v1.sqlite"), in_scratch("ro/old?#%").s);
    copy_file(data_file("store-v1.sqlite"), in_scratch("ro/secret").s);
    copy_file(data_file("store-v1.sqlite"), in_scratch("ro/unmerged").s);
    spill(in_scratch("ro/unmerged-wal").s, "x", 1);
    chmod(in_scratch("ro/secret").s, 0);
    chmod(in_scratch("ro/old?#%").s, 0444);
    chmod(in_scratch("ro/unmerged").s, 0444);
    chmod(in_scratch("ro").s, 0555);
    without_rights(in_a_read_only_folder);
    chmod(in_scratch("ro").s, 0755);
}

/* Put forever, saying after each put how many there are. */
static void put_and_tell(const char *path, int ack)
{
    ft_store *s = must_open(path, FT_STORE_WRITE);
    const ft_reading readings[64] = {{1, 0, 1}};
    int64_t run;

    if (ft_store_begin_run(s, &run, "killed", "", NULL) != FT_OK)
        _exit(1);
    for (uint32_t i = 1;; i++) {
        ft_measurement m = measured(i);
        char spec[32];
        ft_key k = key;

        snprintf(spec, sizeof(spec), "linear x=%ux8", i % 50);
        k.spec = spec;
        if (ft_store_put(s, run, &k, &m, readings, 64, NULL) != FT_OK ||
            write(ack, &i, sizeof(i)) != (ssize_t)sizeof(i))
            _exit(1);
    }
}

/* Start the writer, let it put at least `least` measurements, kill it, and
 * return how many it was told are safe. */
static uint32_t kill_a_writer(const char *path, uint32_t least, long linger_us)
{
    const struct timespec linger = {0, linger_us * 1000};
    uint32_t i, last = 0;
    int fd[2];
    pid_t pid;

    if (pipe(fd))
        exit(1);
    pid = fork();
    if (pid == 0) {
        close(fd[0]);
        put_and_tell(path, fd[1]);
    }
    close(fd[1]);
    while (last < least && read(fd[0], &i, sizeof(i)) == (ssize_t)sizeof(i))
        last = i;
    nanosleep(&linger, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    while (read(fd[0], &i, sizeof(i)) == (ssize_t)sizeof(i))
        last = i;
    close(fd[0]);
    return last;
}

static void nothing_acknowledged_is_lost_to_a_kill(void)
{
    const struct path path = in_scratch("killed");
    ft__prng p = {3};
    size_t acknowledged = 0;

    for (int round = 1; round <= 20; round++) {
        uint32_t least = ft__prng_below(&p, 200);
        size_t n = 0;
        ft_store *s;
        int64_t intact = 0;

        acknowledged += kill_a_writer(path.s, least, (long)ft__prng_below(&p, 3000));
        /* At most one put of each round was done but not yet told. */
        s = must_open(path.s, round % 2 && least ? FT_STORE_READ : FT_STORE_WRITE);
        CHECK(ft_store_each(s, NULL, 0, count_all, &n, NULL) == FT_OK);
        CHECK(n >= acknowledged && n <= acknowledged + 1);
        acknowledged = n;
        CHECK(sqlite3_exec(s->db, "PRAGMA integrity_check; PRAGMA foreign_key_check",
                           says_ok, &intact, NULL) == SQLITE_OK);
        CHECK(intact == 1);
        ft_store_close(s);
    }
    CHECK(acknowledged > 1000);
}

/* Read over and over until the writer is done (its pipe closes): every look
 * sees whole puts, never fewer than the look before. */
static void read_until_closed(const char *path, int done)
{
    ft_store *s = must_open(path, FT_STORE_READ);
    size_t before = 0, now = 0, looks = 0;
    char c;

    fcntl(done, F_SETFL, O_NONBLOCK);
    do {
        now = 0;
        if (ft_store_each(s, NULL, 0, count_all, &now, NULL) != FT_OK || now < before)
            _exit(1);
        before = now;
        looks++;
    } while (read(done, &c, 1) != 0);
    now = 0;
    if (ft_store_each(s, NULL, 0, count_all, &now, NULL) != FT_OK)
        _exit(1);
    ft_store_close(s);
    _exit(now == 300 && looks > 0 ? 0 : 1);
}

static void two_processes_read_while_one_writes(void)
{
    const struct path path = in_scratch("shared");
    ft_store *s = must_open(path.s, FT_STORE_WRITE);
    pid_t pid[2];
    int done[2];

    ft_store_close(s); /* a connection does not cross a fork */
    if (pipe(done))
        exit(1);
    for (int i = 0; i < 2; i++)
        if ((pid[i] = fork()) == 0) {
            close(done[1]);
            read_until_closed(path.s, done[0]);
        }
    close(done[0]);
    s = must_open(path.s, FT_STORE_WRITE);
    for (int i = 0; i < 300; i++)
        put(s, &key, i);
    close(done[1]);
    for (int i = 0; i < 2; i++) {
        int status = 1;

        CHECK(waitpid(pid[i], &status, 0) == pid[i] && status == 0);
    }
    ft_store_close(s);
}

static void many_may_create_the_same_store_at_once(void)
{
    const struct path path = in_scratch("created");
    pid_t pid[6];
    ft_store *s;

    for (int i = 0; i < 6; i++)
        if ((pid[i] = fork()) == 0) {
            check_failed = 0;
            s = must_open(path.s, FT_STORE_WRITE);
            put(s, &key, i);
            ft_store_close(s);
            _exit(check_failed != 0);
        }
    for (int i = 0; i < 6; i++) {
        int status = 1;

        CHECK(waitpid(pid[i], &status, 0) == pid[i] && status == 0);
    }
    s = must_open(path.s, FT_STORE_READ);
    CHECK(all(s, NULL, 0).n == 6);
    ft_store_close(s);
}

/* SQLite's allocator, with a count of how many calls may still succeed. */
static sqlite3_mem_methods real_memory;
static int allocations_left = -1;

static int refused(void)
{
    return allocations_left >= 0 && allocations_left-- <= 0;
}

static void *scarce_malloc(int size)
{
    return refused() ? NULL : real_memory.xMalloc(size);
}

static void *scarce_realloc(void *p, int size)
{
    return refused() ? NULL : real_memory.xRealloc(p, size);
}

static void make_memory_scarce_on_demand(void)
{
    sqlite3_mem_methods scarce;

    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory))
        exit(1);
    scarce = real_memory;
    scarce.xMalloc = scarce_malloc;
    scarce.xRealloc = scarce_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &scarce))
        exit(1);
}

/* Everything a store does, once; the first failure ends it. */
static ft_status a_day_in_the_life(const char *path)
{
    static const char csv[] = HEAD "\n" ROW "\n";
    const ft_measurement m = measured(1);
    const ft_reading reading = {1, 0, 1};
    size_t rows = 0;
    ft_store *s = NULL;
    int64_t run;
    uint64_t n;
    double v;
    ft_status st = ft_store_open(&s, path, FT_STORE_WRITE, NULL);

    if (st == FT_OK)
        st = ft_store_begin_run(s, &run, "", "", NULL);
    if (st == FT_OK)
        st = ft_store_put(s, run, &key, &m, &reading, 1, NULL);
    if (st == FT_OK)
        st = ft_store_put_fact(s, "a30", "x", 1, NULL);
    if (st == FT_OK)
        st = ft_store_fact(s, "a30", "x", &v, NULL);
    if (st == FT_OK)
        st = ft_store_import_csv(s, csv, sizeof(csv) - 1, "x", &n, NULL);
    if (st == FT_OK)
        st = ft_store_each(s, NULL, 1, count_all, &rows, NULL);
    CHECK(st != FT_OK || rows == 2);
    ft_store_close(s);
    return st;
}

static void want_of_memory_is_told_and_harms_nothing(void)
{
    ft_status st = FT_ENOMEM;
    int n;

    for (n = 0; st != FT_OK && n < 5000; n++) {
        unlink(in_scratch("scarce").s);
        unlink(in_scratch("scarce-wal").s);
        unlink(in_scratch("scarce-shm").s);
        allocations_left = n;
        st = a_day_in_the_life(in_scratch("scarce").s);
        allocations_left = -1;
        CHECK(st == FT_OK || st == FT_ENOMEM);
    }
    CHECK(st == FT_OK && n > 50);
}

int main(int argc, char **argv)
{
    char remove[128];

    source_root = argc > 1 ? argv[1] : ".";
    snprintf(scratch, sizeof(scratch), "/tmp/foretell-store-XXXXXX");
    if (!mkdtemp(scratch) || chmod(scratch, 0755))
        return 1;
    make_memory_scarce_on_demand();

    keeps_what_was_put_to_the_last_bit();
    refuses_what_cannot_be_kept();
    finds_rows_by_any_part_of_the_key();
    a_callback_may_read_the_store();
    the_newest_fact_wins();
    csv_gives_back_exactly_what_it_was_given();
    bad_csv_is_refused_with_line_and_column();
    csv_of_other_programs_is_read();
    numbers_are_read_strictly_and_printed_exactly();
    stores_of_every_version_are_read();
    a_store_moves_up_step_by_step_and_never_down();
    what_is_not_a_store_is_told_apart();
    a_damaged_store_says_so();
    a_read_only_folder_can_be_read_and_not_written();
    nothing_acknowledged_is_lost_to_a_kill();
    two_processes_read_while_one_writes();
    many_may_create_the_same_store_at_once();
    want_of_memory_is_told_and_harms_nothing();

    snprintf(remove, sizeof(remove), "rm -rf %s", scratch);
    if (system(remove))
        return 1;
    CHECK_DONE();
}
