#ifndef FLEET_JOBS_H
#define FLEET_JOBS_H

#include <limits.h>

#include "fleet/file.h"
#include "predict/data/features.h"

/* What is known of jobs lies in files, so that whoever submits them may die:
 *
 *   FOLDER/lock                one call works here
 *   FOLDER/refused.csv         what is not in the store, and why
 *   FOLDER/PART-0001/          a batch: an array of jobs of one kind at one clock
 *     job.sh                   runs one of them
 *     array                    its number in Slurm; "local" without it
 *     0/list.ops               what job 0 measures, its first line what that takes
 *     0/more.sh                commands for what is no operation; or not there
 *     0/started                of who runs it, nobody else does: node, number, time
 *     0/ended                  exit code, time
 *     0/store.db, 0/log        what it measured, what it printed
 *     0/merged                 it is in the store (or there was nothing to merge)
 *     0/quarantined            it is not, and why */

typedef enum ft__job_state {
    FT__JOB_WAITING, /* submitted or to be submitted, nobody runs it yet */
    FT__JOB_RUNNING,
    FT__JOB_OVER, /* ended or died; not merged yet */
    FT__JOB_MERGED,
    FT__JOB_QUARANTINED,
} ft__job_state;

/* Texts are of the fleet's arena. */
typedef struct ft__fleet_job {
    const char *folder;
    size_t part, index; /* index: in its batch */
    ft__job_state state;
    bool died;                    /* without saying that it ended */
    bool there;                   /* Slurm, or this machine, has it still */
    bool measured;                /* probe_s[] is read */
    char node[64];                /* "": not known */
    long pid;                     /* on this machine; 0: not known */
    long child;                   /* of this process, until that has ended; 0 */
    double began_s, ended_s;      /* since 1970; NaN */
    double probe_s[FT__N_PROBES]; /* of the node; NaN */
} ft__fleet_job;

typedef struct ft__fleet_batch {
    const char *folder;
    const char *job_name; /* in Slurm */
    size_t part;
    unsigned long long array; /* 0: not known */
    bool local;
    ft__fleet_job *job;
    size_t n_jobs;
} ft__fleet_batch;

typedef struct ft__batches {
    ft__fleet_batch *list;
    size_t n;
} ft__batches;

#define FT__EACH_JOB(batches, b, j)                                                    \
    for (ft__fleet_batch *b = (batches)->list;                                         \
         b && b < (batches)->list + (batches)->n; b++)                                 \
        for (ft__fleet_job *j = b->job; j && j < b->job + b->n_jobs; j++)

struct ft__part;
/* Those batches of a part that are in the folder, appended. */
ft_status ft__batches_read(ft__batches *list, ft_fleet *f, struct ft__part *p,
                           ft_error *err);
/* A new one, in memory alone. */
ft_status ft__batch_new(ft__fleet_batch **out, ft__batches *list, ft_fleet *f,
                        struct ft__part *p, size_t n_jobs, ft_error *err);
void ft__batches_free(ft__batches *list);

/* What the files of a job say now. */
void ft__job_look(ft__fleet_job *j);

/* Files in the folder of a job or of a batch, "FOLDER/name". */
void ft__job_path(char out[PATH_MAX], const char *folder, const char *name);
/* A small one, written whole or not at all. */
ft_status ft__job_note(const char *folder, const char *name, const char *text,
                       ft_error *err);
/* The value of "name=..." in one; false: it is not there. */
bool ft__job_field(char *out, size_t size, const char *folder, const char *file,
                   const char *name);
/* A whole one, NULL: it cannot be read; the caller's to free(). */
char *ft__job_text(const char *folder, const char *name);

/* Submit a batch: to this machine, or to Slurm. Some may have been before this process:
 * then only its number is looked up. `excluded`: nodes joined by commas, or "". FT_EIO:
 * sbatch is not there, or says no. */
ft_status ft__batch_submit(ft__fleet_batch *b, bool local, const ft__fleet_kind *k,
                           const char *excluded, ft_error *err);
/* Look at jobs that are not over: whether they still are there; start `local` at once
 * of those that wait on this machine. FT_EIO: squeue does not answer. */
ft_status ft__batches_poll(const ft__batches *list, uint32_t local, ft_error *err);

#endif
