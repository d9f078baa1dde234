#ifndef CLI_ASK_TOOLS_H
#define CLI_ASK_TOOLS_H

#include "cli/ask/models.h"
#include "cli/cli.h"

/* Commands as tools of other programs: arguments as a JSON object, the answer the
 * record of --json. Nothing is written, measured or executed. */

typedef enum ft__tool_words {
    FT__WORDS_MODELS,
    FT__WORDS_NAMES,
    FT__WORDS_FILES, /* other than models */
} ft__tool_words;

typedef struct ft__tool {
    const char *name;
    const ft__command *command;
    const char *positional; /* what its words are called: "model"; "": none */
    const char *without;    /* "dot, list": options that are no arguments */
    const char *fields;     /* of the record, these alone; NULL: all */
    const char *summary;
    ft__tool_words words;
    bool page; /* the record is what --html draws: for browsers alone */
} ft__tool;
extern const ft__tool ft__tools[];               /* ended by a NULL name */
const ft__tool *ft__tool_find(const char *name); /* NULL: there is none */

/* What a program that asks may do, and what is kept open for it. */
typedef struct ft__asker {
    const ft__cli *c; /* where data are */
    ft_data *data;
    ft__models *models;
    bool files; /* options may name files */
    /* The file that a word for a model means, to be freed; NULL: there is none. Itself
     * NULL: words are paths. */
    char *(*model_path)(void *user, const char *word);
    void *user;
} ft__asker;

/* JSON Schema of the arguments. */
json_t *ft__tool_schema(const ft__tool *t, bool files);

/* *value is what --json prints, or the complaint {command, exit, message}; NULL: out of
 * memory. Returns the exit code. Threads may ask at once. */
int ft__tool_ask(json_t **value, const ft__tool *t, const ft__asker *a,
                 const json_t *arguments);

#endif
