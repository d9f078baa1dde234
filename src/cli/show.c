/* foretell show: what is in a predictor. */
#include "cli/predictor.h"

static int run(ft__cli *c, const void *options)
{
    const char *path = c->args.v[0];
    ft_predictor *p;
    bool printed;
    ft_status st = ft_predictor_load(&p, path, &c->err);

    (void)options;
    if (st)
        return ft__cli_check(c, st);
    printed = ft__predictor_print(c, p, path, NULL);
    ft_predictor_free(p);
    return ft__cli_done(c, printed);
}

const ft__command ft__show_command = {
    .name = "show",
    .arguments = "P.ftp",
    .summary = "show what a predictor was trained on and how good it is",
    .more = "",
    .examples = "  foretell show server.ftp\n"
                "  foretell show server.ftp --csv\n",
    .least_args = 1,
    .most_args = 1,
    .has_csv = true,
    .options_size = 0,
    .options = NULL,
    .run = run,
};
