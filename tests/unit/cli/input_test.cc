// SPDX-License-Identifier: MIT
// Which recording is the newest one.
#include "cli/input.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace penna::input_test {
namespace {

class NewestRecording : public testing::Test {
 protected:
  NewestRecording() {
    std::string path = "/tmp/penna-cli-XXXXXX";
    directory_ = ::mkdtemp(path.data());
  }
  ~NewestRecording() override { std::filesystem::remove_all(directory_); }

  void file(const std::string& name, time_t seconds, long nanoseconds = 0) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << "x";
    const timespec times[2] = {{seconds, nanoseconds}, {seconds, nanoseconds}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  std::string newest() {
    const auto found = newest_recording(directory_);
    return found ? found->substr(directory_.size() + 1) : "error: " + found.error().text;
  }
  std::string directory_;
};

TEST_F(NewestRecording, IsTheLastChanged) {
  file("b.penna", 100);
  file("a.penna", 200);
  file("c.penna", 150);
  EXPECT_EQ(newest(), "a.penna");
  file("d.penna", 200, 5);
  EXPECT_EQ(newest(), "d.penna");
}

TEST_F(NewestRecording, OfEquallyNewTheLastByName) {
  file("a.penna", 100);
  file("b.penna", 100);
  EXPECT_EQ(newest(), "b.penna");
}

TEST_F(NewestRecording, OtherFilesDoNotCount) {
  file("notes.txt", 300);
  file(".penna", 300);
  file("x.penna.old", 300);
  std::filesystem::create_directory(directory_ + "/folder.penna");
  EXPECT_THAT(newest(), testing::HasSubstr("penna record CMD"));
  file("a.penna", 100);
  EXPECT_EQ(newest(), "a.penna");
}

TEST_F(NewestRecording, DanglingLinksDoNotCount) {
  file("a.penna", 100);
  std::filesystem::create_symlink("/nowhere", directory_ + "/z.penna");
  EXPECT_EQ(newest(), "a.penna");
}

TEST(Newest, ADirectoryThatIsNotThereIsAnError) { EXPECT_FALSE(newest_recording("/nowhere/at/all")); }

TEST(OpenInput, WhatIsNoRecordingIsASentence) {
  InputOptions options;
  options.recording = "/etc/passwd";
  EXPECT_FALSE(open_input(options));
  options.recording = "/nowhere/at.penna";
  const auto missing = open_input(options);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text, testing::HasSubstr("/nowhere/at.penna"));
}

}  // namespace
}  // namespace penna::input_test
