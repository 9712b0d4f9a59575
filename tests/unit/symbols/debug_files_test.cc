// SPDX-License-Identifier: MIT
// The search for separate debug files: by build ID, by debuglink, inside the file, with dwz, from debuginfod.
#include "symbols/elf/debug_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>

#include "programs.h"
#include "symbols/symbolizer.h"

namespace penna::debug_files_test {
namespace {

using test::tree;

constexpr const char* kFlags = "g++ -std=c++17 -O2 -g";

// A stripped copy of the program in a folder of its own, and its debug file beside it.
struct Split {
  std::string folder, program, debug;
  uint64_t over = 0;
  BuildId build_id;
};

Split split(const std::string& name, const std::string& flags = kFlags) {
  Split result;
  std::string whole = test::build(flags, "shapes.cc");
  result.folder = tree() + "/" + name;
  result.program = test::copy_of(whole, name + "/app");
  result.debug = result.folder + "/app.debug";
  result.over = test::address_of(whole, "_ZN6shapes4overEd");
  test::run("objcopy --only-keep-debug " + result.program + " " + result.debug + " && strip " + result.program);
  auto file = ElfFile::open(result.program);
  EXPECT_TRUE(file.has_value());
  if (file) result.build_id = file->build_id();
  return result;
}

// Moves the debug file to where its build-id says, under `root`.
void file_by_build_id(const Split& split, const std::string& root) {
  std::string hex = build_id_text(split.build_id);
  ASSERT_GT(hex.size(), 2u);
  test::run("mkdir -p " + root + "/.build-id/" + hex.substr(0, 2) + " && mv " + split.debug + " " + root +
            "/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug");
}

std::unique_ptr<SymbolFile> open(const ModuleFile& module, const SymbolOptions& options = {}) {
  auto file = SymbolFile::open(module, options);
  EXPECT_TRUE(file.has_value()) << (file ? "" : file.error().text);
  return file ? std::move(*file) : nullptr;
}

void expect_full(SymbolFile* file, uint64_t over) {
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->status().level, SymbolLevel::kDwarf);
  EXPECT_FALSE(file->status().debug_file.empty());
  auto frames = file->frames(over, false);
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().function, "shapes::over(double)");
  EXPECT_NE(frames[0].line, 0u);
}

TEST(DebugFiles, StrippedSaysWhatToDo) {
  Split s = split("bare");
  test::run("rm " + s.debug);
  auto file = open({s.program, s.build_id});
  ASSERT_NE(file, nullptr);
  EXPECT_NE(file->status().advice.find("--debug-dir"), std::string::npos) << file->status().advice;
  EXPECT_FALSE(file->find(s.over).has_value());
}

TEST(DebugFiles, ByBuildIdInDebugDir) {
  Split s = split("by-id");
  file_by_build_id(s, tree() + "/by-id-root");
  SymbolOptions options;
  options.search.debug_dirs = {tree() + "/nothing-here", tree() + "/by-id-root"};
  expect_full(open({s.program, s.build_id}, options).get(), s.over);
  // The folder .build-id itself serves too, and symfs has its own /usr/lib/debug.
  options.search.debug_dirs = {tree() + "/by-id-root/.build-id"};
  expect_full(open({s.program, s.build_id}, options).get(), s.over);
}

TEST(DebugFiles, OfAnotherBuildIsNotTaken) {
  Split s = split("other");
  Split t = split("other-build", "g++ -std=c++17 -O0 -g");
  std::string hex = build_id_text(s.build_id);
  test::run("mkdir -p " + tree() + "/wrong/.build-id/" + hex.substr(0, 2) + " && cp " + t.debug + " " + tree() +
            "/wrong/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug; rm " + s.debug);
  SymbolOptions options;
  options.search.debug_dirs = {tree() + "/wrong"};
  auto file = open({s.program, s.build_id}, options);
  ASSERT_NE(file, nullptr);
  EXPECT_TRUE(file->status().debug_file.empty());
}

TEST(DebugFiles, ByDebuglinkWithBuildId) {
  Split s = split("link-id");
  test::run("cd " + s.folder + " && objcopy --add-gnu-debuglink=app.debug app");
  expect_full(open({s.program, s.build_id}).get(), s.over);
}

// Without build-ids the CRC decides.
TEST(DebugFiles, ByDebuglinkWithCrc) {
  constexpr const char* kNoId = "g++ -std=c++17 -O2 -g -Wl,--build-id=none";
  Split s = split("link-crc", kNoId);
  EXPECT_TRUE(s.build_id.empty());
  test::run("cd " + s.folder + " && objcopy --add-gnu-debuglink=app.debug app && mkdir .debug && mv app.debug .debug");
  expect_full(open({s.program, {}}).get(), s.over);
  auto bytes = test::read_bytes(s.folder + "/.debug/app.debug");
  bytes[bytes.size() - 1] ^= 1;
  test::write_bytes(s.folder + "/.debug/app.debug", bytes);
  auto file = open({s.program, {}});
  ASSERT_NE(file, nullptr);
  EXPECT_TRUE(file->status().debug_file.empty()) << "a debug file with a wrong CRC was accepted";
}

TEST(DebugFiles, ByDebuglinkUnderDebugDir) {
  Split s = split("link-dir", "g++ -std=c++17 -O2 -g -Wl,--build-id=none");
  test::run("cd " + s.folder + " && objcopy --add-gnu-debuglink=app.debug app && mkdir -p " + tree() + "/root" +
            s.folder + " && mv app.debug " + tree() + "/root" + s.folder);
  SymbolOptions options;
  options.search.debug_dirs = {tree() + "/root"};
  expect_full(open({s.program, {}}, options).get(), s.over);
}

TEST(DebugFiles, RebuiltFileIsRefused) {
  Split s = split("rebuilt");
  Split t = split("rebuilt-later", "g++ -std=c++17 -O0 -g");
  auto file = SymbolFile::open({t.program, s.build_id}, {});
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error().text.find("was rebuilt since the recording"), std::string::npos) << file.error().text;

  // But its debug file, found by the recorded build-id, serves alone; also when the program is gone.
  file_by_build_id(s, tree() + "/rebuilt-root");
  SymbolOptions options;
  options.search.debug_dirs = {tree() + "/rebuilt-root"};
  auto from_debug = open({t.program, s.build_id}, options);
  expect_full(from_debug.get(), s.over);
  EXPECT_NE(from_debug->status().advice.find("rebuilt"), std::string::npos) << from_debug->status().advice;
  expect_full(open({"/gone/app", s.build_id}, options).get(), s.over);
  expect_full(open({s.program + " (deleted)", s.build_id}, options).get(), s.over);
}

TEST(DebugFiles, Symfs) {
  Split s = split("symfs/usr/bin");
  file_by_build_id(s, tree() + "/symfs/usr/lib/debug");
  SymbolOptions options;
  options.search.symfs = tree() + "/symfs";
  expect_full(open({"/usr/bin/app", s.build_id}, options).get(), s.over);
  // Outside of symfs only the very build is taken.
  SymbolOptions elsewhere;
  elsewhere.search.symfs = tree() + "/empty";
  EXPECT_TRUE(SymbolFile::open({s.program, s.build_id}, elsewhere).has_value());
  EXPECT_FALSE(SymbolFile::open({s.program, {}}, elsewhere).has_value());
}

TEST(DebugFiles, Minidebuginfo) {
  ASSERT_TRUE(test::has_command("xz"));
  Split s = split("mini", "g++ -std=c++17 -O2");
  std::string whole = test::build("g++ -std=c++17 -O2", "shapes.cc");
  test::run("cd " + s.folder + " && objcopy --strip-debug --only-keep-debug " + whole +
            " mini; objcopy -S --keep-symbol=_ZN6shapes4overEd " + whole +
            " mini && xz -k mini && objcopy --add-section .gnu_debugdata=mini.xz app; rm app.debug mini");
  auto file = open({s.program, s.build_id});
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->status().level, SymbolLevel::kSymbols);
  EXPECT_EQ(file->find(s.over)->name, "shapes::over(double)");
}

TEST(DebugFiles, Dwz) {
  ASSERT_TRUE(test::has_command("dwz"));
  Split s = split("dwz-a");
  Split t = split("dwz-b", "g++ -std=c++17 -O1 -g");
  test::run("cd " + tree() + " && dwz -m common.dwz -M " + tree() + "/common.dwz " + s.debug + " " + t.debug);
  file_by_build_id(s, tree() + "/dwz-root");
  SymbolOptions options;
  options.search.debug_dirs = {tree() + "/dwz-root"};
  auto file = open({s.program, s.build_id}, options);
  ASSERT_NE(file, nullptr);
  size_t inlined = 0;
  for (uint64_t pc : test::random_pcs(test::build(kFlags, "shapes.cc"), 300)) {
    for (const auto& frame : file->frames(pc, false)) inlined += frame.inlined && !frame.function.empty();
  }
  EXPECT_GT(inlined, 20u);
  EXPECT_EQ(file->status().advice, "");

  test::run("rm " + tree() + "/common.dwz");
  auto without = open({s.program, s.build_id}, options);
  ASSERT_NE(without, nullptr);
  EXPECT_EQ(without->frames(s.over, false).back().function, "shapes::over(double)");
  EXPECT_NE(without->status().advice.find("common.dwz, which is missing"), std::string::npos)
      << without->status().advice;
}

// debuginfod with a local tree of files as its server: asked with urls, never without.
TEST(DebugFiles, DebuginfodOnlyWhenAsked) {
  Split s = split("server");
  std::string hex = build_id_text(s.build_id);
  test::run("mkdir -p " + tree() + "/www/buildid/" + hex + " && mv " + s.debug + " " + tree() + "/www/buildid/" + hex +
            "/debuginfo");
  ::setenv("DEBUGINFOD_URLS", ("file://" + tree() + "/www").c_str(), 1);
  ::setenv("DEBUGINFOD_CACHE_PATH", (tree() + "/cache").c_str(), 1);
  auto without = open({s.program, s.build_id});
  ASSERT_NE(without, nullptr);
  EXPECT_TRUE(without->status().debug_file.empty()) << "DEBUGINFOD_URLS alone must not start a download";
  SymbolOptions options;
  options.search.debuginfod_urls = "file://" + tree() + "/www";
  auto with = open({s.program, s.build_id}, options);
  ASSERT_NE(with, nullptr);
  ASSERT_FALSE(with->status().debug_file.empty()) << "libdebuginfod is missing, or does not support file://";
  expect_full(with.get(), s.over);
}

TEST(DebugFiles, Crc) {
  std::string text = "123456789";
  EXPECT_EQ(debuglink_crc({reinterpret_cast<const uint8_t*>(text.data()), text.size()}), 0xcbf43926u);
}

TEST(Symbolizer, KeepsAnswersAndFailures) {
  Split s = split("cache");
  file_by_build_id(s, tree() + "/cache-root");
  SymbolOptions options;
  options.search.debug_dirs = {tree() + "/cache-root"};
  Symbolizer symbolizer(options);
  auto app = symbolizer.add({s.program, s.build_id});
  EXPECT_EQ(symbolizer.add({s.program, s.build_id}), app);
  auto gone = symbolizer.add({"/gone/libfoo.so.1", {}});
  EXPECT_NE(gone, app);
  EXPECT_EQ(symbolizer.module_count(), 2u);

  const auto& first = symbolizer.frames(app, s.over, false);
  ASSERT_FALSE(first.empty());
  for (uint64_t pc = s.over; pc < s.over + 200; ++pc) symbolizer.frames(app, pc, false);
  EXPECT_EQ(&symbolizer.frames(app, s.over, false), &first) << "references to frames stay valid";
  EXPECT_EQ(&symbolizer.frames(app, s.over + 1, true), &first) << "a return address is looked up one byte earlier";
  EXPECT_EQ(symbolizer.status(app).level, SymbolLevel::kDwarf);
  EXPECT_EQ(symbolizer.find(app, s.over)->name, "shapes::over(double)");

  EXPECT_TRUE(symbolizer.frames(gone, 0x1000, true).empty());
  EXPECT_FALSE(symbolizer.find(gone, 0x1000).has_value());
  EXPECT_FALSE(symbolizer.find_object(gone, 0x1000).has_value());
  EXPECT_EQ(symbolizer.status(gone).level, SymbolLevel::kNone);
  EXPECT_NE(symbolizer.status(gone).advice.find("/gone/libfoo.so.1"), std::string::npos);
}

}  // namespace
}  // namespace penna::debug_files_test
