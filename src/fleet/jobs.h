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
 *     0/taken/                 made by who runs it: nobody else does
 *     0/started, 0/ended       node, number, times, exit code
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

typedef struct ft__fleet_job {
    ft__job_state state;
    bool died;                    /* without saying that it ended */
    bool measured;                /* probe_s[] is read */
    char node[64];                /* "": not known */
    long pid;                     /* on this machine; 0: not known */
    double began_s, ended_s;      /* since 1970; NaN */
    double probe_s[FT__N_PROBES]; /* of the node; NaN */
} ft__fleet_job;

typedef struct ft__fleet_batch {
    char folder[PATH_MAX];
    char job_name[128]; /* in Slurm */
    size_t part;
    unsigned long long array; /* 0: not known */
    bool local;
    ft__fleet_job *job;
    size_t n_jobs;
} ft__fleet_batch;

/* A part: one kind at one clock. */
typedef struct ft__part_name {
    char s[160]; /* "a30", "a30-1200MHz": the beginning of its batches' names */
} ft__part_name;
ft__part_name ft__part_name_of(const ft__fleet_kind *k, double clock_hz);

/* Those batches of a part that are in the folder, appended to *list. */
ft_status ft__batches_read(ft__fleet_batch **list, size_t *n, const ft_fleet *f,
                           size_t part, const ft__part_name *name, ft_error *err);
void ft__batches_free(ft__fleet_batch *list, size_t n);

/* What a job is to do: list.ops, and more.sh or NULL. */
typedef struct ft__job_work {
    char *list, *more;
} ft__job_work;
void ft__job_work_free(ft__job_work *w);

/* A new batch in the folder, not submitted; job i does work[i]. */
typedef struct ft__batch_plan {
    const ft__fleet_kind *kind;
    double clock_hz;
    const char *foretell;
    bool lowered; /* operations are as the engine runs them */
    size_t part;
    const ft__part_name *name;
    unsigned number;
    const ft__job_work *work;
    size_t n_jobs;
} ft__batch_plan;
ft_status ft__batch_write(ft__fleet_batch *out, const ft_fleet *f,
                          const ft__batch_plan *plan, ft_error *err);

/* The script that runs its jobs: of the plan, kind to name count. */
ft_status ft__batch_script(const ft__fleet_batch *batch, const ft__batch_plan *p,
                           ft_error *err);

/* What the files of job i say now. */
void ft__job_look(ft__fleet_batch *b, size_t i);
/* "FOLDER/0/name" */
void ft__job_path(char out[PATH_MAX], const ft__fleet_batch *b, size_t i,
                  const char *name);
/* A small file of a job, or of a batch for SIZE_MAX, whole or not at all. */
ft_status ft__job_note(const ft__fleet_batch *b, size_t i, const char *name,
                       const char *text, ft_error *err);
/* The value of "name=..." in a job's file; false: it is not there. */
bool ft__job_field(char *out, size_t size, const ft__fleet_batch *b, size_t i,
                   const char *file, const char *name);
/* A whole file, NULL: it cannot be read; the caller's to free(). */
char *ft__job_text(const ft__fleet_batch *b, size_t i, const char *name);

/* ---- who runs them: slurm.c ---- */

typedef struct ft__runners {
    uint32_t local; /* jobs at once; 0: by Slurm */
    long *child;    /* local ones of this process */
    size_t n_children, cap;
} ft__runners;

/* Submit a batch. Some may have been before this process: then only its number is
 * looked up. `excluded`: nodes joined by commas, or "". FT_EIO: sbatch is not there, or
 * says no. */
ft_status ft__batch_submit(ft__runners *r, ft__fleet_batch *b, const ft__fleet_kind *k,
                           const char *excluded, double job_s, ft_error *err);
/* Look at jobs that are not over: whether they still are there. FT_EIO: squeue does not
 * answer. */
ft_status ft__batches_poll(ft__runners *r, ft__fleet_batch *list, size_t n,
                           ft_error *err);
void ft__runners_free(ft__runners *r);

#endif
