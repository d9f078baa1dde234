/* Every command, in the order in which they are listed. */
#include "cli/cli.h"

const ft__command *const ft__commands[] = {
    &ft__predict_command,
    &ft__rank_command,
    &ft__place_command,
    &ft__measure_command,
    &ft__validate_command,
    &ft__verify_command,
    &ft__ops_command,
    &ft__collect_command,
    &ft__train_command,
    &ft__show_command,
    &ft__evaluate_command,
    &ft__data_command,
    &ft__devices_command,
    &ft__doctor_command,
    &ft__clocks_command,
    &ft__explore_command,
    &ft__fleet_command,
    &ft__ptx_command,
    &ft__mcp_command,
    &ft__web_command,
    &ft__help_command,
    &ft__version_command,
    NULL,
};
