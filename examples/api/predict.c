/* predict MODEL DEVICE [DATA_FOLDER]: time, energy and memory of one forward pass. */
#include <foretell/foretell.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    ft_query query = FT_QUERY_INIT;
    ft_answer *answer = NULL;
    ft_data *data = NULL;
    ft_error err;
    ft_status st;

    if (argc < 3)
        return 2;
    query.model = argv[1];
    query.device = argv[2];
    st = ft_data_open(&data, argc > 3 ? argv[3] : NULL, NULL, &err);
    if (!st)
        st = ft_query_ask(&answer, data, &query, &err);
    if (st)
        fprintf(stderr, "%s\n", err.msg);
    else
        printf("%s: %.9g s (%.9g .. %.9g, %s), %.9g J, %.9g B\n", answer->device,
               answer->time.value, answer->time.low, answer->time.high,
               ft_name(FT_NAMES_BASIS, answer->time.basis), answer->energy.value,
               answer->memory.value);
    ft_answer_free(answer);
    ft_data_close(data);
    return st != FT_OK;
}
