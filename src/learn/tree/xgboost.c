/* XGBoost's C interface, loaded where it is installed. */
#include "learn/tree/xgboost.h"

#include <dlfcn.h>
#include <stddef.h>

const char *ft__xgboost_open(ft__xgboost *x)
{
    static const char *const files[] = {"libxgboost.so.0", "libxgboost.so"};

    *x = (ft__xgboost){0};
    /* It keeps threads and what belongs to them: once here, it stays. */
    for (size_t i = 0; !x->dl && i < sizeof(files) / sizeof(*files); i++)
        x->dl = dlopen(files[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!x->dl)
        return "boosting needs XGBoost, which is not installed: apt install "
               "libxgboost0";
    *(void **)&x->matrix_new = dlsym(x->dl, "XGDMatrixCreateFromMat");
    *(void **)&x->matrix_set = dlsym(x->dl, "XGDMatrixSetFloatInfo");
    *(void **)&x->matrix_free = dlsym(x->dl, "XGDMatrixFree");
    *(void **)&x->booster_new = dlsym(x->dl, "XGBoosterCreate");
    *(void **)&x->booster_set = dlsym(x->dl, "XGBoosterSetParam");
    *(void **)&x->booster_update = dlsym(x->dl, "XGBoosterUpdateOneIter");
    *(void **)&x->booster_dump = dlsym(x->dl, "XGBoosterDumpModel");
    *(void **)&x->booster_free = dlsym(x->dl, "XGBoosterFree");
    *(void **)&x->last_error = dlsym(x->dl, "XGBGetLastError");
    return x->matrix_new && x->matrix_set && x->matrix_free && x->booster_new &&
                   x->booster_set && x->booster_update && x->booster_dump &&
                   x->booster_free && x->last_error
               ? NULL
               : "the XGBoost found here lacks functions of its C interface: apt "
                 "install "
                 "libxgboost0";
}

void ft__xgboost_close(ft__xgboost *x)
{
    if (x->dl)
        dlclose(x->dl);
    x->dl = NULL;
}
