#include "learn/libsvm.h"

#include <dlfcn.h>
#include <stddef.h>

static const char absent[] =
    "support vectors need libsvm 3, which is not installed: apt install libsvm3";

static void quiet(const char *text)
{
    (void)text;
}

const char *ft__libsvm_open(ft__libsvm *s)
{
    const int *version;

    *s = (ft__libsvm){.dl = dlopen("libsvm.so.3", RTLD_NOW | RTLD_LOCAL)};
    if (!s->dl)
        return absent;
    *(void **)&s->train = dlsym(s->dl, "svm_train");
    *(void **)&s->check = dlsym(s->dl, "svm_check_parameter");
    *(void **)&s->free = dlsym(s->dl, "svm_free_and_destroy_model");
    *(void **)&s->set_print = dlsym(s->dl, "svm_set_print_string_function");
    version = dlsym(s->dl, "libsvm_version");
    if (!s->train || !s->check || !s->free || !s->set_print || !version ||
        *version / 100 != 3)
        return absent;
    s->set_print(quiet);
    return NULL;
}

void ft__libsvm_close(ft__libsvm *s)
{
    if (s->dl)
        dlclose(s->dl);
    s->dl = NULL;
}
