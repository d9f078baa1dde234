#ifndef CLI_HELP_HELP_H
#define CLI_HELP_HELP_H

#include "cli/cli.h"

/* The page of a command, or with NULL foretell(1) itself, in man(7). */
void ft__manual_print(const ft__command *command, FILE *fp);

/* Completion for a shell, "bash, zsh, fish": an index into these. */
#define FT__SHELLS "bash, zsh, fish"
void ft__completion_print(int shell, FILE *fp);

/* "data": a word that `arguments` of a command has as it is, such as export in
 * "[show|export FILE]"; false: there is no other. *at begins as `arguments`. */
bool ft__verb_next(char *word, size_t size, const char **at);

#endif
