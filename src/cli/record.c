/* foretell doctor --record: this machine, written down. */
#include <inttypes.h>

#include "cli/cli.h"

static const double default_trace_s = 10;

int ft__machine_record(ft__cli *c, const char *dir, const char *root, double trace_s)
{
    ft_record_options how = {.root = root,
                             .trace_s = trace_s > 0 ? trace_s : default_trace_s};
    ft_record r;
    ft_status st = ft_machine_record(&r, dir, &how, &c->err);

    if (st)
        return ft__cli_check(c, st);
    if (c->json)
        return ft__cli_done(
            c, ft__json_print_take(ft__json("folder:s files:u unreadable:u gpus:u "
                                            "nvml_why:s readings:u trace_why:s",
                                            dir, r.files, r.unreadable, r.gpus,
                                            r.no_nvml, r.readings, r.no_trace),
                                   stdout));
    printf("%s: %" PRIu64 " files", dir, r.files);
    if (r.unreadable)
        printf(", %" PRIu64 " that may not be read (files.txt)", r.unreadable);
    if (r.gpus)
        printf(", NVML of %" PRIu64 " GPUs", r.gpus);
    if (r.readings)
        printf(", %" PRIu64 " readings of power", r.readings);
    putchar('\n');
    if (*r.no_nvml)
        printf("no nvml.txt: %s\n", r.no_nvml);
    if (*r.no_trace)
        printf("no trace.csv: %s\n", r.no_trace);
    return ft__cli_done(c, true);
}
