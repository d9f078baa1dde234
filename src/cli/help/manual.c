/* Manual pages, in man(7): of a command, made from its option table, and foretell(1).
 */
#include <ctype.h>
#include <string.h>

#include "cli/help/help.h"
#include "foretell/version.h"

/* What roff would read as its own is escaped; a newline stays one. */
static void put(FILE *fp, const char *s)
{
    bool begin = true; /* of a line */

    for (; *s; s++) {
        if (begin && (*s == '.' || *s == '\''))
            fputs("\\&", fp);
        if (*s == '-' || *s == '\\')
            fputs(*s == '-' ? "\\-" : "\\e", fp);
        else
            fputc(*s, fp);
        begin = *s == '\n';
    }
}

/* A paragraph; lines that begin with a blank stay as they are. */
static void put_paragraphs(FILE *fp, const char *s)
{
    bool verbatim = false;

    while (*s) {
        char line[512];
        const size_t len = strcspn(s, "\n");

        snprintf(line, sizeof(line), "%.*s", (int)len, s);
        if ((*line == ' ') != verbatim) {
            verbatim = !verbatim;
            fputs(verbatim ? ".nf\n" : ".fi\n", fp);
        }
        if (*line)
            put(fp, line);
        fputs(*line ? "\n" : ".PP\n", fp);
        s += len + (s[len] == '\n');
    }
    if (verbatim)
        fputs(".fi\n", fp);
}

static void put_title(FILE *fp, const char *command)
{
    char upper[64];
    size_t n = (size_t)snprintf(upper, sizeof(upper), "FORETELL%s%s",
                                *command ? "-" : "", command);

    for (size_t i = 0; i < n; i++)
        upper[i] = (char)toupper((unsigned char)upper[i]);
    fputs(".TH ", fp);
    put(fp, upper);
    fprintf(fp, " 1 %s \"foretell %s\" \"User Commands\"\n", FT__VERSION_DATE,
            ft_version());
}

static void put_option(void *user, const ft__option *o)
{
    FILE *fp = user;

    fputs(".TP\n", fp);
    if (o->letter)
        fprintf(fp, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", fp);
    put(fp, o->name);
    fputs("\\fR", fp);
    if (o->value) {
        fputs(" \\fI", fp);
        put(fp, o->value);
        fputs("\\fR", fp);
    }
    fputc('\n', fp);
    put(fp, o->help);
    fputc('\n', fp);
}

static void put_examples(FILE *fp, const char *examples)
{
    fputs(".SH EXAMPLES\n.nf\n", fp);
    put(fp, examples);
    fputs(".fi\n", fp);
}

static void print_command(const ft__command *command, FILE *fp)
{
    put_title(fp, command->name);
    fprintf(fp, ".SH NAME\nforetell\\-%s \\- ", command->name);
    put(fp, command->summary);
    fprintf(fp, "\n.SH SYNOPSIS\n\\fBforetell %s\\fR ", command->name);
    put(fp, command->arguments);
    fprintf(fp, "%s[\\fIoptions\\fR]\n", *command->arguments ? " " : "");
    if (*command->more) {
        fputs(".SH DESCRIPTION\n", fp);
        put_paragraphs(fp, command->more);
    }
    if (command->options) {
        fputs(".SH OPTIONS\n", fp);
        ft__options_each(command->options, put_option, fp);
    }
    fputs(".SH GLOBAL OPTIONS\n", fp);
    ft__options_each(ft__global_options, put_option, fp);
    put_examples(fp, command->examples);
    fputs(".SH SEE ALSO\n\\fBforetell\\fR(1)\n", fp);
}

static const char *const exits[][2] = {
    {"0", "good"},
    {"1", "the answer is \"no\": a limit is not met, nothing fits"},
    {"2", "the command line is wrong, or the model needs a value"},
    {"3", "an input cannot be read or is wrong, or an output cannot be written"},
    {"4", "something else is missing: device, engine, predictor, sensor"},
    {"70", "a fault of foretell, or out of memory"},
};

static const char *const variables[][2] = {
    {"FORETELL_DATA", "the folder of devices, models and predictors"},
    {"FORETELL_PLUGINS", "the folder of engine plug-ins"},
    {"FORETELL_TORCH, FORETELL_ONNXRUNTIME",
     "the library below that engine, or the folder of its Python package"},
    {"XDG_DATA_HOME",
     "in its folder foretell: measurements.db and the predictors trained here; "
     "otherwise ~/.local/share/foretell"},
    {"COLUMNS", "how wide explanations and tables on a terminal may be"},
    {"NO_COLOR", "nothing is ever printed in colours"},
};

static void put_pairs(FILE *fp, const char *title, const char *const (*pair)[2],
                      size_t n)
{
    fprintf(fp, ".SH %s\n", title);
    for (size_t i = 0; i < n; i++) {
        fprintf(fp, ".TP\n\\fB%s\\fR\n", pair[i][0]);
        put(fp, pair[i][1]);
        fputc('\n', fp);
    }
}

static void print_overview(FILE *fp)
{
    put_title(fp, "");
    fputs(".SH NAME\n"
          "foretell \\- predict time, energy and memory of neural networks\n"
          ".SH SYNOPSIS\n\\fBforetell\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n"
          ".SH DESCRIPTION\n"
          "Predicts how long a neural network takes on a device, how many joules it "
          "uses and how much memory it needs, before anything runs.\n"
          ".SH COMMANDS\n",
          fp);
    for (size_t i = 0; ft__commands[i]; i++) {
        fprintf(fp, ".TP\n\\fBforetell\\-%s\\fR(1)\n", ft__commands[i]->name);
        put(fp, ft__commands[i]->summary);
        fputc('\n', fp);
    }
    fputs(".SH GLOBAL OPTIONS\n", fp);
    ft__options_each(ft__global_options, put_option, fp);
    put_pairs(fp, "EXIT STATUS", exits, sizeof(exits) / sizeof(*exits));
    put_pairs(fp, "ENVIRONMENT", variables, sizeof(variables) / sizeof(*variables));
    put_examples(fp, ft__predict_command.examples);
}

void ft__manual_print(const ft__command *command, FILE *fp)
{
    if (command)
        print_command(command, fp);
    else
        print_overview(fp);
}
