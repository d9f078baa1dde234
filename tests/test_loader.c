
#include "check.h"
#include "foretell/engine.h"

static void loads_what_fits(const char *path)
{
    const ft_engine *e = NULL;
    ft_error err = {0};

    CHECK_EQ(ft_engine_load(&e, path, &err), FT_OK);
    CHECK(e && SAME(e->name, "fake") && EQ(e->abi, FT_ENGINE_ABI));
}

static void refuses(const char *path, ft_status want, const char *word)
{
    const ft_engine *e = (const ft_engine *)(const void *)path; /* anything but NULL */
    ft_error err = {0};

    CHECK_EQ(ft_engine_load(&e, path, &err), want);
    CHECK(EQ(e, NULL) && EQ(err.status, want));
    CHECK(HAS(err.msg, path) && HAS(err.msg, word));
    CHECK_EQ(ft_engine_load(&e, path, NULL), want);
}

/* Arguments: the fake engine, a library that is no plug-in, plug-ins with
 * another ABI, with score 0, and with an entry that gives nothing. */
int main(int argc, char **argv)
{
    if (argc < 6)
        return 1;
    loads_what_fits(argv[1]);
    refuses("/nonexistent/x.so", FT_ENOTFOUND, "No such file");
    refuses(__FILE__, FT_ENOTFOUND, "no plug-in");
    refuses(argv[2], FT_ENOTFOUND, FT_ENGINE_ENTRY);
    refuses(argv[3], FT_EBACKEND, "interface");
    refuses(argv[4], FT_EUNSUPPORTED, "the moon is in the wrong phase");
    refuses(argv[5], FT_EBACKEND, "gave no engine");
    CHECK_DONE();
}
