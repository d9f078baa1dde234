#include <sys/stat.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/prng.h"
#include "device/spec/device.h"
#include "foretell/dataset.h"
#include "foretell/device.h"
#include "foretell/op.h"
#include "measure/rows.h"
#include "store/store_inside.h"
#include "store_fixture.h"

static const char *root;

/* ---- the reader ---- */

enum { ROWS = 40, COLUMNS = 5 };

/* Letters, and all that has a meaning in CSV. */
static void random_field(ft__buf *b, ft__prng *p)
{
    static const char *const piece[] = {"a",  "7",    " ", ",", "\"",
                                        "\n", "\r\n", "ü", ";"};
    uint32_t n = ft__prng_below(p, 6);

    for (uint32_t i = 0; i < n; i++)
        ft__buf_str(b, piece[ft__prng_below(p, sizeof(piece) / sizeof(*piece))]);
    ft__buf_add(b, "", 1);
}

static void write_field(ft__buf *out, const char *s)
{
    ft__buf_str(out, "\"");
    for (; *s; s++) {
        ft__buf_add(out, s, 1);
        if (*s == '"')
            ft__buf_str(out, "\"");
    }
    ft__buf_str(out, "\"");
}

/* gzip, as several members of at most `piece` bytes. */
static ft__buf packed(const char *text, size_t len, size_t piece)
{
    ft__buf out = {0};

    for (size_t at = 0; at < len; at += piece) {
        unsigned char bytes[8192];
        z_stream z = {0};
        size_t n = len - at < piece ? len - at : piece;

        CHECK(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
        z.next_in = (Bytef *)(uintptr_t)(text + at);
        z.avail_in = (uInt)n;
        do {
            z.next_out = bytes;
            z.avail_out = sizeof(bytes);
            deflate(&z, Z_FINISH);
            ft__buf_add(&out, (const char *)bytes, sizeof(bytes) - z.avail_out);
        } while (z.avail_out == 0);
        deflateEnd(&z);
    }
    return out;
}

static void reads_back(const ft__buf *bytes, const ft__buf *fields, const size_t *at)
{
    ft__rows *r;
    bool more;

    CHECK(ft__rows_open(&r, bytes->s, bytes->len, "t", NULL) == FT_OK);
    if (!r)
        return;
    CHECK(ft__rows_n_columns(r) == COLUMNS && ft__rows_find(r, "c3") == 3 &&
          ft__rows_find(r, "c9") == -1);
    for (size_t i = 0; i < ROWS; i++) {
        CHECK(ft__rows_next(r, &more, NULL) == FT_OK && more);
        for (size_t c = 0; more && c < COLUMNS; c++)
            CHECK(strcmp(ft__rows_text(r, c), fields->s + at[i * COLUMNS + c]) == 0);
    }
    CHECK(ft__rows_next(r, &more, NULL) == FT_OK && !more);
    CHECK(ft__rows_count(r) == ROWS);
    ft__rows_close(r);
}

static void any_text_is_read_back_plain_and_packed(void)
{
    ft__prng p = ft__prng_stream(11, 0);

    for (int trial = 0; trial < 50; trial++) {
        ft__buf text = {0}, fields = {0}, gz;
        size_t at[ROWS * COLUMNS];

        ft__buf_str(&text, trial % 2 ? "\xef\xbb\xbf"
                                       "c0,c1,c2,c3,c4\r\n"
                                     : "c0,c1,c2,c3,c4\n");
        for (size_t i = 0; i < ROWS * COLUMNS; i++) {
            at[i] = fields.len;
            random_field(&fields, &p);
            write_field(&text, fields.s + at[i]);
            ft__buf_str(&text, (i + 1) % COLUMNS                           ? ","
                               : i + 1 == ROWS * COLUMNS && trial % 3 == 0 ? ""
                               : trial % 2                                 ? "\r\n"
                                                                           : "\n");
        }
        reads_back(&text, &fields, at);
        gz = packed(text.s, text.len, trial % 5 ? 100000 : 77);
        reads_back(&gz, &fields, at);
        ft__buf_free(&gz);
        gz = (ft__buf){0};
        CHECK(ft__rows_unpack(&gz, text.s, text.len, 1 << 20, "t", NULL) == FT_OK);
        CHECK(gz.len == text.len && memcmp(gz.s, text.s, text.len) == 0);
        ft__buf_free(&gz);
        ft__buf_free(&text);
        ft__buf_free(&fields);
    }
}

static void what_is_wrong_is_named_with_line_and_column(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t: it is empty"},
        {"a,,c\n", "t, line 1, column 2 (): a column without a name"},
        {"a,b,a\n", "t, line 1, column 3 (a): there are two columns of this name"},
        {"a,b\n1\n",
         "t, line 2, column 1 (a): the line ends here, further columns are missing"},
        {"a,b\n1,2\n1,2,3\n",
         "t, line 3, column 3: more follows, but this is behind the last column"},
        {"a,b\n1,\"2\n", "t, line 2, column 2 (b): the quote is never closed"},
        {"a,b\n\"1\"2,3\n",
         "t, line 2, column 1 (a): something follows the closing quote"},
        {"a,b\n1,2\"\n", "t, line 2, column 2 (b): text with a quote must be quoted"},
        {"a,b\n1,\xff\n", "t, line 2, column 2 (b): not UTF-8 text"},
        {"a,b\n1,2\rx\n", "t, line 2, column 2 (b): a line ends with LF or CR LF"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        ft__rows *r;
        bool more = true;
        ft_status st =
            ft__rows_open(&r, cases[i].text, strlen(cases[i].text), "t", &err);

        while (!st && more)
            st = ft__rows_next(r, &more, &err);
        CHECK(st == FT_EFORMAT);
        if (strcmp(err.msg, cases[i].message) != 0) {
            fprintf(stderr, "case %zu says: %s\n", i, err.msg);
            check_failed++;
        }
        ft__rows_close(r);
    }
}

static void damaged_gzip_is_refused_and_not_believed(void)
{
    static const char text[] = "a,b\n1,2\n3,4\n5,6\n7,8\n";
    ft__buf gz = packed(text, sizeof(text) - 1, 100), out = {0};

    for (size_t n = 3; n + 8 < gz.len; n++) { /* the last 8 are a check of the rest */
        ft__rows *r;
        bool more = true;
        ft_status st = ft__rows_open(&r, gz.s, n, "t", NULL);

        while (!st && more)
            st = ft__rows_next(r, &more, NULL);
        CHECK(st == FT_EFORMAT);
        ft__rows_close(r);
    }
    gz.s[gz.len - 6] ^= 1; /* CRC */
    CHECK(ft__rows_unpack(&out, gz.s, gz.len, 1000, "t", NULL) == FT_EFORMAT);
    gz.s[gz.len - 6] ^= 1;
    out.len = 0;
    CHECK(ft__rows_unpack(&out, gz.s, gz.len, 5, "t", NULL) == FT_EFORMAT);
    ft__buf_free(&out);
    ft__buf_free(&gz);
}

/* ---- tables ---- */

static void write_file(const char *name, const char *text)
{
    FILE *fp = fopen(in_scratch(name).s, "w");

    CHECK(fp && fputs(text, fp) >= 0);
    if (fp)
        fclose(fp);
}

static ft_dataset_report take(ft_store *s, const char *source, const char *name,
                              ft_status want)
{
    ft_dataset_report r;
    ft_error err = {0};
    ft_status st = ft_dataset_import(&r, s, source, in_scratch(name).s, NULL, &err);

    if (st != want) {
        fprintf(stderr, "%s: %s\n", name, err.msg);
        check_failed++;
    }
    return r;
}

static int check_same(void *user, const ft_row *row)
{
    ft_op op;
    ft_shape x, out;
    ft_dtype t;
    int *n = user;
    int64_t stride;

    CHECK(ft_op_parse(&op, row->key.spec, strlen(row->key.spec), NULL) == FT_OK);
    x = ft_op_shape(&op, FT_K_x);
    stride = ft_op_at(&op, FT_K_stride, 0);
    ft_op_output(&op, 0, &out, &t);
    CHECK(out.dim[2] == (x.dim[2] + stride - 1) / stride && out.dim[3] == out.dim[2]);
    ++*n;
    return 0;
}

/* tensorflow.org/api_docs/python/tf/nn, "Notes on padding": ceil(size / stride). */
static void padding_same_gives_size_over_stride(void)
{
    ft_store *s = fresh("same.db");
    ft__buf text = {0};
    int n = 0, seen = 0;

    ft__buf_str(&text,
                "device,op,dtype,mode,optimizer,activation,batch,insize,ksize,cin,"
                "cout,stride,padding,bias,time_s\n");
    for (int size = 1; size <= 12; size++)
        for (int kernel = 1; kernel <= 7; kernel++)
            for (int stride = 1; stride <= 5; stride++, n++)
                ft__buf_fmt(
                    &text,
                    "d,conv2d,fp32,inference_fwd,None,relu,1,%d,%d,1,1,%d,same,0,1\n",
                    size, kernel, stride);
    write_file("same.csv", text.s);
    CHECK(take(s, "justus", "same.csv", FT_OK).measurements == (uint64_t)n);
    CHECK(ft_store_each(s, NULL, 0, check_same, &seen, NULL) == FT_OK);
    CHECK(seen == n);
    ft__buf_free(&text);
    ft_store_close(s);
}

#define GEMM "device,backend,version,dtype,m,n,k,time_s,power_w,power_cap_w,mode\n"
#define GEMM_ROW "NVIDIA X 1,vllm,1,bfloat16,4,8,16,1e-6,100,700,inference_fwd\n"

static void equal_rows_are_all_kept_and_never_put_again(void)
{
    ft_store *s = fresh("equal.db");
    ft_dataset_report r;

    write_file("one.csv", GEMM GEMM_ROW);
    write_file("three.csv", GEMM GEMM_ROW GEMM_ROW GEMM_ROW);
    r = take(s, "aic", "three.csv", FT_OK);
    CHECK(r.rows == 3 && r.measurements == 6 && r.present == 0);
    CHECK(strcmp(r.unknown_devices, "\"NVIDIA X 1\"") == 0);
    r = take(s, "aic", "three.csv", FT_OK);
    CHECK(r.measurements == 0 && r.present == 6);
    r = take(s, "aic", "one.csv", FT_OK);
    CHECK(r.measurements == 0 && r.present == 2);
    write_file("five.csv", GEMM GEMM_ROW GEMM_ROW GEMM_ROW GEMM_ROW GEMM_ROW);
    r = take(s, "aic", "five.csv", FT_OK);
    CHECK(r.measurements == 4 && r.present == 6);
    ft_store_close(s);
}

struct listing {
    int rows;
    char text[1000];
};

static int collect(void *user, const ft_row *row)
{
    struct listing *s = user;
    size_t n = strlen(s->text);

    s->rows++;
    snprintf(s->text + n, sizeof(s->text) - n, "%s|%s|%s %s|%s|%s|%s|%s|%g %s|%s\n",
             row->key.device, row->key.setting, row->key.engine,
             row->key.engine_version, row->key.spec, row->key.phase,
             row->key.dtype_policy, row->key.metric, row->m.value, row->m.unit,
             row->m.conditions);
    return 0;
}

static void columns_come_in_any_order_and_others_are_kept(void)
{
    ft_store *s = fresh("order.db");
    struct listing seen = {0};

    write_file("order.csv",
               "k,kernel_source,n,m,time_s,dtype,version,backend,device,empty\n"
               "16,\"a \"\"b\"\"\",8,4,1e-6,fp8_block,1,vllm,NVIDIA X 1,\n");
    CHECK(take(s, "aic", "order.csv", FT_OK).measurements == 1);
    CHECK(ft_store_each(s, NULL, 0, collect, &seen, NULL) == FT_OK);
    CHECK(strcmp(seen.text, "nvidia-x-1||vllm 1|linear x=4x16 out=8 to=bf16 block=128 "
                            "dtype=fp8e4m3|forward|default|time|1e-06 s|"
                            "{\"kernel_source\": \"a \\\"b\\\"\"}\n") == 0);
    ft_store_close(s);
}

static void precisions_that_a_spec_cannot_tell_apart_are_settings(void)
{
    ft_store *s = fresh("precision.db");
    struct listing seen = {0};

    write_file("precision.csv", GEMM "d,vllm,1,fp8_static,4,8,16,1,,,\n"
                                     "d,vllm,1,w4a16_mxfp4_new,4,8,16,1,,,\n"
                                     "d,vllm,1,nvfp4,4,8,16,1,,,\n");
    CHECK(take(s, "aic", "precision.csv", FT_OK).measurements == 3);
    CHECK(ft_store_each(s, NULL, 0, collect, &seen, NULL) == FT_OK);
    CHECK(strcmp(seen.text,
                 "d||vllm 1|linear x=4x16 out=8 to=bf16 block=16 dtype=fp4|forward|"
                 "default|time|1 s|\n"
                 "d|precision=fp8_static|vllm 1|linear x=4x16 out=8 to=bf16 "
                 "dtype=fp8e4m3|forward|default|time|1 s|\n"
                 "d|precision=w4a16_mxfp4_new|vllm 1|linear x=4x16 out=8 weights=fp4 "
                 "block=32 dtype=bf16|forward|default|time|1 s|\n") == 0);
    ft_store_close(s);
}

static void a_file_is_taken_whole_or_not_at_all(void)
{
    ft_store *s = fresh("whole.db");
    struct listing seen = {0};

    write_file("bad.csv", GEMM GEMM_ROW "NVIDIA X,vllm,1,bfloat16,4,8,1.5,1,,,\n");
    take(s, "aic", "bad.csv", FT_EFORMAT);
    write_file("bad.csv", GEMM GEMM_ROW "NVIDIA X,vllm,1,posit8,4,8,16,1,,,\n");
    take(s, "aic", "bad.csv", FT_EFORMAT);
    write_file("bad.csv", GEMM GEMM_ROW ",vllm,1,bfloat16,4,8,16,1,,,\n");
    take(s, "aic", "bad.csv", FT_EFORMAT);
    write_file("bad.csv", GEMM GEMM_ROW "NVIDIA X,vllm,1,bfloat16,4,8,16,inf,,,\n");
    take(s, "aic", "bad.csv", FT_EFORMAT);
    CHECK(ft_store_each(s, NULL, 0, collect, &seen, NULL) == FT_OK && seen.rows == 0);
    take(s, "nobody", "bad.csv", FT_EINVAL);
    take(s, "aic", "none.csv", FT_EIO);
    ft_store_close(s);
}

/* ---- members ---- */

static int count_members(void *user, const ft_member *m)
{
    struct listing *s = user;
    size_t n = strlen(s->text);

    s->rows++;
    snprintf(s->text + n, sizeof(s->text) - n, "%s|%s|%s|%s|%g|%s\n", m->source,
             m->whole, m->phase, m->part, m->count, m->note);
    return 0;
}

static struct listing members(ft_store *s, const char *source, const char *whole)
{
    struct listing seen = {0};

    CHECK(ft_store_each_member(s, source, whole, count_members, &seen, NULL) == FT_OK);
    return seen;
}

static void members_are_replaced_exported_and_merged(void)
{
    static const char both[] = "a|network name=n|forward|relu x=4 dtype=fp32|2|note\n"
                               "a|network name=n|forward|tanh x=4 dtype=fp32|1|\n";
    ft_member m = {"a", "network name=n", "forward", "relu x=4 dtype=fp32", 1, ""};
    ft_store *s = fresh("members.db"), *t = fresh("members-csv.db"),
             *u = fresh("members-merged.db");
    ft_merge_report report;
    uint64_t rows = 9;
    ft__buf csv = {0};
    FILE *fp;
    int c;

    CHECK(ft__store_put_member(s, &m, NULL) == FT_OK);
    m.part = "tanh x=4 dtype=fp32";
    CHECK(ft__store_put_member(s, &m, NULL) == FT_OK);
    m = (ft_member){"a", "network name=n", "forward", "relu x=4 dtype=fp32", 2, "note"};
    CHECK(ft__store_put_member(s, &m, NULL) == FT_OK);
    m.count = NAN;
    CHECK(ft__store_put_member(s, &m, NULL) == FT_EINVAL);
    CHECK(strcmp(members(s, NULL, "").text, both) == 0);
    CHECK(members(s, "b", NULL).rows == 0 &&
          members(s, "a", "network name=n").rows == 2);

    CHECK(ft_store_export_csv(s, in_scratch("members.csv").s, NULL, 1, NULL) == FT_OK);
    fp = fopen(in_scratch("members.csv").s, "r");
    while (fp && (c = fgetc(fp)) != EOF)
        ft__buf_add(&csv, &(char){(char)c}, 1);
    if (fp)
        fclose(fp);
    CHECK(ft_store_import_csv(t, csv.s, csv.len, "x", &rows, NULL) == FT_OK &&
          rows == 0);
    CHECK(strcmp(members(t, NULL, NULL).text, both) == 0);
    CHECK(ft_store_merge(&report, u, &t, 1, NULL, NULL) == FT_OK &&
          report.members == 2);
    CHECK(strcmp(members(u, NULL, NULL).text, both) == 0);
    CHECK(ft_store_merge(&report, u, &t, 1, NULL, NULL) == FT_OK &&
          report.members == 0);
    ft__buf_free(&csv);
    ft_store_close(s);
    ft_store_close(t);
    ft_store_close(u);
}

static void stores_of_the_first_version_learn_of_members(void)
{
    const ft_member m = {"a", "network name=n", "step", "relu x=4 dtype=fp32", 1, ""};
    char command[600];
    ft_store *s;

    snprintf(command, sizeof(command), "cp %s/tests/data/store-v1.sqlite %s", root,
             in_scratch("old.db").s);
    CHECK(system(command) == 0);
    s = must_open(in_scratch("old.db").s, FT_STORE_WRITE);
    CHECK(ft__store_put_member(s, &m, NULL) == FT_OK &&
          members(s, NULL, NULL).rows == 1);
    ft_store_close(s);
}

/* One table lists a network for two devices, and one part in two rows. */
static void parts_add_up_and_are_listed_once(void)
{
    ft_store *s = fresh("parts.db");

    write_file("parts.csv",
               "device,network,mode,seqlen,batch,node,repeat,op,fwd_ops,in_shapes,"
               "out_shape,fwd_s,bwd_s,acc_s\n"
               "g1,n,inference,4,2,a,3,VECgelu,,\"[(2,4,8)]\",\"(2,4,8)\",1,,\n"
               "g1,n,inference,4,2,b,2,VECgelu,,\"[(2,4,8)]\",\"(2,4,8)\",1,,\n"
               "g2,n,inference,4,2,a,7,VECgelu,,\"[(2,4,8)]\",\"(2,4,8)\",1,,\n");
    CHECK(take(s, "neusight", "parts.csv", FT_OK).measurements == 3);
    CHECK(take(s, "neusight", "parts.csv", FT_OK).measurements == 0);
    CHECK(strcmp(members(s, "neusight", NULL).text,
                 "neusight|network name=n x=2x4 dtype=fp32|forward|gelu x=2x4x8 "
                 "dtype=fp32|5|\n") == 0);
    ft_store_close(s);
}

/* PyTorch's OPTAttention clamps scores behind the mask; the traced list lacks it. */
static void scores_of_opt_are_clamped_behind_their_mask(void)
{
    static const char table[] =
        "device,network,mode,seqlen,batch,node,repeat,op,fwd_ops,in_shapes,"
        "out_shape,fwd_s,bwd_s,acc_s\n"
        "g1,%s,inference,4,2,a,3,VECadd,,\"[(2,8,4,4),(2,1,4,4)]\",\"(2,8,4,4)\",1,,\n"
        "g1,%s,inference,4,2,b,5,VECadd,,\"[(2,4,8),(2,4,8)]\",\"(2,4,8)\",1,,\n";
    char text[600];
    ft_store *s = fresh("clamp.db");

    snprintf(text, sizeof(text), table, "opt_13", "opt_13");
    write_file("opt.csv", text);
    CHECK(take(s, "neusight", "opt.csv", FT_OK).measurements == 2);
    CHECK(members(s, "neusight", NULL).rows == 3);
    CHECK(strstr(members(s, "neusight", NULL).text,
                 "|maximum x=2x8x4x4 y=1 dtype=fp32|3|not in the list"));
    ft_store_close(s);
    s = fresh("no_clamp.db");
    snprintf(text, sizeof(text), table, "gpt3_xl", "gpt3_xl");
    write_file("gpt.csv", text);
    CHECK(take(s, "neusight", "gpt.csv", FT_OK).measurements == 2);
    CHECK(members(s, "neusight", NULL).rows == 2);
    ft_store_close(s);
}

/* ---- devices ---- */

static void find(const char *title, const char *want)
{
    char name[64];
    ft_status st = ft__device_find(name, sizeof(name), in_scratch("").s, title, NULL);

    if (want)
        CHECK(st == FT_OK && strcmp(name, want) == 0);
    else
        CHECK(st == FT_ENOTFOUND);
}

#define DEVICE "vendor: V\ntype: gpu\nsource: none\n"

static void devices_are_found_by_name_title_and_alias(void)
{
    char name[8];

    CHECK(mkdir(in_scratch("devices").s, 0755) == 0);
    write_file("devices/a-1.yaml",
               "title: V A One\n" DEVICE "aliases:\n- Tesla A1\n- A_1X\n");
    write_file("devices/b.yaml", "title: V B\n" DEVICE);
    find("a-1", "a-1");
    find("A 1", "a-1");
    find("v a one", "a-1");
    find("tesla-a1", "a-1");
    find("A 1x", "a-1");
    find("V_B", "b");
    find("B2", NULL);
    find("Tesla A1 ", NULL);
    CHECK(ft__device_find(name, 2, in_scratch("").s, "Tesla A1", NULL) == FT_EINVAL);
    write_file("devices/c.yaml", "title: V C\n" DEVICE "aliases: [TESLA A1]\n");
    CHECK(ft__device_find(name, sizeof(name), in_scratch("").s, "Tesla A1", NULL) ==
          FT_EFORMAT);
}

/* No two files claim the same name, or import would not know which is meant. */
static void our_device_files_agree_on_aliases(void)
{
    char dir[300], found[100];
    char **names;
    size_t n;
    ft_device *d;

    snprintf(dir, sizeof(dir), "%s/data", root);
    CHECK(ft_device_names(&names, &n, dir, NULL) == FT_OK);
    for (size_t i = 0; i < n; i++) {
        ft_error err = {0};

        CHECK(ft_device_load(&d, dir, names[i], NULL) == FT_OK);
        for (size_t j = 0; d && j < ft_device_get(d)->n_aliases; j++)
            if (ft__device_find(found, sizeof(found), dir, ft_device_get(d)->aliases[j],
                                &err) != FT_OK ||
                strcmp(found, names[i]) != 0) {
                fprintf(stderr, "%s: %s\n", names[i], err.msg);
                check_failed++;
            }
        ft_device_free(d);
    }
    ft_device_names_free(names, n);
}

static void sources_are_listed_and_no_others_are_read(void)
{
    ft_store *s = NULL;
    ft_dataset_report r;
    ft_error err = {0};
    size_t n = 0;
    FILE *fp = fopen(in_scratch("any.csv").s, "w");

    CHECK(fp && fputs("a,b\n1,2\n", fp) >= 0 && fclose(fp) == 0);
    while (ft_dataset_source(n))
        n++;
    CHECK(n >= 8 && strcmp(ft_dataset_source(0), "csv") == 0);
    CHECK(!ft_dataset_source(n + 1));
    CHECK(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL) == FT_OK);
    CHECK(ft_dataset_import(&r, s, "nosuch", in_scratch("any.csv").s, NULL, &err) ==
          FT_EINVAL);
    CHECK(strstr(err.msg, "\"nosuch\""));
    CHECK(ft_dataset_import(&r, s, "csv", in_scratch("no.csv").s, NULL, &err) ==
          FT_EIO);
    ft_store_close(s);
}

int main(int argc, char **argv)
{
    root = argc > 1 ? argv[1] : ".";
    make_scratch();
    any_text_is_read_back_plain_and_packed();
    what_is_wrong_is_named_with_line_and_column();
    damaged_gzip_is_refused_and_not_believed();
    padding_same_gives_size_over_stride();
    equal_rows_are_all_kept_and_never_put_again();
    columns_come_in_any_order_and_others_are_kept();
    precisions_that_a_spec_cannot_tell_apart_are_settings();
    a_file_is_taken_whole_or_not_at_all();
    members_are_replaced_exported_and_merged();
    stores_of_the_first_version_learn_of_members();
    parts_add_up_and_are_listed_once();
    scores_of_opt_are_clamped_behind_their_mask();
    devices_are_found_by_name_title_and_alias();
    our_device_files_agree_on_aliases();
    sources_are_listed_and_no_others_are_read();
    remove_scratch();
    CHECK_DONE();
}
