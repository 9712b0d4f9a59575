// SPDX-License-Identifier: MIT
// See counters.h.
#include "view/tracks/counters.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "view/tracks/columns.h"

namespace penna {

Counters::Counters(int64_t length, size_t processes, std::function<int64_t(uint64_t)> time_ns)
    : Counters(std::max<int64_t>(1, length / static_cast<int64_t>(kSteps) + 1), processes, std::move(time_ns), 0) {}

Counters::Counters(int64_t step_ns, size_t processes, std::function<int64_t(uint64_t)> time_ns, int)
    : step_ns_(step_ns), time_ns_(std::move(time_ns)), live_(kSteps), process_bytes_(processes) {
  for (auto& one : counts_) one.resize(kSteps);
}

size_t Counters::step_of(int64_t time) const {
  return static_cast<size_t>(std::clamp<int64_t>(time / step_ns_, 0, kSteps - 1));
}

void Counters::on_live(uint32_t process, uint64_t time, uint64_t bytes, uint64_t /*blocks*/) {
  Live& step = live_[step_of(time_ns_(time))];
  if (!step.changed) step.most = now_;
  now_ = now_ - process_bytes_[process] + bytes;
  process_bytes_[process] = bytes;
  step.most = std::max(step.most, now_);
  step.at_end = now_;
  step.changed = true;
}

void Counters::grow(int64_t length) {
  constexpr size_t kHalf = kSteps / 2;
  for (; length / static_cast<int64_t>(kSteps) >= step_ns_; step_ns_ *= 2) {
    for (auto& counts : counts_) {
      for (size_t step = 0; step < kHalf; ++step) counts[step] = counts[2 * step] + counts[2 * step + 1];
      std::fill(counts.begin() + kHalf, counts.end(), 0);
    }
    for (size_t step = 0; step < kHalf; ++step) {
      const Live &one = live_[2 * step], &other = live_[2 * step + 1];
      live_[step] = {std::max(one.most, other.most), other.changed ? other.at_end : one.at_end,
                     one.changed || other.changed};
    }
    std::fill(live_.begin() + kHalf, live_.end(), Live{});
  }
}

void Counters::add(const Counters& other) {
  for (size_t kind = 0; kind < kKinds; ++kind)
    for (size_t step = 0; step < kSteps; ++step) counts_[kind][step] += other.counts_[kind][step];
}

void Counters::write(NumberWriter& out) const {
  out.number(static_cast<uint64_t>(step_ns_));
  for (const auto& counts : counts_)
    for (const uint64_t count : counts) out.number(count);
  int64_t before = 0;
  for (const Live& step : live_)
    out.difference(static_cast<int64_t>(step.most) - before), before = static_cast<int64_t>(step.most);
}

bool Counters::read(NumberReader& in) {
  const int64_t step_ns = in.length();
  for (auto& counts : counts_)
    for (uint64_t& count : counts) count = in.number();
  int64_t before = 0;
  for (Live& step : live_) {
    before = in.time(before, in.difference());
    step.most = static_cast<uint64_t>(before);
  }
  return in.ok() && step_ns == step_ns_;
}

// A step without changes keeps the previous value.
void Counters::finish() {
  uint64_t before = 0;
  for (Live& step : live_) {
    if (!step.changed) step.most = step.at_end = before;
    before = step.at_end;
  }
}

std::string Counters::answer(const PixelView& view) const {
  const size_t from = step_of(view.t0), to = step_of(view.t1 - 1) + 1;
  const size_t values = std::min<size_t>(view.pixels, to - from);
  std::vector<double> time, live;
  std::array<std::vector<double>, kKinds> sums;
  for (size_t i = 0; i < values; ++i) {
    const size_t begin = from + (to - from) * i / values, end = from + (to - from) * (i + 1) / values;
    time.push_back(static_cast<double>(static_cast<int64_t>(begin) * step_ns_));
    uint64_t most = 0;
    for (size_t step = begin; step < end; ++step) most = std::max(most, live_[step].most);
    live.push_back(static_cast<double>(most));
    for (size_t kind = 0; kind < kKinds; ++kind)
      sums[kind].push_back(
          static_cast<double>(std::accumulate(counts_[kind].begin() + static_cast<ptrdiff_t>(begin),
                                              counts_[kind].begin() + static_cast<ptrdiff_t>(end), uint64_t{0})));
  }
  std::vector<double> events(values);
  for (const auto& sum : sums)
    for (size_t i = 0; i < values; ++i) events[i] += sum[i];
  ColumnAnswer answer;
  answer.add("time", time);
  answer.add("live_bytes", live);
  answer.add("allocations", sums[kAllocations]);
  answer.add("calls", sums[kCalls]);
  answer.add("waits", sums[kWaits]);
  answer.add("points", sums[kPoints]);
  answer.add("events", events);
  return answer.text([&](JsonWriter& json) { json.field("step_ns", step_ns_); });
}

}  // namespace penna
