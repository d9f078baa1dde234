/* What comes of the readings of one thing that was measured in rotation: times relative
 * to the calibration measured before and after each round, and whether its rounds
 * agree. */
#include "measure/timed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "measure/measure_inside.h"
#include "measure/readings.h"

static const ft__calibrated *calibrated_of(const ft__timed *t, uint32_t round)
{
    for (size_t i = 0; i < t->n_calibrated; i++)
        if (t->calibrated[i].round == round)
            return &t->calibrated[i];
    return NULL;
}

/* From here on what differs is not the scatter of stretches. */
static const double ratio_may_differ = 0.1;

/* What stands for the calibration `like` where these took so long: the one of
 * products in its usual ratio, which is the steadier one, unless the ratio is more than
 * a tenth away from that: then something slows the caches or memory alone. */
static double unit_by(const ft_session *s, const double *took, uint32_t like)
{
    double usual = took[FT__CALIBRATE_PRODUCTS] * s->usual_ratio[like];

    if (like == FT__CALIBRATE_PRODUCTS || isnan(usual) ||
        fabs(log(took[like] / usual)) > ratio_may_differ)
        return took[like];
    return usual;
}

/* Time of the calibration around round `round` of t, s; NaN: there is none. */
static double unit_of(const ft__timed *t, uint32_t round)
{
    const ft__calibrated *b = calibrated_of(t, round);

    return b ? unit_by(t->job.session, b->s, t->like) : (double)NAN;
}

/* Times of rounds, relative to the calibration around each. */
struct ratios {
    double *ratio;
    double *error; /* relative, by the scatter of batches */
    double *unit;
    double *scratch;
    size_t n;
};

static bool ratios_make(struct ratios *r, size_t readings)
{
    const size_t room = readings + 1;

    r->ratio = calloc(4 * room, sizeof(*r->ratio));
    if (!r->ratio)
        return false;
    r->error = r->ratio + room;
    r->unit = r->error + room;
    r->scratch = r->unit + room;
    return true;
}

/* Of each round that counts and has a calibration around it, or of each that counts, in
 * seconds, where plain. */
static void find_ratios(struct ratios *out, const ft__timed *t, bool plain)
{
    const ft_reading *r = t->readings;
    uint32_t skip = ft__disturbed_mask(r, t->n);

    out->n = 0;
    for (size_t from = 0, to; from < t->n; from = to) {
        double unit = plain ? 1 : unit_of(t, r[from].round);
        size_t n = out->n;

        to = ft__round_end(r, t->n, from);
        if (r[from].marks & skip || !(unit > 0))
            continue;
        for (size_t i = from; i < to; i++)
            out->scratch[i - from] = ft__reading_per_iteration(&r[i]);
        out->unit[n] = unit;
        out->ratio[n] =
            ft__round_value(&out->error[n], out->scratch, to - from) / out->unit[n];
        out->n++;
    }
}

/* m in units of the calibration in the same rounds, times what that took in the median:
 * what slows both down for a while does not count. m stays where no round has
 * one. */
static ft_status measurement_relative(ft_measurement *m, const ft__timed *t,
                                      ft_error *err)
{
    struct ratios r;

    if (!ratios_make(&r, t->n))
        return ft_fail(err, FT_ENOMEM, 0, "%zu readings", t->n);
    find_ratios(&r, t, false);
    if (r.n) {
        double centre = ft__rounds_value(r.ratio, r.error, r.n);
        double unit = ft__median(r.unit, r.n);
        double error = ft__median_error(r.ratio, r.n, centre);

        m->value = centre * unit;
        m->calibration_s = unit;
        if (!isnan(error))
            m->error = error * unit;
    }
    free(r.ratio);
    return FT_OK;
}

ft_status ft__timed_result(ft_timing *out, ft__timed *t, ft_error *err)
{
    ft_status st = ft__mark_outliers(&out->outliers, t->readings, t->n, err);

    if (!st)
        st = ft__measurement_of_times(&out->time, t->readings, t->n, err);
    if (!st)
        st = measurement_relative(&out->time, t, err);
    if (!st && t->n_launches)
        st = ft__measurement_of_times(&out->launch, t->launches, t->n_launches, err);
    else
        out->launch = (ft_measurement){.unit = "s", .value = NAN, .error = NAN};
    if (st)
        return st;
    out->readings = t->readings;
    out->n_readings = t->n;
    out->launches = t->launches;
    out->conditions = t->seen;
    out->redone = t->redone;
    out->rounds = t->n_seen;
    out->calibration_s = out->time.calibration_s;
    t->readings = t->launches = NULL;
    return FT_OK;
}

/* Rounds further apart than this, and than so many standard errors by the scatter of
 * their batches, are not of the same state of the machine. */
static const double rounds_may_differ = 0.1, errors_may_differ = 3,
                    most_may_differ = 0.5;

bool ft__timed_agrees(const ft__timed *t, uint32_t rounds)
{
    size_t agree = 0, wanted;
    struct ratios r;
    double centre, may;

    if (!ratios_make(&r, t->n))
        return true;
    find_ratios(&r, t, false);
    if (r.n == 0)
        find_ratios(&r, t, true);
    memcpy(r.scratch, r.ratio, r.n * sizeof(*r.ratio));
    centre = r.n ? ft__rounds_value(r.scratch, r.error, r.n) : 0;
    may = fmin(most_may_differ, errors_may_differ * ft__usual_error(r.error, r.n));
    may = fmax(rounds_may_differ, may);
    for (size_t i = 0; i < r.n; i++)
        agree += fabs(r.ratio[i] - centre) <= may * centre;
    wanted = r.n < rounds ? r.n : rounds;
    free(r.ratio);
    return agree >= wanted;
}
