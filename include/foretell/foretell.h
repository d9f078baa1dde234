#ifndef FT_FORETELL_H
#define FT_FORETELL_H

/* Everything a program needs. engine.h is not among it: it is for plug-ins, with an
 * ABI number of its own. */
#include "foretell/choose.h"
#include "foretell/command.h"
#include "foretell/device.h"
#include "foretell/error.h"
#include "foretell/evaluate.h"
#include "foretell/exploration.h"
#include "foretell/explore.h"
#include "foretell/file.h"
#include "foretell/fleet.h"
#include "foretell/graph.h"
#include "foretell/kernels.h"
#include "foretell/learn.h"
#include "foretell/llm.h"
#include "foretell/measure.h"
#include "foretell/names.h"
#include "foretell/networks.h"
#include "foretell/op.h"
#include "foretell/outliers.h"
#include "foretell/place.h"
#include "foretell/power.h"
#include "foretell/predictor.h"
#include "foretell/ptx.h"
#include "foretell/ptx_launches.h"
#include "foretell/query.h"
#include "foretell/rank.h"
#include "foretell/serve.h"
#include "foretell/settings.h"
#include "foretell/store.h"
#include "foretell/timeline.h"
#include "foretell/validate.h"
#include "foretell/version.h"

#endif
