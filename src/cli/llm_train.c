/* foretell predict of training over many devices: of language models, and of other
 * networks by replicas alone. */
#include "cli/predict.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/serve/serve.h"
#include "foretell/llm.h"
#include "report/units.h"

enum { MAX_NAME = 128 };

const ft__option ft__llm_train_table[] = {
    FT__COUNT(ft__llm_train_options, devices, "gpus", "N",
              "training over N devices; what tp x pp leave is data parallel"),
    FT__COUNT(ft__llm_train_options, pp, "pp", "N",
              "training: stages of a pipeline; 1"),
    FT__COUNT(
        ft__llm_train_options, interleave, "interleave", "N",
        "training: parts of the model that each stage has, in turn with others'; 1"),
    FT__COUNT(ft__llm_train_options, sequence, "sequence", "N",
              "training: tokens of a sequence; 4096"),
    FT__COUNT(
        ft__llm_train_options, micro_batch, "micro-batch", "N",
        "training: sequences that go through a stage at once, or a network's batch on "
        "each device; 1"),
    FT__COUNT(ft__llm_train_options, global_batch, "global-batch", "N",
              "training: sequences of a step; one micro-batch for every stage of every "
              "replica"),
    FT__COUNT(ft__llm_train_options, zero, "zero", "N",
              "training: replicas divide 1 states of the optimizer, 2 gradients, 3 "
              "weights, too (FSDP)"),
    FT__FLAG(ft__llm_train_options, recompute, "recompute",
             "training: activations between layers alone are kept"),
    FT__COUNT(ft__llm_train_options, lora, "lora", "RANK",
              "training: of adapters of that rank beside frozen weights (with --dim "
              "weight_bits=4: QLoRA)"),
    FT__TEXT(
        ft__llm_train_options, tokens, "run-tokens", "N",
        "training: tokens (of other networks items) of the whole run, such as 300B"),
    {0},
};

bool ft__llm_train_asked(const ft__llm_train_options *o)
{
    return ft__option_given(ft__llm_train_table, o) != NULL;
}

/* The option given that is of one device alone; NULL: none is. */
static const char *untrained(const ft__predict_question *q)
{
    const ft__predict_options *o = q->o;

    return o->clocks              ? "--clocks"
           : o->power_caps        ? "--power-caps"
           : o->max_batch         ? "--max-batch"
           : o->must_fit          ? "--must-fit"
           : o->asked.launch_time ? "--launch-time"
           : o->html              ? "--html"
           : o->trace             ? "--trace"
           : q->c->csv            ? "--csv"
                                  : NULL;
}

static int check(const ft__predict_question *q)
{
    ft__serve_options others = q->o->serve;

    others.tp = NULL;
    others.ep = 0;
    if (!q->o->train.devices && q->o->train.lora)
        return ft__usage(q->c,
                         "--gpus is missing: on how many is it trained? (of one "
                         "device's step: --dim lora=%" PRIu64 "; a server's adapters "
                         "are not known)",
                         q->o->train.lora);
    if (!q->o->train.devices)
        return ft__usage(q->c, "--gpus is missing: on how many is it trained?");
    if (strcmp(q->c->args.v[0], "-") == 0)
        return ft__usage(q->c, "--gpus needs a file: standard input is read once");
    if (q->step.mode != FT_MODE_TRAINING)
        return ft__usage(q->c, "--gpus trains: --mode training, or left out");
    if (others.precision)
        return ft__usage(q->c,
                         "training over --gpus goes without --precision %s: --dtype "
                         "fp32, or --precision amp-bf16",
                         others.precision);
    if (ft__serving_asked(&others))
        return ft__usage(q->c,
                         "training goes without options of serving but --tp and --ep");
    if (untrained(q))
        return ft__usage(q->c, "training over --gpus goes without %s", untrained(q));
    if (q->o->train.zero > 3)
        return ft__usage(q->c,
                         "--zero is 1 (states of the optimizer), 2 (gradients, too) or "
                         "3 (weights, too), not %" PRIu64,
                         q->o->train.zero);
    return FT__EXIT_GOOD;
}

static int read_how(const ft__predict_question *q, ft_llm_train *how)
{
    const ft__llm_train_options *o = &q->o->train;
    ft__serving s;
    int code = ft__serving_read(q->c, &s, &q->o->serve);

    if (!code && s.n_tp > 1)
        code = ft__usage(q->c, "one --tp");
    *how = (ft_llm_train)FT_LLM_TRAIN_INIT;
    how->devices = o->devices;
    how->tp = s.tp[0];
    how->pp = o->pp;
    how->interleave = o->interleave;
    how->sequence = o->sequence;
    how->micro_batch = o->micro_batch;
    how->global_batch = o->global_batch;
    how->zero = o->zero;
    how->recompute = o->recompute;
    how->ep = q->o->serve.ep;
    how->lora = o->lora;
    if (!code && o->tokens &&
        !ft__number_from_text(&how->tokens, o->tokens, "=1 k=1e3 M=1e6 B=1e9 T=1e12"))
        code = ft__usage(q->c,
                         "--run-tokens wants a number such as 300B or 1T, not \"%s\"",
                         o->tokens);
    ft__serving_end(&s);
    return code;
}

static void row(ft__table *t, const char *name, const ft_estimate *e, const char *unit)
{
    if (e->basis != FT_BASIS_UNAVAILABLE)
        ft__table_row(t, name, ft__text_in(unit, e->value).s,
                      ft__text_in(unit, e->low).s, ft__text_in(unit, e->high).s,
                      ft_name(FT_NAMES_BASIS, e->basis));
}

static ft_estimate times(ft_estimate e, double factor)
{
    e.value *= factor;
    e.low *= factor;
    e.high *= factor;
    if (!isfinite(e.value))
        e.basis = FT_BASIS_UNAVAILABLE;
    return e;
}

static ft_estimate cost_of(const ft_llm_trained *a, double per_s)
{
    return times(a->device_hours, 3600 * per_s);
}

enum { MAX_SAID = 64 };

/* Own sentences and the model's, which are cut out of a->assumed. */
static size_t assumed_of(const char *said[MAX_SAID], ft_llm_trained *a, char own[256],
                         const ft_llm_train *how)
{
    size_t n = 0;

    snprintf(
        own, 256,
        "%s%s; one pass forward, one back%s; sums of gradients run beside the backward "
        "pass",
        how->lora ? "adapters alone are trained: " : "",
        how->network       ? "each device trains the whole network on items of its own"
        : a->states_8_bits ? "weights and gradients in their type, AdamW in 8 bits"
        : a->fp32          ? "weights, gradients and states of AdamW in fp32"
                  : "weights and gradients in 16 bits, AdamW with an fp32 copy of "
                    "the weights",
        how->network ? "" : " (1F1B)");
    said[n++] = own;
    for (char *at = a->assumed, *end; n < MAX_SAID && (end = strchr(at, '\n'));
         at = end + 1) {
        *end = '\0';
        said[n++] = at;
    }
    return n;
}

static bool print_text(const ft__predict_question *q, const ft_llm_train *how,
                       const ft_llm_trained *a, const char *const *assumed,
                       size_t n_assumed, const char *device, double per_s)
{
    const bool items = how->network != 0;
    ft__table *t = ft__table_new("training|estimate>|low>|high>|basis");
    const ft_estimate cost = cost_of(a, per_s), days = times(a->run_s, 1.0 / 86400);
    const ft_estimate mwh = times(a->run_j, 1 / 3.6e9);

    printf("%s on %" PRIu64 " x %s: tp %" PRIu64 ", pp %" PRIu64 ", %s, %" PRIu64
           " micro-batch%s in a step of %s\n",
           q->c->args.v[0], how->devices, device, how->tp, how->pp ? how->pp : 1,
           ft__text_counted(a->replicas, "replica").s, a->micro_batches,
           a->micro_batches == 1 ? "" : "es",
           ft__text_counted(a->global_batch, items ? "item" : "sequence").s);
    for (size_t i = 0; i < n_assumed; i++)
        ft__put_line(stdout, "assumed: ", assumed[i]);
    putchar('\n');
    row(t, "time of a step", &a->step_s, "s");
    row(t, items ? "items/s" : "tokens/s", &a->tokens_per_s, "");
    row(t, "  of a device", &a->tokens_per_s_per_device, "");
    row(t, "energy of a step", &a->step_j, "J");
    row(t, "power of all devices", &a->power_w, "W");
    row(t, items ? "time of the run" : "days of the run", items ? &a->run_s : &days,
        items ? "s" : "");
    row(t, "device hours", &a->device_hours, "");
    row(t, items ? "energy of the run" : "MWh of the run", items ? &a->run_j : &mwh,
        items ? "J" : "");
    row(t, "cost of the run", &cost, "");
    if (!ft__table_print_take(t, stdout))
        return false;
    printf("\nof a step: passes %s, stages that wait %s, exchange adds %s, "
           "optimizer %s; %s of the peak (MFU)\n",
           ft__text_seconds(a->compute_s).s, ft__text_seconds(a->bubble_s).s,
           ft__text_seconds(a->exchange_s).s, ft__text_seconds(a->optimizer_s).s,
           ft__text_percent(a->mfu).s);
    if (!how->global_batch && how->zero < 3 &&
        a->bubble_s + a->exchange_s > a->compute_s / 2)
        printf("a large part of it is waiting and exchange, which a larger "
               "--global-batch divides among more %s\n",
               items ? "items" : "sequences");
    printf("a device needs %s: weights %s, gradients %s, states %s, activations %s; ",
           ft__text_bytes(a->bytes).s, ft__text_bytes(a->weights).s,
           ft__text_bytes(a->gradients).s, ft__text_bytes(a->states).s,
           ft__text_bytes(a->activations).s);
    if (a->bytes > a->memory_bytes)
        printf("it does not fit: %s%s%s take less\n",
               how->zero >= (items ? 2 : 3) ? ""
               : items                      ? "--zero 2, "
                                            : "--zero 3, ",
               how->recompute || how->network ? "" : "--recompute, ",
               items ? "a smaller --micro-batch" : "--tp, --pp or more --gpus");
    else
        puts("it fits");
    if (*a->no_hardware)
        ft__put_line(stdout, "warning: ", a->no_hardware);
    puts("to verify it: no engine of foretell trains over several devices; hold the "
         "time "
         "of a step against the trainer's log");
    return true;
}

static json_t *answer_json(const ft__predict_question *q, const ft_llm_trained *a,
                           const char *const *assumed, size_t n_assumed,
                           const char *device, double per_s)
{
    const ft_estimate cost = cost_of(a, per_s);
    const char *const warned[] = {a->no_hardware};

    return ft__json(
        "model:s device:s devices:u replicas:u micro_batches:u global_batch:u "
        "step:e(s) tokens_per_s:e(1/s) tokens_per_s_per_device:e(1/s) step_energy:e(J) "
        "power:e(W) run:e(s) device_hours:e(h) run_energy:e(J) run_cost:e() mfu:g "
        "compute_s:g bubble_s:g exchange_s:g optimizer_s:g memory:o fits:b "
        "assumptions:o warnings:o",
        q->c->args.v[0], device, q->o->train.devices, a->replicas, a->micro_batches,
        a->global_batch, &a->step_s, &a->tokens_per_s, &a->tokens_per_s_per_device,
        &a->step_j, &a->power_w, &a->run_s, &a->device_hours, &a->run_j, &cost, a->mfu,
        a->compute_s, a->bubble_s, a->exchange_s, a->optimizer_s,
        ft__json("weights:g gradients:g states:g activations:g all:g device:g",
                 a->weights, a->gradients, a->states, a->activations, a->bytes,
                 a->memory_bytes),
        !(a->bytes > a->memory_bytes), ft__json_texts(assumed, n_assumed),
        ft__json_texts(warned, *a->no_hardware != '\0'));
}

int ft__llm_train(ft__predict_question *q)
{
    char device[MAX_NAME], setting[FT__SETTING_MAX], own[256];
    const char *assumed[MAX_SAID];
    size_t n = 0;
    ft_data *data = NULL;
    ft_llm_trained a;
    ft_llm_train how;
    double per_s = NAN;
    int code = check(q);

    if (!code)
        code = read_how(q, &how);
    how.network = !ft__is_language_model(q->c->args.v[0]);
    if (!code && !q->o->device)
        code = ft__usage(q->c, "--device is missing: on what is it trained?");
    if (!code && strchr(q->o->device, ','))
        code = ft__usage(q->c, "training over --gpus is asked of one --device");
    if (!code)
        code = ft__operating_setting(q->c, setting, &q->use, q->o->asked.setting);
    if (!code)
        code = ft__data_open(q->c, &data);
    if (code)
        return code;
    snprintf(device, sizeof(device), "%s", q->o->device);
    code = ft__device_resolve(q->c, device, sizeof(device), false);
    q->query.model = q->c->args.v[0];
    q->query.device = device;
    q->query.setting = setting;
    if (!code)
        code = ft__price_of(q->c, &per_s, &q->o->serve.prices, device);
    if (!code)
        code = ft__prices_check(q->c, &q->o->serve.prices,
                                (const char *const[]){device}, 1);
    if (!code)
        code = ft__cli_check_asked(
            q->c, ft_llm_train_ask(&a, data, &q->query, &how, &q->c->err));
    if (!code)
        n = assumed_of(assumed, &a, own, &how);
    if (!code && q->c->json)
        code = ft__cli_done(q->c, ft__cli_json_take(q->c, answer_json(q, &a, assumed, n,
                                                                      device, per_s)));
    else if (!code)
        code = ft__cli_done(q->c, print_text(q, &how, &a, assumed, n, device, per_s));
    ft_data_close(data);
    return code;
}
