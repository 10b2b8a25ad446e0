/** @file interval.hpp
 * libcertreg for C++: prediction intervals that contain the truth, also under attack.
 * The five rules of certreg.hpp hold; what the functions do, and what has to hold for
 * the data, is in interval.h.
 */
#ifndef CERTREG_INTERVAL_HPP
#define CERTREG_INTERVAL_HPP
#include "certreg/certreg.hpp"
#include "certreg/interval.h"

namespace certreg
{

using coverage = sized<certreg_coverage>;
using rule = sized<certreg_rule>;
using interval = sized<certreg_interval>;

/** Scores of calibration points, with room for them in memory of the caller. */
struct calibration : sized<certreg_calibration> {
    /** @param room  CERTREG_CALIBRATION_SCORES numbers for each point */
    explicit calibration(view<double> room) noexcept
    {
        scores = room.data();
        capacity = room.size() / CERTREG_CALIBRATION_SCORES;
    }
};

namespace detail
{
inline void check_truth(const certreg_calibration &c, view<const double> truth)
{
    const bool one = c.score == CERTREG_SCORE_QUANTILES || c.outputs == 0;
    check_count("truth", truth.size(), one ? 1 : static_cast<size_t>(c.outputs));
}
} // namespace detail

/** certreg_estimator_calibrate: adds the point whose samples are in the record.
 *  @param truth  as many numbers as outputs are scored */
inline void calibrate(
    const estimator &e, certreg_calibration &c, view<const double> truth)
{
    detail::check_truth(c, truth);
    detail::check(
        certreg_estimator_calibrate(e.get(), &c, truth.data()),
        certreg_estimator_error(e.get()));
}

namespace detail
{
inline rule rule_for(const certreg_coverage &wanted, const certreg_calibration *of)
{
    certreg_coverage c = wanted;
    fill(c);
    sized<certreg_error> why;
    rule out;
    check(certreg_interval_rule(&c, of, &why, &out), &why);
    return out;
}
} // namespace detail

/** certreg_interval_rule, of a calibration. */
inline rule interval_rule(const certreg_coverage &wanted, const certreg_calibration &of)
{
    return detail::rule_for(wanted, &of);
}

/** certreg_interval_rule, of a calibration that is planned. */
inline rule interval_rule(const certreg_coverage &wanted)
{
    return detail::rule_for(wanted, nullptr);
}

/** certreg_estimator_interval: where the truth of one output is.
 *  @param lo, hi  receive the pieces, and are work space: as many numbers each as there
 *                 are samples, twice as many for an angle */
inline certreg::interval prediction_interval(
    const estimator &e, const certreg_calibration &c, const certreg_rule &r,
    int32_t output, view<double> lo, view<double> hi)
{
    certreg::interval out;
    detail::check_count("hi", hi.size(), lo.size());
    detail::check(
        certreg_estimator_interval(
            e.get(), &c, &r, output, lo.data(), hi.data(), lo.size(), &out),
        certreg_estimator_error(e.get()));
    return out;
}

/** certreg_estimator_covers: whether one vector is in the set. */
inline bool covers(
    const estimator &e, const certreg_calibration &c, const certreg_rule &r,
    view<const double> truth)
{
    int32_t inside = 1;
    detail::check_truth(c, truth);
    detail::check(
        certreg_estimator_covers(e.get(), &c, &r, truth.data(), &inside),
        certreg_estimator_error(e.get()));
    return inside != 0;
}

} // namespace certreg
#endif
