/* Jobs as files: what they are to do, how they do it, what they say of it. */
#include "fleet/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/index.h"
#include "foretell/file.h"

enum { MAX_JOB_FILE = 1 << 26 };

ft__part_name ft__part_name_of(const ft__fleet_kind *k, double clock_hz)
{
    ft__part_name out;

    if (isnan(clock_hz))
        snprintf(out.s, sizeof(out.s), "%.120s", k->name);
    else
        snprintf(out.s, sizeof(out.s), "%.120s-%.9gMHz", k->name, clock_hz / 1e6);
    return out;
}

/* ---- files of a job ---- */

void ft__job_path(char out[PATH_MAX], const ft__fleet_batch *b, size_t i,
                  const char *name)
{
    if (i == SIZE_MAX)
        snprintf(out, PATH_MAX, "%.4000s/%.40s", b->folder, name);
    else
        snprintf(out, PATH_MAX, "%.4000s/%zu/%.40s", b->folder, i, name);
}

static bool is_there(const ft__fleet_batch *b, size_t i, const char *name)
{
    char path[PATH_MAX];
    struct stat st;

    ft__job_path(path, b, i, name);
    return stat(path, &st) == 0;
}

ft_status ft__job_note(const ft__fleet_batch *b, size_t i, const char *name,
                       const char *text, ft_error *err)
{
    char path[PATH_MAX];

    ft__job_path(path, b, i, name);
    return ft_file_write(path, text, strlen(text), err);
}

char *ft__job_text(const ft__fleet_batch *b, size_t i, const char *name)
{
    char path[PATH_MAX], *text = NULL;
    struct stat st;
    size_t len = 0;
    FILE *fp;

    ft__job_path(path, b, i, name);
    fp = fopen(path, "rb");
    if (!fp)
        return NULL;
    if (fstat(fileno(fp), &st) == 0 && st.st_size <= MAX_JOB_FILE)
        text = malloc((size_t)st.st_size + 1);
    if (text)
        len = fread(text, 1, (size_t)st.st_size, fp);
    if (text)
        text[len] = '\0';
    fclose(fp);
    return text;
}

bool ft__job_field(char *out, size_t size, const ft__fleet_batch *b, size_t i,
                   const char *file, const char *name)
{
    char *text = ft__job_text(b, i, file), *rest = text, *line;
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

static double number_in(const ft__fleet_batch *b, size_t i, const char *file,
                        const char *name)
{
    char text[64];

    return ft__job_field(text, sizeof(text), b, i, file, name) ? strtod(text, NULL)
                                                               : (double)NAN;
}

void ft__job_look(ft__fleet_batch *b, size_t i)
{
    ft__fleet_job *j = &b->job[i];

    if (isnan(j->began_s) && is_there(b, i, "started")) {
        const double pid = number_in(b, i, "started", "pid");

        (void)ft__job_field(j->node, sizeof(j->node), b, i, "started", "node");
        j->began_s = number_in(b, i, "started", "began");
        j->pid = pid > 0 ? (long)pid : 0;
    }
    if (is_there(b, i, "merged"))
        j->state = FT__JOB_MERGED;
    else if (is_there(b, i, "quarantined"))
        j->state = FT__JOB_QUARANTINED;
    else if (is_there(b, i, "ended"))
        j->state = FT__JOB_OVER;
    else if (j->state == FT__JOB_WAITING && is_there(b, i, "taken"))
        j->state = FT__JOB_RUNNING;
    if (j->state >= FT__JOB_OVER && isnan(j->ended_s)) {
        j->died = !is_there(b, i, "ended");
        j->ended_s = number_in(b, i, j->died ? "merged" : "ended", "ended");
    }
}

/* ---- batches ---- */

static ft_status begin_batch(ft__fleet_batch *b, size_t n_jobs, ft_error *err)
{
    uint64_t h = ft__hash_text(FT__HASH_BEGIN, b->folder);
    const char *slash = strrchr(b->folder, '/');

    snprintf(b->job_name, sizeof(b->job_name), "foretell-%08llx-%.90s",
             (unsigned long long)(h & 0xffffffff), slash ? slash + 1 : b->folder);
    b->n_jobs = n_jobs;
    b->job = calloc(n_jobs + 1, sizeof(*b->job));
    if (!b->job)
        return ft_fail(err, FT_ENOMEM, 0, "%zu jobs", n_jobs);
    for (size_t i = 0; i < n_jobs; i++) {
        b->job[i].began_s = b->job[i].ended_s = NAN;
        for (size_t p = 0; p < FT__N_PROBES; p++)
            b->job[i].probe_s[p] = NAN;
    }
    return FT_OK;
}

static ft_status read_batch(ft__fleet_batch *b, ft_error *err)
{
    char *array = ft__job_text(b, SIZE_MAX, "array");
    size_t n = 0;
    ft_status st;

    while (is_there(b, n, "list.ops"))
        n++;
    st = begin_batch(b, n, err);
    b->local = array && strcmp(array, "local") == 0;
    b->array = array && !b->local ? strtoull(array, NULL, 10) : 0;
    free(array);
    for (size_t i = 0; i < n && !st; i++)
        ft__job_look(b, i);
    return st;
}

/* "a30-0007" of part "a30" -> 7; 0: another's. */
static unsigned number_of(const char *name, const ft__part_name *part)
{
    const size_t len = strlen(part->s);
    char *end;
    unsigned long n;

    if (strncmp(name, part->s, len) != 0 || name[len] != '-' ||
        strlen(name + len + 1) < 4 || strspn(name + len + 1, "0123456789") < 4)
        return 0;
    n = strtoul(name + len + 1, &end, 10);
    return *end ? 0 : (unsigned)n;
}

/* A batch without job.sh was never complete: nobody has run it. */
ft_status ft__batches_read(ft__fleet_batch **list, size_t *n, const ft_fleet *f,
                           size_t part, const ft__part_name *name, ft_error *err)
{
    struct dirent **entry = NULL;
    const int entries = scandir(f->folder, &entry, NULL, alphasort);
    ft_status st = FT_OK;

    for (int i = 0; i < entries; i++) {
        ft__fleet_batch b = {.part = part}, *grown;

        snprintf(b.folder, sizeof(b.folder), "%.3800s/%.255s", f->folder,
                 entry[i]->d_name);
        if (!st && number_of(entry[i]->d_name, name) &&
            is_there(&b, SIZE_MAX, "job.sh")) {
            grown = realloc(*list, (*n + 1) * sizeof(**list));
            st = grown ? read_batch(&b, err) : ft_fail(err, FT_ENOMEM, 0, "batches");
            *list = grown ? grown : *list;
            if (grown)
                grown[(*n)++] = b;
        }
        free(entry[i]);
    }
    free(entry);
    return st;
}

void ft__batches_free(ft__fleet_batch *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i].job);
    free(list);
}

/* ---- a new one ---- */

/* What a job does; what differs from job to job is the number of its folder. Nothing of
 * it is read by this program but the files that it writes. */
static const char script_begin[] =
    "node=${SLURMD_NODENAME:-$(uname -n)}\n"
    "job=${SLURM_ARRAY_JOB_ID:-local}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}\n"
    "mkdir taken 2>/dev/null || exit 0\n"
    "printf 'node=%s\\njob=%s\\npid=%s\\nbegan=%s\\n' \"$node\" \"$job\" $$ "
    "\"$(date +%s)\" >started.part && mv started.part started\n"
    "exec >log 2>&1\n"
    "driver=\"Linux $(uname -r)\" serial=$(cat /sys/class/dmi/id/product_serial "
    "2>/dev/null)\n"
    "if command -v nvidia-smi >/dev/null; then\n"
    "    driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head "
    "-n "
    "1)\n"
    "    serial=$(nvidia-smi --query-gpu=serial --format=csv,noheader | head -n 1)\n"
    "fi\n";
static const char script_portable[] =
    "copy=$(mktemp -d) && trap 'rm -rf \"$copy\"' EXIT && cp -r %s/. \"$copy\" || exit "
    "1\n"
    "foretell=$copy/foretell\n";
static const char script_end[] =
    "version=$(\"$foretell\" --version --verbose) here=$PWD code=0\n"
    "measured() {\n"
    "    \"$foretell\" \"$@\" --db \"$here/store.db\" --note \"node=$node\" --note "
    "\"job=$job\" --note \"driver=$driver\" --note \"serial=$serial\" --note "
    "\"foretell=$version\" --note \"clock=$clock\" || code=$?\n"
    "}\n"
    "measured collect list.ops $lowered \"$@\"\n"
    "[ ! -e more.sh ] || . ./more.sh\n"
    "cd \"$here\" && printf 'code=%s\\nended=%s\\n' $code \"$(date +%s)\" "
    ">ended.part && mv ended.part ended\n";

static void add_words(ft__buf *b, const ft__batch_plan *p)
{
    const ft__fleet_kind *k = p->kind;

    ft__buf_fmt(b, "lowered=%s ", p->lowered ? "--lowered" : "");
    if (isnan(p->clock_hz))
        ft__buf_str(b, "clock='as it is'\nset --");
    else
        ft__buf_fmt(b, "clock=%.9gMHz\nset -- --clocks %.9g", p->clock_hz / 1e6,
                    p->clock_hz / 1e6);
    ft__buf_str(b, " --engine ");
    ft__buf_word(b, k->engine, strlen(k->engine));
    ft__buf_fmt(b, " --threads %u --op-time %.9gs --repeat-share 0 -v", k->threads,
                k->op_seconds);
    if (*k->power) {
        ft__buf_str(b, " --power ");
        ft__buf_word(b, k->power, strlen(k->power));
    }
    ft__buf_str(b, "\n");
}

ft_status ft__batch_script(const ft__fleet_batch *batch, const ft__batch_plan *p,
                           ft_error *err)
{
    const char *foretell = p->kind->foretell ? p->kind->foretell : p->foretell;
    ft__buf b = {0}, portable = {0};
    ft_status st;

    ft__buf_str(&b, "#!/bin/sh\n# Job ${SLURM_ARRAY_TASK_ID:-$1} of a batch of "
                    "foretell fleet.\ncd ");
    ft__buf_word(&b, batch->folder, strlen(batch->folder));
    ft__buf_fmt(&b, "/\"${SLURM_ARRAY_TASK_ID:-$1}\" || exit 1\n%s", script_begin);
    if (*p->kind->setup)
        ft__buf_fmt(&b, "%s\n", p->kind->setup);
    if (p->kind->portable) {
        ft__buf_word(&portable, p->kind->portable, strlen(p->kind->portable));
        ft__buf_fmt(&b, script_portable, portable.s ? portable.s : "");
    } else {
        ft__buf_str(&b, "foretell=");
        ft__buf_word(&b, foretell, strlen(foretell));
        ft__buf_str(&b, "\n");
    }
    add_words(&b, p);
    ft__buf_str(&b, script_end);
    st = b.bad || portable.bad ? ft_fail(err, FT_ENOMEM, 0, "a script")
                               : ft__job_note(batch, SIZE_MAX, "job.sh", b.s, err);
    ft__buf_free(&portable);
    ft__buf_free(&b);
    return st;
}

static ft_status make_folder(const char *path, ft_error *err)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? FT_OK
               : ft_fail(err, FT_EIO, 0, "cannot make %s: %s", path, strerror(errno));
}

ft_status ft__batch_write(ft__fleet_batch *out, const ft_fleet *f,
                          const ft__batch_plan *plan, ft_error *err)
{
    char path[PATH_MAX];
    ft_status st;

    *out = (ft__fleet_batch){.part = plan->part};
    snprintf(out->folder, sizeof(out->folder), "%.3800s/%s-%04u", f->folder,
             plan->name->s, plan->number);
    st = begin_batch(out, plan->n_jobs, err);
    if (!st)
        st = make_folder(out->folder, err);
    for (size_t i = 0; i < plan->n_jobs && !st; i++) {
        ft__job_path(path, out, i, "");
        st = make_folder(path, err);
        if (!st)
            st = ft__job_note(out, i, "list.ops", plan->work[i].list, err);
        if (!st && plan->work[i].more)
            st = ft__job_note(out, i, "more.sh", plan->work[i].more, err);
    }
    /* One of before that was not complete may have had more. */
    for (size_t i = plan->n_jobs; is_there(out, i, "list.ops") && !st; i++) {
        ft__job_path(path, out, i, "list.ops");
        if (remove(path))
            st = ft_fail(err, FT_EIO, 0, "cannot remove %s: %s", path, strerror(errno));
    }
    return st ? st : ft__batch_script(out, plan, err);
}
