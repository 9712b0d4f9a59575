// SPDX-License-Identifier: MIT
// The call tree that folds equal adjacent calls: every call is counted in exactly one line.
#include "report/calls/call_listing.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace penna::call_listing_test {
namespace {

// Calls as "a(b()b())": each letter a function.
std::string listed(const std::string& calls, bool folded, bool finish = true) {
  std::string text;
  CallListing listing(folded, [&](const ListedCall& line) {
    text += std::string(line.depth, ' ') + static_cast<char>(line.function);
    if (line.total != 0) text += "*" + std::to_string(line.total);
    text += '\n';
    return true;
  });
  for (char c : calls) {
    if (c == ')') {
      listing.leave();
    } else if (c != '(') {
      listing.enter(static_cast<uint32_t>(c));
    }
  }
  if (finish) listing.finish();
  return text;
}

TEST(CallListing, EveryCallHasALine) { EXPECT_EQ(listed("m(a(b()b())b())", false), "m\n a\n  b\n  b\n b\n"); }

TEST(CallListing, EqualNeighboursAreCounted) {
  EXPECT_EQ(listed("m(b()b()b()c()b())", true), "m\n b\n b*3\n c\n b\n");
  EXPECT_EQ(listed("m(a(b()b())a(b()b()))", true), "m\n a\n  b\n  b*2\n a*2\n");
  EXPECT_EQ(listed("b()b()", true), "b\nb*2\n");
}

TEST(CallListing, WhatDiffersInsideIsNotEqual) {
  EXPECT_EQ(listed("m(a(b())a(c())a(c()))", true), "m\n a\n  b\n a\n  c\n a*2\n");
  EXPECT_EQ(listed("m(a()a()a(c()))", true), "m\n a\n a*2\n a\n  c\n");
  EXPECT_EQ(listed("m(a(b()b())a(b()))", true), "m\n a\n  b\n  b*2\n a\n  b\n");
}

TEST(CallListing, RecursionKeepsItsDepth) { EXPECT_EQ(listed("f(f(f()))", true), "f\n f\n  f\n"); }

TEST(CallListing, FirstCallsAreShownAtOnceAndOpenOnesAtTheEnd) {
  EXPECT_EQ(listed("m(a(b(", true, false), "m\n a\n  b\n");
  EXPECT_EQ(listed("m(a()a()a(b(", true), "m\n a\n a*2\n a\n  b\n");
}

// Unfolds what was folded: a line and its total back into calls.
std::string unfolded(const std::string& text) {
  struct Node {
    std::string calls;
  };
  std::vector<std::string> inside(1);  // by depth: the calls so far, the last one open
  std::vector<char> open;
  const auto close_to = [&](size_t depth) {
    while (open.size() > depth) {
      std::string call = std::string(1, open.back()) + "(" + inside.back() + ")";
      open.pop_back();
      inside.pop_back();
      inside.back() += call + " ";
    }
  };
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const size_t depth = text.find_first_not_of(' ', at) - at;
    close_to(depth);
    if (text[at + depth + 1] == '*') {
      const auto total = std::stoul(text.substr(at + depth + 2));
      std::string& calls = inside.back();
      int level = 0;
      size_t begin = calls.size() - 1;  // of the last call, at its end a blank
      while (begin-- > 0) {
        level += calls[begin] == ')' ? 1 : calls[begin] == '(' ? -1 : 0;
        if (level == 0) break;
      }
      const std::string last = calls.substr(begin - 1);
      for (size_t i = 1; i < total; ++i) calls += last;
    } else {
      open.push_back(text[at + depth]);
      inside.emplace_back();
    }
  }
  close_to(0);
  std::string calls;
  for (char c : inside[0])
    if (c != ' ') calls += c;
  return calls;
}

TEST(CallListing, FoldingLosesNothing) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string calls;
    size_t depth = 0;
    for (int i = 0; i < 60; ++i) {
      if (depth > 0 && random() % 2 == 0) {
        calls += ')';
        --depth;
      } else {
        calls += static_cast<char>('a' + random() % 2);
        calls += '(';
        ++depth;
      }
    }
    calls += std::string(depth, ')');
    ASSERT_EQ(unfolded(listed(calls, true)), calls) << listed(calls, true);
  }
}

}  // namespace
}  // namespace penna::call_listing_test
