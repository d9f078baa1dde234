/* evaluate --kernels: launches that ptx-measure timed, told without their kernel or
 * without their GPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/evaluated.h"
#include "foretell/kernels.h"
#include "foretell/ptx_launches.h"
#include "report/json.h"
#include "report/text.h"
#include "report/units.h"

/* A line: a launch and what came of it. */
struct timed {
    double time_s, registers, shared_bytes;
    double pointer_bytes; /* 0: not all are known */
    size_t line;
};

/* A file: its GPU, its launches, in their order. */
struct file {
    const char *path;
    ft_device *device;
    ft_ptx_launches *launches;
    struct timed *timed;
    size_t n;
    json_t *text; /* array of lines as launch files have them */
};

struct measured {
    struct file *file;
    size_t n_files;
    ft_kernel_row *row;
    ft_kernel_said *said;
    size_t n;
};

static void measured_free(struct measured *m)
{
    for (size_t i = 0; i < m->n_files; i++) {
        ft_device_free(m->file[i].device);
        ft_ptx_launches_free(m->file[i].launches);
        free(m->file[i].timed);
        json_decref(m->file[i].text);
    }
    free(m->file);
    free(m->row);
    free(m->said);
}

/* ---- reading ---- */

static double number(const json_t *row, const char *name)
{
    return json_number_value(json_object_get(row, name));
}

/* Of all buffers that arguments point to; 0 where one has no size. */
static double pointer_bytes(const json_t *row)
{
    json_t *params = json_object_get(row, "params"), *v;
    const char *name;
    double sum = 0;
    size_t i;
    bool known = true;

    json_array_foreach(params, i, v)
    {
        known &= !json_is_string(v);
        sum += number(v, "pointer");
    }
    json_object_foreach(params, name, v)
    {
        known &= !json_is_string(v);
        sum += number(v, "pointer");
    }
    return known ? sum : 0;
}

/* What launch files have; the rest is what was measured. */
static json_t *launch_of(const json_t *row)
{
    static const char *const members[] = {"module", "target", "kernel",
                                          "grid",   "block",  "cluster",
                                          "shared", "params", "name"};
    json_t *out = json_object();

    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        json_t *v = json_object_get(row, members[i]);

        if (v && json_object_set(out, members[i], v)) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

static bool is_shared(double bytes)
{
    return bytes >= 0 && bytes <= INT32_MAX;
}

static ft_status add_line(struct file *f, json_t *row, const char *data_dir,
                          const char *path, size_t line, ft_error *err)
{
    const char *title = json_string_value(json_object_get(row, "device"));
    char name[80];
    struct timed *t;
    ft_status st;

    if (title && !json_object_get(row, "kernel")) {
        if (f->device)
            return ft_fail(err, FT_EFORMAT, 0,
                           "%s:%zu: a second device; give it a file of its own",

                           path, line);
        st = ft_device_find(name, sizeof(name), data_dir, title, err);
        return st ? st : ft_device_load(&f->device, data_dir, name, err);
    }
    if (!(number(row, "time_s") > 0))
        return FT_OK; /* it failed, and says so */
    if (!f->device)
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s:%zu: a launch before the line that names the device; give "
                       "what ptx-measure wrote",
                       path, line);
    if (!(number(row, "registers") >= 0) || !is_shared(number(row, "shared")) ||
        !is_shared(number(row, "static_shared")))
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s:%zu: registers or shared memory that no GPU has", path,
                       line);
    t = realloc(f->timed, (f->n + 1) * sizeof(*t));
    if (!t || json_array_append_new(f->text, launch_of(row)))
        return ft_fail(err, FT_ENOMEM, 0, "%s", path);
    f->timed = t;
    t[f->n++] = (struct timed){.time_s = number(row, "time_s"),
                               .registers = number(row, "registers"),
                               .shared_bytes =
                                   number(row, "static_shared") + number(row, "shared"),
                               .pointer_bytes = pointer_bytes(row),
                               .line = line};
    return FT_OK;
}

static ft_status read_lines(struct file *f, FILE *fp, const char *data_dir,
                            const char *path, ft_error *err)
{
    char *text = NULL;
    size_t room = 0, line = 0;
    ft_status st = FT_OK;

    while (!st && getline(&text, &room, fp) > 0) {
        json_error_t why;
        json_t *row = json_loads(text, 0, &why);

        line++;
        st = json_is_object(row) ? add_line(f, row, data_dir, path, line, err)
                                 : ft_fail(err, FT_EFORMAT, 0, "%s:%zu:%d: %s", path,
                                           line, row ? 1 : why.column,
                                           row ? "an object is needed here" : why.text);
        json_decref(row);
    }
    free(text);
    return st;
}

/* Modules are where the launch file had them: beside what was measured. */
static ft_status open_launches(struct file *f, const char *path, ft_error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL,
         *text = NULL;
    size_t len = 0;
    FILE *fp = open_memstream(&text, &len);
    bool good = fp != NULL;
    ft_status st;

    for (size_t i = 0, line = 1; good && i < f->n; i++) {
        for (; good && line < f->timed[i].line; line++) /* errors name the file's own */
            good = fputc('\n', fp) != EOF;
        good = good && json_dumpf(json_array_get(f->text, i), fp, JSON_COMPACT) == 0;
    }
    good = fp && fclose(fp) == 0 && good;
    st = good ? ft_ptx_launches_parse(&f->launches, text, len, path, folder, err)
              : ft_fail(err, FT_ENOMEM, 0, "%s", path);
    free(text);
    free(folder);
    return st;
}

static ft_status read_file(struct file *f, const char *path, const char *data_dir,
                           ft_error *err)
{
    FILE *fp = fopen(path, "r");
    ft_status st;

    if (!fp)
        return ft_fail(err, FT_EIO, 0, "cannot read %s", path);
    f->path = path;
    f->text = json_array();
    st = read_lines(f, fp, data_dir, path, err);
    fclose(fp);
    return st ? st : open_launches(f, path, err);
}

static ft_status count_file(struct measured *m, const struct file *f, ft_error *err)
{
    const ft_ptx_listed *list = ft_ptx_launches_get(f->launches)->listed;
    size_t n = ft_ptx_launches_get(f->launches)->n;

    for (size_t i = 0; i < n && i < f->n; i++) {
        const struct timed *t = &f->timed[i];
        const ft_kernel_space space = {.registers = (uint32_t)fmin(t->registers, 255),
                                       .shared_bytes = (uint64_t)t->shared_bytes,
                                       .distinct_bytes = t->pointer_bytes};
        ft_kernel_row *row = &m->row[m->n];
        ft_ptx_counts counts;
        ft_error why = {0};
        ft_status st = ft_ptx_launches_count(&counts, f->launches, i, &why);

        if (st) /* what was asked for stands in the file */
            return ft_fail(err, st == FT_EINVAL ? FT_EFORMAT : st, 0, "%s:%zu: %s",
                           f->path, t->line, why.msg);
        *row = (ft_kernel_row){.device = ft_device_get(f->device),
                               .kernel = list[i].kernel->name,
                               .launches = 1,
                               .time_s = t->time_s};
        ft_kernel_work_make(&row->work, &counts, &space);
        m->n++;
    }
    return FT_OK;
}

/* "a.jsonl,b.jsonl" */
static ft_status read_all(struct measured *m, const char *paths, const char *data_dir,
                          ft_error *err)
{
    char *copy = strdup(paths), *rest = NULL, *path;
    size_t n = 1, rows = 0;
    ft_status st = FT_OK;

    for (const char *s = paths; *s; s++)
        n += *s == ',';
    m->file = calloc(n, sizeof(*m->file));
    if (!copy || !m->file)
        st = ft_fail(err, FT_ENOMEM, 0, "%s", paths);
    path = st ? NULL : strtok_r(copy, ",", &rest);
    for (; path && !st; path = strtok_r(NULL, ",", &rest)) {
        st = read_file(&m->file[m->n_files], path, data_dir, err);
        rows += m->file[m->n_files++].n;
    }
    if (!st) {
        m->row = calloc(rows + 1, sizeof(*m->row));
        m->said = calloc(rows + 1, sizeof(*m->said));
        if (!m->row || !m->said)
            st = ft_fail(err, FT_ENOMEM, 0, "%zu launches", rows);
    }
    for (size_t i = 0; i < m->n_files && !st; i++)
        st = count_file(m, &m->file[i], err);
    free(copy);
    return st;
}

/* ---- telling ---- */

struct answers {
    double *truth, *said, *physics, *constant, *roofline, *width;
    size_t n, covered;
};

static void gather(struct answers *a, const struct measured *m, const char *kernel)
{
    a->n = a->covered = 0;
    for (size_t i = 0; i < m->n; i++) {
        const ft_kernel_said *s = &m->said[i];
        const double truth = m->row[i].time_s;

        if (kernel && strcmp(m->row[i].kernel, kernel) != 0)
            continue;
        a->truth[a->n] = truth;
        a->said[a->n] = s->time_s;
        a->physics[a->n] = s->physics_s;
        a->constant[a->n] = s->constant_s;
        a->roofline[a->n] = s->roofline_s;
        a->covered += truth >= s->low_s && truth <= s->high_s;
        a->n++;
    }
}

static double mape(const double *truth, const double *said, size_t n)
{
    ft_errors e;

    return ft_errors_compute(&e, truth, said, n, 0, NULL) ? (double)NAN : e.mape;
}

static void put_answers(ft__table *t, const char *name, const struct answers *a)
{
    ft_errors e;

    if (ft_errors_compute(&e, a->truth, a->said, a->n, 0, NULL))
        return;
    ft__table_cell(t, "%s", name);
    ft__table_cell(t, "%zu", e.n);
    ft__table_cell(t, "%s", ft__text_percent(e.mape).s);
    ft__table_cell(t, "%s", ft__text_percent(e.median_ape).s);
    ft__table_cell(t, "%s", ft__text_percent(e.p90_ape).s);
    ft__table_cell(t, "%s", ft__text_percent(e.within_10).s);
    ft__table_cell(t, "%s", ft__text_plain(e.r2).s);
    ft__table_cell(t, "%s", ft__text_percent((double)a->covered / (double)a->n).s);
    ft__table_cell(t, "%s", ft__text_percent(mape(a->truth, a->physics, a->n)).s);
    ft__table_cell(t, "%s", ft__text_percent(mape(a->truth, a->constant, a->n)).s);
    ft__table_cell(t, "%s", ft__text_percent(mape(a->truth, a->roofline, a->n)).s);
}

static bool is_first(const struct measured *m, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(m->row[i].kernel, m->row[at].kernel) == 0)
            return false;
    return true;
}

static bool print_table(const struct measured *m, struct answers *a)
{
    ft__table *t = ft__table_new("kernel<|n>|MAPE>|median>|p90>|within 10 %>|R2>|"
                                 "covered>|physics>|constant>|roofline>");

    gather(a, m, NULL);
    put_answers(t, "all", a);
    ft__table_rule(t);
    for (size_t i = 0; i < m->n; i++)
        if (is_first(m, i)) {
            gather(a, m, m->row[i].kernel);
            put_answers(t, m->row[i].kernel, a);
        }
    if (!ft__table_print_take(t, stdout))
        return false;
    puts("\nphysics, constant, roofline: MAPE of the physical estimate alone, of the "
         "others' median time,\nof bytes over bandwidth or FLOPs over peak; covered: "
         "inside the 90 % interval");
    return true;
}

static bool print_json(const struct measured *m)
{
    json_t *all = json_array();

    for (size_t i = 0; i < m->n; i++) {
        const ft_kernel_said *s = &m->said[i];

        ft__json_append_take(
            &all,
            json_pack("{s:s, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "kernel",
                      m->row[i].kernel, "device", m->row[i].device->name, "measured_s",
                      m->row[i].time_s, "foretold_s", ft__json_real(s->time_s), "low_s",
                      ft__json_real(s->low_s), "high_s", ft__json_real(s->high_s),
                      "physics_s", ft__json_real(s->physics_s), "constant_s",
                      ft__json_real(s->constant_s), "roofline_s",
                      ft__json_real(s->roofline_s)));
    }
    return ft__json_print_take(json_pack("{s:o}", "kernels", all), stdout);
}

static bool print(const ft__cli *c, const struct measured *m)
{
    double *room = calloc(6 * (m->n + 1), sizeof(*room));
    struct answers a = {room,
                        room + m->n + 1,
                        room + 2 * (m->n + 1),
                        room + 3 * (m->n + 1),
                        room + 4 * (m->n + 1),
                        room + 5 * (m->n + 1),
                        0,
                        0};
    bool good = room && (c->json ? print_json(m) : print_table(m, &a));

    free(room);
    return good;
}

int ft__kernels_evaluate(ft__cli *c, const char *paths, const char *leave_out,
                         const char *data_dir, uint64_t seed)
{
    const bool by_kernel = !leave_out || strcmp(leave_out, "kernel") == 0;
    const ft_kernels_options opt = {.by_kernel = by_kernel, .seed = seed, .threads = 1};
    struct measured m = {0};
    ft_error err;
    ft_status st;
    int code;

    if (!by_kernel && strcmp(leave_out, "device") != 0)
        return ft__cli_exit(c, FT__EXIT_USAGE,
                            "--kernels goes with --leave-out kernel or device");
    st = read_all(&m, paths, data_dir, &err);
    if (!st)
        st = ft_kernels_evaluate(m.said, m.row, m.n, FT_KERNELS_HOST_UNKNOWN, NULL,
                                 &opt, &err);
    code = st ? ft__cli_fail(c, st, &err) : ft__cli_done(c, print(c, &m));
    measured_free(&m);
    return code;
}
