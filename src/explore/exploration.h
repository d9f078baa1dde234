#ifndef EXPLORE_EXPLORATION_H
#define EXPLORE_EXPLORATION_H

#include <stdbool.h>

#include "explore/space/space.h"
#include "foretell/exploration.h"

/* Names and what they stand for; ended by count. */
typedef struct ft__names {
    const char **name;
    const char **value;
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
    double cool_s;  /* pause before each run */
    uint64_t print; /* of all that a result depends on but point and workload */
};

/* What stands for {name} at a point: its value, a constant, or one of these. */
typedef struct ft__place {
    const ft_exploration *x;
    const double *point;
    uint32_t workload;
    const char *build; /* folder */
    const char *self;
} ft__place;

/* text with every {name} replaced; in the arena. {{ and }} are braces. NULL: FT_ENOMEM,
 * or FT_EFORMAT, a name that nothing stands for. */
char *ft__place_text(const ft__place *p, ft__arena *a, const char *text, ft_error *err);
/* The name in braces that begins at text, its length; 0: none does. */
size_t ft__place_name(const char *text);
/* Does {name} occur in text? */
bool ft__place_occurs(const char *text, const char *name);
/* The value of a parameter as text; "" where it has no say. */
enum { FT__PARAM_TEXT = 1024 };
size_t ft__param_print(const ft_parameter *p, double value, char *buf, size_t size);

#endif
