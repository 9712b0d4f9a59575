// SPDX-License-Identifier: MIT
// See progress_line.h.
#include "cli/output/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "options/terminal.h"

namespace penna {
namespace {

class ProgressLine : public ProgressObserver {
 public:
  // The first line comes after a second: most passes are over by then, and a line that flashes by is noise.
  void begin(const std::string& what, uint64_t total, const std::string& unit) override {
    what_ = what;
    unit_ = unit;
    total_ = total;
    start_ = Clock::now();
    next_ = start_ + std::chrono::seconds(1);
  }

  void at(uint64_t done) override {
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    shown_ = true;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    // CSI K clears to the end of the line: a shorter text would leave the rest of a longer one.
    std::fputs(("\r\x1b[K" + progress_text(what_, done, total_, unit_, seconds)).c_str(), stderr);
    std::fflush(stderr);
  }

  void end() override { make_way(); }

  void make_way() override {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_, unit_;
  uint64_t total_ = 0;
  bool shown_ = false;
  Clock::time_point start_, next_;
};

}  // namespace

std::unique_ptr<ProgressObserver> progress_line(bool wanted) {
  return wanted && is_terminal(2) ? std::make_unique<ProgressLine>() : nullptr;
}

std::string progress_text(const std::string& what, uint64_t done, uint64_t total, const std::string& unit,
                          double seconds) {
  // Averaged since the beginning; progress is seldom even, and a jumping estimate is useless.
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

}  // namespace penna
