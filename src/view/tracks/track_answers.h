// SPDX-License-Identifier: MIT
// Answers about one thread's track, at the resolution of a view (docs/view-protocol.md).
//
// Why density: spans shorter than a pixel cannot be drawn individually, but their time can. Invariant: an answer is
// bounded by pixels times rows, whatever the track holds; nothing is dropped: what is not listed individually is in a
// sum. Errors: none. A range without content gives empty columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "view/tracks/tracks.h"

namespace penna {

// [t0, t1) in nanoseconds since the recording's start, t0 < t1, in at least one pixel.
struct PixelView {
  int64_t t0 = 0, t1 = 1;
  uint32_t pixels = 1;
  double ns_per_pixel() const { return static_cast<double>(t1 - t0) / pixels; }
  // The start of a pixel; that of `pixels` is t1.
  int64_t begin_of(uint32_t pixel) const {
    return t0 + static_cast<int64_t>(static_cast<double>(t1 - t0) * pixel / pixels);
  }
  uint32_t pixel_of(int64_t time) const;  // clamped to the view
};

// `names`: the current number of names (NameIds::size()).
std::string slices_answer(const Track& track, const PixelView& view, uint32_t names);
std::string waits_answer(const Track& track, const PixelView& view, uint32_t names);
std::string points_answer(const Track& track, const PixelView& view, uint32_t names);

// One call. `before`, `after`: the nearest that begins before or after that moment; neither: the longest.
struct InstanceChoice {
  uint32_t name = 0;
  std::optional<int64_t> before{}, after{};
};
struct Instance {
  int64_t start = 0, duration = 0;
  uint32_t depth = 0;
};
bool is_better(const Instance& one, const Instance& other, const InstanceChoice& choice);
std::optional<Instance> find_instance(const Track& track, const InstanceChoice& choice);

}  // namespace penna
