/* Archives: real exports against what their ONNX twins and torch's own joint
 * graphs hold, and zip files that are something else, damaged or hostile. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "data_dir.h"
#include "files.h"
#include "import/graph_inside.h"
#include "import/pt2/pt2.h"
#include "import/pt2/zip.h"
#include "spec_counts.h"

static const char *path_of(const char *folder, const char *name, const char *end)
{
    static char path[2048];

    snprintf(path, sizeof(path), "%s/%s/%s%s", source_root, folder, name, end);
    return path;
}

static ft_graph *load(const char *path, const ft_import_options *opt)
{
    ft_graph *g;
    ft_error err = {0};

    if (ft__import_file(&g, path, opt, &err) != FT_OK)
        fprintf(stderr, "%s\n", err.msg);
    CHECK(g != NULL);
    return g;
}

static struct list ours, theirs;

TEST(exports_hold_the_products_of_their_onnx_twins)
{
    static const char *const names[] = {"bert-6", "mobilenet_v2", "resnet18",
                                        "vit_b_16"};
    const ft_import_options opt = {.batch = 3};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        ft_graph *pt2 = load(path_of("tests/data/pt2", names[i], ".pt2"), &opt);
        ft_graph *onnx = load(path_of("data/models", names[i], ".onnx"), &opt);

        if (pt2 && onnx) {
            products_of(&ours, pt2);
            products_of(&theirs, onnx);
            compare(names[i], &ours, &theirs);
            CHECK_EQ(pt2->n_bounded, 0);
        }
        ft_graph_free(pt2);
        ft_graph_free(onnx);
    }
}

/* The lists were written by tools/make-joint from torch's graph, without us. */
TEST(joint_graphs_hold_what_torch_counts)
{
    ft_graph *g = load(path_of("tests/data/pt2", "resnet18.joint", ".pt2"), NULL);

    if (!g)
        return;
    products_of(&ours, g);
    read_golden(&theirs, path_of("tests/data/joint", "resnet18", ".txt"));
    compare("resnet18.joint", &ours, &theirs);
    CHECK(EQ(g->mode, FT_MODE_TRAINING) && EQ(g->n_bounded, 0));
    ft_graph_free(g);
}

/* How many numbers torch trains: what sum(p.numel() for p in m.parameters()) says. */
TEST(trained_parameters_are_those_that_torch_has)
{
    static const struct {
        const char *name;
        double parameters;
    } cases[] = {{"resnet18", 11689512},
                 {"mobilenet_v2", 3504872},
                 {"vit_b_16", 86567656},
                 {"resnet18.joint", 11689512}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_graph *g = load(path_of("tests/data/pt2", cases[i].name, ".pt2"), NULL);
        double sum = 0, gradients = 0;

        for (uint32_t k = 0; g && k < g->n_tensors; k++) {
            const ft_tensor *t = &g->tensor[k];

            if (t->trainable)
                sum += (double)ft_shape_elements(&t->shape);
            if (t->role == FT_ROLE_GRADIENT && t->storage == k)
                gradients += (double)ft_shape_elements(&t->shape);
        }
        CHECK_NEAR(sum, cases[i].parameters, 0);
        CHECK_NEAR(gradients, strstr(cases[i].name, ".joint") ? sum : 0, 0);
        ft_graph_free(g);
    }
}

static bool holds(const ft_graph *g, const char *spec, uint64_t count)
{
    ft_op op;

    if (!g || ft_op_parse(&op, spec, strlen(spec), NULL))
        return false;
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (ft_op_equal(&g->op[i], &op))
            return g->op_count[i] == count;
    return count == 0;
}

TEST(subgraphs_are_written_out)
{
    ft_graph *g = load(path_of("tests/data/pt2", "branches", ".pt2"), NULL);

    /* The branch with the layer costs more; the block without gradients is there. */
    CHECK(holds(g, "linear x=2x4 out=4 bias=1 dtype=fp32", 2));
    CHECK(holds(g, "relu x=2x4 dtype=fp32", 1) && holds(g, "sin x=2x4 dtype=fp32", 0));
    CHECK(g && EQ(g->n_bounded, 1) && HAS(g->bounded[0], "dearer"));
    ft_graph_free(g);
    g = load(path_of("tests/data/pt2", "loops", ".pt2"), NULL);
    /* Once in the loop of unknown length, three times each in scan and map. */
    CHECK(holds(g, "linear x=2x4 out=4 bias=1 dtype=fp32", 7));
    CHECK(holds(g, "tanh x=2x4 dtype=fp32", 3) && holds(g, "relu x=2x4 dtype=fp32", 3));
    CHECK(g && EQ(g->n_bounded, 1) && HAS(g->bounded[0], "counted as one round"));
    ft_graph_free(g);
}

TEST(every_export_in_the_tree_is_read)
{
    static char folder[1024];
    const ft_dim_value dims[] = {{"inputs_0.1", 16}};
    DIR *dir;
    struct dirent *e;
    int n = 0;

    snprintf(folder, sizeof(folder), "%s/tests/data/pt2", source_root);
    dir = opendir(folder);
    CHECK(dir != NULL);
    while (dir && (e = readdir(dir)) != NULL) {
        bool open =
            strncmp(e->d_name, "gpt2", 4) == 0 || strncmp(e->d_name, "data", 4) == 0;
        const ft_import_options opt = {.dims = dims, .n_dims = open};

        if (e->d_name[0] == '.')
            continue;
        ft_graph_free(load(path_of("tests/data/pt2", e->d_name, ""), &opt));
        n++;
    }
    if (dir)
        closedir(dir);
    CHECK(CMP(n, >=, 10));
}

struct bytes {
    unsigned char *p;
    size_t n;
};

static struct bytes read_file(const char *path)
{
    struct bytes b;

    b.p = read_bytes(path, &b.n);
    CHECK(CMP(b.n, >, 0));
    return b;
}

static void put16(unsigned char *p, unsigned v)
{
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
}

static void put32(unsigned char *p, size_t v)
{
    put16(p, (unsigned)v & 0xffff);
    put16(p + 2, (unsigned)(v >> 16) & 0xffff);
}

/* Entries that are not packed; of those that are empty even the checksum is. */
static struct bytes make_zip(const char *const (*entry)[2], size_t n)
{
    struct bytes b = {.p = calloc(1, 1 << 16)};
    unsigned char directory[8192];
    size_t d = 0;

    CHECK(b.p != NULL);
    memset(directory, 0, sizeof(directory));
    for (size_t i = 0; b.p && i < n; i++) {
        size_t name = strlen(entry[i][0]), size = strlen(entry[i][1]);
        unsigned char *p = b.p + b.n, *q = directory + d;

        memcpy(p, "PK\3\4\x14", 5);
        put32(p + 18, size);
        put32(p + 22, size);
        put16(p + 26, (unsigned)name);
        memcpy(p + 30, entry[i][0], name);
        memcpy(p + 30 + name, entry[i][1], size);
        memcpy(q, "PK\1\2\x14\0\x14", 7);
        put32(q + 20, size);
        put32(q + 24, size);
        put16(q + 28, (unsigned)name);
        put32(q + 42, b.n);
        memcpy(q + 46, entry[i][0], name);
        d += 46 + name;
        b.n += 30 + name + size;
    }
    if (b.p) {
        unsigned char *p = b.p + b.n + d;

        memcpy(b.p + b.n, directory, d);
        memcpy(p, "PK\5\6", 4);
        put16(p + 8, (unsigned)n);
        put16(p + 10, (unsigned)n);
        put32(p + 12, d);
        put32(p + 16, b.n);
        b.n += d + 22;
    }
    return b;
}

static ft_status import(const struct bytes *b, size_t n, ft_error *err)
{
    ft_graph *g;
    ft_status st;
    unsigned char *copy = malloc(n ? n : 1);

    *err = (ft_error){0};
    if (!copy)
        return FT_ENOMEM;
    memcpy(copy, b->p, n);
    st = ft__import_pt2(&g, copy, n, "net.pt2", NULL, err);
    CHECK(EQ((st == FT_OK), (g != NULL)) && (EQ(st, FT_OK) || err->msg[0]));
    ft_graph_free(g);
    free(copy);
    return st;
}

TEST(other_zip_files_are_told_apart)
{
    static const struct {
        const char *const entry[3][2];
        size_t n;
        const char *sentence;
    } cases[] = {
        {{{"net/data.pkl", ""}, {"net/data/0", ""}},
         2,
         "net.pt2: what torch.save writes: weights or pickled objects without a graph: "
         "load it and save it with torch.export.save, or export it to ONNX"},
        {{{"net/data.pkl", ""}, {"net/constants.pkl", ""}, {"net/code/x.py", ""}},
         3,
         "net.pt2: a TorchScript file: export the model with torch.export instead of "
         "torch.jit, or to ONNX"},
        {{{"config.json", ""}, {"model.weights.h5", ""}},
         2,
         "net.pt2: a Keras file: export the model to ONNX (tf2onnx)"},
        {{{"net/data/aotinductor/model/net.so", ""}},
         1,
         "net.pt2: a compiled package (AOTInductor) without a graph"},
        {{{"a.txt", ""}},
         1,
         "net.pt2: a zip archive without a model graph (models/*.json): save the model "
         "with torch.export.save, or export it to ONNX"},
        {{{"a/models/x.json", "{}"}, {"a/models/y.json", "{}"}},
         2,
         "net.pt2: holds 2 models: save each in a file of its own"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bytes b = make_zip(cases[i].entry, cases[i].n);
        ft_error err;

        CHECK_EQ(import(&b, b.n, &err), FT_EUNSUPPORTED);
        CHECK(BEGINS(err.msg, cases[i].sentence, strlen(cases[i].sentence)));
        if (strncmp(err.msg, cases[i].sentence, strlen(cases[i].sentence)) != 0)
            fprintf(stderr, "%s\n", err.msg);
        free(b.p);
    }
}

TEST(both_layouts_are_found)
{
    static const char *const names[] = {
        "net/models/model.json", "archive/models/x.json", "models/model.json",
        "serialized_exported_program.json", "net/serialized_exported_program.json"};
    static const char *const others[] = {"net/models/model.txt", "net/mymodels/x.json",
                                         "data/weights/model_weights_config.json",
                                         "xserialized_exported_program.json"};
    const char *const empty = "{}";

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *const entry[1][2] = {{names[i], empty}};
        struct bytes b = make_zip(entry, 1);
        ft_error err;

        CHECK(EQ(import(&b, b.n, &err), FT_EFORMAT) &&
              HAS(err.msg, "it holds no graph_module.graph"));
        free(b.p);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        const char *const entry[1][2] = {{others[i], empty}};
        struct bytes b = make_zip(entry, 1);
        ft_error err;

        CHECK_EQ(import(&b, b.n, &err), FT_EUNSUPPORTED);
        free(b.p);
    }
}

/* Where the directory of a file that zip wrote describes its one entry. */
static unsigned char *entry_of(const struct bytes *b)
{
    for (size_t i = 0; i + 46 < b->n; i++)
        if (memcmp(b->p + i, "PK\1\2", 4) == 0)
            return b->p + i;
    return NULL;
}

TEST(hostile_archives_are_refused)
{
    struct bytes b = read_file(path_of("tests/data/pt2", "branches", ".pt2"));
    unsigned char *entry = b.p ? entry_of(&b) : NULL, saved[46];
    ft_error err;

    CHECK(entry && EQ(import(&b, b.n, &err), FT_OK));
    if (!entry) {
        free(b.p);
        return;
    }
    memcpy(saved, entry, sizeof(saved));
    put32(entry + 24, 0x3fffffff); /* a bomb: a gibibyte out of a kibibyte */
    CHECK(EQ(import(&b, b.n, &err), FT_EFORMAT) && HAS(err.msg, "unpacks to"));
    memcpy(entry, saved, sizeof(saved));
    put32(entry + 24, 100); /* more than it says */
    CHECK(EQ(import(&b, b.n, &err), FT_EFORMAT) && HAS(err.msg, "damaged"));
    memcpy(entry, saved, sizeof(saved));
    put32(entry + 20, 0x7fffffff); /* more than the file has */
    CHECK(EQ(import(&b, b.n, &err), FT_EFORMAT) && HAS(err.msg, "damaged"));
    memcpy(entry, saved, sizeof(saved));
    put32(entry + 16, 1); /* a wrong checksum */
    CHECK(EQ(import(&b, b.n, &err), FT_EFORMAT) && HAS(err.msg, "damaged"));
    memcpy(entry, saved, sizeof(saved));
    put16(entry + 8, 1); /* encrypted */
    CHECK(EQ(import(&b, b.n, &err), FT_EUNSUPPORTED) && HAS(err.msg, "is encrypted"));
    memcpy(entry, saved, sizeof(saved));
    put16(entry + 10, 14); /* LZMA */
    CHECK(CMP(import(&b, b.n, &err), !=, FT_OK));
    memcpy(entry, saved, sizeof(saved));
    put32(entry + 42, 0x7fffffff); /* it lies outside */
    CHECK_EQ(import(&b, b.n, &err), FT_EFORMAT);
    free(b.p);
}

TEST(cut_archives_are_refused_at_every_byte)
{
    struct bytes b = read_file(path_of("tests/data/pt2", "branches", ".pt2"));
    ft_error err;

    for (size_t n = 1; b.p && n < b.n; n++)
        CHECK_EQ(import(&b, n, &err), FT_EFORMAT);
    free(b.p);
}

/* Packed or not, the same graph. */
TEST(a_plain_record_is_read_where_it_lies)
{
    struct bytes b = read_file(path_of("tests/data/pt2", "branches", ".pt2"));
    char *text = NULL, *own;
    const char *slice;
    size_t n = 0, plain = 0;
    ft_error err;

    CHECK_EQ(ft__zip_graph(&slice, &n, &text, b.p, b.n, "net.pt2", &err), FT_OK);
    CHECK(text && EQ(slice, text));
    free(b.p);
    text = text ? realloc(text, n + 1) : NULL;
    if (text) {
        const char *entry[2][2] = {{"net/data/weights/weight_0", "abcd"},
                                   {"net/models/model.json", NULL}};

        text[n] = '\0';
        entry[1][1] = text;
        b = make_zip((const char *const(*)[2])entry, 2);
        CHECK_EQ(ft__zip_graph(&slice, &plain, &own, b.p, b.n, "net.pt2", &err), FT_OK);
        CHECK(!own && EQ(plain, n) && BYTES(slice, text, n));
        CHECK_EQ(import(&b, b.n, &err), FT_OK);
        free(b.p);
    }
    free(text);
}

static void put64(unsigned char *p, size_t v)
{
    put32(p, v & 0xffffffff);
    put32(p + 4, v >> 32);
}

/* As archives of more than 4 GiB have them: an extension of the entry, and a longer
 * end.
 */
TEST(numbers_of_64_bits_are_read)
{
    const char *const entry[1][2] = {{"net/models/model.json", "{}"}};
    const size_t name = strlen(entry[0][0]), at = 30 + name + 2;
    struct bytes b = make_zip(entry, 1);
    unsigned char *p = b.p + at, *end = p + 46 + name + 28;
    const char *text;
    char *own;
    size_t n;
    ft_error err;

    put32(p + 20, 0xffffffff);
    put32(p + 24, 0xffffffff);
    put16(p + 30, 28);
    put32(p + 42, 0xffffffff);
    p += 46 + name;
    memset(p, 0, 200);
    put16(p, 1);
    put16(p + 2, 24);
    put64(p + 4, 2);
    put64(p + 12, 2); /* the header's place, 0, is behind */
    memcpy(end, "PK\6\6", 4);
    put64(end + 32, 1);
    put64(end + 48, at);
    memcpy(end + 56, "PK\6\7", 4);
    put64(end + 64, (size_t)(end - b.p));
    memcpy(end + 76, "PK\5\6", 4);
    put32(end + 84, 0xffffffff);
    put32(end + 92, 0xffffffff);
    b.n = (size_t)(end - b.p) + 98;
    CHECK_EQ(ft__zip_graph(&text, &n, &own, b.p, b.n, "net.pt2", &err), FT_OK);
    CHECK(text && !own && EQ(n, 2) && BYTES(text, "{}", 2));
    put16(p + 2, 16); /* too short for its three numbers */
    CHECK_EQ(ft__zip_graph(&text, &n, &own, b.p, b.n, "net.pt2", &err), FT_EFORMAT);
    put16(p + 2, 24);
    put64(end + 64, b.n); /* the longer end is outside */
    CHECK_EQ(ft__zip_graph(&text, &n, &own, b.p, b.n, "net.pt2", &err), FT_EFORMAT);
    free(b.p);
}
