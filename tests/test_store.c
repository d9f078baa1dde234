#include <math.h>

#include "base/number.h"
#include "base/prng.h"
#include "store/store_inside.h"
#include "store_fixture.h"

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0 || (isnan(a) && isnan(b));
}

TEST(keeps_what_was_put_to_the_last_bit)
{
    const ft_reading readings[] = {{0.1, 0.25, 100, 0, 0},
                                   {1.0 / 3, NAN, 100, 2, FT_READING_OUTLIER},
                                   {5e-324, 0, 1, UINT32_MAX, FT_READING_DISTURBED}};
    const ft_measurement m = {.unit = "s",
                              .value = 0.1,
                              .error = NAN,
                              .mad = 1e-300,
                              .mean = 1.0 / 3,
                              .std = 0,
                              .n = 3,
                              .iterations = INT64_MAX,
                              .calibration_s = 2.0 / 3,
                              .conditions = "{\"marks\": []}"};
    ft_store *s = fresh("kept");
    ft_reading *r;
    struct seen seen;
    int64_t run;
    size_t n;

    CHECK_EQ(ft__store_begin_run(s, &run, "collect", "{\"cpu\": \"x\"}", NULL), FT_OK);
    CHECK_EQ(ft__store_put(s, run, &key, &m, readings, 3, NULL), FT_OK);
    ft_store_close(s);

    s = must_open(in_scratch("kept").s, FT_STORE_READ);
    seen = all(s, NULL, 0);
    CHECK(SAME(seen.text,
               "a30|threads=1|onednn|2.6.3|conv2d x=32x64x56x56 out=64 kernel=3x3 "
               "stride=1x1 pad=1x1 "
               "dtype=fp32|forward|default|time|s|0.10000000000000001|nan|1e-300|"
               "0.33333333333333331|0|3|9223372036854775807|0.66666666666666663|"
               "{\"marks\": []}\n"
               " 0.10000000000000001:0.25:100 0.33333333333333331:nan:100:2:1"
               " 4.9406564584124654e-324:0:1:4294967295:2"));
    CHECK(EQ(ft__store_readings(s, seen.last_id, &r, &n, NULL), FT_OK) && EQ(n, 3));
    for (size_t i = 0; i < n; i++)
        CHECK(same(r[i].value, readings[i].value) &&
              same(r[i].start_s, readings[i].start_s) &&
              EQ(r[i].iterations, readings[i].iterations) &&
              EQ(r[i].round, readings[i].round) && EQ(r[i].marks, readings[i].marks));
    free(r);
    ft_store_close(s);
}

TEST(refuses_what_cannot_be_kept)
{
    ft_store *s = fresh("refused");
    ft_measurement m = measured(INFINITY);
    ft_key k = key;
    ft_error err = {0};
    int64_t run;

    CHECK_EQ(ft__store_begin_run(s, &run, "", "", NULL), FT_OK);
    CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_EINVAL);
    m = measured(1);
    CHECK_EQ(
        ft__store_put(s, run, &key, &m, (ft_reading[]){{.value = INFINITY}}, 1, NULL),
        FT_EINVAL);
    CHECK_EQ(ft__store_put(s, run + 1, &key, &m, NULL, 0, &err), FT_EINVAL);
    CHECK(HAS(err.msg, "run"));
    k.phase = NULL;
    CHECK_EQ(ft__store_put(s, run, &k, &m, NULL, 0, NULL), FT_EINVAL);
    CHECK_EQ(all(s, NULL, 0).n, 0);
    CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
    ft_store_close(s);

    s = must_open(in_scratch("refused").s, FT_STORE_READ);
    CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, &err), FT_EINVAL);
    CHECK(HAS(err.msg, "opened for reading"));
    ft_store_close(s);
}

static int first_only(void *user, const ft_row *r)
{
    (void)r;
    ++*(int *)user;
    return 1;
}

TEST(finds_rows_by_any_part_of_the_key)
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
    CHECK_EQ(all(s, NULL, 0).n, 5);
    CHECK_EQ(all(s, NULL, 1).n, 3);
    CHECK_EQ(all(s, &key, 0).n, 3);
    CHECK(HAS(all(s, &key, 1).text, "|s|2|"));
    CHECK_EQ(all(s, &(ft_key){.device = "a100"}, 0).n, 2);
    CHECK_EQ(all(s, &(ft_key){.metric = "time", .device = ""}, 0).n, 4);
    CHECK_EQ(all(s, &(ft_key){.engine_version = "9"}, 0).n, 0);
    CHECK(BEGINS(all(s, NULL, 0).text, "a100|", 5));

    CHECK(EQ(ft_store_each(s, NULL, 0, first_only, &calls, NULL), FT_OK) &&
          EQ(calls, 1));
    CHECK(EQ(ft__store_has(s, &k, &found, NULL), FT_OK) && EQ(found, 1));
    k.setting = "threads=2";
    CHECK(EQ(ft__store_has(s, &k, &found, NULL), FT_OK) && EQ(found, 0));
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

    CHECK_EQ(ft__store_readings(x->s, row->id, &r, &n, NULL), FT_OK);
    CHECK_EQ(all(x->s, &row->key, 0).n, 2);
    x->readings += n;
    free(r);
    return 0;
}

TEST(a_callback_may_read_the_store)
{
    const ft_measurement m = measured(1);
    struct nested x = {.s = fresh("nested")};
    int64_t run;

    CHECK_EQ(ft__store_begin_run(x.s, &run, "", "", NULL), FT_OK);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(
            ft__store_put(x.s, run, &key, &m, (ft_reading[2]){{.value = 1}}, 2, NULL),
            FT_OK);
    CHECK_EQ(ft_store_each(x.s, NULL, 0, count_readings, &x, NULL), FT_OK);
    CHECK_EQ(x.readings, 4);
    ft_store_close(x.s);
}

TEST(the_newest_fact_wins)
{
    ft_store *s = fresh("facts");
    double v;

    CHECK(EQ(ft_store_fact(s, "a30", "peak_flops_fp32", &v, NULL), FT_OK) && isnan(v));
    CHECK_EQ(ft__store_put_fact(s, "a30", "peak_flops_fp32", 1e13, NULL), FT_OK);
    CHECK_EQ(ft__store_put_fact(s, "a30", "peak_flops_fp32", 1.03e13, NULL), FT_OK);
    CHECK_EQ(ft__store_put_fact(s, "a100", "peak_flops_fp32", 2e13, NULL), FT_OK);
    CHECK_EQ(ft_store_fact(s, "a30", "peak_flops_fp32", &v, NULL), FT_OK);
    CHECK_NEAR(v, 1.03e13, 0);
    CHECK_EQ(ft__store_put_fact(s, "a30", "peak_flops_fp32", NAN, NULL), FT_EINVAL);
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
        {0.1, 0.2, 7, 0, 0}, {NAN, NAN, 0, 0, 3}, {-1e308, NAN, INT64_MAX, 9, 0}};
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
        m.conditions = hard[i / 5 % 9];
        m.calibration_s = i % 7 ? NAN : fabs(m.value);
        if (i % 20 == 0)
            CHECK_EQ(ft__store_begin_run(s, &run, "fill", "", NULL), FT_OK);
        CHECK_EQ(ft__store_put(s, run, &k, &m, readings,
                               (size_t)(i % 4 * with_readings), NULL),
                 FT_OK);
    }
}

TEST(csv_gives_back_exactly_what_it_was_given)
{
    for (int with = 0; with < 2; with++) {
        ft_store *a = fresh(with ? "csv-a1" : "csv-a0"), *b = fresh(with ? "b1" : "b0");
        char *csv;
        size_t len;
        uint64_t n;
        ft_error err = {0};

        fill_with_hard_text(a, with);
        CHECK_EQ(ft_store_export_csv(a, in_scratch("a.csv").s, NULL, with, NULL),
                 FT_OK);
        csv = read_bytes(in_scratch("a.csv").s, &len);
        CHECK_EQ(ft_store_import_csv(b, csv, len, "a.csv", &n, &err), FT_OK);
        CHECK_EQ(n, 200);
        CHECK(SAME(all(a, NULL, 0).text, all(b, NULL, 0).text));

        /* Importing twice changes nothing. */
        CHECK_EQ(ft_store_import_csv(b, csv, len, "a.csv", &n, &err), FT_OK);
        CHECK(EQ(n, 0) && EQ(all(b, NULL, 0).n, 200));

        free(csv);
        ft_store_close(a);
        ft_store_close(b);
    }
}

TEST(a_store_is_told_from_csv_by_what_it_holds)
{
    ft_store *s = fresh("store.csv"), *again;
    const struct path csv = in_scratch("csv.db");
    ft_error err = {0};

    fill_with_hard_text(s, 0);
    CHECK_EQ(ft_store_export_csv(s, csv.s, NULL, 0, NULL), FT_OK);
    ft_store_close(s);
    CHECK_EQ(ft_store_open_any(&s, in_scratch("store.csv").s, FT_STORE_READ, NULL),
             FT_OK);
    CHECK_EQ(ft_store_open_any(&again, csv.s, FT_STORE_READ, NULL), FT_OK);
    CHECK(SAME(all(s, NULL, 0).text, all(again, NULL, 0).text));
    ft_store_close(s);
    ft_store_close(again);
    CHECK_EQ(ft_store_open_any(&s, in_scratch("none").s, FT_STORE_READ, &err), FT_EIO);
    CHECK(!s && HAS(err.msg, "No such file"));
}

static const struct {
    const char *csv, *where;
} bad_csv[] = {
    /* clang-format off */
    {"", "x.csv: it is empty"},
    {"device,setting\n", "line 1: there is no column \"engine\"; docs/data.md"},
    {"Device" , "line 1: there is no column \"device\""},
    {"a,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,value,"
     "error,mad,mean,std,n,iterations,taken_at,run\n", "line 1: there is no column \"device\""},
    {HEAD ",calibration,conditions,readings,more\n", "line 1, column 22 (more): measurements have no"},
    {HEAD ",reading\n", "line 1, column 19 (reading): measurements have no"},
    {HEAD ",calibration,condition\n", "line 1, column 20 (condition): measurements have no"},
    {HEAD "\na,,o,2,c,f,d,time,s,0,,,,,3,3,1,1\n", "line 2, column 10 (value): a time is above 0 s"},
    {HEAD "\na,,o,2,c,f,d,time,s,-1,,,,,3,3,1,1\n", "line 2, column 10 (value): a time is above 0 s"},
    {HEAD "\na,,o,2,c,f,d,time,s,1e308,,,,,3,3,1,1\n", "line 2, column 10 (value): a time is above 0 s"},
    {HEAD "\na,,o,2,c,f,d,power:gpu,W,-1,,,,,3,3,1,1\n", "line 2, column 10 (value): power, energy"},
    {HEAD "\na,,o,2,c,f,d,memory,B,1e30,,,,,3,3,1,1\n", "line 2, column 10 (value): power, energy"},
    {HEAD "\na,,o,2,relu x=8 dtype=fp32,forward,default,time,ms,1,,,,,3,3,1,1\n", "line 2, column 9 (unit): time is in s"},
    {HEAD "\na,,o,2,relu x=8 dtype=fp32,forward,default,energy,mJ,1,,,,,3,3,1,1\n", "line 2, column 9 (unit): energy is in J"},
    {HEAD "\na,,o,2,relu x=8 dtyp=fp32,forward,default,time,s,1,,,,,3,3,1,1\n", "line 2, column 5 (spec): "},
    {HEAD "\na,,o,2,relu x=8 dtype=fp32,backward,default,time,s,1,,,,,3,3,1,1\n", "line 2, column 6 (phase): the spec is of phase=forward"},
    {HEAD "\na,,o,2,network name=n dtype=fp32,forwards,default,time,s,1,,,,,3,3,1,1\n", "line 2, column 6 (phase): a phase is forward, backward, forward_backward, optimizer or step"},
    {HEAD "\n,,o,2,relu x=8 dtype=fp32,forward,default,time,s,1,,,,,3,3,1,1\n", "line 2, column 1 (device): "},
    {HEAD ",calibration,conditions\n" ROW ",x,\n", "line 2, column 19 (calibration)"},
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
    {HEAD ",readings\n" ROW ",1:2::\n", "line 2, column 19 (readings)"},
    {HEAD ",readings\n" ROW ",1:2:3:x\n", "line 2, column 19 (readings)"},
    {HEAD ",readings\n" ROW ",1:2:3:4294967296\n", "line 2, column 19 (readings)"},
    {HEAD ",readings\n" ROW ",1:2:3:4:5:6\n", "line 2, column 19 (readings)"},
    /* clang-format on */
};

TEST(bad_csv_is_refused_with_line_and_column)
{
    ft_store *s = fresh("bad-csv");

    for (size_t i = 0; i < sizeof(bad_csv) / sizeof(*bad_csv); i++) {
        ft_error err = {0};
        uint64_t n = 7;

        CHECK_EQ(ft_store_import_csv(s, bad_csv[i].csv, strlen(bad_csv[i].csv), "x.csv",
                                     &n, &err),
                 FT_EFORMAT);
        CHECK_EQ(n, 0);
        if (!strstr(err.msg, bad_csv[i].where))
            fprintf(stderr, "case %zu: %s\n", i, err.msg);
        CHECK(BEGINS(err.msg, "x.csv", 5));
        CHECK(HAS(err.msg, bad_csv[i].where));
    }
    /* A zero byte would cut the text short. */
    CHECK_EQ(ft_store_import_csv(s, HEAD "\na\0b,", sizeof(HEAD "\na\0b,") - 1, "x",
                                 &(uint64_t){0}, NULL),
             FT_EFORMAT);
    CHECK_EQ(all(s, NULL, 0).n, 0); /* good rows before the bad one are not kept */
    ft_store_close(s);
}

TEST(csv_of_other_programs_is_read)
{
    static const char *const good[] = {
        HEAD "\r\n" ROW "\r\n",
        HEAD "\n" ROW,
        "\xef\xbb\xbf" HEAD "\n" ROW "\n",
        "\"device\",setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,"
        "value,error,mad,mean,std,n,iterations,taken_at,run,readings\r\n" ROW ",\r\n",
        HEAD ",calibration,conditions\n" ROW ",,\n",
        HEAD ",calibration,readings\n" ROW ",,\n",
        "metric,setting,engine,engine_version,spec,phase,dtype_policy,device,unit,"
        "value,error,mad,mean,std,n,iterations,taken_at,run\n"
        "time,,onednn,2.6.3,relu x=8 dtype=fp32,forward,default,a30,s,1.5,,,,,3,300,"
        "1700000000,1\n",
        HEAD ",calibration,conditions,readings\n" ROW ",,,\n",
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        ft_store *s = must_open(":memory:", FT_STORE_WRITE);
        uint64_t n;

        CHECK_EQ(ft_store_import_csv(s, good[i], strlen(good[i]), "x", &n, NULL),
                 FT_OK);
        CHECK(EQ(n, 1) &&
              HAS(all(s, NULL, 0).text, "a30||onednn|2.6.3|relu x=8 dtype=fp32|forward|"
                                        "default|time|s|1.5|nan|nan|nan|"
                                        "nan|3|300|nan|\n"));
        ft_store_close(s);
    }
}

TEST(numbers_are_read_strictly_and_printed_exactly)
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

static void put_pair(ft_store *s, const char *spec, double first, double second,
                     double calibration, double error)
{
    ft_key k = key;
    int64_t run;

    k.spec = spec;
    CHECK_EQ(ft__store_begin_run(s, &run, "test", "", NULL), FT_OK);
    for (int i = 0; i < 2; i++) {
        ft_measurement m = measured(i ? second : first);

        m.error = error * m.value;
        m.calibration_s = i ? calibration : 1;
        CHECK_EQ(ft__store_put(s, run, &k, &m, NULL, 0, NULL), FT_OK);
    }
}

/* Three pairs: raw 10 %, 10 %, 20 % later; calibrated 0, 1 % and 20 %. */
TEST(repeats_are_told_raw_and_calibrated)
{
    ft_store *s = fresh("repeats");
    ft_repeats r;

    CHECK_EQ(ft_store_repeats(&r, s, &key, NULL), FT_OK);
    CHECK(EQ(r.pairs, 0) && isnan(r.median) && isnan(r.covered));
    put_pair(s, "relu x=1", 1, 1.1, 1.1, 0.01);
    put_pair(s, "relu x=2", 2, 2.2, 1.1 / 1.01, 0.01);
    put_pair(s, "relu x=3", 3, 3.6, 1, 0.01);
    put(s, &key, 1); /* once: no pair */
    CHECK_EQ(ft_store_repeats(&r, s, &(ft_key){.metric = "time"}, NULL), FT_OK);
    CHECK(EQ(r.pairs, 3) && EQ(r.calibrated, 3));
    CHECK_NEAR(r.median, 0.1, 1e-12);
    CHECK_NEAR(r.p90, 0.1 + 0.8 * 0.1, 1e-12);
    CHECK_NEAR(r.calibrated_median, 0.01, 1e-12);
    /* 1.645 sqrt(2) 1 % = 2.3 %: two of three. */
    CHECK_NEAR(r.covered, 2.0 / 3, 1e-12);
    CHECK_NEAR(r.scatter, 0.01 / 0.6745 / sqrt(2), 1e-5);
    ft_store_close(s);
}

/* What a server answers is a matter of tests/store_postgres. */
TEST(passwords_of_databases_are_not_shown)
{
    static const struct {
        const char *path, *shown;
        int on_server;
    } cases[] = {
        {"a@b:c/password=x.db", "a@b:c/password=x.db", 0},
        {"postgresql.db", "postgresql.db", 0},
        {"postgresql://", "postgresql://", 1},
        {"postgres://me:secret@host:5432/db", "postgres://me:@host:5432/db", 1},
        {"postgres://me:se/c:r@et@host/db", "postgres://me:@host/db", 1},
        {"postgresql://me:@host/db", "postgresql://me:@host/db", 1},
        {"postgresql://me@host:5432/db:x@y", "postgresql://me@host:5432/db:x@y", 1},
        {"postgresql:///db?password=secret&user=me",
         "postgresql:///db?password=&user=me", 1},
        {"postgresql://a:se@/db?sslpassword=cr&password=et",
         "postgresql://a:@/db?sslpassword=&password=", 1},
        {"postgresql:///db?user=me&password=", "postgresql:///db?user=me&password=", 1},
    };
    char shown[64];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK_EQ(ft_store_shown(shown, sizeof(shown), cases[i].path),
                 cases[i].on_server);
        CHECK(SAME(shown, cases[i].shown));
        ft_store_shown(shown, 12, cases[i].path);
        CHECK(CMP(strlen(shown), <, 12) &&
              BEGINS(shown, cases[i].shown, strlen(shown)));
    }
}

int main(void)
{
    make_scratch();
    check_all();
    remove_scratch();
    CHECK_DONE();
}
