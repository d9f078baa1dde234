/* A request of the web server: lines with method, path, host, origin, type and token,
 * then its body; as far as its arguments lead without a model. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/web/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 6 };

static char *no_model(void *user, const char *word)
{
    (void)user;
    (void)word;
    return strdup("/dev/null");
}

static void ask(const ft__tool *t, const char *body, size_t len)
{
    static char nowhere[] = "/nonexistent";
    const ft__cli c = {.data_dir = nowhere};
    ft__asker a = {.c = &c, .models = ft__models_new(), .model_path = no_model};
    const char *why;
    json_t *arguments = ft__web_arguments(body, len, &why), *value = NULL;

    if (arguments && a.models)
        (void)ft__tool_ask(&value, t, &a, arguments);
    json_decref(value);
    json_decref(arguments);
    ft__models_free(a.models);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const hosts[] = {"localhost", "[::1]"};
    const ft__web_rules rules = {hosts, 2, "0123456789abcdef"};
    char *text = malloc(size + 1), *line[LINES], *at = text, name[64];
    ft__web_request r;
    ft__web_route route;
    const ft__tool *tool;
    const char *why;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (int i = 0; i < LINES; i++) {
        line[i] = at;
        at += strcspn(at, "\n");
        if (*at)
            *at++ = '\0';
    }
    r = (ft__web_request){line[0], line[1], line[2], *line[3] ? line[3] : NULL,
                          line[4], line[5]};
    ft__web_clean_name(name, sizeof(name), line[1]);
    if (strchr(name, '/') || !*name)
        abort();
    if (ft__web_check(&r, &rules, &route, &tool, &why) == 200 &&
        route == FT__ROUTE_TOOL)
        ask(tool, at, size - (size_t)(at - text));
    free(text);
    return 0;
}
