// SPDX-License-Identifier: MIT
// The meaning of --lock-functions.
#include "options/own_locks.h"

#include <gtest/gtest.h>

namespace penna::own_locks_test {
namespace {

TEST(OwnLocks, NamesOfFunctions) {
  const auto lock = parse_own_lock("my_lock=my_unlock");
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->takes.text, "my_lock");
  EXPECT_EQ(lock->gives.text, "my_unlock");
  EXPECT_TRUE(lock->takes.matches("my_lock"));
  EXPECT_FALSE(lock->takes.matches("my_lock_too"));
  EXPECT_TRUE(lock->tries.text.empty());
}

TEST(OwnLocks, HowItIsTried) {
  const auto by_true = parse_own_lock("a=b,try=c"), by_zero = parse_own_lock("a=b,try0=c");
  ASSERT_TRUE(by_true && by_zero);
  EXPECT_EQ(by_true->answer, PENNA_ANSWER_TRUE);
  EXPECT_EQ(by_zero->answer, PENNA_ANSWER_ZERO);
  EXPECT_EQ(by_zero->tries.text, "c");
}

// As -F takes them: with or without parameters, whose commas are no commas of ours.
TEST(OwnLocks, NamesOfCxx) {
  const auto lock = parse_own_lock(
      "shop::Gate<int, 3>::enter(int, char)=shop::Gate<int, 3>::leave,try=shop::Gate<int, 3>::enter(int)");
  ASSERT_TRUE(lock) << lock.error().text;
  EXPECT_EQ(lock->takes.text, "shop::Gate<int, 3>::enter(int, char)");
  EXPECT_EQ(lock->gives.text, "shop::Gate<int, 3>::leave");
  EXPECT_TRUE(lock->gives.matches("shop::Gate<int, 3>::leave()"));
  EXPECT_FALSE(lock->takes.matches("shop::Gate<int, 3>::enter(int)"));
  EXPECT_TRUE(lock->tries.matches("shop::Gate<int, 3>::enter(int)"));
}

// A star in there is no glob.
TEST(OwnLocks, NamesWithPointers) {
  const auto lock = parse_own_lock("own_lock(int *)=Gate<char*>::leave,try=own_try(int*, Gate<char*>*)");
  ASSERT_TRUE(lock) << lock.error().text;
  EXPECT_TRUE(lock->takes.matches("own_lock(int*)"));
  EXPECT_FALSE(lock->takes.matches("own_lock(int, char*)"));
  EXPECT_TRUE(lock->gives.matches("Gate<char*>::leave()"));
  EXPECT_FALSE(lock->gives.matches("Gate<char*>::leave_it()"));
  EXPECT_TRUE(lock->tries.matches("own_try(int*, Gate<char*>*)"));
  for (const char* text : {"a*=b", "a=b*(int*)", "a=b,try=c?"}) EXPECT_FALSE(parse_own_lock(text)) << text;
}

TEST(OwnLocks, WhatCannotBeRead) {
  for (const char* text : {"", "a", "=", "a=", "=b", "a=b=c", "a=b,", "a=b,c", "a=b,try=", "a=b,try=a", "a=b,try=b",
                           "a=b,try=c,try=d", "a,try=c", "a,b=c", "a=a", "a*=b", "a=b,tries=c", "a=b,try0="}) {
    const auto lock = parse_own_lock(text);
    ASSERT_FALSE(lock) << text;
    EXPECT_NE(lock.error().text.find("LOCK=UNLOCK"), std::string::npos) << lock.error().text;
  }
  for (const char* text : {"/+/=b", "a=/+/", "a=b,try=/+/"}) {
    const auto lock = parse_own_lock(text);
    ASSERT_FALSE(lock) << text;
    EXPECT_NE(lock.error().text.find("'/+/' is not a regular expression"), std::string::npos) << lock.error().text;
  }
}

}  // namespace
}  // namespace penna::own_locks_test
