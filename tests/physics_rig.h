/* The physical estimate of operations on devices of the data folder. */
#ifndef PHYSICS_RIG_H
#define PHYSICS_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data_dir.h"
#include "physics/op_kernels.h"
#include "predict/data/baseline.h"

static inline ft_op op_of(const char *spec)
{
    ft_error err = {0};
    ft_op op;

    if (ft_op_parse(&op, spec, strlen(spec), &err) != FT_OK) {
        fprintf(stderr, "%s: %s\n", spec, err.msg);
        exit(1);
    }
    return op;
}

static inline ft_device_facts facts_of(const char *name)
{
    ft_device_facts f;
    ft_device *d;

    if (ft_device_load(&d, data_dir, name, NULL) != FT_OK)
        exit(1);
    f = *ft_device_get(d);
    f.vendor = strncmp(f.vendor, "AMD", 3) == 0      ? "AMD"
               : strncmp(f.vendor, "NVIDIA", 6) == 0 ? "NVIDIA"
                                                     : "another";
    f.type = strcmp(f.type, "gpu") == 0 ? "gpu" : "cpu";
    f.name = f.title = f.source = f.note = "";
    ft_device_free(d);
    return f;
}

static inline ft__hardware_spec chip_of(const char *device, const char *setting,
                                        const char *policy, const ft_op *op)
{
    ft_device_facts f = facts_of(device);
    ft__hardware_spec chip;

    ft__hardware_spec_make(&chip, &f, setting, policy, op);
    return chip;
}

static inline double seconds(const char *spec, const char *device, const char *setting)
{
    ft_op op = op_of(spec);
    ft__hardware_spec chip = chip_of(device, setting, "ieee", &op);
    ft__physics_params theta = ft__physics_default();
    ft__terms t;

    ft__physics(&t, &op, &chip, &theta);
    return t.total_s;
}

/* FLOP/s of a product that takes long. */
static inline double tensor_rate(const char *device, const char *setting)
{
    return 2.0 * 8192 * 8192 * 8192 /
           seconds("linear x=8192x8192 out=8192 dtype=fp16", device, setting);
}

static inline int constant(const char *name)
{
    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++)
        if (strcmp(ft__physics_name(i), name) == 0)
            return i;
    fprintf(stderr, "no constant %s\n", name);
    exit(1);
}

static inline double value(const ft__physics_params *theta, const char *name)
{
    return theta->v[constant(name)];
}

#endif
