// SPDX-License-Identifier: MIT
// See point_curve.h.
#include "view/answers/point_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "view/answers/point_hits.h"
#include "view/tracks/columns.h"
#include "view/tracks/counters.h"

namespace penna {

PointCurve::PointCurve(const Recording& recording, Names& names, const std::string& point, const std::string& argument,
                       uint64_t begin, int64_t length)
    : step_ns_(std::max<int64_t>(1, length / static_cast<int64_t>(Counters::kSteps) + 1)), steps_(Counters::kSteps) {
  HitsOf is_hit(point);
  DecodedPoint decoded;
  for_each_hit(recording, names, [&](const Site* site, const Event& event) {
    if (!is_hit(site, event)) return;
    decode_arguments(site, event.record, decoded);
    for (size_t i = 0; i < decoded.values.size(); ++i) {
      const ArgumentValue& value = decoded.values[i];
      if (argument_name(site, i) == argument && value.present && value.is_number() && std::isfinite(value.as_number()))
        add(recording.time().duration_ns(begin, event.time), value.as_number());
    }
  });
}

size_t PointCurve::step_of(int64_t time) const {
  return static_cast<size_t>(std::clamp<int64_t>(time / step_ns_, 0, static_cast<int64_t>(steps_.size()) - 1));
}

// Threads come one after another: of two values, the later in time is the last.
void PointCurve::add(int64_t time, double value) {
  Step& step = steps_[step_of(time)];
  step.most = step.count == 0 ? value : std::max(step.most, value);
  if (time >= step.last_time) step.last_time = time, step.last = value;
  ++step.count;
  ++values_;
}

std::string PointCurve::answer(const PixelView& view) const {
  const size_t from = step_of(view.t0), to = step_of(view.t1 - 1) + 1;
  const size_t wanted = std::min<size_t>(view.pixels, to - from);
  double last = std::numeric_limits<double>::quiet_NaN();
  for (size_t step = from; step-- > 0;) {
    if (steps_[step].count == 0) continue;
    last = steps_[step].last;
    break;
  }
  std::vector<double> time, values, counts;
  for (size_t i = 0; i < wanted; ++i) {
    const size_t begin = from + (to - from) * i / wanted, end = from + (to - from) * (i + 1) / wanted;
    time.push_back(static_cast<double>(static_cast<int64_t>(begin) * step_ns_));
    double most = last;
    uint64_t count = 0;
    for (size_t step = begin; step < end; ++step) {
      if (steps_[step].count == 0) continue;
      most = count == 0 ? steps_[step].most : std::max(most, steps_[step].most);
      count += steps_[step].count;
      last = steps_[step].last;
    }
    values.push_back(most);
    counts.push_back(static_cast<double>(count));
  }
  ColumnAnswer answer;
  answer.add("time", time);
  answer.add("value", values);
  answer.add("count", counts);
  return answer.text([&](JsonWriter& json) { json.field("step_ns", step_ns_); });
}

}  // namespace penna
