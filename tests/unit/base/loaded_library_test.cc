// SPDX-License-Identifier: MIT
// LoadedLibrary: symbols that a library has, and symbols that it lacks.
#include "base/loaded_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace penna {
namespace {

TEST(loaded_library, finds_functions_and_names_the_first_that_is_missing) {
  LoadedLibrary math("libm.so.6");
  ASSERT_TRUE(math);
  double (*root)(double) = nullptr;
  math.find(root, "sqrt");
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root(16), 4);
  EXPECT_EQ(math.missing(), nullptr);
  int* none = nullptr;
  math.find(none, "penna_has_no_such_thing");
  math.find(root, "penna_has_no_other");
  EXPECT_EQ(none, nullptr);
  EXPECT_STREQ(math.missing(), "penna_has_no_such_thing");
}

TEST(loaded_library, what_is_not_there_says_so_and_has_nothing) {
  LoadedLibrary library("libpenna-none.so.0");
  EXPECT_FALSE(library);
  EXPECT_THAT(library.error(), testing::HasSubstr("libpenna-none.so.0"));
  int* symbol = nullptr;
  library.find(symbol, "errno");
  EXPECT_EQ(symbol, nullptr);
  EXPECT_STREQ(library.missing(), "errno");
}

}  // namespace
}  // namespace penna
