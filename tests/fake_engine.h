#ifndef TEST_FAKE_ENGINE_H
#define TEST_FAKE_ENGINE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/measure.h"
#include "parse_spec.h"

/* machine: "" or a copied tree of /sys, whose clocks the session holds at 1.2 GHz. */
static inline ft_session *fake_session(const char *options, const char *plugin_dir,
                                       const char *machine)
{
    const ft_settings slow = {.core_clock_hz = 1.2e9};
    const ft_settings_options where = {.root = machine};
    ft_session_options how = {.engine = "fake",
                              .plugin_dir = plugin_dir,
                              .engine_options = options,
                              .settings = machine[0] ? &slow : NULL,
                              .settings_options = &where,
                              .seed = 1};
    ft_session *s = NULL;
    ft_error err = {0};

    if (ft_session_open(&s, &how, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return s;
}

#endif
