/* A served load -> the commands that measure the same: how the engine is started, and
 * who asks it. */
#include <inttypes.h>
#include <string.h>

#include "cli/serve/serve.h"

/* 0: not given. */
static int64_t dim_of(const ft_query *q, const char *name)
{
    for (size_t i = 0; i < q->n_dims; i++)
        if (strcmp(q->dims[i].name, name) == 0)
            return q->dims[i].value;
    return 0;
}

/* What stands for a checkpoint, by the type of its weights where that was asked for. */
static const char *checkpoint(const ft_query *q)
{
    const int64_t bits = dim_of(q, "weight_bits");

    return bits == 4    ? "MODEL-in-fp4"
           : bits == 8  ? "MODEL-in-fp8"
           : bits == 16 ? "MODEL-in-bf16"
                        : "MODEL";
}

/* As vLLM names a type; NULL: it computes in none such. */
static const char *vllm_dtype(const char *dtype)
{
    static const char *const names[][2] = {
        {"fp32", "float32"}, {"fp16", "float16"}, {"bf16", "bfloat16"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(dtype, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

/* Options of vLLM beside those of every line. */
static void vllm_options(char *out, size_t size, const ft_query *q, const ft_served *s,
                         const ft_serve_load *load)
{
    const char *dtype = q->dtype ? vllm_dtype(q->dtype) : s->half ? "float16" : NULL;
    const struct {
        const char *name;
        double value;
    } option[] = {{"max-num-seqs", (double)load->max_seqs},
                  {"block-size", (double)load->block},
                  {"gpu-memory-utilization", load->memory_share},
                  {"pipeline-parallel-size", (double)dim_of(q, "pp")},
                  {"data-parallel-size", (double)dim_of(q, "dp")}};
    size_t len = 0;

    *out = '\0';
    for (size_t i = 0; i < sizeof(option) / sizeof(*option); i++)
        if (option[i].value > 0)
            len += (size_t)snprintf(out + len, size - len, " --%s %g", option[i].name,
                                    option[i].value);
    snprintf(out + len, size - len, "%s%s%s%s%s%s",
             dim_of(q, "ep") > 1 ? " --enable-expert-parallel" : "",
             dim_of(q, "kv_bits") == 8 ? " --kv-cache-dtype fp8" : "",
             load->whole_prompts ? " --no-enable-chunked-prefill" : "",
             q->run_mode && strcmp(q->run_mode, "eager") == 0 ? " --enforce-eager" : "",
             dtype ? " --dtype " : "", dtype ? dtype : "");
}

/* How an engine is started; false: it is no server. */
static bool server_line(char *out, size_t size, const ft_query *q, uint64_t tp,
                        const ft_served *s, const ft_serve_load *load,
                        uint64_t concurrency)
{
    const char *engine = q->engine, *model = checkpoint(q);
    const uint64_t tokens = s->max_batched_tokens;
    ft_serve_load others = *load;
    char more[256], memory[64] = "";

    *out = '\0';
    if (s->shares_free && load->memory_share > 0) {
        others.memory_share = 0;
        snprintf(memory, sizeof(memory), " --kv_cache_free_gpu_memory_fraction %g",
                 load->memory_share);
    }
    vllm_options(more, sizeof(more), q, s, &others);
    if (!engine || strcmp(engine, "vllm") == 0)
        snprintf(out, size,
                 "vllm serve %s --tensor-parallel-size %" PRIu64
                 " --max-num-batched-tokens %" PRIu64 "%s",
                 model, tp, tokens, more);
    else if (*more)
        return false;
    else if (strcmp(engine, "sglang") == 0)
        snprintf(out, size,
                 "python3 -m sglang.launch_server --model-path %s --tp-size %" PRIu64
                 " --chunked-prefill-size %" PRIu64 " --port 8000",
                 model, tp, tokens);
    else if (strcmp(engine, "trtllm") == 0)
        snprintf(out, size,
                 "trtllm-serve %s --tp_size %" PRIu64 " --max_num_tokens %" PRIu64 "%s",
                 model, tp, tokens, memory);
    else if (strcmp(engine, "llama.cpp") == 0)
        snprintf(out, size,
                 "llama-server --model %s.gguf --port 8000 --parallel %" PRIu64, model,
                 concurrency);
    return *out != '\0';
}

/* vLLM's client asks any server with OpenAI's interface. */
ft__verify_by ft__serve_verify_by(const ft_serve_load *load, const ft_served *s,
                                  const ft__predict_question *of, uint64_t tp)
{
    const ft_query *q = &of->query;
    const uint64_t prompt = load->prompt ? load->prompt : 1024;
    const uint64_t generate = load->generate ? load->generate : 256;
    const uint64_t concurrency = load->concurrency ? load->concurrency : 1;
    char how[64], server[512], prefix[48] = "";
    ft__verify_by v = {.why_not = NULL};

    if (load->rate_per_s > 0)
        snprintf(how, sizeof(how), "--request-rate %g", load->rate_per_s);
    else
        snprintf(how, sizeof(how), "--max-concurrency %" PRIu64, concurrency);
    if (load->shared_prefix)
        snprintf(prefix, sizeof(prefix), " --random-prefix-len %" PRIu64,
                 load->shared_prefix);
    if (load->n_recorded || load->prefill_workers || load->kv_tokens ||
        load->shared_prefix >= prompt ||
        (load->shared_prefix && load->vary > FT_SERVE_ALIKE))
        v.why_not = "vllm bench serve makes no such load";
    else if (*of->use.setting || of->o->asked.setting)
        v.why_not = "no option of a server sets clocks, caps and what else --setting "
                    "names: the device has to be set first";
    else if ((q->dtype && !vllm_dtype(q->dtype)) ||
             (q->run_mode && strcmp(q->run_mode, "compiled") == 0) ||
             !server_line(server, sizeof(server), q, tp, s, load, concurrency))
        v.why_not = "how that engine is started so is not known here";
    else
        snprintf(v.line, sizeof(v.line),
                 "%s & vllm bench serve --model %s --dataset-name random%s "
                 "--random-input-len %" PRIu64 " --random-output-len %" PRIu64
                 " --random-range-ratio %g --num-prompts %" PRIu64
                 " %s --ignore-eos --percentile-metrics ttft,tpot,itl,e2el "
                 "--metric-percentiles 50,90,95,99 --save-result",
                 server, checkpoint(q), prefix, prompt - load->shared_prefix, generate,
                 load->vary, s->requests, how);
    return v;
}
