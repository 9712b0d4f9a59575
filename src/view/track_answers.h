// SPDX-License-Identifier: MIT
// Answers about one thread's track, as the pixels of a view need them (docs/view-protocol.md).
//
// Why density: what is shorter than a pixel cannot be drawn one by one, but its time can. Invariant: an answer is
// bounded by pixels times rows, whatever the track holds; nothing is dropped: what is not there by itself is in a sum.
// Errors: none. A range that holds nothing gives empty columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "view/tracks.h"

namespace penna {

// [t0, t1) in nanoseconds since the recording's start, t0 < t1, in so many pixels, at least one.
struct PixelView {
  int64_t t0 = 0, t1 = 1;
  uint32_t pixels = 1;
  double ns_per_pixel() const { return static_cast<double>(t1 - t0) / pixels; }
  // Where a pixel begins; that of `pixels` is t1.
  int64_t begin_of(uint32_t pixel) const {
    return t0 + static_cast<int64_t>(static_cast<double>(t1 - t0) * pixel / pixels);
  }
  uint32_t pixel_of(int64_t time) const;  // held inside the view
};

// `names`: how many there are by now (NameIds::size()).
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
