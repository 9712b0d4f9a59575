// SPDX-License-Identifier: MIT
// Arbitrary conditions, evaluated on points as any target may describe and send them.
//
// Input: the condition, a zero, then for each argument its type and a value of 8 bytes.
#include <cstdint>
#include <cstring>
#include <string_view>

#include "filter/where.h"

using namespace penna;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view text = input.substr(0, input.find('\0'));
  const auto where = Where::parse(text);
  if (!where) return 0;
  Site site;
  DecodedPoint point;
  for (size_t at = text.size() + 1; at + 9 <= size && site.arguments.size() < PENNA_MAX_ARGS; at += 9) {
    ArgumentValue value;
    value.type = data[at];
    value.present = true;
    std::memcpy(&value.bits, data + at + 1, 8);
    value.text = input.substr(at + 1, 8);
    site.arguments.push_back({value.type, std::string(1, static_cast<char>('a' + site.arguments.size()))});
    point.values.push_back(value);
  }
  if (const auto places = where->places_in(site)) (void)where->holds(*places, point);
  return 0;
}
