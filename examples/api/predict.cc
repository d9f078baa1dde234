// predict MODEL DEVICE [DATA_FOLDER]: time, energy and memory of one forward pass.
#include <foretell/foretell.h>

#include <cstdio>
#include <memory>

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    ft_query query = FT_QUERY_INIT;
    query.model = argv[1];
    query.device = argv[2];
    ft_data *data = nullptr;
    ft_answer *answer = nullptr;
    ft_error err;
    ft_status st = ft_data_open(&data, argc > 3 ? argv[3] : nullptr, nullptr, &err);
    std::unique_ptr<ft_data, void (*)(ft_data *)> close(data, ft_data_close);
    if (!st)
        st = ft_query_ask(&answer, data, &query, &err);
    std::unique_ptr<ft_answer, void (*)(ft_answer *)> free(answer, ft_answer_free);
    if (st)
        return std::fprintf(stderr, "%s\n", err.msg), 1;
    std::printf("%s: %.9g s (%.9g .. %.9g, %s), %.9g J, %.9g B\n", answer->device,
                answer->time.value, answer->time.low, answer->time.high,
                ft_name(FT_NAMES_BASIS, answer->time.basis), answer->energy.value, answer->memory.value);
}
