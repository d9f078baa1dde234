/* /v1/openapi.json, made from the tools' option tables. */
#include "cli/web/openapi.h"

#include "cli/web/request.h"
#include "foretell/version.h"

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
        if (ft__web_has(t)) {
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
