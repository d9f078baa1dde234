#ifndef EXPLORE_EXPLORATION_H
#define EXPLORE_EXPLORATION_H

#include <stdbool.h>

#include "explore/space/space.h"
#include "foretell/exploration.h"

/* Names and what they stand for; ended by count. */
typedef struct ft__names {
    const char **name, **value;
    size_t n;
} ft__names;

/* Words of a program, or one text for the shell. */
typedef struct ft__words {
    const char **word;
    size_t n;
    bool shell;
} ft__words;

struct ft_exploration {
    ft_exploration_facts facts;
    ft__arena arena;
    const char *name;
    ft__words command;
    ft__words predict;     /* instead of it, n > 0: words behind foretell predict */
    ft__names prices;      /* of devices, "2.49/h" */
    ft__words build;       /* n 0: none */
    ft__names constants;   /* {name} in command, build and files */
    ft__names environment; /* of every run */
    const char *device;    /* whose settings; NULL: the CPU's */
    ft_space *space;
    const char **workload;  /* names */
    ft__names *of_workload; /* {name} in the command */
    size_t n_workloads;
    ft_objective *objective;
    size_t n_objectives;
    uint32_t least_runs, most_runs, warmup;
    double precision; /* half a 95 % interval of the median, relative, that is enough */
    double timeout_s;
    double
        power_s; /* for which short runs are looped for their energy; 0: by precision */
    double cool_s;  /* pause before each run */
    uint64_t print; /* of all that a result depends on but point and workload */
};

/* An exploration from the text of its file; `name` is what messages call it. */
ft_status ft__exploration_read(ft_exploration **out, const char *text, size_t len,
                               const char *name, ft_error *err);

/* Its results are kept under this name instead of the file's: one for each machine. */
ft_status ft__exploration_rename(ft_exploration *x, const char *name, ft_error *err);

#endif
