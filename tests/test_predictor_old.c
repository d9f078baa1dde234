/* Predictor files of older formats: they load and answer what they answered when they
 * were made (tests/data/predictors/README.md). */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "foretell/predictor.h"

static void answers_as_it_did(const ft_predictor *p, const char *line)
{
    double value, low, high;
    ft_estimate e;
    ft_op op;
    int at = 0;

    CHECK(sscanf(line, "%lf %lf %lf %n", &value, &low, &high, &at) == 3);
    CHECK(ft_op_parse(&op, line + at, strlen(line + at), NULL) == FT_OK);
    CHECK(ft_predict_ops(p, &op, 1, &e, NULL, NULL) == FT_OK);
    CHECK_NEAR(e.value, value, 1e-12 * value);
    CHECK_NEAR(e.low, low, 1e-12 * low);
    CHECK_NEAR(e.high, high, 1e-12 * high);
}

static void a_file_of_version(int version, const char *root)
{
    char path[4096], line[512];
    ft_predictor *p;
    ft_error err = {0};
    FILE *answers;
    int n = 0;

    snprintf(path, sizeof(path), "%s/tests/data/predictors/v%d.ftp", root, version);
    CHECK(ft_predictor_load(&p, path, &err) == FT_OK);
    if (!p) {
        fprintf(stderr, "%s\n", err.msg);
        return;
    }
    snprintf(path, sizeof(path), "%s/tests/data/predictors/v%d.txt", root, version);
    answers = fopen(path, "r");
    CHECK(answers != NULL);
    for (; answers && fgets(line, sizeof(line), answers); n++) {
        line[strcspn(line, "\n")] = '\0';
        answers_as_it_did(p, line);
    }
    CHECK(n > 0);
    if (answers)
        fclose(answers);
    ft_predictor_free(p);
}

/* Constants that came after it stand at what changes nothing. */
static void network_as_it_did(const ft_predictor *p, const char *line, const char *root)
{
    char data[4096], device[64];
    double value;
    int at = 0;
    ft_network_estimate e;
    ft_device_use on = {0};
    ft_device *d;
    ft_graph *g;

    CHECK(sscanf(line, "%lf %63s %n", &value, device, &at) == 2);
    snprintf(data, sizeof(data), "%s/data", root);
    CHECK(ft_device_load(&d, data, device, NULL) == FT_OK);
    CHECK(ft_import_ops(&g, line + at, strlen(line + at), "one", NULL) == FT_OK);
    on.device = d;
    CHECK(ft_predict_network_on(&e, p, &on, g, NULL) == FT_OK);
    CHECK_NEAR(e.time.value, value, 1e-12 * value);
    ft_network_estimate_free(&e);
    ft_graph_free(g);
    ft_device_free(d);
}

static void a_family_of_version(int version, const char *root)
{
    char path[4096], line[512];
    ft_predictor *p = NULL;
    FILE *answers;
    int n = 0;

    snprintf(path, sizeof(path), "%s/tests/data/predictors/v%d-family.ftp", root,
             version);
    CHECK(ft_predictor_load(&p, path, NULL) == FT_OK);
    snprintf(path, sizeof(path), "%s/tests/data/predictors/v%d-family.txt", root,
             version);
    answers = fopen(path, "r");
    CHECK(answers != NULL);
    for (; p && answers && fgets(line, sizeof(line), answers); n++)
        network_as_it_did(p, line, root);
    CHECK(n == 6);
    if (answers)
        fclose(answers);
    ft_predictor_free(p);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s SOURCE_FOLDER\n", argv[0]);
        return 2;
    }
    a_file_of_version(2, argv[1]);
    a_file_of_version(3, argv[1]);
    a_file_of_version(4, argv[1]);
    a_file_of_version(5, argv[1]);
    a_file_of_version(6, argv[1]);
    a_family_of_version(5, argv[1]);
    a_family_of_version(6, argv[1]);
    CHECK_DONE();
}
