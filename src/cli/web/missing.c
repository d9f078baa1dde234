/* In place of the server where there is no libmicrohttpd. */
#include "cli/web/web.h"

int ft__web_run(ft__cli *c, ft__web *w)
{
    (void)w;
    return ft__cli_exit(c, FT__EXIT_MISSING,
                        "this foretell was built without libmicrohttpd; on Debian: "
                        "apt-get install libmicrohttpd-dev, then build it again");
}
