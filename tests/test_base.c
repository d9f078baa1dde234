#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/pairs.h"
#include "base/prng.h"
#include "base/stats.h"
#include "check.h"
#include "foretell/foretell.h"

TEST(arena_gives_zeroed_aligned_memory_of_any_size)
{
    ft__arena a = {0};
    char *s;

    for (size_t size = 1; size < 300000; size = size * 3 + 1) {
        unsigned char *p = ft__arena_alloc(&a, size);

        CHECK(p && EQ((uintptr_t)p % 16, 0));
        CHECK(p && EQ(p[0], 0) && EQ(p[size - 1], 0));
        if (p)
            memset(p, 0xff, size);
    }
    CHECK(EQ(ft__arena_array(&a, SIZE_MAX / 4, 8), NULL));
    s = ft__arena_strndup(&a, "conv2d", 4);
    CHECK(s && SAME(s, "conv"));
    ft__arena_free(&a);
    CHECK(EQ(a.head, NULL));
}

TEST(buffer_grows_and_stays_terminated)
{
    ft__buf b = {0};

    for (int i = 0; i < 1000; i++)
        ft__buf_fmt(&b, "%d,", i);
    CHECK(!b.bad && EQ(b.len, 3890) && EQ(strlen(b.s), b.len));
    CHECK(BEGINS(b.s, "0,1,2,", 6));
    ft__buf_add(&b, "x", SIZE_MAX / 2);
    CHECK(b.bad);
    ft__buf_free(&b);
}

TEST(statistics_agree_with_hand_figures)
{
    double v[] = {4, 1, 3, 2}, w[] = {1, 2, 3, 4, 100};

    CHECK_NEAR(ft__mean(v, 4), 2.5, 0);
    CHECK_NEAR(ft__std(v, 4), 1.2909944487358056, 1e-15);
    CHECK_NEAR(ft__median(v, 4), 2.5, 0);
    CHECK_NEAR(ft__quantile(v, 4, 0.9), 3.7, 1e-12);
    CHECK_NEAR(ft__quantile(v, 4, 1), 4, 0);
    CHECK_NEAR(ft__mad(w, 5, 3), 1.4826, 1e-12);
    CHECK(isnan(ft__median(v, 0)) && isnan(ft__std(v, 0)) && EQ(ft__std(v, 1), 0));
}

TEST(streams_repeat_and_differ)
{
    ft__prng a = ft__prng_stream(7, 0), b = ft__prng_stream(7, 0);
    ft__prng c = ft__prng_stream(7, 1);
    double sum = 0;

    for (int i = 0; i < 1000; i++) {
        uint64_t x = ft__prng_u64(&a);

        CHECK(EQ(x, ft__prng_u64(&b)) && CMP(x, !=, ft__prng_u64(&c)));
        sum += ft__prng_unit(&c);
        CHECK(CMP(ft__prng_below(&c, 7), <, 7));
    }
    CHECK_NEAR(sum / 1000, 0.5, 0.05);
}

TEST(pairs_are_found_and_numbers_have_units)
{
    const char *text = "threads=2 clock=1200MHz cap=250W state=eval";
    size_t len;
    const char *v = ft__pair(text, "state", &len);

    CHECK(v && EQ(len, 4) && BYTES(v, "eval", 4));
    CHECK(!ft__pair(text, "lock", &len) && !ft__pair(text, "clock=", &len));
    CHECK(!ft__pair("", "a", &len) && !ft__pair(NULL, "a", &len));
    CHECK_NEAR(ft__pair_number(text, "clock"), 1.2e9, 0);
    CHECK_NEAR(ft__pair_number(text, "cap"), 250, 0);
    CHECK_NEAR(ft__pair_number(text, "threads"), 2, 0);
    CHECK(isnan(ft__pair_number(text, "state")) && isnan(ft__pair_number(text, "x")));
}

TEST(a_pair_is_taken_out_with_its_blank)
{
    static const char *const left[][2] = {
        {"a", "bc=2 d=3"}, {"bc", "a=1 d=3"}, {"d", "a=1 bc=2"}, {"b", "a=1 bc=2 d=3"}};

    for (size_t i = 0; i < 4; i++) {
        ft__buf b = {0};

        ft__pairs_without(&b, "a=1 bc=2 d=3", left[i][0]);
        CHECK(SAME(b.s, left[i][1]));
        ft__buf_free(&b);
    }
}

TEST(names_lead_back_to_their_values)
{
    static const uint32_t count[FT_NAMES_COUNT] = {
        [FT_NAMES_BASIS] = FT_BASIS_COUNT,
        [FT_NAMES_MODE] = 2,
        [FT_NAMES_PART] = FT_PART_COUNT,
        [FT_NAMES_METHOD] = FT_METHOD_COUNT,
        [FT_NAMES_RANK_BY] = FT_RANK_BY_COUNT,
        [FT_NAMES_RANK_UNIT] = FT_RANK_BY_COUNT,
        [FT_NAMES_PLACE_BY] = FT_PLACE_BY_COUNT,
        [FT_NAMES_PROTOCOL] = FT_PROTOCOL_COUNT,
        [FT_NAMES_BY] = FT_BY_COUNT,
        [FT_NAMES_CRITERION] = FT_CRITERION_COUNT,
        [FT_NAMES_QUANTITY] = FT_QUANTITY_COUNT,
        [FT_NAMES_UNIT] = FT_QUANTITY_COUNT,
        [FT_NAMES_ESTIMATOR] = FT_ESTIMATOR_COUNT,
        [FT_NAMES_PARAM_TYPE] = FT_PARAM_TYPE_COUNT,
        [FT_NAMES_DESIGN] = FT_DESIGN_COUNT,
        [FT_NAMES_SEARCHER] = FT_SEARCH_COUNT,
        [FT_NAMES_PHASE] = FT_PHASE_COUNT,
        [FT_NAMES_PTX_CLASS] = FT_PTX_CLASSES,
        [FT_NAMES_PTX_SPACE] = FT_PTX_SPACES,
        [FT_NAMES_PTX_SOURCE] = FT_PTX_FOLDER + 1,
    };

    for (int list = 0; list < FT_NAMES_COUNT; list++) {
        const char *name;
        uint32_t n = 0;

        for (; (name = ft_name((ft_names)list, n)); n++)
            CHECK_EQ(ft_from_name((ft_names)list, name, strlen(name)), (int)n);
        CHECK(EQ(n, count[list]) && !ft_name((ft_names)list, UINT32_MAX));
        CHECK_EQ(ft_from_name((ft_names)list, "tim", 3), -1);
    }
    CHECK(!ft_name(FT_NAMES_COUNT, 0) &&
          EQ(ft_from_name(FT_NAMES_COUNT, "time", 4), -1));
    CHECK_EQ(ft_from_name(FT_NAMES_RANK_BY, "timeless", 4), FT_RANK_BY_TIME);
    CHECK(SAME(ft_name(FT_NAMES_RANK_UNIT, FT_RANK_BY_EDP), "J s"));
    CHECK(SAME(ft_name(FT_NAMES_PART, FT_PART_SAVED), "saved"));
}

TEST(a_file_is_read_whole_or_is_too_large)
{
    enum { MOST = 3 << 20 };
    static const size_t sizes[] = {0, 1, 4095, 4096, MOST, MOST + 1};
    char path[] = "/tmp/foretell-base-XXXXXX", *text;
    const int fd = mkstemp(path);
    ft_error err = {0};
    struct rusage used;
    size_t len;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        CHECK_EQ(ftruncate(fd, (off_t)sizes[i]), 0);
        if (ft__file_read(&text, &len, path, MOST, &err))
            CHECK(!text && EQ(err.status, FT_EFORMAT) && HAS(err.msg, "than 3 MiB"));
        else
            CHECK(EQ(len, sizes[i]) && EQ(text[len], 0));
        CHECK_EQ(!text, sizes[i] > MOST);
        free(text);
    }
    /* Before it is read. */
    CHECK_EQ(ftruncate(fd, (off_t)20 << 30), 0);
    CHECK_EQ(ft__file_read(&text, &len, path, (size_t)1 << 30, &err), FT_EFORMAT);
    getrusage(RUSAGE_SELF, &used);
    CHECK(CMP(used.ru_maxrss, <, 1 << 19)); /* KiB */
    close(fd);
    unlink(path);
    CHECK(EQ(ft__file_read(&text, &len, path, MOST, &err), FT_EIO) && !text);
    CHECK(EQ(ft__file_read(&text, &len, "/tmp", MOST, &err), FT_EIO) && !text);
    CHECK(SAME(err.msg, "cannot read /tmp: Is a directory"));
}
