/* Jobs as files: which there are, what they say. */

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "fleet/want.h"
#include "foretell/file.h"

enum { MAX_JOB_FILE = 1 << 26 };

void ft__job_path(char out[PATH_MAX], const char *folder, const char *name)
{
    snprintf(out, PATH_MAX, "%.4000s/%.40s", folder, name);
}

static bool is_there(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat st;

    ft__job_path(path, folder, name);
    return stat(path, &st) == 0;
}

ft_status ft__job_note(const char *folder, const char *name, const char *text,
                       ft_error *err)
{
    char path[PATH_MAX];

    ft__job_path(path, folder, name);
    return ft_file_write(path, text, strlen(text), err);
}

char *ft__job_text(const char *folder, const char *name)
{
    char path[PATH_MAX], *text;
    size_t len;

    ft__job_path(path, folder, name);
    (void)ft__file_read(&text, &len, path, MAX_JOB_FILE, NULL);
    return text;
}

bool ft__job_field(char *out, size_t size, const char *folder, const char *file,
                   const char *name)
{
    char *text = ft__job_text(folder, file), *rest = text, *line;
    const size_t len = strlen(name);
    bool found = false;

    while (text && !found && (line = strtok_r(rest, "\n", &rest)))
        if (strncmp(line, name, len) == 0 && line[len] == '=') {
            snprintf(out, size, "%s", line + len + 1);
            found = true;
        }
    free(text);
    return found;
}

static double number_in(const char *folder, const char *file, const char *name)
{
    char text[64];

    return ft__job_field(text, sizeof(text), folder, file, name) ? strtod(text, NULL)
                                                                 : (double)NAN;
}

void ft__job_look(ft__fleet_job *j)
{
    if (isnan(j->began_s) && is_there(j->folder, "started")) {
        const double pid = number_in(j->folder, "started", "pid");

        (void)ft__job_field(j->node, sizeof(j->node), j->folder, "started", "node");
        j->began_s = number_in(j->folder, "started", "began");
        j->pid = pid > 0 ? (long)pid : 0;
    }
    if (is_there(j->folder, "merged"))
        j->state = FT__JOB_MERGED;
    else if (is_there(j->folder, "quarantined"))
        j->state = FT__JOB_QUARANTINED;
    else if (is_there(j->folder, "ended"))
        j->state = FT__JOB_OVER;
    else if (j->state == FT__JOB_WAITING && !isnan(j->began_s))
        j->state = FT__JOB_RUNNING;
    if (j->state >= FT__JOB_OVER && isnan(j->ended_s)) {
        j->died = !is_there(j->folder, "ended");
        j->ended_s = number_in(j->folder, j->died ? "merged" : "ended", "ended");
    }
}

static const char *text_of(ft_fleet *f, const char *fmt, ...)
{
    const char *text;
    va_list ap;

    va_start(ap, fmt);
    text = ft__arena_vfmt(&f->arena, fmt, ap);
    va_end(ap);
    return text;
}

/* One more in the list, with none of its jobs. */
static ft_status add_batch(ft__fleet_batch **out, ft__batches *list, ft_fleet *f,
                           const ft__part *p, unsigned number, ft_error *err)
{
    ft__fleet_batch *grown = realloc(list->list, (list->n + 1) * sizeof(*grown)), *b;

    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "%zu batches", list->n);
    list->list = grown;
    *out = b = &grown[list->n++];
    *b = (ft__fleet_batch){.part = p->index};
    b->folder = text_of(f, "%s/%s-%04u", f->folder, p->name, number);
    if (b->folder)
        b->job_name = text_of(f, "foretell-%08llx-%s-%04u",
                              ft__hash_text(FT__HASH_BEGIN, b->folder) & 0xffffffffULL,
                              p->name, number);
    return b->job_name ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu batches", list->n);
}

static ft_status make_jobs(ft__fleet_batch *b, ft_fleet *f, size_t n, ft_error *err)
{
    bool bad = !(b->job = calloc(n + 1, sizeof(*b->job)));

    for (; b->n_jobs < n && !bad; b->n_jobs++) {
        ft__fleet_job *j = &b->job[b->n_jobs];

        *j = (ft__fleet_job){.folder = text_of(f, "%s/%zu", b->folder, b->n_jobs),
                             .part = b->part,
                             .index = b->n_jobs,
                             .began_s = NAN,
                             .ended_s = NAN};
        for (size_t p = 0; p < FT__N_PROBES; p++)
            j->probe_s[p] = NAN;
        bad = !j->folder;
    }
    return bad ? ft_fail(err, FT_ENOMEM, 0, "%zu jobs", n) : FT_OK;
}

ft_status ft__batch_new(ft__fleet_batch **out, ft__batches *list, ft_fleet *f,
                        ft__part *p, size_t n_jobs, ft_error *err)
{
    const ft_status st = add_batch(out, list, f, p, ++p->batches, err);

    return st ? st : make_jobs(*out, f, n_jobs, err);
}

static ft_status read_batch(ft__fleet_batch *b, ft_fleet *f, ft__part *p, ft_error *err)
{
    char *array = ft__job_text(b->folder, "array"), name[64];
    size_t n = 0;
    ft_status st;

    do
        snprintf(name, sizeof(name), "%zu/list.ops", n);
    while (is_there(b->folder, name) && ++n);
    st = make_jobs(b, f, n, err);
    b->local = array && strcmp(array, "local") == 0;
    b->array = array && !b->local ? strtoull(array, NULL, 10) : 0;
    free(array);
    for (ft__fleet_job *j = b->job; j < b->job + b->n_jobs && !st; j++) {
        ft__job_look(j);
        (void)ft__job_field(p->held, sizeof(p->held), j->folder, "merged", "setting");
    }
    return st;
}

/* "a30-0007" of part "a30" -> 7; 0: another's. */
static unsigned number_of(const char *name, const ft__part *p)
{
    const size_t len = strlen(p->name);
    char *end = NULL;
    const unsigned long n = strncmp(name, p->name, len) == 0 && name[len] == '-'
                                ? strtoul(name + len + 1, &end, 10)
                                : 0;

    return end && !*end && end - name > (ptrdiff_t)len + 4 ? (unsigned)n : 0;
}

/* A batch without job.sh was never complete: nobody has run it, and its number is not
 * used again. */
ft_status ft__batches_read(ft__batches *list, ft_fleet *f, ft__part *p, ft_error *err)
{
    struct dirent **entry = NULL;
    const int entries = scandir(f->folder, &entry, NULL, alphasort);
    ft_status st = FT_OK;

    for (int i = 0; i < entries; free(entry[i++])) {
        const unsigned number = number_of(entry[i]->d_name, p);
        ft__fleet_batch *b = NULL;

        if (st || !number)
            continue;
        p->batches = number > p->batches ? number : p->batches;
        st = add_batch(&b, list, f, p, number, err);
        if (!st && !is_there(b->folder, "job.sh"))
            list->n--;
        else if (!st)
            st = read_batch(b, f, p, err);
    }
    free(entry);
    return st;
}

void ft__batches_free(ft__batches *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->list[i].job);
    free(list->list);
}
