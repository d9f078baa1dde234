/* From the path of a plug-in to its engine. */
#include <dlfcn.h>
#include <stddef.h>

#include "foretell/engine.h"

static ft_status check(const ft_engine *e, const char *path, ft_error *err)
{
    ft_error why = {0};

    if (!e)
        return ft_fail(err, FT_EBACKEND, 0, "%s: " FT_ENGINE_ENTRY "() gave no engine",
                       path);
    if (e->abi != FT_ENGINE_ABI)
        return ft_fail(
            err, FT_EBACKEND, 0,
            "%s: built for plug-in interface %u, this foretell has %u: install "
            "the plug-in of the same version",
            path, e->abi, FT_ENGINE_ABI);
    if (e->score(&why) == 0)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "%s: engine %s cannot run here: %s",
                       path, e->name, why.msg[0] ? why.msg : "it gave no reason");
    return FT_OK;
}

ft_status ft_engine_load(const ft_engine **out, const char *path, ft_error *err)
{
    void *dl;
    ft_engine_entry_fn *entry;
    const ft_engine *e;
    ft_status st;

    *out = NULL;
    /* Local: two engines may bring libraries with the same names. */
    dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!dl)
        return ft_fail(err, FT_ENOTFOUND, 0, "no plug-in at %s: %s", path, dlerror());
    *(void **)&entry = dlsym(dl, FT_ENGINE_ENTRY);
    if (!entry) {
        dlclose(dl);
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "%s is no plug-in: it has no " FT_ENGINE_ENTRY, path);
    }
    e = entry();
    st = check(e, path, err);
    if (!st)
        *out = e;
    /* Never closed from here on: refused or not, the library below may have
     * started threads when it was loaded. */
    return st;
}
