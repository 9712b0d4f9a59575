// SPDX-License-Identifier: MIT
// SourceFiles: only regular files of text inside the allowed directories, wherever names and links lead.
#include "view/answers/source_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace penna::source_files_test {
namespace {

namespace fs = std::filesystem;

class SourceFilesTest : public testing::Test {
 protected:
  SourceFilesTest() {
    char name[] = "/tmp/penna-sources.XXXXXX";
    root_ = ::mkdtemp(name);
    for (const char* folder : {"build/src", "private"}) fs::create_directories(root_ / folder);
    write("build/src/shop.c", "one\r\ntwo\n\nfour");
    write("private/key", "secret\n");
    write("build/binary.c", std::string("a\0b", 3));
    fs::create_symlink(root_ / "private/key", root_ / "build/link.c");
    fs::create_symlink("src", root_ / "build/also");
    ::mkfifo((root_ / "build/fifo.c").c_str(), 0600);
  }
  ~SourceFilesTest() override { fs::remove_all(root_); }

  void write(const char* name, const std::string& text) { std::ofstream(root_ / name) << text; }
  Result<SourceText> read(const std::string& name, uint64_t start_ns = UINT64_MAX) {
    return SourceFiles({(root_ / "build").string(), (root_ / "nowhere").string()}, start_ns).read(name);
  }

  fs::path root_;
};

TEST_F(SourceFilesTest, LinesWithoutTheirEnds) {
  const auto source = read((root_ / "build/src/shop.c").string());
  ASSERT_TRUE(source);
  EXPECT_EQ(source->lines, (std::vector<std::string>{"one", "two", "", "four"}));
  EXPECT_FALSE(source->is_newer);
  EXPECT_TRUE(read((root_ / "build/src/shop.c").string(), 1)->is_newer);
}

TEST_F(SourceFilesTest, AProgramThatWasBuiltElsewhere) {
  for (const char* name : {"/home/other/project/src/shop.c", "src/shop.c", "./src/shop.c", "/src/shop.c"}) {
    const auto source = read(name);
    ASSERT_TRUE(source) << name;
    EXPECT_EQ(source->path, (root_ / "build/src/shop.c").string());
  }
  EXPECT_TRUE(read("also/shop.c")) << "a link inside of the directory";
}

TEST_F(SourceFilesTest, NothingOutside) {
  for (const std::string& name :
       {(root_ / "private/key").string(), std::string("../private/key"), std::string("link.c"),
        (root_ / "build/../private/key").string(), std::string("/etc/passwd"), std::string("src/../../private/key"),
        std::string(), std::string("/"), std::string(".."), (root_ / "build").string(), std::string("src")})
    EXPECT_FALSE(read(name)) << name;
  EXPECT_NE(read("/etc/passwd").error().text.find("--source-dir"), std::string::npos);
}

TEST_F(SourceFilesTest, NothingButTextInFiles) {
  EXPECT_NE(read("binary.c").error().text.find("no text"), std::string::npos);
  EXPECT_NE(read("fifo.c").error().text.find("no file"), std::string::npos);
  std::ofstream(root_ / "build/large.c") << std::string(SourceFiles::kMostBytes + 1, 'x');
  EXPECT_NE(read("large.c").error().text.find("larger than 4 MiB"), std::string::npos);
}

}  // namespace
}  // namespace penna::source_files_test
