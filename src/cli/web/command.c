/* foretell serve: its options. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli/web/web.h"

enum { MOST_HOSTS = 16, MOST_TOKEN = 256 };

struct web_options {
    const char *listen;
    uint64_t port;
    ft__texts hosts;
    const char *token_file;
    uint64_t threads, upload_mib;
    const char *idle;
};

static const ft__option options[] = {
    FT__TEXT(struct web_options, listen, "listen", "ADDRESS",
             "IP address to listen at; 127.0.0.1. Any other needs --token-file"),
    FT__COUNT(struct web_options, port, "port", "N", "8127"),
    FT__TEXTS(
        struct web_options, hosts, "host", "NAME",
        "a name that browsers know this server by, beside localhost; may be repeated"),
    FT__INPUT(struct web_options, token_file, "token-file", "FILE",
              "its first line must come with requests: Authorization: Bearer ..."),
    FT__COUNT(struct web_options, threads, "threads", "N",
              "that answer; as many as there are processors, at most 8"),
    FT__COUNT(struct web_options, upload_mib, "most-upload", "MIB",
              "what a model that is uploaded may have; 64"),
    FT__TEXT(struct web_options, idle, "idle", "TIME",
             "a connection that is silent for so long is closed, and one whose request "
             "takes four times as long; more than 0, at most 1h; 15s"),
    {0},
};

/* The first line of a file. */
static int read_token(ft__cli *c, char token[MOST_TOKEN], const char *path)
{
    FILE *fp = fopen(path, "r");
    const bool good = fp && fgets(token, MOST_TOKEN, fp);

    if (fp)
        fclose(fp);
    if (good)
        token[strcspn(token, "\r\n")] = '\0';
    return good && strlen(token) >= 16
               ? FT__EXIT_GOOD
               : ft__cli_exit(c, FT__EXIT_INPUT,
                              "--token-file %s: its first line has to be a token of 16 "
                              "to %d characters",
                              path, MOST_TOKEN - 2);
}

static unsigned threads_of(const struct web_options *o)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);

    return o->threads ? (unsigned)o->threads : n > 8 ? 8 : n > 1 ? (unsigned)n : 1;
}

static int run(ft__cli *c, const void *user)
{
    const struct web_options *o = user;
    const char *address = o->listen ? o->listen : "127.0.0.1";
    const char *host[MOST_HOSTS + 4] = {"localhost", "127.0.0.1", "[::1]", address};
    char token[MOST_TOKEN] = "";
    ft__web w = {.asker = {.c = c, .model_path = ft__web_models_path},
                 .rules = {.host = host, .n_hosts = 4},
                 .address = address,
                 .port = (uint16_t)(o->port ? o->port : 8127),
                 .threads = threads_of(o),
                 .most_upload = (size_t)(o->upload_mib ? o->upload_mib : 64) << 20};
    double idle_s = 15;
    int code = FT__EXIT_GOOD;

    if (o->port > UINT16_MAX || w.threads > 64 || o->upload_mib > 4096 ||
        o->hosts.n > MOST_HOSTS)
        return ft__usage(c, "--port is at most 65535, --threads 64, --most-upload "
                            "4096, and there are at most 16 of --host");
    if (o->idle &&
        (!ft__seconds_from_text(&idle_s, o->idle) || !(idle_s > 0 && idle_s <= 3600)))
        return ft__usage(
            c,
            "--idle wants more than 0 and at most 1h, such as 15s, not \"%s\": who is "
            "silent for ever would hold one of few connections",
            o->idle);
    w.idle_s = (unsigned)ceil(idle_s);
    if (strncmp(address, "127.", 4) != 0 && strcmp(address, "::1") != 0 &&
        !o->token_file)
        return ft__usage(
            c, "--listen %s: others can reach it there, so it needs --token-file",
            address);
    for (size_t i = 0; i < o->hosts.n; i++)
        host[w.rules.n_hosts++] = o->hosts.v[i];
    if (o->token_file)
        code = read_token(c, token, o->token_file);
    w.rules.token = o->token_file ? token : NULL;
    if (!code)
        code = ft__web_models_open(&w.models, c);
    if (!code)
        code = ft__data_open(c, &w.asker.data);
    w.asker.user = w.models;
    w.asker.models = ft__models_new();
    if (!code)
        code = w.asker.models ? ft__web_run(c, &w) : ft__cli_done(c, false);
    ft__models_free(w.asker.models);
    ft__data_close(c, w.asker.data);
    ft__web_models_close(w.models);
    return code;
}

const ft__command ft__web_command = {
    .name = "serve",
    .arguments = "[MODEL...]",
    .summary = "answer by HTTP: a page for browsers, and JSON as --json prints it",
    .more =
        "At http://localhost:8127/ is a page, below /v1 the questions of predict, "
        "rank,\n"
        "memory, place, ops and devices (/v1/openapi.json), at /metrics what "
        "Prometheus\n"
        "reads. Models are those of the data folder, those named here, and uploads,\n"
        "which are kept in memory and never executed. It ends with SIGTERM.",
    .examples =
        "  foretell serve\n"
        "  foretell serve my.onnx --port 8000\n"
        "  foretell serve --listen 0.0.0.0 --host gpu-box.lan --token-file token\n",
    .most_args = 64,
    .options_size = sizeof(struct web_options),
    .options = options,
    .run = run,
};
