// SPDX-License-Identifier: MIT
// Columns are where the header says, whatever its length.
#include "view/tracks/columns.h"

#include <gmock/gmock.h>

#include "column_reader.h"

namespace penna::columns_test {
namespace {

using testing::ElementsAre;

TEST(ColumnAnswer, ColumnsAreWhereTheHeaderSays) {
  // Of every length modulo 8, as the offsets stand in what decides on them.
  for (size_t length = 0; length < 40; ++length) {
    ColumnAnswer answer;
    answer.add("start", std::vector<double>{1.5, -2});
    answer.add("flags", std::vector<uint8_t>{7});
    answer.add("name", std::vector<uint32_t>{1, 2, UINT32_MAX});
    answer.add("none", std::vector<uint32_t>{});
    answer.add("parent", std::vector<int32_t>{-1});
    const ColumnReader read(answer.text([&](JsonWriter& json) { json.field("more", std::string(length, 'x')); }));
    EXPECT_THAT(read.column<double>("start"), ElementsAre(1.5, -2));
    EXPECT_THAT(read.column<uint8_t>("flags"), ElementsAre(7));
    EXPECT_THAT(read.column<uint32_t>("name"), ElementsAre(1, 2, UINT32_MAX));
    EXPECT_THAT(read.column<uint32_t>("none"), ElementsAre());
    EXPECT_THAT(read.column<int32_t>("parent"), ElementsAre(-1));
    EXPECT_NE(read.header().find("\"more\":\"" + std::string(length, 'x') + "\""), std::string::npos);
  }
}

}  // namespace
}  // namespace penna::columns_test
