/* Files written whole or not at all. */
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "check.h"
#include "files.h"
#include "foretell/file.h"
#include "scratch.h"

static const char *at(const char *name)
{
    static char path[4][128];
    static int next;
    char *p = path[next++ % 4];

    snprintf(p, sizeof(path[0]), "%s/%s", scratch, name);
    return p;
}

static size_t n_files(void)
{
    glob_t g;
    size_t n;

    glob(at("*"), 0, NULL, &g);
    n = g.gl_pathc;
    globfree(&g);
    return n;
}

static bool holds(const char *path, const char *want)
{
    char got[64];

    return read_text(got, sizeof(got), path) && strcmp(got, want) == 0;
}

TEST(a_file_is_replaced_whole_and_keeps_its_mode)
{
    ft_error err;
    struct stat now;
    ft__output o;

    CHECK_EQ(ft_file_write(at("a"), "old", 3, &err), FT_OK);
    chmod(at("a"), 0600);
    CHECK_EQ(ft__output_open(&o, at("a"), &err), FT_OK);
    fputs("new text", o.fp);
    fflush(o.fp);
    CHECK(holds(at("a"), "old"));
    CHECK_EQ(ft__output_close(&o, FT_OK, &err), FT_OK);
    CHECK(holds(at("a"), "new text"));
    CHECK(EQ(stat(at("a"), &now), 0) && EQ((now.st_mode & 0777), 0600));
    CHECK_EQ(n_files(), 1);
}

TEST(what_fails_leaves_the_old_file)
{
    ft_error err;
    ft__output o;

    CHECK_EQ(ft__output_open(&o, at("a"), &err), FT_OK);
    fputs("half of", o.fp);
    CHECK_EQ(ft__output_close(&o, FT_EINVAL, &err), FT_EINVAL);
    CHECK(holds(at("a"), "new text") && EQ(n_files(), 1));
    CHECK_EQ(ft__output_open(&o, at("a"), &err), FT_OK);
    CHECK(CMP(dup2(open("/dev/full", O_WRONLY), fileno(o.fp)), >=, 0));
    fputs("more than fits", o.fp);
    CHECK_EQ(ft__output_close(&o, FT_OK, &err), FT_EIO);
    CHECK(HAS(err.msg, "cannot write all of") && HAS(err.msg, "No space"));
    CHECK(holds(at("a"), "new text") && EQ(n_files(), 1));
}

TEST(a_link_goes_on_pointing_at_its_file)
{
    ft_error err;
    struct stat now;

    CHECK_EQ(symlink("a", at("link")), 0);
    CHECK_EQ(ft_file_write(at("link"), "through", 7, &err), FT_OK);
    CHECK(EQ(lstat(at("link"), &now), 0) && S_ISLNK(now.st_mode));
    CHECK(holds(at("a"), "through"));
}

TEST(pipes_and_devices_are_written_through)
{
    ft_error err;
    struct stat now;
    char got[8] = "";
    int fd;

    CHECK_EQ(mkfifo(at("pipe"), 0600), 0);
    fd = open(at("pipe"), O_RDWR);
    CHECK_EQ(ft_file_write(at("pipe"), "abc", 3, &err), FT_OK);
    CHECK(EQ(read(fd, got, 3), 3) && SAME(got, "abc"));
    close(fd);
    CHECK(EQ(stat(at("pipe"), &now), 0) && S_ISFIFO(now.st_mode));
    CHECK_EQ(ft_file_write("/dev/null", "abc", 3, &err), FT_OK);
    CHECK(EQ(stat("/dev/null", &now), 0) && S_ISCHR(now.st_mode));
    CHECK_EQ(ft_file_write("/dev/full", "abc", 3, &err), FT_EIO);
}

TEST(folders_and_missing_folders_are_named)
{
    ft_error err;

    CHECK_EQ(ft_file_write(scratch, "abc", 3, &err), FT_EIO);
    CHECK(HAS(err.msg, scratch) && HAS(err.msg, "is a folder"));
    CHECK_EQ(ft_file_write(at("none/x"), "abc", 3, &err), FT_EIO);
    CHECK(HAS(err.msg, "none/x: No such file or directory"));
}

int main(void)
{
    make_scratch();
    check_all();
    remove_scratch();
    CHECK_DONE();
}
