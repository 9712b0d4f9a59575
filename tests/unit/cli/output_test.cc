// SPDX-License-Identifier: MIT
// Output: every byte arrives or the error says so; a reader that leaves is not an error. Progress lines.
#include "cli/output/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/file.h"
#include "cli/output/progress_line.h"
#include "options/terminal.h"

namespace penna::output_test {
namespace {

TEST(Output, WritesAFile) {
  const std::string path = testing::TempDir() + "penna-output";
  auto output = Output::create(path);
  ASSERT_TRUE(output);
  std::string all;
  for (int i = 0; i < 50'000; ++i) {
    const std::string piece = std::to_string(i) + "\n";
    EXPECT_TRUE(output->write(piece));
    all += piece;
  }
  const std::string large(300'000, 'x');
  EXPECT_TRUE(output->write(large));
  EXPECT_TRUE(output->finish());
  const auto read = read_file(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, all + large);
  ::unlink(path.c_str());
}

TEST(Output, AFullDiskIsASentence) {
  auto output = Output::create("/dev/full");
  ASSERT_TRUE(output);
  output->write("text");
  const auto finished = output->finish();
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().text, testing::HasSubstr("/dev/full: No space left on device"));
  EXPECT_FALSE(output->write("more"));
}

TEST(Output, AReaderThatLeftIsNoError) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  auto output = Output::create("/dev/fd/" + std::to_string(pipe_ends[1]));
  ASSERT_TRUE(output);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
  bool open = true;
  for (int i = 0; i < 10 && open; ++i) open = output->write(std::string(100'000, 'x'));
  EXPECT_FALSE(open);
  EXPECT_TRUE(output->finish());
  std::signal(SIGPIPE, before);
}

TEST(Output, WhatCannotBeMadeIsASentence) {
  const auto output = Output::create("/nowhere/at/all");
  ASSERT_FALSE(output);
  EXPECT_THAT(output.error().text, testing::HasSubstr("/nowhere/at/all"));
}

TEST(Progress, Text) {
  EXPECT_EQ(progress_text("reading", 5'000'000, 10'000'000, "events", 1), "reading: 50 %, 5.0 M events/s, 1 s left");
  EXPECT_EQ(progress_text("reading", 20, 10, "events", 1), "reading: 100 %, 20 events/s");
  EXPECT_EQ(progress_text("reading", 5'000, 0, "events", 1), "reading: 5.0 k events/s");
  EXPECT_EQ(progress_text("reading", 0, 10, "events", 0), "reading: 0 %, 0 events/s");
}

TEST(Terminal, NoTerminalHasNoWidthAndNoColour) {
  ::unsetenv("COLUMNS");
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  EXPECT_EQ(terminal_width(pipe_ends[1]), 0u);
  ::setenv("COLUMNS", "90", 1);
  EXPECT_EQ(terminal_width(pipe_ends[1]), 90u);
  ::unsetenv("COLUMNS");
  EXPECT_FALSE(wants_color(ColorMode::kAuto, pipe_ends[1]));
  EXPECT_TRUE(wants_color(ColorMode::kAlways, pipe_ends[1]));
  EXPECT_FALSE(wants_color(ColorMode::kNever, pipe_ends[1]));
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST(Terminal, NoColorWins) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0) << "cannot open a pseudo-terminal";
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(wants_color(ColorMode::kAuto, terminal));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(wants_color(ColorMode::kAuto, terminal));
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(wants_color(ColorMode::kAuto, terminal));
  ::setenv("COLUMNS", "132", 1);
  EXPECT_EQ(terminal_width(terminal), 132u);
  ::setenv("COLUMNS", "3", 1);
  EXPECT_EQ(terminal_width(terminal), 80u);
  ::unsetenv("COLUMNS");
  ::close(terminal);
}

}  // namespace
}  // namespace penna::output_test
