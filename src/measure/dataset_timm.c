/* PyTorch image models (github.com/huggingface/pytorch-image-models): whole networks
 * at the largest batch that fits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/dataset.h"

/* "pt113" is 1.13, "pt210" 2.1.0, "cu117" 11.7: what is not of that form stays. */
static void version(char *out, size_t size, const char *text, const char *prefix)
{
    size_t n = strlen(prefix);
    const char *d = text + n;

    snprintf(out, size, "%s", text);
    if (strncmp(text, prefix, n) != 0 || strspn(d, "0123456789") != 3 || d[3])
        return;
    if (prefix[0] == 'c')
        snprintf(out, size, "%.2s.%c", d, d[2]);
    else if (d[0] == '1')
        snprintf(out, size, "1.%s", d + 1);
    else
        snprintf(out, size, "%c.%c.%c", d[0], d[1], d[2]);
}

/* dtype=amp: torch's automatic mixed precision. Training steps with an optimizer. */
static void network(ft__import *im)
{
    bool training = ft__is(im, FT__C_mode, "training");
    char rest[160], torch[40], cuda[40];
    long long batch, size;

    if (!*ft__text(im, FT__C_time_s))
        return; /* it did not fit, whatever the batch */
    batch = ft__whole(im, FT__C_batch);
    size = ft__whole(im, FT__C_img_size);
    version(torch, sizeof(torch), ft__text(im, FT__C_torch), "pt");
    version(cuda, sizeof(cuda), ft__text(im, FT__C_cuda), "cu");
    snprintf(rest, sizeof(rest), "x=%lldx3x%lldx%lld dtype=%.40s", batch, size, size,
             ft__text(im, FT__C_dtype));
    if (!training && !ft__is(im, FT__C_mode, "inference"))
        ft__wrong(im, FT__C_mode, "inference or training is wanted");
    ft__device(im, ft__text(im, FT__C_device));
    ft__engine(im, "torch", torch);
    ft__setting(im, "compiled", ft__text(im, FT__C_compiled));
    ft__setting(im, "cuda", cuda);
    ft__setting(im, "layout", ft__text(im, FT__C_layout));
    ft__about_whole(im, "network", ft__text(im, FT__C_network), rest,
                    training ? FT_PHASE_STEP : FT_PHASE_FORWARD);
    ft__value(im, "time", "s", ft__real(im, FT__C_time_s), NAN, 1);
}

static const ft__column needs[] = {FT__C_device, FT__C_network,  FT__C_mode,
                                   FT__C_batch,  FT__C_img_size, FT__C_time_s};
const ft__form ft__timm_forms[1] = {
    {needs, sizeof(needs) / sizeof(*needs), "torch", "", network}};
