#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "foretell/device.h"
#include "foretell/error.h"
#include "foretell/graph.h"
#include "foretell/measure.h"
#include "foretell/names.h"
#include "foretell/networks.h"
#include "foretell/query.h"
#include "foretell/settings.h"
#include "report/html.h"
#include "report/record.h"
#include "report/text.h"
#include "report/units.h"

/* Exit codes, the same for every command. */
enum {
    FT__EXIT_GOOD = 0,
    FT__EXIT_NO = 1,      /* the answer is "no" */
    FT__EXIT_USAGE = 2,   /* bad usage, or a value the model still needs */
    FT__EXIT_INPUT = 3,   /* an input file is missing, unreadable or wrong */
    FT__EXIT_MISSING = 4, /* device, engine, predictor or sensor is missing */
    FT__EXIT_BUG = 70,    /* our fault, or out of memory */
};

/* Values of an option that may be given more than once. */
typedef struct ft__texts {
    const char **v;
    size_t n;
} ft__texts;

typedef enum ft__opt_type {
    FT__OPT_FLAG,    /* bool; given: true */
    FT__OPT_LEVEL,   /* unsigned; how often it was given */
    FT__OPT_TEXT,    /* const char * */
    FT__OPT_INPUT,   /* const char *: files or folders that the command reads */
    FT__OPT_INPUTS,  /* ft__texts: likewise */
    FT__OPT_OUTPUT,  /* const char *: a file that the command writes */
    FT__OPT_TEXTS,   /* ft__texts */
    FT__OPT_COUNT,   /* uint64_t, at least 1 */
    FT__OPT_SECONDS, /* double; "90", "90s", "500ms", "10min", "1h" */
    FT__OPT_GROUP,   /* not one option: those of `group`, in the structure at `at` */
} ft__opt_type;

/* One option; parsing, --help and error messages are made from it. */
typedef struct ft__option ft__option;
struct ft__option {
    const char *name; /* without the dashes */
    char letter;      /* -o; 0: none */
    ft__opt_type type;
    size_t at;         /* where in the command's options its value goes */
    const char *value; /* what to call the value in --help */
    const char *help;  /* NULL, and no group: the end of a table */
    const ft__option *group;
};

/* Entries: for member `at` of `type`. */
#define FT__ENTRY(type, at, name, kind, value, help, group)                            \
    {                                                                                  \
        name, 0, kind, offsetof(type, at), value, help, group                          \
    }
#define FT__FLAG(type, at, name, help)                                                 \
    FT__ENTRY(type, at, name, FT__OPT_FLAG, NULL, help, NULL)
#define FT__TEXT(type, at, name, value, help)                                          \
    FT__ENTRY(type, at, name, FT__OPT_TEXT, value, help, NULL)
#define FT__INPUT(type, at, name, value, help)                                         \
    FT__ENTRY(type, at, name, FT__OPT_INPUT, value, help, NULL)
#define FT__INPUTS(type, at, name, value, help)                                        \
    FT__ENTRY(type, at, name, FT__OPT_INPUTS, value, help, NULL)
#define FT__OUTPUT(type, at, name, value, help)                                        \
    FT__ENTRY(type, at, name, FT__OPT_OUTPUT, value, help, NULL)
#define FT__TEXTS(type, at, name, value, help)                                         \
    FT__ENTRY(type, at, name, FT__OPT_TEXTS, value, help, NULL)
#define FT__COUNT(type, at, name, value, help)                                         \
    FT__ENTRY(type, at, name, FT__OPT_COUNT, value, help, NULL)
#define FT__SECONDS(type, at, name, value, help)                                       \
    FT__ENTRY(type, at, name, FT__OPT_SECONDS, value, help, NULL)
#define FT__GROUP(type, at, table)                                                     \
    FT__ENTRY(type, at, NULL, FT__OPT_GROUP, NULL, NULL, table)

static inline bool ft__option_has_value(ft__opt_type type)
{
    return type != FT__OPT_FLAG && type != FT__OPT_LEVEL;
}

/* Its values are ft__texts. */
static inline bool ft__option_repeats(ft__opt_type type)
{
    return type == FT__OPT_TEXTS || type == FT__OPT_INPUTS;
}

typedef struct ft__cli ft__cli;

typedef struct ft__command {
    const char *name;
    const char *arguments; /* "MODEL", "" */
    const char *summary;   /* one line */
    const char *more;      /* paragraph for --help, "" for none */
    const char *examples;  /* lines, each ending in \n */
    size_t least_args, most_args;
    const char *more_args; /* how to ask with more of them; may be NULL */
    bool has_csv;
    bool takes_commands; /* what stands behind "--" is not looked into: ft__cli.rest */
    size_t options_size;
    const ft__option *options;
    /* `options` points to options_size bytes, as parsed. Returns an exit code. */
    int (*run)(ft__cli *c, const void *options);
} ft__command;

/* For a program that asks in place of a user (cli/ask): what would be printed. */
typedef struct ft__reply {
    json_t *value;             /* the record of --json; NULL: there is none */
    char *text;                /* the same in its place, of commands that have it so */
    bool page;                 /* predict: value is what --html draws instead */
    char message[2048];        /* the complaint; "" */
    ft_data *data;             /* kept open for all questions; borrowed */
    struct ft__models *models; /* likewise */
} ft__reply;

struct ft__cli {
    const ft__command *command;
    ft__texts args; /* positional */
    char **rest;    /* behind "--", for commands that take commands */
    size_t n_rest;
    bool json, csv, quiet, help, version;
    unsigned verbose;
    const char *data_dir, *store, *plugin_dir;
    char *line; /* the command line as it was given, for the record */
    ft_log log;
    ft__bar bar;
    ft_error err;      /* of the call that failed last: ft__cli_check() */
    bool damaged_said; /* ft__warn_damaged() */
    ft__reply *reply;  /* NULL: a user at a terminal asks */
};

extern const ft__option ft__global_options[]; /* their values are in ft__cli */
extern const ft__command ft__ops_command, ft__collect_command, ft__train_command,
    ft__show_command, ft__devices_command, ft__doctor_command, ft__data_command,
    ft__measure_command, ft__predict_command, ft__clocks_command, ft__validate_command,
    ft__evaluate_command, ft__rank_command, ft__explore_command, ft__place_command,
    ft__ptx_command, ft__verify_command, ft__help_command, ft__version_command,
    ft__mcp_command, ft__web_command, ft__fleet_command;
extern const ft__command *const ft__commands[]; /* as they are listed, then NULL */

/* Read argv[1..] into c and a new *options of c->command, found on the way among
 * `commands` (ended by NULL). Prints the complaint and returns an exit code when
 * it is not understood; -1: go on. c->command is NULL when none was named. */
int ft__options_parse(ft__cli *c, void **options, const ft__command *const *commands,
                      int argc, char **argv);
void ft__options_free(ft__cli *c, void *options);
/* The first of these options that was given; NULL: none. */
const ft__option *ft__option_given(const ft__option *table, const void *options);

/* Each option of a table and of its groups. */
void ft__options_each(const ft__option *table,
                      void (*each)(void *user, const ft__option *o), void *user);

/* The commands, or one of them: usage, options, examples. */
void ft__help_overview(FILE *fp);
void ft__help_print(const ft__command *command, FILE *fp);
/* One line; with the commit that it was built from. */
void ft__help_version(bool commit);

/* Values of options; complaints name --option. */

/* The next of words joined by commas, "" where it is empty or too long for the buffer;
 * false: there is none. *list is NULL at the end. */
bool ft__word_next(char *word, size_t size, const char **list);
/* The entry of "one, two, three" that `word` was probably meant to be, in `near`. */
bool ft__suggest(char near[64], const char *word, const char *names);
/* Which of "one, two, three" the word is, from 0; -1: none. */
int ft__index_of(const char *names, const char *word, size_t word_len);
/* "one, two, three" of a list of names. */
void ft__names_text(char *out, size_t size, ft_names names);
/* The same of an option, which is complained of; NULL: the first. */
int ft__choice_parse(ft__cli *c, int *out, const char *option, const char *text,
                     const char *names);
/* Likewise of a list of names, or several joined by commas as bits 1 << value. */
int ft__name_parse(ft__cli *c, int *out, const char *option, const char *text,
                   ft_names names);
int ft__names_parse(ft__cli *c, uint32_t *out, const char *option, const char *text,
                    ft_names names);
/* The bits of "extra,boost", or of "all"; NULL: none. Complains itself. */
int ft__methods_parse(ft__cli *c, uint32_t *out, const char *text);
/* What a command is to do: the first argument, with a suggestion where it is none. */
int ft__verb_parse(ft__cli *c, int *out, const char *word, const char *names);
/* "90s" -> 90; false: not a duration. */
bool ft__seconds_from_text(double *out, const char *text);
/* A number above 0 and one of the units "=1 ms=1e-3 /h=1/3600" behind it. */
bool ft__number_from_text(double *out, const char *text, const char *units);
/* "it is 0 ...", "it is too large ...", "its units are ...": why a number is
 * refused; "": it is none. */
ft__formatted ft__number_refused(const char *text, const char *units);
#define FT__TIME_UNITS "s=1 ms=1e-3 us=1e-6 ns=1e-9 m=60 min=60 h=3600"
#define FT__BYTE_UNITS "=1 B=1 kB=1e3 MB=1e6 GB=1e9 KiB=1024 MiB=1048576 GiB=1073741824"
#define FT__SECONDS_UNITS "=1 " FT__TIME_UNITS
/* "1200", "1200MHz", "1.2GHz". */
bool ft__hertz_from_text(double *hz, const char *text);
/* "5%", "5 %" or "0.05". */
bool ft__share_from_text(double *out, const char *text);
/* "1,8,32": whole numbers from 1, at most `most`. */
bool ft__counts_from_text(uint64_t *out, size_t *n, size_t most, const char *text);

/* Say what went wrong on standard error; the exit code for it. */
int ft__cli_fail(ft__cli *c, ft_status st, const ft_error *err);
/* What a call returned that had &c->err: good, or the complaint's exit code. */
int ft__cli_check(ft__cli *c, ft_status st);
/* The same where FT_EINVAL means that what was asked does not fit the model. */
int ft__cli_check_asked(ft__cli *c, ft_status st);
FT_PRINTF(3, 4) int ft__cli_exit(ft__cli *c, int code, const char *fmt, ...);
/* The command line is wrong: FT__EXIT_USAGE. */
FT_PRINTF(2, 3) int ft__usage(ft__cli *c, const char *fmt, ...);
/* Warn, once, if one of warning[n] says that a predictor that nobody named is left out.
 */
void ft__warn_damaged(ft__cli *c, const ft_remark *const *warning, size_t n);
/* Standard output is complete: 0, else the complaint's exit code. `printed`:
 * what the printing of a table or of JSON returned. */
int ft__cli_done(ft__cli *c, bool printed);
/* The record of --json: printed, or the reply's. False: it was NULL, or cannot be
 * written. */
bool ft__cli_json_take(const ft__cli *c, json_t *v);
/* A file of text: written to fp, then saved whole, as ft_file_write() does. */
typedef struct ft__text_file {
    FILE *fp;
    char *text;
    size_t len;
} ft__text_file;
bool ft__text_file_open(ft__text_file *f);
/* good: false: memory was short. 0, or the complaint's exit code; frees it. */
int ft__text_file_save(ft__text_file *f, ft__cli *c, const char *path, bool good);
/* A page in a file. 0, or the complaint's exit code. */
int ft__page_save_take(ft__cli *c, const char *path, ft__page page, json_t *data);
/* The same of a record, as --json prints it. */
int ft__record_save_take(ft__cli *c, const char *path, json_t *record);

/* Where things lie. Each fills a caller's buffer of FT__PATH_MAX bytes;
 * "" when there is none. */
enum { FT__PATH_MAX = 4096 };
void ft__path_data(const ft__cli *c, char *out);
void ft__path_plugins(const ft__cli *c, char *out);
void ft__path_store(const ft__cli *c, char *out);
/* The same as it may be printed: without a password. */
void ft__path_store_shown(const ft__cli *c, char *out);
/* " --db STORE", for a command that is printed as advice; nothing where none was given.
 */
void ft__put_store(const ft__cli *c);
/* This program. */
void ft__path_self(char *out);
/* Where the predictor for this machine lies when nobody says otherwise; engine NULL:
 * that of any device, as train --family writes it; "kernels": as train --kernels does.
 */
void ft__path_predictor(char *out, const char *engine, uint64_t threads);
/* Where `what` that can be made again is kept. */
void ft__path_cache(char *out, const char *what);
bool ft__path_exists(const char *path);
/* The part of a path behind its folders. */
const char *ft__path_name(const char *path);
/* Complain when the file a user did not name cannot be made for want of its folder. */
int ft__home_needed(ft__cli *c, const char *given);
/* A file; of one in a server opening it says. */
bool ft__store_is_there(const ft__cli *c, const char *path);
/* The command that measures into the store at hand. engine: NULL is the usual one. */
void ft__collect_hint(const ft__cli *c, char *buf, size_t size, const char *engine,
                      uint64_t threads);
/* Complain, with the way to get one, when there is no store yet. */
int ft__store_needed(ft__cli *c, const char *path, const char *engine,
                     uint64_t threads);

/* The type of FT_REMARK_NO_HARDWARE, as users call it. */
const char *ft__no_hardware_name(ft_dtype t);
/* work(user) on each core at once, at most `most` times; comes back when all have. */
void ft__on_cores(void *(*work)(void *), void *user, size_t most);

/* What opens data complains itself. */

/* The folder of data and that of the user's own, for queries. */
int ft__data_open(ft__cli *c, ft_data **out);
void ft__data_close(const ft__cli *c, ft_data *data);
/* Lists of networks' operations: what --lists names (NULL: those in the folder of data;
 * families: their table). */
int ft__lists_open(ft__cli *c, ft_network_lists **out, const char *path, bool families);
/* From any name of a device to that of its file, in place; `say`: warn which variant of
 * a product was taken. */
int ft__device_resolve(ft__cli *c, char *name, size_t size, bool say);
/* Is there a file of this name? Then *memory_bytes (or NULL) is what it says of it. */
bool ft__device_is_there(ft__cli *c, const char *name, double *memory_bytes);
/* Where settings are held, recorded and guarded; `how` points into it. */
typedef struct ft__this_machine {
    char state_dir[FT__PATH_MAX], self[FT__PATH_MAX];
    const char *guard[4];
    ft_settings_options how;
} ft__this_machine;
/* root: a recorded machine; NULL for this one. */
void ft__machine_open(ft__this_machine *m, const ft__cli *c, const char *root);

/* For commands that have `html`. */
#define FT__HTML_OPTION(type)                                                          \
    FT__OUTPUT(type, html, "html", "FILE",                                             \
               "also write a page with drawings that needs nothing else")

/* For commands that have `engine` and `threads`. */
#define FT__ENGINE_OPTIONS(type, what, how_many)                                       \
    FT__TEXT(type, engine, "engine", "NAME",                                           \
             what FT_DEFAULT_ENGINE " unless said otherwise"),                         \
        FT__COUNT(type, threads, "threads", "N", how_many "1 unless said otherwise")

/* For train, and for evaluate, which learns as train does: with `methods`, `mix` and
 * `lists`. */
#define FT__METHODS_OPTIONS(type, how, otherwise)                                      \
    FT__TEXT(type, methods, "method", "NAME,...",                                      \
             "choose from these methods" how                                           \
             ": ridge, knn, template, tree, forest, extra, boost, mlp, svr, gp, "      \
             "hist, middle; or all" otherwise),                                        \
        FT__FLAG(type, mix, "mix",                                                     \
                 "mix the three best where that is better than the best")
#define FT__LISTS_OPTION(type, otherwise)                                              \
    FT__INPUT(                                                                         \
        type, lists, "lists", "DIR|FILE",                                              \
        "with --networks: lists of their operations, NAME@SHAPE.forward.ops and "      \
        "NAME@SHAPE.step.ops, or a table of them; " otherwise)
/* What --kernels names. */
#define FT__TIMED_KERNELS                                                              \
    "kernels in PTX that ptx-measure timed (their modules beside these files)"

typedef struct ft__model_options {
    uint64_t batch;    /* 0: not given */
    uint64_t trips;    /* 0: not given */
    ft__texts dims;    /* "name=value" */
    ft__texts inputs;  /* "name=1x3x224x224" */
    const char *dtype; /* NULL: the model's own */
    /* Of a step of a language model, as its dimensions of these names; 0: not given. */
    uint64_t tp, ep, weight_bits;
} ft__model_options;
/* The same as a query takes them. */
enum { FT__MAX_VALUES = 64 };
typedef struct ft__model_values {
    ft_dim_value dim[FT__MAX_VALUES];
    ft_input_shape input[FT__MAX_VALUES];
    char *copy[2 * FT__MAX_VALUES]; /* of texts, into which names point */
    size_t n_copies;
} ft__model_values;
/* Into q, which points into *v; ft__model_values_free() in any case. */
ft_status ft__model_values_read(ft__model_values *v, ft_query *q,
                                const ft__model_options *opt, ft_error *err);
/* Another dimension, which q must not have. */
ft_status ft__model_values_add(ft__model_values *v, ft_query *q, const char *name,
                               uint64_t value, ft_error *err);
void ft__model_values_free(ft__model_values *v);
/* Read a model; "-" is a spec list on standard input. Complains itself; given back by
 * ft__model_close(). */
int ft__model_read(ft__cli *c, ft_graph **out, const char *path,
                   const ft__model_options *opt);
void ft__model_close(const ft__cli *c, ft_graph *g);
/* Complains where an option of language models (NULL: none) is given for another. */
int ft__check_language_model(ft__cli *c, const char *path, const ft__option *asked);
bool ft__is_language_model(const char *path);
extern const ft__option ft__model_table[];
/* The sizes of --batches; that of --batch, or 0, without it. Complains itself. */
enum { FT__MAX_BATCHES = 32 };
int ft__batches_parse(ft__cli *c, uint64_t *batch, size_t *n, const char *list,
                      const ft__model_options *opt);
void ft__model_print_assumptions(const ft_graph *g);
void ft__model_print_bounded(const ft_graph *g);

extern const ft__option ft__step_table[]; /* of ft_step_names */
/* Complains itself. */
int ft__step_parse(ft__cli *c, ft_step *out, const ft_step_names *names);
/* For commands that have `step` and `model`. */
#define FT__NETWORK_OPTIONS(type)                                                      \
    FT__GROUP(type, step, ft__step_table), FT__GROUP(type, model, ft__model_table)

/* Beside a peak of memory, what two rules of thumb would say. */
void ft__memory_print_rules(double two_largest, double twice_mean);
json_t *ft__memory_json(const ft_memory *m);

/* Operations with counts, as an engine runs them; zero to begin.
 * Repeats are allowed. */
typedef struct ft__ops {
    ft_op *op;
    uint64_t *count;
    size_t n, cap;
} ft__ops;
void ft__ops_free(ft__ops *s);
/* The operations of a model, or of its training step, lowered with `policy`; step NULL:
 * as they are. Complains itself. */
int ft__model_add_ops(ft__cli *c, ft__ops *s, const char *path,
                      const ft__model_options *opt, const ft_step *step,
                      uint32_t policy);

#endif
