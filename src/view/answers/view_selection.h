// SPDX-License-Identifier: MIT
// The part of the recording that a question is about: a time range, and threads; and the number of pixels.
//
// Times are nanoseconds since the recording's first event. Invariant: threads are indices of the recording.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "view/server/parameters.h"
#include "view/tracks/track_answers.h"

namespace penna {

// [t0, t1) of some threads.
struct ViewSelection {
  std::optional<int64_t> t0{}, t1{};
  std::vector<uint32_t> threads{};  // indices; empty: all
  bool operator==(const ViewSelection&) const = default;
};

inline constexpr int64_t kMostViewNs = INT64_C(1) << 62;

// "thread=3" or "thread=1,4,7"; empty if missing. `threads`: number of threads.
inline std::vector<uint32_t> chosen_threads(Parameters& in, size_t threads) {
  constexpr size_t kMostText = 10'000;
  const std::string text = in.text("thread", kMostText);
  std::vector<uint32_t> chosen;
  const char *at = text.data(), *const end = at + text.size();
  while (in.has("thread") && !in.error()) {
    uint32_t thread = 0;
    const auto [next, error] = std::from_chars(at, end, thread);
    if (error != std::errc() || thread >= threads || (next != end && *next != ',')) {
      in.refuse("thread is the id of one that `threads` lists, or several with commas between");
      return {};
    }
    chosen.push_back(thread);
    if (next == end) break;
    at = next + 1;
  }
  return chosen;
}

// `duration`: of the recording, in nanoseconds.
inline PixelView pixel_view(Parameters& in, int64_t duration) {
  constexpr int64_t kMostPixels = 10'000;
  PixelView view;
  view.t0 = in.number("t0", 0, 0, kMostViewNs);
  view.t1 = in.number("t1", std::max<int64_t>(duration, 0) + 1, 0, kMostViewNs);
  view.pixels = static_cast<uint32_t>(in.number("px", 1000, 1, kMostPixels));
  if (view.t1 <= view.t0) in.refuse("t1 is behind t0");
  return view;
}

}  // namespace penna
