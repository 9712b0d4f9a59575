// SPDX-License-Identifier: MIT
// See export_size.h.
#include "cli/export/export_size.h"

#include <fmt/format.h>

#include "base/say.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr double kLarge = 100e6;                 // bytes
constexpr uint64_t kEnoughToEstimate = 4 << 20;  // bytes

}  // namespace

TextSink ExportSize::through(TextSink sink) {
  return [this, sink = std::move(sink)](std::string_view text) {
    count(text.size());
    return sink(text);
  };
}

double ExportSize::estimate() const {
  const uint64_t done = progress_.done() - begun_at_;
  if (done == 0 || done >= events_) return 0;
  return static_cast<double>(begun_with_) +
         static_cast<double>(bytes_ - begun_with_) * static_cast<double>(events_) / static_cast<double>(done);
}

void ExportSize::count(size_t bytes) {
  if (later_ && bytes_ == 0) {
    begun_at_ = progress_.done();
    begun_with_ = bytes;
  }
  bytes_ += bytes;
  if (said_ || bytes_ < kEnoughToEstimate) return;
  const double all = events_ == 0 ? static_cast<double>(bytes_) : estimate();
  if (all < kLarge) return;
  said_ = true;
  progress_.make_way();
  say(fmt::format("{} {} {}; {}", output_, events_ == 0 ? "takes more than" : "will take about",
                  bytes_text(static_cast<int64_t>(events_ == 0 ? kLarge : all)), advice_));
}

}  // namespace penna
