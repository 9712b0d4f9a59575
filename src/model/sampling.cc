// SPDX-License-Identifier: MIT
// See sampling.h.
#include "model/sampling.h"

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace penna {
namespace {

uint64_t mean_of(const Recording& recording) {
  constexpr std::string_view kOption = "sample-bytes=";
  uint64_t mean = 0;
  for (const std::string& option : recording.session().options)
    if (option.starts_with(kOption))
      std::from_chars(option.data() + kOption.size(), option.data() + option.size(), mean);
  return mean;
}

}  // namespace

SampleScale::SampleScale(const Recording& recording) : SampleScale(mean_of(recording)) {}

SampleWeight SampleScale::weigh_sample(uint64_t size) const {
  const double recorded = static_cast<double>(size), probability = -std::expm1(-recorded / static_cast<double>(mean_));
  if (size == 0 || probability >= 1) return {1, size};
  return {static_cast<uint64_t>(std::llround(1 / probability)),
          static_cast<uint64_t>(std::llround(recorded / probability))};
}

double sampling_error(uint64_t samples) { return samples == 0 ? 1 : 1 / std::sqrt(static_cast<double>(samples)); }

}  // namespace penna
