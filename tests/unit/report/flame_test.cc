// SPDX-License-Identifier: MIT
// Flame, word for word: shares of callers, frames that are too narrow, names in UTF-8, colors.
#include "report/calls/flame.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "report/text.h"

namespace penna::flame_test {
namespace {

// Lines "outer;inner NUMBER".
std::string draw(const std::string& folded, FlameStyle style, FlameUnit unit = {CellKind::kCount, "calls"}) {
  Flame flame;
  std::istringstream lines(folded);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    const std::string_view stack = std::string_view(line).substr(0, space);
    std::vector<std::string_view> frames;
    for (size_t at = 0; at <= stack.size(); at += frames.back().size() + 1)
      frames.push_back(stack.substr(at, stack.find(';', at) - at));
    flame.add(frames, std::stoull(line.substr(space + 1)));
  }
  std::string text;
  EXPECT_TRUE(flame.print(style, unit, [&](std::string_view part) {
    text += part;
    return true;
  }));
  return text;
}

constexpr char kStacks[] =
    "main 10\n"
    "main;parse 20\n"
    "main;parse;lex 40\n"
    "main;write;flush 26\n"
    "main;tiny_a 1\nmain;tiny_b 1\nmain;tiny_c 2\n";

TEST(Flame, EachFunctionIsAsWideAsItsShareBelowItsCaller) {
  EXPECT_EQ(draw(kStacks, {60, false, true}),
            "[all 100 calls                                             ]\n"
            "[main 100.0 %                                              ]\n"
            "[parse 60.0 %                      ][write 26.0 %  ][]\n"
            "[lex 40.0 %            ]            [flush 26.0 %  ]\n");
}

TEST(Flame, WhatIsTooNarrowIsOneAndCounted) {
  const std::string text = draw("f;a 50\nf;b 1\nf;c 1\nf;d 1\nf;e 1\ng 46\n", {240, false, true});
  EXPECT_NE(text.find("[...(4)  ]"), std::string::npos) << text;
  EXPECT_NE(draw("f;a 50\nf;b 1\nf;c 1\nf;d 1\nf;e 1\ng 46\n", {240, false, false}).find("[…(4)    ]"),
            std::string::npos);
}

TEST(Flame, NamesAreCutByColumns) {
  const std::string text = draw("größenänderung;日本語の関数名 3\nandere 3\n", {40, false, true});
  size_t at = 0;
  for (size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    EXPECT_LE(display_width(text.substr(at, end - at)), 40u) << text.substr(at, end - at);
  EXPECT_NE(text.find("größenänderung"), std::string::npos) << text;
  EXPECT_NE(text.find("日本語"), std::string::npos) << text;
  EXPECT_EQ(draw("a\033[2Jb 1\n", {40, false, true}).find('\033'), std::string::npos)
      << "escape sequences in names must not reach the terminal";
}

TEST(Flame, InColourAFrameIsAFieldAndNothingElseDiffers) {
  std::string text = draw(kStacks, {60, true, false});
  EXPECT_NE(text.find("\033[38;5;16;48;5;"), std::string::npos);
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\033')
      at = text.find('m', at);
    else
      plain += text[at];
  }
  EXPECT_NE(plain.find("parse 60.0 %                        write 26.0 %"), std::string::npos) << plain;
}

TEST(Flame, SumsStayAtTheirLargest) {
  EXPECT_EQ(draw("", {60, false, true}), "There is nothing to draw: no weight calls was recorded.\n");
  const std::string text = draw("a 18446744073709551615\nb 18446744073709551615\n", {60, false, true});
  EXPECT_NE(text.find("[a"), std::string::npos) << text;
  std::string deep = "f";
  for (int i = 0; i < 1000; ++i) deep += ";f";
  EXPECT_NE(draw(deep + " 5\n", {60, false, true}).find("Calls deeper than 200 levels are not drawn."),
            std::string::npos);
}

}  // namespace
}  // namespace penna::flame_test
