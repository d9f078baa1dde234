/* In: a symbol as C++ compilers write it (Itanium C++ ABI, 5.1); out: its qualified
 * name, without parameters and with template arguments as "<...>": what people call a
 * kernel. */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "ptx/syntax/module.h"

/* A number and so many characters; NULL: none stands here. *at goes past it. */
static const char *take_name(const char **at, size_t *len)
{
    const char *p = *at, *name;

    *len = 0;
    while (isdigit((unsigned char)*p) && *len < 4096)
        *len = 10 * *len + (size_t)(*p++ - '0');
    name = p;
    if (p == *at || strnlen(p, *len) < *len || *len == 0)
        return NULL;
    *at = p + *len;
    return name;
}

/* Past "S1_", "St", "T_": something that was named before. */
static const char *skip_reference(const char *p)
{
    if (*p == 'S' && islower((unsigned char)p[1]))
        return p + 2;
    p += 1 + strspn(p + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return p + (*p == '_');
}

/* Past template arguments, whose "I" was read: to behind their "E". */
static const char *skip_arguments(const char *p)
{
    size_t depth = 1, len;

    while (*p && depth > 0)
        if (*p == 'L' && islower((unsigned char)p[1])) { /* a literal: type, value */
            p += strcspn(p, "E");
            p += *p == 'E';
        } else if (*p == 'S' || *p == 'T') {
            p = skip_reference(p);
        } else if (isdigit((unsigned char)*p)) {
            if (!take_name(&p, &len))
                return "";
        } else {
            depth += strchr("IJLNXF", *p) != NULL;
            depth -= *p == 'E';
            p++;
        }
    return p;
}

/* Letters of the ABI that stand before names: const, volatile, restrict, std::. */
static const char *skip_qualifiers(const char *p)
{
    p += strspn(p, "rVK");
    return strncmp(p, "St", 2) == 0 ? p + 2 : p;
}

static bool demangle(ft__buf *out, const char *symbol)
{
    bool nested, any = false;
    const char *p = symbol;

    if (strncmp(p, "_Z", 2) != 0)
        return false;
    p += 2;
    p += *p == 'L'; /* internal linkage */
    nested = *p == 'N';
    p = skip_qualifiers(p + nested);
    for (;;) {
        size_t len;
        const char *name;

        if (any && *p == 'I') {
            ft__buf_str(out, "<...>");
            p = skip_arguments(p + 1);
        }
        if ((any && !nested) || !(name = take_name(&p, &len)))
            return any;
        ft__buf_str(out, any ? "::" : "");
        if (len >= 10 && strncmp(name, "_GLOBAL__N", 10) == 0)
            ft__buf_str(out, "(anonymous namespace)");
        else
            ft__buf_add(out, name, len);
        any = true;
    }
}

const char *ft__ptx_source_name(ft__arena *arena, const char *symbol)
{
    ft__buf b = {0};
    const char *name =
        demangle(&b, symbol) && !b.bad ? ft__arena_strndup(arena, b.s, b.len) : symbol;

    ft__buf_free(&b);
    return name ? name : symbol;
}

int ft_ptx_is_called(const ft_ptx_kernel *k, const char *name)
{
    const char *source = k->source_name, *last = source;
    size_t plain = strcspn(source, "<"); /* without template arguments */

    for (const char *p = source; p + 1 < source + plain; p++)
        if (p[0] == ':' && p[1] == ':')
            last = p + 2;
    return strcmp(k->name, name) == 0 || strcmp(source, name) == 0 ||
           (strlen(name) == plain && strncmp(source, name, plain) == 0) ||
           (strlen(name) == (size_t)(source + plain - last) &&
            strncmp(last, name, strlen(name)) == 0);
}
