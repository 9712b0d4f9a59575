// SPDX-License-Identifier: MIT
// What part of the recording is looked at, as questions say it: a time, and of which threads; and in how many pixels.
//
// Times are nanoseconds since the recording's first event. Invariant: threads are indices of the recording.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "view/parameters.h"
#include "view/track_answers.h"

namespace penna {

// [t0, t1) of one thread, or of all.
struct ViewSelection {
  std::optional<int64_t> t0{}, t1{};
  std::optional<uint32_t> thread{};  // index
};

inline constexpr int64_t kMostViewNs = INT64_C(1) << 62;

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
