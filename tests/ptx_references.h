#ifndef PTX_REFERENCES_H
#define PTX_REFERENCES_H

#include "ptx_kernels.h"

#define PTX_REFERENCE(name) ptx_reference name;
#include "ptx_references.def"
#undef PTX_REFERENCE

#endif
