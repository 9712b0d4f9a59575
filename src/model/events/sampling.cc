// SPDX-License-Identifier: MIT
// See sampling.h.
#include "model/events/sampling.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace penna {
namespace {

// The number after `name` in the options of the recording; 0: none.
uint64_t number_of_option(const Recording& recording, std::string_view name) {
  uint64_t number = 0;
  for (const std::string& option : recording.session().options)
    if (option.starts_with(name)) std::from_chars(option.data() + name.size(), option.data() + option.size(), number);
  return number;
}

}  // namespace

SampleScale::SampleScale(const Recording& recording) : SampleScale(number_of_option(recording, "sample-bytes=")) {}

uint64_t lock_sample(const Recording& recording) {
  constexpr uint64_t kMost = 1'000'000;  // record's limit; more means a damaged recording
  return std::clamp<uint64_t>(number_of_option(recording, "sample-locks="), 1, kMost);
}

SampleWeight SampleScale::weigh_sample(uint64_t size) const {
  const auto recorded = static_cast<double>(size), counted = std::max(recorded, 1.0);
  const double probability = -std::expm1(-counted / static_cast<double>(mean_));
  if (probability >= 1) return {1, size};
  return {static_cast<uint64_t>(std::llround(1 / probability)),
          static_cast<uint64_t>(std::llround(recorded / probability))};
}

double sampling_error(uint64_t samples) { return samples == 0 ? 1 : 1 / std::sqrt(static_cast<double>(samples)); }

}  // namespace penna
