/* Which requests are answered: route, method, host, origin, type, token. */
#include "cli/web/request.h"
#include "foretell/version.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define TOOLS "/v1/"

static const struct route {
    const char *path, *method;
    ft__web_route route;
    bool is_open; /* needs no token: holds nothing that is not in the program */
} routes[] = {
    {"/", "GET", FT__ROUTE_PAGE, true},
    {"/page.css", "GET", FT__ROUTE_STYLE, true},
    {"/page.js", "GET", FT__ROUTE_SCRIPT, true},
    {"/metrics", "GET", FT__ROUTE_METRICS, false},
    {TOOLS "openapi.json", "GET", FT__ROUTE_OPENAPI, true},
    {TOOLS "models", "GET", FT__ROUTE_MODELS, false},
    {TOOLS "models", "POST", FT__ROUTE_UPLOAD, false},
};

/* Is the tool asked by HTTP? */
static bool is_asked(const ft__tool *t)
{
    return t->words != FT__WORDS_FILES;
}

/* `text` is "name" or "name:port"; "[::1]:port" is one, too. */
static bool is_host(const char *text, const ft__web_rules *rules)
{
    const char *end = *text == '[' ? strchr(text, ']') : NULL;
    const size_t len = end ? (size_t)(end + 1 - text) : strcspn(text, ":");

    if (text[len] == ':' ? text[len + 1 + strspn(text + len + 1, "0123456789")]
                         : text[len])
        return false;
    for (size_t i = 0; i < rules->n_hosts; i++)
        if (strlen(rules->host[i]) == len &&
            strncasecmp(rules->host[i], text, len) == 0)
            return true;
    return false;
}

/* A page of somebody else may not ask, whatever the browser would let it read. */
static bool is_own_origin(const ft__web_request *r)
{
    static const char *const scheme[] = {"http://", "https://"};

    if (!r->origin)
        return true;
    for (size_t i = 0; i < 2; i++)
        if (strncmp(r->origin, scheme[i], strlen(scheme[i])) == 0 &&
            strcasecmp(r->origin + strlen(scheme[i]), r->host) == 0)
            return true;
    return false;
}

/* In time that does not depend on where they differ. */
static bool has_token(const ft__web_request *r, const char *token)
{
    static const char bearer[] = "Bearer ";
    const char *given = r->authorization;
    unsigned differs;

    if (!token)
        return true;
    if (!given || strncmp(given, bearer, sizeof(bearer) - 1) != 0)
        return false;
    given += sizeof(bearer) - 1;
    differs = strlen(given) != strlen(token);
    for (size_t i = 0; given[i]; i++)
        differs |= (unsigned char)(given[i] ^ token[i % (strlen(token) + 1)]);
    return !differs;
}

/* Types that a form of a foreign page cannot send. */
static bool is_type(const ft__web_request *r, const char *type)
{
    const size_t len = strlen(type);

    return r->content_type && strncasecmp(r->content_type, type, len) == 0 &&
           (!r->content_type[len] || strchr("; ", r->content_type[len]));
}

static int find_route(const ft__web_request *r, ft__web_route *route,
                      const ft__tool **tool, bool *is_open)
{
    bool is_path = false;

    for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++)
        if (strcmp(r->path, routes[i].path) == 0) {
            is_path = true;
            if (strcmp(r->method, routes[i].method) == 0) {
                *route = routes[i].route;
                *is_open = routes[i].is_open;
                return 200;
            }
        }
    if (strncmp(r->path, TOOLS, strlen(TOOLS)) == 0)
        *tool = ft__tool_find(r->path + strlen(TOOLS));
    if (!*tool || !is_asked(*tool))
        return is_path ? 405 : 404;
    *route = FT__ROUTE_TOOL;
    return strcmp(r->method, "POST") == 0 ? 200 : 405;
}

int ft__web_check(const ft__web_request *r, const ft__web_rules *rules,
                  ft__web_route *route, const ft__tool **tool, const char **why)
{
    bool is_open = false;
    int status;

    *route = FT__ROUTE_NONE;
    *tool = NULL;
    *why = "this server has another name: foretell serve --host adds one";
    if (!r->host || !is_host(r->host, rules))
        return 421;
    *why = "pages of other origins may not ask";
    if (!is_own_origin(r))
        return 403;
    status = find_route(r, route, tool, &is_open);
    *why = status == 404 ? "there is nothing here; see /v1/openapi.json"
                         : "it takes another method; see /v1/openapi.json";
    if (status != 200)
        return status;
    *why = "it takes the token of foretell serve: Authorization: Bearer TOKEN";
    if (!is_open && !has_token(r, rules->token))
        return 401;
    *why =
        "Content-Type must be application/json, of an upload application/octet-stream";
    if ((*route == FT__ROUTE_TOOL && !is_type(r, "application/json")) ||
        (*route == FT__ROUTE_UPLOAD && !is_type(r, "application/octet-stream")))
        return 415;
    return 200;
}

json_t *ft__web_arguments(const char *body, size_t len, const char **why)
{
    json_t *v =
        len ? json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL) : json_object();

    *why = "the body must be a JSON object";
    if (v && json_is_object(v))
        return v;
    json_decref(v);
    return NULL;
}

void ft__web_clean_name(char *out, size_t size, const char *name)
{
    size_t n = 0;

    for (const char *c = ft__path_name(name); *c && n + 1 < size; c++)
        if (isalnum((unsigned char)*c) || (n && strchr("._-", *c)))
            out[n++] = *c;
    out[n] = '\0';
    if (!n)
        snprintf(out, size, "model");
}

static json_t *content(const char *type, json_t *schema)
{
    return ft__json("content:o",
                    ft__json_join_take(json_object(), json_pack("{s:{s:o?}}", type,
                                                                "schema", schema)));
}

static json_t *described(const char *description, const char *type)
{
    return ft__json_join_take(ft__json("description:s", description),
                              content(type, json_object()));
}

static json_t *responses(const char *description, const char *type)
{
    return ft__json(
        "200:o default:o", described(description, type),
        described("a complaint: command, exit, message", "application/json"));
}

static json_t *tool_json(const ft__tool *t)
{
    return ft__json(
        "post:o",
        ft__json(
            "operationId:s summary:s requestBody:o responses:o", t->name, t->summary,
            ft__json_join_take(ft__json("required:b", true),
                               content("application/json", ft__tool_schema(t, false))),
            responses("the record of --json", "application/json")));
}

static json_t *get_json(const char *name, const char *summary, const char *type)
{
    return ft__json("operationId:s summary:s responses:o", name, summary,
                    responses(summary, type));
}

static json_t *upload_json(void)
{
    json_t *name = json_array();

    ft__json_append_take(&name, ft__json("name:s in:s schema:o", "name", "query",
                                         ft__json("type:s", "string")));
    return ft__json("operationId:s summary:s parameters:o requestBody:o responses:o",
                    "upload",
                    "A model for this server's memory, read by the name in the reply, "
                    "not executed, not stored; the newest 16 are kept.",
                    name,
                    content("application/octet-stream",
                            ft__json("type:s format:s", "string", "binary")),
                    responses("its name as model", "application/json"));
}

json_t *ft__openapi_json(void)
{
    json_t *paths = json_object();
    char path[64];

    for (const ft__tool *t = ft__tools; t->name; t++)
        if (is_asked(t)) {
            snprintf(path, sizeof(path), "/v1/%s", t->name);
            ft__json_set_take(&paths, path, tool_json(t));
        }
    ft__json_set_take(
        &paths, "/v1/models",
        ft__json("get:o post:o",
                 get_json("models", "Models by name.", "application/json"),
                 upload_json()));
    ft__json_set_take(
        &paths, "/metrics",
        ft__json("get:o", get_json("metrics", "For Prometheus.", "text/plain")));
    return ft__json("openapi:s info:o paths:o", "3.1.0",
                    ft__json("title:s version:s", "foretell", ft_version()), paths);
}
