/* The store as a file: other versions, damage, permissions, other processes,
 * sudden death and want of memory. */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/prng.h"
#include "store/store.h"
#include "store/store_inside.h"
#include "store_fixture.h"

static const char *source_root;

/* For sqlite3_exec(): one row that says "ok" and no further one. */
static int says_ok(void *user, int n, char **value, char **name)
{
    int64_t *rows = user;

    (void)name;
    *rows += n == 1 && value[0] && strcmp(value[0], "ok") == 0 ? 1 : 2;
    return 0;
}

static void copy_file(const char *from, const char *to)
{
    size_t len;
    char *bytes = read_bytes(from, &len);

    write_bytes(to, bytes, len);
    free(bytes);
}

static const char *data_file(const char *name)
{
    static char path[1024];

    snprintf(path, sizeof(path), "%s/tests/data/%s", source_root, name);
    return path;
}

/* Files as each version wrote them. */
TEST(stores_of_every_version_are_read)
{
    static const char *const versions[] = {"store-v1.sqlite"};

    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
        copy_file(data_file(versions[i]), in_scratch("old").s);
        for (int mode = FT_STORE_WRITE; mode >= FT_STORE_READ; mode--) {
            ft_store *s = must_open(in_scratch("old").s, (ft_store_mode)mode);
            double v;

            CHECK(SAME(all(s, NULL, 0).text,
                       "a30|threads=1|onednn|2.6.3|conv2d x=1x3x8x8 out=4 kernel=3x3|"
                       "forward|default|power|W|nan|nan|nan|nan|nan|0|0|nan|\n"
                       "a30|threads=1|onednn|2.6.3|conv2d x=1x3x8x8 out=4 kernel=3x3|"
                       "forward|default|time|s|0.10000000000000001|0.001|0.002|"
                       "0.11|nan|2|200|nan|\n 0.10000000000000001:0:100 0.12:nan:100"));
            CHECK_EQ(ft_store_fact(s, "a30", "peak_flops_fp32", &v, NULL), FT_OK);
            CHECK_NEAR(v, 1.03e13, 0);
            ft_store_close(s);
        }
    }
}

/* The machinery for versions to come, tried with steps of our own. */
TEST(a_store_moves_up_step_by_step_and_never_down)
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

            CHECK_EQ(st, (twice && n == 1 ? FT_EFORMAT : FT_OK));
            ft_store_close(s);
        }
    CHECK(HAS(err.msg, "version 2, written by a newer foretell"));

    /* A failing step leaves the version before it, whole. */
    CHECK_EQ(ft__store_open(&s, path.s, FT_STORE_WRITE, steps, 3, NULL), FT_EFORMAT);
    CHECK_EQ(ft__store_open(&s, path.s, FT_STORE_READ, steps, 3, &err), FT_EFORMAT);
    CHECK(HAS(err.msg, "any command that writes"));
    CHECK_EQ(ft__store_open(&s, path.s, FT_STORE_READ, steps, 2, NULL), FT_OK);
    CHECK_EQ(sqlite3_exec(s->db, "SELECT iif(group_concat(x) = '1,2', 'ok', '') FROM a",
                          says_ok, &intact, NULL),
             SQLITE_OK);
    CHECK_EQ(intact, 1);
    ft_store_close(s);
}

TEST(what_is_not_a_store_is_told_apart)
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
        write_bytes(in_scratch(files[i].name).s, files[i].bytes, files[i].len);
        CHECK_EQ(ft_store_open(&s, in_scratch(files[i].name).s, FT_STORE_READ, &err),
                 FT_EFORMAT);
        CHECK(EQ(s, NULL) && HAS(err.msg, files[i].word));
    }
    CHECK_EQ(ft_store_open(&s, in_scratch("text").s, FT_STORE_WRITE, &err), FT_EFORMAT);
    CHECK_EQ(ft_store_open(&s, in_scratch("text").s, FT_STORE_READ_ANY, &err),
             FT_EFORMAT);
    for (int there = 0; there < 2; there++) {
        const char *path = in_scratch(there ? "empty" : "nothere").s;

        CHECK_EQ(ft_store_open(&s, path, FT_STORE_READ_ANY, &err), FT_OK);
        CHECK_EQ(ft_store_each(s, NULL, 0, NULL, NULL, &err), FT_OK);
        ft_store_close(s);
        CHECK_EQ(access(path, F_OK) == 0, there);
    }

    CHECK_EQ(sqlite3_open(in_scratch("foreign").s, &db), SQLITE_OK);
    CHECK_EQ(sqlite3_exec(db, "CREATE TABLE music(title)", NULL, NULL, NULL),
             SQLITE_OK);
    sqlite3_close(db);
    for (int mode = FT_STORE_READ; mode <= FT_STORE_WRITE; mode++) {
        CHECK_EQ(ft_store_open(&s, in_scratch("foreign").s, (ft_store_mode)mode, &err),
                 FT_EFORMAT);
        CHECK(HAS(err.msg, "not a foretell store"));
    }

    CHECK_EQ(ft_store_open(&s, "", FT_STORE_WRITE, &err), FT_EINVAL);
    CHECK_EQ(ft_store_open(&s, in_scratch("absent").s, FT_STORE_READ, &err), FT_EIO);
    CHECK(HAS(err.msg, "there is no store"));
    CHECK_EQ(ft_store_open(&s, in_scratch("no/folder").s, FT_STORE_WRITE, &err),
             FT_EIO);
    CHECK(HAS(err.msg, "mkdir -p"));
}

/* Spoil one page after another: reading says FT_EFORMAT or gives rows, and
 * never anything else. */
TEST(a_damaged_store_says_so)
{
    const size_t page = 1024;
    size_t len, told = 0;
    char *good = read_bytes(data_file("store-v1.sqlite"), &len);
    char *bad = malloc(len);

    for (size_t at = 0; bad && at < len; at += page) {
        ft_error err = {0};
        ft_reading *r = NULL;
        size_t n = 0;
        ft_status st;
        ft_store *s;

        memcpy(bad, good, len);
        memset(bad + at, 0xa5, page);
        write_bytes(in_scratch("damaged").s, bad, len);
        st = ft_store_open(&s, in_scratch("damaged").s, FT_STORE_READ, &err);
        if (st == FT_OK)
            st = ft_store_each(s, NULL, 1, count_all, &n, &err);
        if (st == FT_OK)
            st = ft__store_readings(s, 1, &r, &n, &err);
        free(r);
        CHECK(EQ(st, FT_OK) || EQ(st, FT_EFORMAT));
        CHECK(EQ(st, FT_OK) || HAS(err.msg, in_scratch("damaged").s));
        told += st == FT_EFORMAT;
        ft_store_close(s);
    }
    CHECK(CMP(told, >=, 6)); /* the header and the tables that each() reads */
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
    CHECK(CMP(pid, >, 0) && EQ(waitpid(pid, &status, 0), pid) && EQ(status, 0));
}

static void in_a_read_only_folder(void)
{
    ft_error err = {0};
    ft_store *s;

    CHECK_EQ(ft_store_open(&s, in_scratch("ro/new").s, FT_STORE_WRITE, &err), FT_EIO);
    CHECK(HAS(err.msg, "folder must be writable") && HAS(err.msg, "chmod u+rwx"));
    CHECK_EQ(ft_store_open(&s, in_scratch("ro/old?#%").s, FT_STORE_WRITE, &err),
             FT_EIO);
    CHECK(HAS(err.msg, "no permission to write it") && HAS(err.msg, "chmod u+rw "));
    CHECK_EQ(ft_store_open(&s, in_scratch("ro/secret").s, FT_STORE_READ, &err), FT_EIO);
    CHECK(HAS(err.msg, "no permission to read it"));
    CHECK_EQ(ft_store_open(&s, in_scratch("ro/unmerged").s, FT_STORE_READ, &err),
             FT_EIO);
    CHECK(HAS(err.msg, "folder must be writable"));

    /* Data that a package installed can be read where it lies. */
    CHECK_EQ(ft_store_open(&s, in_scratch("ro/old?#%").s, FT_STORE_READ, &err), FT_OK);
    CHECK_EQ(all(s, NULL, 0).n, 2);
    ft_store_close(s);
}

TEST(a_read_only_folder_can_be_read_and_not_written)
{
    mkdir(in_scratch("ro").s, 0755);
    /* Of the newest version: an older one is brought up where it may be written. */
    copy_file(data_file("store-v1.sqlite"), in_scratch("ro/old?#%").s);
    ft_store_close(must_open(in_scratch("ro/old?#%").s, FT_STORE_WRITE));
    copy_file(in_scratch("ro/old?#%").s, in_scratch("ro/secret").s);
    copy_file(in_scratch("ro/old?#%").s, in_scratch("ro/unmerged").s);
    write_bytes(in_scratch("ro/unmerged-wal").s, "x", 1);
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
    const ft_reading readings[64] = {{.value = 1, .iterations = 1}};
    int64_t run;

    if (ft__store_begin_run(s, &run, "killed", "", NULL) != FT_OK)
        _exit(1);
    for (uint32_t i = 1;; i++) {
        ft_measurement m = measured(i);
        char spec[32];
        ft_key k = key;

        snprintf(spec, sizeof(spec), "linear x=%ux8", i % 50);
        k.spec = spec;
        if (ft__store_put(s, run, &k, &m, readings, 64, NULL) != FT_OK ||
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

TEST(nothing_acknowledged_is_lost_to_a_kill)
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
        CHECK_EQ(ft_store_each(s, NULL, 0, count_all, &n, NULL), FT_OK);
        CHECK(CMP(n, >=, acknowledged) && CMP(n, <=, acknowledged + 1));
        acknowledged = n;
        CHECK_EQ(sqlite3_exec(s->db, "PRAGMA integrity_check; PRAGMA foreign_key_check",
                              says_ok, &intact, NULL),
                 SQLITE_OK);
        CHECK_EQ(intact, 1);
        ft_store_close(s);
    }
    CHECK(CMP(acknowledged, >, 1000));
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

TEST(two_processes_read_while_one_writes)
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

        CHECK(EQ(waitpid(pid[i], &status, 0), pid[i]) && EQ(status, 0));
    }
    ft_store_close(s);
}

TEST(many_may_create_the_same_store_at_once)
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

        CHECK(EQ(waitpid(pid[i], &status, 0), pid[i]) && EQ(status, 0));
    }
    s = must_open(path.s, FT_STORE_READ);
    CHECK_EQ(all(s, NULL, 0).n, 6);
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
/* One measurement, one fact from a store in memory. */
static ft_status merge_another(ft_store *into)
{
    ft_store *from = NULL;
    ft_merge_report r;
    const ft_measurement m = measured(2);
    int64_t run;
    ft_status st = ft_store_open(&from, ":memory:", FT_STORE_WRITE, NULL);

    if (st == FT_OK)
        st = ft__store_begin_run(from, &run, "", "", NULL);
    if (st == FT_OK)
        st = ft__store_put(from, run, &key, &m, NULL, 0, NULL);
    if (st == FT_OK)
        st = ft__store_put_fact(from, "a30", "y", 1, NULL);
    if (st == FT_OK)
        st = ft_store_merge(&r, into, &from, 1, NULL, NULL);
    CHECK(CMP(st, !=, FT_OK) || (EQ(r.measurements, 1) && EQ(r.facts, 1)));
    ft_store_close(from);
    return st;
}

static ft_status a_day_in_the_life(const char *path)
{
    static const char csv[] = HEAD "\n" ROW "\n";
    const ft_measurement m = measured(1);
    const ft_reading reading = {.value = 1, .iterations = 1};
    size_t rows = 0;
    ft_store *s = NULL;
    int64_t run;
    uint64_t n;
    double v;
    ft_status st = ft_store_open(&s, path, FT_STORE_WRITE, NULL);

    if (st == FT_OK)
        st = ft__store_begin_run(s, &run, "", "", NULL);
    if (st == FT_OK)
        st = ft__store_put(s, run, &key, &m, &reading, 1, NULL);
    if (st == FT_OK)
        st = ft__store_put_fact(s, "a30", "x", 1, NULL);
    if (st == FT_OK)
        st = ft_store_fact(s, "a30", "x", &v, NULL);
    if (st == FT_OK)
        st = ft_store_import_csv(s, csv, sizeof(csv) - 1, "x", &n, NULL);
    if (st == FT_OK)
        st = ft_store_each(s, NULL, 1, count_all, &rows, NULL);
    CHECK(CMP(st, !=, FT_OK) || EQ(rows, 2));
    if (st == FT_OK)
        st = merge_another(s);
    ft_store_close(s);
    return st;
}

TEST(want_of_memory_is_told_and_harms_nothing)
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
        CHECK(EQ(st, FT_OK) || EQ(st, FT_ENOMEM));
    }
    CHECK(EQ(st, FT_OK) && CMP(n, >, 50));
}

static void a_store_that_is_there_may_be_read_only(const char *folder, const char *path)
{
    ft_store *s = NULL;
    ft_error err = {0};

    if (mount("none", folder, "tmpfs", 0, "size=1m"))
        return;
    ft_store_close(must_open(path, FT_STORE_WRITE));
    CHECK_EQ(mount("none", folder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), 0);
    CHECK_EQ(ft_store_open(&s, path, FT_STORE_WRITE, &err), FT_EIO);
    CHECK(HAS(err.msg, "its file system is read-only"));
    ft_store_close(s);
    CHECK_EQ(umount(folder), 0);
}

/* What is written in a small or read-only file system; without the right to mount one
 * there is nothing to see. */
TEST(a_full_or_read_only_disk_is_named)
{
    static const struct {
        unsigned long flags;
        const char *size, *said;
    } disks[] = {{0, "size=16k", "the disk is full"},
                 {MS_RDONLY, "size=1m", "its file system is read-only"}};
    char folder[1024], path[1100];

    snprintf(folder, sizeof(folder), "%s", in_scratch("disk").s);
    snprintf(path, sizeof(path), "%s/s.db", folder);
    CHECK_EQ(mkdir(folder, 0700), 0);
    a_store_that_is_there_may_be_read_only(folder, path);
    for (size_t i = 0; i < sizeof(disks) / sizeof(*disks); i++) {
        ft_store *s = NULL;
        ft_error err = {0};

        if (mount("none", folder, "tmpfs", disks[i].flags, disks[i].size))
            return;
        CHECK_EQ(ft_store_open(&s, path, FT_STORE_WRITE, &err), FT_EIO);
        CHECK(HAS(err.msg, disks[i].said));
        ft_store_close(s);
        CHECK_EQ(umount(folder), 0);
    }
}

int main(int argc, char **argv)
{
    source_root = argc > 1 ? argv[1] : ".";
    make_scratch();
    make_memory_scarce_on_demand();
    check_all();
    remove_scratch();
    CHECK_DONE();
}
