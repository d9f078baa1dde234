#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "base/prng.h"
#include "store/store_inside.h"
#include "store_fixture.h"

static const ft_reading some[] = {{1.25, 0, 100, 0, 0},
                                  {1.5, 0.25, 100, 1, FT_READING_OUTLIER},
                                  {1.75, NAN, 100, 1, 0}};

/* Speak to the file itself, for what the library does not let one write. */
static void tell(const char *name, const char *sql)
{
    sqlite3 *db;

    CHECK_EQ(sqlite3_open(in_scratch(name).s, &db), SQLITE_OK);
    CHECK_EQ(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* The answer to a question, its rows and columns as text. */
static struct path asked(const char *name, const char *sql)
{
    struct path out = {""};
    sqlite3_stmt *q;
    sqlite3 *db;

    CHECK_EQ(sqlite3_open(in_scratch(name).s, &db), SQLITE_OK);
    CHECK_EQ(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(q); i++) {
            strncat(out.s, (const char *)sqlite3_column_text(q, i),
                    sizeof(out.s) - strlen(out.s) - 2);
            strcat(out.s, i + 1 < sqlite3_column_count(q) ? "|" : ";");
        }
    sqlite3_finalize(q);
    sqlite3_close(db);
    return out;
}

static void put_with_readings(ft_store *s, const ft_key *k, double value)
{
    ft_measurement m = measured(value);
    int64_t run;

    m.calibration_s = 2e-3;
    m.conditions = "{\"temperature_c\": 50}";
    CHECK_EQ(ft__store_begin_run(s, &run, "collect", "{\"cpu\": \"y\"}", NULL), FT_OK);
    CHECK_EQ(ft__store_put(s, run, k, &m, some, 3, NULL), FT_OK);
}

static ft_status merge(const char *into, const char *from, ft_merge_report *r,
                       const ft_merge_options *opt, ft_error *err)
{
    ft_store *a = must_open(in_scratch(into).s, FT_STORE_WRITE);
    ft_store *b = must_open(in_scratch(from).s, FT_STORE_MERGE);
    ft_status st = ft_store_merge(r, a, &b, 1, opt, err);

    ft_store_close(a);
    ft_store_close(b);
    return st;
}

static ft_merge_report merged(const char *into, const char *from)
{
    ft_merge_report r;
    ft_error err = {0};

    if (merge(into, from, &r, NULL, &err) != FT_OK) {
        fprintf(stderr, "%s\n", err.msg);
        check_failed++;
    }
    return r;
}

static struct seen everything(const char *name)
{
    ft_store *s = must_open(in_scratch(name).s, FT_STORE_READ);
    struct seen seen = all(s, NULL, 0);

    ft_store_close(s);
    return seen;
}

/* Two machines and one operation that both measured. */
static void make_two(const char *one, const char *two)
{
    ft_key k = key;
    ft_store *s = fresh(one);

    put_with_readings(s, &k, 1);
    k.spec = "relu x=1x64 dtype=fp32";
    put(s, &k, 2);
    ft_store_close(s);

    s = fresh(two);
    k = key;
    put_with_readings(s, &k, 3);
    k.device = "h200";
    k.engine_version = "3.1";
    put_with_readings(s, &k, 4);
    CHECK_EQ(ft__store_put_fact(s, "h200", "bandwidth_bytes_per_s", 4.3e12, NULL),
             FT_OK);
    ft_store_close(s);
    tell(two, "UPDATE run SET began_at = began_at + 60");
}

TEST(takes_readings_runs_and_facts_and_keeps_repeats)
{
    ft_merge_report r;
    ft_store *s;
    double v;

    make_two("one", "two");
    r = merged("one", "two");
    CHECK(EQ(r.measurements, 2) && EQ(r.repeats, 1) && EQ(r.present, 0));
    CHECK(EQ(r.runs, 2) && EQ(r.facts, 1));
    CHECK_EQ(everything("one").n, 4);
    CHECK(SAME(asked("one", "SELECT value, length(data), environment FROM measurement m"
                            " JOIN run r ON r.id = run_id LEFT JOIN reading"
                            " ON measurement_id = m.id WHERE value > 2 ORDER BY 1")
                   .s,
               "3.0|72|{\"cpu\": \"y\"};4.0|72|{\"cpu\": \"y\"};"));
    s = must_open(in_scratch("one").s, FT_STORE_READ);
    CHECK_EQ(ft_store_fact(s, "h200", "bandwidth_bytes_per_s", &v, NULL), FT_OK);
    CHECK_EQ(v, 4.3e12);
    ft_store_close(s);
}

TEST(changes_nothing_the_second_time)
{
    static const char counts[] =
        "SELECT (SELECT count(*) FROM measurement), (SELECT count(*) FROM run),"
        " (SELECT count(*) FROM reading), (SELECT count(*) FROM fact),"
        " (SELECT count(*) FROM fact_past)";
    struct seen before, after;
    struct path n;
    ft_merge_report r;

    make_two("first", "second");
    merged("first", "second");
    before = everything("first");
    n = asked("first", counts);
    r = merged("first", "second");
    after = everything("first");
    CHECK(EQ(r.measurements, 0) && EQ(r.present, 2) && EQ(r.runs, 0) && EQ(r.facts, 0));
    CHECK(SAME(before.text, after.text));
    CHECK(SAME(n.s, asked("first", counts).s));
    CHECK_EQ(merged("second", "first").measurements, 2);
    CHECK(EQ(everything("second").n, 4) && EQ(everything("second").len, after.len));
}

static void import(const char *into, const char *csv)
{
    struct path file = in_scratch(csv);
    ft_store *a = must_open(in_scratch(into).s, FT_STORE_WRITE);
    ft_store *b = must_open(":memory:", FT_STORE_WRITE);
    ft_merge_report r;
    uint64_t rows;
    size_t len;
    char *text = read_bytes(file.s, &len);

    CHECK_EQ(ft_store_import_csv(b, text, len, file.s, &rows, NULL), FT_OK);
    CHECK_EQ(ft_store_merge(&r, a, &b, 1, NULL, NULL), FT_OK);
    free(text);
    ft_store_close(a);
    ft_store_close(b);
}

TEST(a_table_without_readings_is_completed_by_the_store)
{
    ft_store *s;
    struct seen whole;

    make_two("lab", "other");
    s = must_open(in_scratch("other").s, FT_STORE_READ);
    CHECK_EQ(ft_store_export_csv(s, in_scratch("plain.csv").s, NULL, 0, NULL), FT_OK);
    ft_store_close(s);
    whole = everything("other");

    ft_store_close(fresh("bare"));
    import("bare", "plain.csv");
    tell("bare", "UPDATE measurement SET calibration = NULL, conditions = ''"); /* v1 */
    CHECK(EQ(everything("bare").n, 2) && CMP(everything("bare").len, <, whole.len));
    CHECK_EQ(merged("bare", "other").present, 2);
    CHECK(SAME(everything("bare").text, whole.text));
    import("bare", "plain.csv");
    CHECK(SAME(everything("bare").text, whole.text));
    CHECK(SAME(asked("bare", "SELECT count(*) FROM run").s, "4;"));
}

TEST(names_that_stand_for_two_machines_are_refused)
{
    static const ft_rename rename = {"a30", "a30-lab"};
    ft_merge_report r;
    ft_error err = {0};
    ft_store *s;

    make_two("here", "there");
    s = must_open(in_scratch("here").s, FT_STORE_WRITE);
    CHECK_EQ(ft__store_put_fact(s, "a30", "peak_flops_fp32", 1e12, NULL), FT_OK);
    ft_store_close(s);
    s = must_open(in_scratch("there").s, FT_STORE_WRITE);
    CHECK_EQ(ft__store_put_fact(s, "a30", "peak_flops_fp32", 9e12, NULL), FT_OK);
    ft_store_close(s);

    CHECK_EQ(merge("here", "there", &r, NULL, &err), FT_EINVAL);
    CHECK(HAS(err.msg, "a30") && HAS(err.msg, "9e+12") && HAS(err.msg, "1e+12"));
    CHECK(HAS(err.msg, "--rename"));
    CHECK(EQ(everything("here").n, 2) && EQ(r.measurements, 0));

    CHECK_EQ(merge("here", "there", &r, &(ft_merge_options){&rename, 1, 0}, NULL),
             FT_OK);
    CHECK(EQ(r.measurements, 2) && EQ(r.repeats, 0));
    CHECK(HAS(everything("here").text, "a30-lab|"));
    CHECK(SAME(asked("here", "SELECT d.name, value FROM fact f JOIN device d"
                             " ON id = device_id WHERE f.name LIKE 'peak%'"
                             " ORDER BY 2")
                   .s,
               "a30|1000000000000.0;a30-lab|9000000000000.0;"));
    CHECK_EQ(merge("here", "there", &r, &(ft_merge_options){.same_devices = 1}, NULL),
             FT_OK);
    CHECK(EQ(r.measurements, 1) && EQ(r.repeats, 1));
}

TEST(of_two_facts_the_newer_holds_and_the_other_is_kept)
{
    static const char now[] = "SELECT value FROM fact";
    static const char past[] = "SELECT name, value, taken_at FROM fact_past ORDER BY 3";
    static const char *const names[] = {"old", "new", "between"};

    for (int i = 0; i < 3; i++) {
        ft_store *s = fresh(names[i]);

        CHECK_EQ(ft__store_put_fact(s, "a30", "floor_s", 1e-3 * (i + 1), NULL), FT_OK);
        ft_store_close(s);
    }
    tell("old", "UPDATE fact SET taken_at = 100");
    tell("new", "UPDATE fact SET taken_at = 300");
    tell("between", "UPDATE fact SET taken_at = 200");
    CHECK_EQ(merged("old", "new").facts, 1);
    CHECK(SAME(asked("old", now).s, "0.002;"));
    CHECK(SAME(asked("old", past).s, "floor_s|0.001|100;"));
    CHECK_EQ(merged("old", "between").facts, 1);
    CHECK_EQ(merged("old", "between").facts, 0);
    CHECK(SAME(asked("old", now).s, "0.002;"));
    CHECK(SAME(asked("old", past).s, "floor_s|0.001|100;floor_s|0.003|200;"));
    CHECK_EQ(merged("between", "old").facts, 2);
    CHECK(SAME(asked("between", now).s, "0.002;"));
}

TEST(all_stores_or_none)
{
    ft_merge_report r;
    ft_error err = {0};
    ft_store *into, *from[2];

    make_two("good", "broken");
    ft_store_close(fresh("empty"));
    tell("broken", "PRAGMA foreign_keys=OFF; DELETE FROM operation");
    into = must_open(in_scratch("empty").s, FT_STORE_WRITE);
    from[0] = must_open(in_scratch("good").s, FT_STORE_MERGE);
    from[1] = must_open(in_scratch("broken").s, FT_STORE_MERGE);
    CHECK_EQ(ft_store_merge(&r, into, from, 2, NULL, &err), FT_EFORMAT);
    CHECK(HAS(err.msg, "broken") && EQ(r.measurements, 0));
    CHECK_EQ(all(into, NULL, 0).n, 0);
    CHECK(EQ(ft_store_merge(&r, into, from, 1, NULL, &err), FT_OK) &&
          EQ(r.measurements, 2));
    ft_store_close(into);
    ft_store_close(from[0]);
    ft_store_close(from[1]);
    tell("broken", "ALTER TABLE run ADD COLUMN \"x); DROP TABLE run; --\" TEXT");
    CHECK_EQ(ft_store_open(&into, in_scratch("broken").s, FT_STORE_MERGE, &err),
             FT_EFORMAT);
    CHECK(HAS(err.msg, "other tables"));
}

static void stores_of_the_first_version_are_taken_as_they_are(const char *root)
{
    char path[512], copy[2000];
    struct seen seen;

    snprintf(path, sizeof(path), "%s/tests/data/store-v1.sqlite", root);
    snprintf(copy, sizeof(copy), "cp %s %s", path, in_scratch("v1").s);
    CHECK_EQ(system(copy), 0);
    ft_store_close(fresh("newest"));
    CHECK(CMP(merged("newest", "v1").measurements, >, 0));
    CHECK(SAME(asked("v1", "PRAGMA user_version").s, "1;"));
    ft_store_close(must_open(in_scratch("v1").s, FT_STORE_WRITE)); /* migrates */
    seen = everything("newest");
    CHECK(SAME(seen.text, everything("v1").text));
}

/* Whatever the order and however often: the union of what was put. */
TEST(any_order_gives_the_union)
{
    enum { STORES = 3, VALUES = 12, ROUNDS = 4 };
    ft__prng random = {7};

    for (int round = 0; round < ROUNDS; round++) {
        bool put_there[VALUES] = {false};
        char name[32], into[32];

        for (int i = 0; i < STORES; i++) {
            ft_store *s;

            snprintf(name, sizeof(name), "r%d-%d", round, i);
            s = fresh(name);
            for (int j = 0; j < 6; j++) {
                int v = (int)ft__prng_below(&random, VALUES);

                put_with_readings(s, &key, v);
                put_there[v] = true;
            }
            ft_store_close(s);
            tell(name, "UPDATE measurement SET taken_at = 1000 + value");
        }
        snprintf(into, sizeof(into), "union%d", round);
        ft_store_close(fresh(into));
        for (int i = 0; i < 3 * STORES; i++) {
            snprintf(name, sizeof(name), "r%d-%d", round,
                     i < STORES ? i : (int)ft__prng_below(&random, STORES));
            merged(into, name);
        }
        for (int v = 0; v < VALUES; v++) {
            char sql[128];

            snprintf(sql, sizeof(sql),
                     "SELECT count(DISTINCT value) FROM measurement WHERE value = %d",
                     v);
            CHECK_EQ(atoi(asked(into, sql).s), put_there[v]);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 1;
    make_scratch();
    check_all();
    stores_of_the_first_version_are_taken_as_they_are(argv[1]);
    remove_scratch();
    CHECK_DONE();
}
