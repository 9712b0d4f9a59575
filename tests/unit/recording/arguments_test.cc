// SPDX-License-Identifier: MIT
// Text of array arguments, for valid and for invalid element types and sizes.
#include "recording/arguments.h"

#include <gtest/gtest.h>

#include <cstring>

namespace penna::arguments_test {
namespace {

// A point with one array, whose word {length, flags} says what its elements are.
std::string text_of_array(uint32_t element_type, uint32_t element_bytes, const std::string& elements) {
  Site site;
  site.arguments.push_back({PENNA_ARG_ARRAY, "list"});
  std::string payload(sizeof(penna_point) + 8, '\0');
  const auto length = static_cast<uint32_t>(elements.size());
  const uint32_t flags = element_type << PENNA_ELEMENT_TYPE_SHIFT | element_bytes << PENNA_ELEMENT_BYTES_SHIFT;
  std::memcpy(payload.data() + sizeof(penna_point), &length, sizeof length);
  std::memcpy(payload.data() + sizeof(penna_point) + 4, &flags, sizeof flags);
  payload += elements;
  payload.resize((payload.size() + 7) / 8 * 8);
  Record record;
  record.kind = PENNA_KIND_POINT;
  record.payload = reinterpret_cast<const uint8_t*>(payload.data());
  record.payload_bytes = static_cast<uint32_t>(payload.size());
  DecodedPoint point;
  decode_arguments(&site, record, point);
  return argument_text(point.values.at(0));
}

TEST(Arguments, ArraysOfEveryElement) {
  EXPECT_EQ(text_of_array(PENNA_ARG_INT, 2, std::string("\xff\xff\x02\x00", 4)), "[-1, 2]");
  EXPECT_EQ(text_of_array(PENNA_ARG_UINT, 1, "\xff"), "[255]");
  EXPECT_EQ(text_of_array(PENNA_ARG_BOOL, 1, std::string("\x01\x00", 2)), "[true, false]");
  EXPECT_EQ(text_of_array(PENNA_ARG_CHAR, 1, "ab"), "['a', 'b']");
  EXPECT_EQ(text_of_array(PENNA_ARG_INT, 4, ""), "[]");
}

TEST(Arguments, ArraysOfWhatCannotBeAnElement) {
  for (uint32_t type = 0; type < 16; ++type)
    for (uint32_t bytes = 0; bytes < 16; ++bytes) EXPECT_FALSE(text_of_array(type, bytes, "12345678").empty());
  EXPECT_EQ(text_of_array(PENNA_ARG_ARRAY, 4, "AAAABBBB"), "[0x41414141, 0x42424242]");
  EXPECT_EQ(text_of_array(PENNA_ARG_STRING, 8, "AAAAAAAA"), "[0x4141414141414141]");
}

}  // namespace
}  // namespace penna::arguments_test
