/* What benchmarks of servers wrote, read. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "foretell/serve.h"

static ft_serve_measured measured_in(const char *text)
{
    ft_serve_measured m[2] = {{.tool = ""}};
    ft_error err = {0};
    size_t n;

    if (ft_serve_measured_read(m, &n, 2, text, strlen(text), "file", &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK_EQ(n, 1);
    return m[0];
}

TEST(benchmarks_are_read_as_they_are_written)
{
    const ft_serve_measured served = measured_in(
        "{\"request_rate\": \"inf\", \"max_concurrency\": 8, \"completed\": 80,"
        " \"total_input_tokens\": 8000, \"total_output_tokens\": 1600,"
        " \"output_throughput\": 512.5, \"ttfts\": [1, {\"mean_ttft_ms\": 3}],"
        " \"mean_ttft_ms\": 12.5, \"p95_itl_ms\": 40, \"p99_e2el_ms\": 900}");
    const ft_serve_measured llama = measured_in(
        "[{\"n_prompt\": 0, \"n_gen\": 64, \"n_depth\": 512, \"avg_ts\": 50}]");
    const ft_serve_measured mlperf =
        measured_in("MLPerf Results Summary\nSUT name : x\n"
                    "Completed samples per second    : 2.5\n"
                    "Completed tokens per second: 320\n"
                    "Mean First Token latency (ns)   : 150000000\n"
                    "Mean Time per Output Token (ns)   : 20000000\n"
                    "95.00 percentile first token latency (ns)   : 350000000\n"
                    "99.00 percentile first token latency (ns)   : 450000000\n"
                    "99.00 percentile time to output token (ns)   : 30000000\n"
                    "50.00 percentile latency (ns)   : 2000000000\n");

    CHECK_EQ(served.prompt, 100);
    CHECK_EQ(served.generate, 20);
    CHECK_EQ(served.concurrency, 8);
    CHECK_EQ(served.rate_per_s, 0);
    CHECK_NEAR(served.latency[FT_SERVE_TTFT][FT_SERVE_MEAN], 0.0125, 1e-12);
    CHECK_NEAR(served.latency[FT_SERVE_E2E][FT_SERVE_P99], 0.9, 1e-12);
    CHECK_NEAR(served.latency[FT_SERVE_ITL][FT_SERVE_P95], 0.04, 1e-12);
    CHECK(isnan(served.latency[FT_SERVE_TPOT][FT_SERVE_MEAN]));
    CHECK_EQ(llama.prompt, 513);
    CHECK_EQ(llama.generate, 64);
    CHECK_NEAR(llama.latency[FT_SERVE_TPOT][FT_SERVE_MEAN], 0.02, 1e-12);
    CHECK_EQ(mlperf.generate, 128);
    CHECK_NEAR(mlperf.latency[FT_SERVE_TTFT][FT_SERVE_MEAN], 0.15, 1e-12);
    CHECK_NEAR(mlperf.latency[FT_SERVE_TTFT][FT_SERVE_P95], 0.35, 1e-12);
    CHECK_NEAR(mlperf.latency[FT_SERVE_TTFT][FT_SERVE_P99], 0.45, 1e-12);
    CHECK_NEAR(mlperf.latency[FT_SERVE_TPOT][FT_SERVE_MEAN], 0.02, 1e-12);
    CHECK_NEAR(mlperf.latency[FT_SERVE_TPOT][FT_SERVE_P99], 0.03, 1e-12);
    CHECK_NEAR(mlperf.latency[FT_SERVE_E2E][FT_SERVE_P50], 2, 1e-12);
    CHECK(isnan(mlperf.latency[FT_SERVE_E2E][FT_SERVE_MEAN]));
}

TEST(other_files_are_no_benchmarks)
{
    static const char *const text[] = {
        "",
        "{}",
        "[]",
        "text",
        "{\"completed\": 3}",
        "[{\"avg_ts\": 5}, 7]",
        "{\"completed\": 1, \"total_input_tokens\": 5, \"total_output_tokens\": ",
    };

    for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
        ft_serve_measured m[2];
        ft_error err = {0};
        size_t n = 7;

        CHECK_EQ(
            ft_serve_measured_read(m, &n, 2, text[i], strlen(text[i]), "file", &err),
            FT_EFORMAT);
        CHECK_EQ(n, 0);
        CHECK(*err.msg);
    }
}
