#ifndef MEASURE_DATASET_INSIDE_H
#define MEASURE_DATASET_INSIDE_H

#include "foretell/dataset.h"

const char *ft__dataset_what(size_t i);

#endif
