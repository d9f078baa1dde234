/* The server itself, on libmicrohttpd. In: connections; out: what the routes say. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "cli/web/request.h"
#include "cli/web/web.h"

enum {
    MOST_BODY = 1 << 20, /* bytes of arguments */
    MOST_CONNECTIONS = 512,
    MOST_HEADERS = 32 << 10, /* bytes of a connection */
    WHOLE = 4,  /* idle times from one answer to the end of the next request */
    END_S = 10, /* for what is under way when it ends */
};

static const char page[] = {
#include "web_page.inc"
    , '\0'};
static const char style[] = {
#include "page.css.inc"
    , '\0'};
/* What a report draws, and the controls. */
static const char script[] = {
#include "page.js.inc"
    ,
#include "predict.js.inc"
    ,
#include "web_script.inc"
    , '\0'};

/* Loaded here: linked, it and the nine libraries that it needs would cost every command
 * 1.5 ms. */
#define FUNCTIONS(F)                                                                   \
    F(add_response_header)                                                             \
    F(create_response_from_buffer)                                                     \
    F(destroy_response)                                                                \
    F(get_connection_info)                                                             \
    F(lookup_connection_value)                                                         \
    F(queue_response)                                                                  \
    F(quiesce_daemon)                                                                  \
    F(start_daemon)                                                                    \
    F(stop_daemon)
struct library {
#define F(name) __typeof__(MHD_##name) *name;
    FUNCTIONS(F)
#undef F
};

static bool load(struct library *http)
{
    void *dl = dlopen(FT__MICROHTTPD, RTLD_NOW | RTLD_LOCAL);
    bool all = dl;

#define F(name)                                                                        \
    *(void **)&http->name = all ? dlsym(dl, "MHD_" #name) : NULL;                      \
    all = all && http->name;
    FUNCTIONS(F)
#undef F
    return all;
}

/* Connections have deadlines, so that none is held by a request that never ends. */
struct connection {
    struct connection *next, *previous;
    int fd;
    double since_s;
    bool asks; /* a request has begun and is not answered */
};

struct server {
    ft__cli *c;
    ft__web *w;
    struct library http;
    pthread_mutex_t lock;
    struct connection *first;
    bool ends;
};

static void begin_connection(struct server *s, struct MHD_Connection *mhd, void **own)
{
    struct connection *x = calloc(1, sizeof(*x));
    const union MHD_ConnectionInfo *info =
        s->http.get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);

    *own = x;
    s->w->counts.open++;
    if (!x || !info)
        return;
    x->fd = info->connect_fd;
    pthread_mutex_lock(&s->lock);
    x->since_s = ft__monotonic_s();
    x->next = s->first;
    if (s->first)
        s->first->previous = x;
    s->first = x;
    pthread_mutex_unlock(&s->lock);
}

static void end_connection(struct server *s, struct connection *x)
{
    s->w->counts.open--;
    if (!x)
        return;
    pthread_mutex_lock(&s->lock);
    if (x->next)
        x->next->previous = x->previous;
    if (x->previous)
        x->previous->next = x->next;
    else if (s->first == x)
        s->first = x->next;
    pthread_mutex_unlock(&s->lock);
    free(x);
}

static void on_connection(void *user, struct MHD_Connection *mhd, void **own,
                          enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        begin_connection(user, mhd, own);
    else
        end_connection(user, *own);
}

/* Of a connection, when a request begins and when its answer was sent. */
static void set_asking(struct server *s, struct MHD_Connection *mhd, bool asks)
{
    const union MHD_ConnectionInfo *info =
        s->http.get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct connection *x = info ? info->socket_context : NULL;

    if (!x)
        return;
    pthread_mutex_lock(&s->lock);
    x->asks = asks;
    if (!asks)
        x->since_s = ft__monotonic_s();
    if (!asks && s->ends)
        shutdown(x->fd, SHUT_RD);
    pthread_mutex_unlock(&s->lock);
}

/* Bytes that come one by one keep a connection from being idle, but not from this. */
static void close_slow(struct server *s)
{
    const double now = ft__monotonic_s();

    pthread_mutex_lock(&s->lock);
    for (struct connection *x = s->first; x; x = x->next)
        if (now - x->since_s > WHOLE * s->w->idle_s)
            shutdown(x->fd, SHUT_RD);
    pthread_mutex_unlock(&s->lock);
}

struct reply {
    int status;
    const char *type;
    const char *text; /* of the program, or `made` */
    char *made;       /* to be freed */
};

static struct reply reply_json(int status, json_t *v)
{
    struct reply r = {status, "application/json", NULL, NULL};

    r.made = v ? ft__json_compact(v) : NULL;
    json_decref(v);
    r.text = r.made;
    return r;
}

static struct reply refuse(int status, const char *why)
{
    return reply_json(status, ft__json("status:d message:s", status, why));
}

static void put_header(const struct server *s, struct MHD_Response *r, const char *name,
                       const char *value)
{
    (void)s->http.add_response_header(r, name, value);
}

static enum MHD_Result send_reply(const struct server *s, struct MHD_Connection *mhd,
                                  struct reply *r)
{
    static char none[] = "";
    struct MHD_Response *response =
        r->made ? s->http.create_response_from_buffer(strlen(r->made), r->made,
                                                      MHD_RESPMEM_MUST_FREE)
        : r->text
            ? s->http.create_response_from_buffer(
                  strlen(r->text), (char *)(uintptr_t)r->text, MHD_RESPMEM_PERSISTENT)
            : s->http.create_response_from_buffer(0, none, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result;

    if (!response) {
        free(r->made);
        return MHD_NO;
    }
    put_header(s, response, "Content-Type", r->type);
    put_header(s, response, "X-Content-Type-Options", "nosniff");
    put_header(s, response, "Cache-Control", "no-store");
    put_header(s, response, "Cross-Origin-Resource-Policy", "same-origin");
    put_header(s, response, "Content-Security-Policy",
               "default-src 'none'; script-src 'self'; style-src 'self' "
               "'unsafe-inline'; img-src data:; "
               "connect-src 'self'; base-uri 'none'; form-action 'none'; "
               "frame-ancestors 'none'");
    if (r->status == 401)
        put_header(s, response, "WWW-Authenticate", "Bearer");
    result = s->http.queue_response(mhd, r->text ? (unsigned)r->status : 500, response);
    s->http.destroy_response(response);
    return result;
}

static int status_of(int exit_code)
{
    switch (exit_code) {
    case FT__EXIT_GOOD:
    case FT__EXIT_NO: return 200;
    case FT__EXIT_USAGE:
    case FT__EXIT_INPUT: return 400;
    case FT__EXIT_MISSING: return 404;
    default: return 500;
    }
}

/* Where an upload's file stands in a text, by its path or, in front, by its number
 * there; its end, or NULL. */
static const char *find_file(const char *text, const char **begin)
{
    static const char folder[] = "/proc/self/fd/";
    const char *at = strstr(text, folder);
    const char *number = at ? at + strlen(folder) : text;
    const char *end = number + strspn(number, "0123456789");

    *begin = at ? at : text;
    return end > number && (at || *end == ':') ? end : NULL;
}

/* An upload has no path that would mean anything to who asked. */
static void show_name(json_t *record, const char *model)
{
    static const char *const members[] = {"message", "verify"};
    json_t *one;
    size_t i;

    json_array_foreach(record, i, one) show_name(one, model);
    if (json_object_get(record, "answers")) /* of a report */
        show_name(json_object_get(record, "answers"), model);
    if (json_object_get(record, "model"))
        json_object_set_new(record, "model", json_string(model));
    for (i = 0; i < 2; i++) {
        const char *text = json_string_value(json_object_get(record, members[i]));
        const char *begin, *end = text ? find_file(text, &begin) : NULL;

        if (end)
            json_object_set_new(
                record, members[i],
                json_sprintf("%.*s%s%s", (int)(begin - text), text, model, end));
    }
}

static struct reply ask_tool(ft__web *w, const ft__tool *t, const char *body,
                             size_t len)
{
    const char *why, *model;
    json_t *arguments = ft__web_arguments(body, len, &why), *value;
    const double begin_s = ft__monotonic_s();
    int status;

    if (!arguments)
        return refuse(400, why);
    ft__web_models_use(w->models);
    status = status_of(ft__tool_ask(&value, t, &w->asker, arguments));
    ft__web_models_unuse(w->models);
    model = json_string_value(json_object_get(arguments, t->positional));
    if (value && model && strncmp(model, "upload-", 7) == 0)
        show_name(value, model);
    json_decref(arguments);
    w->counts.nanoseconds += (unsigned long long)(1e9 * (ft__monotonic_s() - begin_s));
    w->counts.answers += status == 200;
    return reply_json(status, value);
}

static struct reply upload(const struct server *s, struct MHD_Connection *mhd,
                           const char *body, size_t len)
{
    const char *name =
        s->http.lookup_connection_value(mhd, MHD_GET_ARGUMENT_KIND, "name");
    char as[128];

    if (!len)
        return refuse(400, "the body must be the model's file");
    if (!ft__web_models_add(s->w->models, as, sizeof(as), name ? name : "model", body,
                            len))
        return refuse(507, "there is no room for it");
    s->w->counts.uploads++;
    return reply_json(201, ft__json("model:s", as));
}

static struct reply metrics(ft__web *w)
{
    ft__web_counts *n = &w->counts;
    struct reply r = {200, "text/plain; version=0.0.4", NULL, NULL};
    size_t len;
    FILE *fp = open_memstream(&r.made, &len);

    if (!fp)
        return r;
    fprintf(fp,
            "# TYPE foretell_requests_total counter\n"
            "foretell_requests_total %llu\n"
            "# TYPE foretell_requests_refused_total counter\n"
            "foretell_requests_refused_total %llu\n"
            "# TYPE foretell_uploads_total counter\n"
            "foretell_uploads_total %llu\n"
            "# TYPE foretell_answer_seconds summary\n"
            "foretell_answer_seconds_sum %.9f\n"
            "foretell_answer_seconds_count %llu\n"
            "# TYPE foretell_connections gauge\n"
            "foretell_connections %u\n",
            atomic_load(&n->requests), atomic_load(&n->refused),
            atomic_load(&n->uploads), 1e-9 * (double)atomic_load(&n->nanoseconds),
            atomic_load(&n->answers), atomic_load(&n->open));
    r.text = fclose(fp) == 0 ? r.made : NULL;
    return r;
}

struct request {
    ft__web_route route;
    const ft__tool *tool;
    char *body;
    size_t len, cap, most;
    int status; /* that it is refused with; 200: it goes on */
    const char *why;
};

static const char *header(const struct server *s, struct MHD_Connection *mhd,
                          const char *name)
{
    return s->http.lookup_connection_value(mhd, MHD_HEADER_KIND, name);
}

static struct request *begin_request(struct server *s, struct MHD_Connection *mhd,
                                     const char *path, const char *method)
{
    const ft__web_request said = {method,
                                  path,
                                  header(s, mhd, "Host"),
                                  header(s, mhd, "Origin"),
                                  header(s, mhd, "Content-Type"),
                                  header(s, mhd, "Authorization")};
    struct request *q = calloc(1, sizeof(*q));
    const char *length = header(s, mhd, "Content-Length");

    if (!q)
        return NULL;
    set_asking(s, mhd, true);
    s->w->counts.requests++;
    q->status = ft__web_check(&said, &s->w->rules, &q->route, &q->tool, &q->why);
    q->most = q->route == FT__ROUTE_UPLOAD ? s->w->most_upload
              : q->route == FT__ROUTE_TOOL ? MOST_BODY
                                           : 0;
    if (q->status == 200 && length && strtoull(length, NULL, 10) > q->most)
        q->status = 413;
    return q;
}

static void take_body(struct request *q, const char *bytes, size_t n)
{
    if (q->status != 200)
        return;
    if (n > q->most - q->len) {
        q->status = 413;
        return;
    }
    if (q->len + n > q->cap) {
        const size_t cap = 2 * (q->len + n);
        char *grown = realloc(q->body, cap);

        if (!grown) {
            q->status = 507;
            q->why = "there is no room for it";
            return;
        }
        q->body = grown;
        q->cap = cap;
    }
    memcpy(q->body + q->len, bytes, n);
    q->len += n;
}

static struct reply answer(struct server *s, struct MHD_Connection *mhd,
                           const struct request *q)
{
    if (q->status != 200)
        return refuse(q->status, q->status == 413 ? "the body is too large" : q->why);
    switch (q->route) {
    case FT__ROUTE_PAGE:
        return (struct reply){200, "text/html; charset=utf-8", page, NULL};
    case FT__ROUTE_STYLE:
        return (struct reply){200, "text/css; charset=utf-8", style, NULL};
    case FT__ROUTE_SCRIPT:
        return (struct reply){200, "text/javascript; charset=utf-8", script, NULL};
    case FT__ROUTE_OPENAPI: return reply_json(200, ft__openapi_json());
    case FT__ROUTE_METRICS: return metrics(s->w);
    case FT__ROUTE_MODELS: return reply_json(200, ft__web_models_json(s->w->models));
    case FT__ROUTE_UPLOAD: return upload(s, mhd, q->body, q->len);
    case FT__ROUTE_TOOL: return ask_tool(s->w, q->tool, q->body, q->len);
    case FT__ROUTE_NONE: break;
    }
    return refuse(404, "there is nothing here");
}

static enum MHD_Result finish_request(struct server *s, struct MHD_Connection *mhd,
                                      const struct request *q)
{
    struct reply r = answer(s, mhd, q);

    s->w->counts.refused += r.status >= 400;
    return send_reply(s, mhd, &r);
}

/* Called once with the headers, for each piece of the body, and at the end. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *mhd,
                                  const char *path, const char *method,
                                  const char *version, const char *bytes, size_t *n,
                                  void **own)
{
    struct server *s = user;
    struct request *q = *own;

    (void)version;
    if (!q) {
        *own = q = begin_request(s, mhd, path, method);
        /* What is refused is not read. */
        return !q ? MHD_NO : q->status != 200 ? finish_request(s, mhd, q) : MHD_YES;
    }
    if (*n) {
        take_body(q, bytes, *n);
        *n = 0;
        return MHD_YES;
    }
    return finish_request(s, mhd, q);
}

static void on_end(void *user, struct MHD_Connection *mhd, void **own,
                   enum MHD_RequestTerminationCode code)
{
    struct server *s = user;
    struct request *q = *own;

    (void)code;
    set_asking(s, mhd, false);
    if (q)
        free(q->body);
    free(q);
    *own = NULL;
}

static bool socket_address(struct sockaddr_storage *out, const ft__web *w)
{
    struct sockaddr_in *four = (void *)out;
    struct sockaddr_in6 *six = (void *)out;

    memset(out, 0, sizeof(*out));
    if (inet_pton(AF_INET, w->address, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(w->port);
        return true;
    }
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(w->port);
    return inet_pton(AF_INET6, w->address, &six->sin6_addr) == 1;
}

static void be_silent(void *user, const char *fmt, va_list ap)
{
    (void)user;
    (void)fmt;
    (void)ap;
}

static struct MHD_Daemon *start(struct server *s, const struct sockaddr_storage *at)
{
    const bool six = at->ss_family == AF_INET6;

    return s->http.start_daemon(
        (unsigned)MHD_USE_EPOLL_INTERNAL_THREAD | (unsigned)MHD_USE_ERROR_LOG |
            (unsigned)MHD_USE_ITC | (six ? (unsigned)MHD_USE_IPv6 : 0U),
        s->w->port, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, be_silent, s,
        MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)at, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, s->w->idle_s,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MOST_HEADERS,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_NOTIFY_COMPLETED,
        on_end, s, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U,
        s->w->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, s->w->threads,
        MHD_OPTION_END);
}

/* Until a signal of `ends`. */
static void wait_for_end(struct server *s, const sigset_t *ends)
{
    const struct timespec second = {.tv_sec = 1};

    while (sigtimedwait(ends, NULL, &second) < 0)
        close_slow(s);
}

/* Who has asked gets the answer; nobody new is heard. */
static void stop(struct server *s, struct MHD_Daemon *daemon)
{
    const struct timespec step = {.tv_nsec = 20000000};
    const int listening = s->http.quiesce_daemon(daemon);
    const double end_s = ft__monotonic_s() + END_S;

    pthread_mutex_lock(&s->lock);
    s->ends = true;
    for (struct connection *x = s->first; x; x = x->next)
        if (!x->asks)
            shutdown(x->fd, SHUT_RD);
    pthread_mutex_unlock(&s->lock);
    while (s->w->counts.open && ft__monotonic_s() < end_s)
        nanosleep(&step, NULL);
    s->http.stop_daemon(daemon);
    if (listening >= 0)
        (void)shutdown(listening, SHUT_RDWR);
}

int ft__web_run(ft__cli *c, ft__web *w)
{
    struct server s = {.c = c, .w = w, .lock = PTHREAD_MUTEX_INITIALIZER};
    const bool six = strchr(w->address, ':') != NULL;
    struct sockaddr_storage at;
    struct MHD_Daemon *daemon;
    sigset_t ends;

    if (!socket_address(&at, w))
        return ft__usage(c, "--listen wants an IP address, not \"%s\"", w->address);
    if (!load(&s.http))
        return ft__cli_exit(c, FT__EXIT_MISSING,
                            "%s; install the package that has " FT__MICROHTTPD,
                            dlerror());
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    daemon = start(&s, &at);
    if (!daemon)
        return ft__cli_exit(c, FT__EXIT_INPUT,
                            "cannot listen at %s port %u; is it in use?", w->address,
                            (unsigned)w->port);
    if (!c->quiet)
        fprintf(stderr, "http://%s%s%s:%u/\n", six ? "[" : "", w->address,
                six ? "]" : "", (unsigned)w->port);
    wait_for_end(&s, &ends);
    stop(&s, daemon);
    return FT__EXIT_GOOD;
}
