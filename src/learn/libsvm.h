#ifndef LEARN_LIBSVM_H
#define LEARN_LIBSVM_H

/* The part of libsvm (Chang, Lin 2011) that fitting needs, found when it is needed.
 * The structs begin as those of its svm.h, versions 3.x; what follows is never used. */

typedef struct ft__svm_node {
    int index; /* from 1; -1 ends the row */
    double value;
} ft__svm_node;

typedef struct ft__svm_problem {
    int l;
    double *y;
    ft__svm_node **x;
} ft__svm_problem;

enum { FT__SVM_EPSILON_SVR = 3, FT__SVM_RBF = 2 };

typedef struct ft__svm_parameter {
    int svm_type;
    int kernel_type;
    int degree;
    double gamma;
    double coef0;
    double cache_size; /* MB */
    double eps;
    double C;
    int nr_weight;
    int *weight_label;
    double *weight;
    double nu;
    double p;
    int shrinking;
    int probability;
} ft__svm_parameter;

typedef struct ft__svm_model {
    ft__svm_parameter param;
    int nr_class;
    int l;
    ft__svm_node **sv; /* rows of the problem, which must outlive the model */
    double **sv_coef;
    double *rho;
} ft__svm_model;

typedef struct ft__libsvm {
    void *dl;
    ft__svm_model *(*train)(const ft__svm_problem *, const ft__svm_parameter *);
    const char *(*check)(const ft__svm_problem *, const ft__svm_parameter *);
    void (*free)(ft__svm_model **);
    void (*set_print)(void (*)(const char *));
} ft__libsvm;

/* NULL, or what is missing. Close it in either case. */
const char *ft__libsvm_open(ft__libsvm *s);
void ft__libsvm_close(ft__libsvm *s);

#endif
