#ifndef CLI_SERVE_RECORD_H
#define CLI_SERVE_RECORD_H

#include "cli/cli.h"
#include "foretell/serve.h"

/* Recorded requests: CSV with a line of names, or a JSON object a line, sorted by
 * arrival, the first at 0. Names: arrival, arrival_s, arrival_time, timestamp (s);
 * prompt, prompt_tokens, input_toks, input_length; output, output_tokens, output_toks,
 * output_length, generate. The caller's to free. Complains itself. */
int ft__requests_read(ft__cli *c, ft_serve_request **out, uint64_t *n,
                      const char *path);
/* Where each of them also has the times of its first and last token (first_token,
 * first_token_ts, last_token, last_token_ts, on the clock of its arrival or of
 * queued_ts), what the first `first` (0: all) showed. */
int ft__requests_measured(ft__cli *c, ft_serve_request **out, uint64_t *n,
                          ft_serve_measured *m, uint64_t first, const char *path);

#endif
