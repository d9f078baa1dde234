/* Stand-in for libFuzzer: run the target over every file of the folders named,
 * so that the corpus is part of the ordinary test run with any compiler. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *fp = fopen(path, "rb");
    uint8_t *buf = NULL;
    long size;
    int rc = 1;

    if (!fp)
        return 1;
    if (fseek(fp, 0, SEEK_END) || (size = ftell(fp)) < 0 || fseek(fp, 0, SEEK_SET))
        goto done;
    /* Exactly as large as the file, so that a read past the end is caught. */
    buf = malloc(size ? (size_t)size : 1);
    if (!buf || fread(buf, 1, (size_t)size, fp) != (size_t)size)
        goto done;
    LLVMFuzzerTestOneInput(buf, (size_t)size);
    rc = 0;
done:
    free(buf);
    fclose(fp);
    return rc;
}

int main(int argc, char **argv)
{
    int n = 0;

    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        struct dirent *e;

        if (!dir)
            return 1;
        while ((e = readdir(dir)) != NULL) {
            char path[4096];

            if (e->d_name[0] == '.')
                continue;
            snprintf(path, sizeof(path), "%s/%s", argv[i], e->d_name);
            if (replay(path)) {
                fprintf(stderr, "cannot replay %s\n", path);
                return 1;
            }
            n++;
        }
        closedir(dir);
    }
    return n ? 0 : 1;
}
