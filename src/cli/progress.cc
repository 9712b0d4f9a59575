// SPDX-License-Identifier: MIT
// See progress.h.
#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/terminal.h"

namespace penna {

Progress::Progress(std::string what, uint64_t total, std::string unit, bool enabled)
    : what_(std::move(what)), unit_(std::move(unit)), total_(total), enabled_(enabled && is_terminal(2)) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

std::string Progress::text(const std::string& what, uint64_t done, uint64_t total, const std::string& unit,
                           double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string text = what + ":";
  if (total != 0)
    text += fmt::format(" {} %,", std::min<uint64_t>(100, static_cast<uint64_t>(100.0 * static_cast<double>(done) /
                                                                                static_cast<double>(total))));
  if (rate >= 1e6) {
    text += fmt::format(" {:.1f} M {}/s", rate / 1e6, unit);
  } else if (rate >= 1e3) {
    text += fmt::format(" {:.1f} k {}/s", rate / 1e3, unit);
  } else {
    text += fmt::format(" {:.0f} {}/s", rate, unit);
  }
  if (total > done && rate > 0) text += fmt::format(", {:.0f} s left", static_cast<double>(total - done) / rate);
  return text;
}

void Progress::update() {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::fputs(("\r\x1b[K" + text(what_, done_, total_, unit_, seconds)).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace penna
