// SPDX-License-Identifier: MIT
// See heap_history.h.
#include "model/blocks/heap_history.h"

#include <algorithm>

namespace penna {
namespace {

// whole * part / parts without overflow.
uint64_t scaled(uint64_t whole, size_t part, size_t parts) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(whole) * part / parts);
}

}  // namespace

HeapHistory::HeapHistory(uint64_t begin, uint64_t end, size_t processes)
    : begin_(begin), ticks_(std::max(end, begin + 1) - begin), processes_(processes), points_(kPoints) {
  for (size_t i = 0; i < kPoints; ++i) points_[i].time = begin + scaled(ticks_, i, kPoints);
}

void HeapHistory::on_live(uint32_t process, uint64_t time, uint64_t bytes, uint64_t blocks) {
  for (; at_ + 1 < kPoints && time >= points_[at_ + 1].time; ++at_) {
    HeapPoint& next = points_[at_ + 1];
    next.most_bytes = next.least_bytes = next.end_bytes = now_.bytes;
    next.most_blocks = next.end_blocks = now_.blocks;
  }
  Live& of_process = processes_[process];
  now_.bytes += bytes - of_process.bytes;  // modulo 2^64: the sum is right in the end
  now_.blocks += blocks - of_process.blocks;
  of_process = {bytes, blocks};
  HeapPoint& point = points_[at_];
  if (now_.bytes > point.most_bytes) {
    point.most_bytes = now_.bytes;
    point.most_blocks = now_.blocks;
  }
  point.least_bytes = std::min(point.least_bytes, now_.bytes);
  point.end_bytes = now_.bytes;
  point.end_blocks = now_.blocks;
  if (now_.bytes <= peak_bytes_) return;
  peak_bytes_ = now_.bytes;
  peak_blocks_ = now_.blocks;
  peak_time_ = time;
}

std::vector<HeapPoint> HeapHistory::points(size_t count) const {
  std::vector<HeapPoint> result(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t first = i * kPoints / count, last = std::max(first + 1, (i + 1) * kPoints / count);
    HeapPoint& sum = result[i];
    sum = points_[std::min(first, at_)];
    if (first > at_) sum.most_bytes = sum.least_bytes = sum.end_bytes = now_.bytes;
    if (first > at_) sum.most_blocks = sum.end_blocks = now_.blocks;
    sum.time = begin_ + scaled(ticks_, i, count);
    for (size_t j = first + 1; j < last && j <= at_; ++j) {
      if (points_[j].most_bytes > sum.most_bytes) {
        sum.most_bytes = points_[j].most_bytes;
        sum.most_blocks = points_[j].most_blocks;
      }
      sum.least_bytes = std::min(sum.least_bytes, points_[j].least_bytes);
      sum.end_bytes = points_[j].end_bytes;
      sum.end_blocks = points_[j].end_blocks;
    }
  }
  return result;
}

}  // namespace penna
