/* foretell mcp: Model Context Protocol on standard input and output, a JSON-RPC 2.0
 * message a line. */
#include <stdlib.h>
#include <string.h>

#include "cli/ask/tools.h"
#include "foretell/version.h"

enum {
    MOST_MESSAGE = 1 << 20, /* bytes of a line */
    /* JSON-RPC 2.0 */
    PARSE_ERROR = -32700,
    INVALID_REQUEST = -32600,
    METHOD_NOT_FOUND = -32601,
    INVALID_PARAMS = -32602,
    INTERNAL_ERROR = -32603,
};

/* Newest first; what a client asks for is taken where it is one of them. */
static const char *const versions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};

enum line { LINE_WHOLE, LINE_TOO_LONG, LINE_END };

/* The next line, without its end, into buf of MOST_MESSAGE + 1 bytes. */
static enum line read_line(char *buf, size_t *len, FILE *fp)
{
    int c = getc(fp);
    bool too_long = false;

    for (*len = 0; c != EOF && c != '\n'; c = getc(fp))
        if (*len < MOST_MESSAGE)
            buf[(*len)++] = (char)c;
        else
            too_long = true;
    return c == EOF && *len == 0 ? LINE_END : too_long ? LINE_TOO_LONG : LINE_WHOLE;
}

/* Replies borrow `id`. */
static json_t *reply_result(json_t *id, json_t *result)
{
    return ft__json("jsonrpc:s id:o result:o", "2.0", json_incref(id), result);
}

static json_t *reply_error(json_t *id, int code, const char *message)
{
    return ft__json("jsonrpc:s id:o error:o", "2.0", id ? json_incref(id) : json_null(),
                    ft__json("code:d message:s", code, message));
}

/* Methods return NULL when out of memory. */
static json_t *initialize(const json_t *params)
{
    const char *wanted = json_string_value(json_object_get(params, "protocolVersion"));
    const char *version = versions[0];

    for (size_t i = 0; wanted && i < sizeof(versions) / sizeof(*versions); i++)
        if (strcmp(wanted, versions[i]) == 0)
            version = versions[i];
    return ft__json(
        "protocolVersion:s capabilities:o serverInfo:o instructions:s", version,
        ft__json("tools:o", json_object()),
        ft__json("name:s title:s version:s", "foretell", "foretell", ft_version()),
        "Predicts time, energy and memory of neural networks on devices before "
        "anything runs. Values are in SI units, low and high are 90 % intervals. Files "
        "are named by paths on this machine.");
}

static json_t *list_tools(void)
{
    json_t *all = json_array();

    for (const ft__tool *t = ft__tools; t->name; t++)
        if (!t->page)
            ft__json_append_take(
                &all,
                ft__json("name:s description:s inputSchema:o annotations:o", t->name,
                         t->summary, ft__tool_schema(t, true),
                         ft__json("readOnlyHint:b openWorldHint:b", true, false)));
    return ft__json("tools:o", all);
}

/* A complaint of the command is a result, for the model to read. */
static json_t *call(const ft__tool *t, const ft__asker *a, const json_t *arguments)
{
    json_t *value, *content = json_array();
    const int code = ft__tool_ask(&value, t, a, arguments);
    char *text = ft__json_compact(value);

    json_decref(value);
    ft__json_append_take(&content,
                         text ? ft__json("type:s text:s", "text", text) : NULL);
    free(text);
    return ft__json("content:o isError:b", content,
                    code != FT__EXIT_GOOD && code != FT__EXIT_NO);
}

static json_t *call_tool(json_t *id, const json_t *params, const ft__asker *a)
{
    const char *name = json_string_value(json_object_get(params, "name"));
    const json_t *arguments = json_object_get(params, "arguments");
    const ft__tool *t = name ? ft__tool_find(name) : NULL;
    char message[256];

    if (!name)
        return reply_error(id, INVALID_PARAMS, "params.name is a text");
    snprintf(message, sizeof(message), "unknown tool: %.200s", name);
    if (!t || t->page)
        return reply_error(id, INVALID_PARAMS, message);
    if (arguments && !json_is_object(arguments))
        return reply_error(id, INVALID_PARAMS, "params.arguments is an object");
    return reply_result(id, call(t, a, arguments));
}

static json_t *answer_method(json_t *id, const char *method, const json_t *params,
                             const ft__asker *a)
{
    if (strcmp(method, "initialize") == 0)
        return reply_result(id, initialize(params));
    if (strcmp(method, "ping") == 0)
        return reply_result(id, json_object());
    if (strcmp(method, "tools/list") == 0)
        return reply_result(id, list_tools());
    if (strcmp(method, "tools/call") == 0)
        return call_tool(id, params, a);
    return reply_error(id, METHOD_NOT_FOUND, "there is no such method");
}

/* false: nothing is to be said, as to notifications. */
static bool answer(json_t **reply, const json_t *message, const ft__asker *a)
{
    json_t *id = json_object_get(message, "id"), *params;
    const char *method = json_string_value(json_object_get(message, "method"));
    const char *rpc = json_string_value(json_object_get(message, "jsonrpc"));

    if (!json_is_object(message) || !rpc || strcmp(rpc, "2.0") != 0 || !method ||
        (id && !json_is_string(id) && !json_is_integer(id))) {
        *reply =
            reply_error(NULL, INVALID_REQUEST,
                        "a message is an object with jsonrpc \"2.0\", a method and "
                        "perhaps an id");
        return true;
    }
    if (!id)
        return false;
    params = json_object_get(message, "params");
    *reply = params && !json_is_object(params)
                 ? reply_error(id, INVALID_PARAMS, "params is an object")
                 : answer_method(id, method, params, a);
    if (!*reply)
        *reply = reply_error(id, INTERNAL_ERROR, "out of memory");
    return true;
}

static bool answer_line(const char *line, size_t len, enum line read,
                        const ft__asker *a)
{
    json_error_t why;
    json_t *message = NULL, *reply = NULL;
    char text[256];
    bool says = true;

    if (read == LINE_WHOLE)
        message = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
    if (read == LINE_TOO_LONG)
        snprintf(text, sizeof(text), "a message has at most %d bytes", MOST_MESSAGE);
    else if (!message)
        snprintf(text, sizeof(text), "this is not JSON: %.200s", why.text);
    if (message)
        says = answer(&reply, message, a);
    else
        reply = reply_error(NULL, PARSE_ERROR, text);
    json_decref(message);
    if (!says)
        return true;
    says = reply && json_dumpf(reply, stdout, JSON_COMPACT) == 0 &&
           putchar('\n') != EOF && fflush(stdout) == 0;
    json_decref(reply);
    return says;
}

static int run(ft__cli *c, const void *options)
{
    ft__asker a = {.c = c, .files = true};
    char *line = malloc(MOST_MESSAGE + 1);
    bool good = true;
    enum line read;
    size_t len;
    int code;

    (void)options;
    a.models = ft__models_new();
    code = line && a.models ? ft__data_open(c, &a.data) : ft__cli_done(c, false);
    while (!code && good && (read = read_line(line, &len, stdin)) != LINE_END)
        if (len)
            good = answer_line(line, len, read, &a);
    ft__data_close(c, a.data);
    ft__models_free(a.models);
    free(line);
    return code ? code : ft__cli_done(c, true);
}

const ft__command ft__mcp_command = {
    .name = "mcp",
    .arguments = "",
    .summary = "answer coding assistants: the Model Context Protocol on standard input",
    .more =
        "Tools predict, rank, memory, place, ops, devices and show, with the options "
        "of\n"
        "these commands as arguments; answers are the records of --json. Only files\n"
        "that are named are read, none is written, nothing is executed.",
    .examples = "  foretell mcp\n",
    .run = run,
};
