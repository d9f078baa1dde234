/* Runs the tests of a program that has no main() of its own. */
#include "check.h"
#include "data_dir.h"

int main(int argc, char **argv)
{
    if (argc > 1)
        take_folder(argc, argv);
    check_all();
    CHECK_DONE();
}
