// SPDX-License-Identifier: MIT
// ExportSize: says how large an export will be before it is, when that is more than 100 MB.
//
// How: from the bytes that were written so far and the share of the events that they stand for. Where filters leave
// events out, that share is not known, and the sentence comes with the hundredth megabyte.
// Invariant: one sentence at most, on stderr, and only while events remain to be read.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/progress.h"
#include "export/text_sink.h"

namespace penna {

class ExportSize {
 public:
  // `output`: its name. `advice`: what makes it smaller. `progress` runs to `total` events, 0 where there
  // are filters, and must outlive it.
  ExportSize(std::string output, std::string advice, const Progress& progress, uint64_t total)
      : output_(std::move(output)), advice_(std::move(advice)), progress_(progress), total_(total) {}

  // A sink that counts what goes through.
  TextSink through(TextSink sink);

 private:
  void count(size_t bytes);

  std::string output_, advice_;
  const Progress& progress_;
  uint64_t total_;
  uint64_t bytes_ = 0;
  bool said_ = false;
};

}  // namespace penna
