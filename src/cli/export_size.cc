// SPDX-License-Identifier: MIT
// See export_size.h.
#include "cli/export_size.h"

#include <fmt/format.h>

#include "base/say.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr double kLarge = 100e6;             // bytes
constexpr uint64_t kEnoughToTell = 4 << 20;  // bytes

}  // namespace

TextSink ExportSize::through(TextSink sink) {
  return [this, sink = std::move(sink)](std::string_view text) {
    count(text.size());
    return sink(text);
  };
}

void ExportSize::count(size_t bytes) {
  bytes_ += bytes;
  if (said_ || bytes_ < kEnoughToTell) return;
  const uint64_t done = progress_.done();
  auto all = static_cast<double>(bytes_);
  if (total_ != 0) {
    if (done == 0 || done >= total_) return;
    all *= static_cast<double>(total_) / static_cast<double>(done);
  }
  if (all < kLarge) return;
  said_ = true;
  progress_.make_way();
  say(fmt::format("{} {} {}; {}", output_, total_ == 0 ? "takes more than" : "will take about",
                  bytes_text(static_cast<int64_t>(total_ == 0 ? kLarge : all)), advice_));
}

}  // namespace penna
