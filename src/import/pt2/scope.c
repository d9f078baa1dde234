/* Calls of modules: the scope of nodes (ft_node.scope). */
#include <string.h>

#include "import/pt2/pt2.h"

enum { MAX_SCOPE = 1000 };

/* The value of "nn_module_stack" in a node's metadata. */
void ft__pt2_read_metadata(ft__json *r, ft__pt2_node *n)
{
    ft__text name;

    if (!ft__json_object(r)) {
        ft__json_skip(r, NULL);
        return;
    }
    while (ft__json_member(r, &name)) {
        if (!FT__IS(name, "nn_module_stack") || ft__json_peek(r) != '"') {
            ft__json_skip(r, NULL);
            continue;
        }
        ft__json_string(r, &n->modules);
        ft__json_leave(r); /* the rest is of no use */
        return;
    }
}

/* Cut the text at the first `c`, which is dropped; what stood before it. */
static ft__text until(ft__text *t, char c)
{
    const char *at = t->n ? memchr(t->s, c, t->n) : NULL;
    ft__text head = *t;

    if (!at) {
        *t = (ft__text){"", 0};
        return head;
    }
    head.n = (size_t)(at - t->s);
    *t = (ft__text){at + 1, t->n - head.n - 1};
    return head;
}

/* "L__self__,,Net;L__self__layer1,layer1,Sequential;L__self__layer1.0@1,..." ->
 * "layer1/layer1.0@1": the first field names the call, @ counts those of one
 * module. The network itself is no call. */
void ft__pt2_scope(const ft__pt2_node *n)
{
    static const char self[] = "L__self__";
    char scope[MAX_SCOPE];
    ft__text rest = n->modules;
    size_t len = 0;

    until(&rest, ';');
    while (rest.n) {
        ft__text entry = until(&rest, ';'), call = until(&entry, ',');
        size_t skip = sizeof(self) - 1;

        if (call.n > skip && memcmp(call.s, self, skip) == 0)
            call = (ft__text){call.s + skip, call.n - skip};
        if (call.n == 0 || len + call.n + 1 > sizeof(scope))
            break;
        if (len)
            scope[len++] = '/';
        memcpy(scope + len, call.s, call.n);
        len += call.n;
    }
    ft__build_scope(n->import->b, scope, len);
}
