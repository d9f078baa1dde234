#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "files.h"
#include "ptx_kernel.h"

/* Constructs that ptxas accepts and compilers seldom write, one file each in
 * tests/data/ptx/forms: they are read, and counts are those of running every thread. */

static void is_counted_as_it_runs(const char *path)
{
    size_t len;
    char *text = read_bytes(path, &len);
    kernel k;

    CHECK(text && CMP(len, >, 0));
    if (!text)
        return;
    begin(&k, text, 3, 96);
    if (k.st == FT_OK)
        check_ran(&k);
    if (k.st)
        printf("%s\n", path);
    end(&k);
    free(text);
}

int main(int argc, char **argv)
{
    char folder[2048], path[4096];
    const struct dirent *e;
    int n = 0;
    DIR *d;

    snprintf(folder, sizeof(folder), "%s/tests/data/ptx/forms",
             argc > 1 ? argv[1] : ".");
    d = opendir(folder);
    CHECK(d != NULL);
    while (d && (e = readdir(d)) != NULL)
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
            is_counted_as_it_runs(path);
            n++;
        }
    if (d)
        closedir(d);
    CHECK(CMP(n, >, 5));
    CHECK_DONE();
}
