// SPDX-License-Identifier: MIT
// LibraryFrames and their use in Names: which frames are not the user's own, and what remains of a stack.
#include "model/names/library_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "model/names/same_stacks.h"
#include "recording_builder.h"

namespace penna::library_frames_test {
namespace {

using testing::ElementsAre;

FrameRole role_of(const char* function, const char* module = "/bin/shop", const char* file = "") {
  return LibraryFrames().role(function, file, module);
}

TEST(LibraryFrames, KnowTheLanguagesOwn) {
  for (const char* function :
       {"std::vector<Order, std::allocator<Order> >::push_back(Order const&)", "std::__1::vector<int>::vector()",
        "operator new(unsigned long)", "operator new[](unsigned long)", "operator delete(void*)",
        "__gnu_cxx::new_allocator<int>::allocate(unsigned long, void const*)", "__cxa_allocate_exception",
        "__gthread_mutex_lock", "_Znwm", "_ZNSt6vectorIiSaIiEE9push_backEOi", "malloc", "_int_malloc", "je_malloc",
        "tcmalloc::ThreadCache::Allocate(unsigned long)", "_mi_page_malloc"})
    EXPECT_EQ(role_of(function), FrameRole::kLibrary) << function;
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/libstdc++.so.6.0.30",
                           "/lib64/ld-linux-x86-64.so.2", "/usr/lib/libjemalloc.so.2", "/usr/lib/libc++abi.so.1"})
    EXPECT_EQ(role_of("anything", path), FrameRole::kLibrary) << path;
  for (const char* function : {"_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone3",
                               "execute_native_thread_routine"})
    EXPECT_EQ(role_of(function), FrameRole::kStart) << function;
  for (const char* function :
       {"main", "shop::pay(std::vector<Order, std::allocator<Order> >&)", "Order::operator new(unsigned long)",
        "stdlike::vector::push_back(int)", "standard", "mi_casa", "mallocs", "_ZN4shop3payEv", "shop+0x1234",
        "main::{lambda()#1}::operator()() const", "my::std::vector::f()"})
    EXPECT_EQ(role_of(function), FrameRole::kOwn) << function;
  EXPECT_EQ(role_of("anything", "/lib/libcurl.so.4"), FrameRole::kOwn);
  EXPECT_EQ(role_of("anything", "/lib/libmagic.so.1"), FrameRole::kOwn);
}

TEST(LibraryFrames, LeaveToTheUserWhatHisFilesAddToStd) {
  constexpr const char* kHash = "std::hash<shop::Order>::operator()(shop::Order const&) const";
  EXPECT_EQ(role_of(kHash, "/bin/shop", "/home/me/shop.cc"), FrameRole::kOwn);
  EXPECT_EQ(role_of(kHash, "/bin/shop", "shop.cc"), FrameRole::kOwn);
  EXPECT_EQ(role_of(kHash), FrameRole::kLibrary) << "without debug information nobody knows";
  EXPECT_EQ(role_of(kHash, "/usr/lib/libstdc++.so.6", "/home/me/shop.cc"), FrameRole::kLibrary);
  for (const char* file : {"/usr/include/c++/12/bits/stl_vector.h", "/usr/lib/llvm-14/include/c++/v1/vector",
                           "../../../../src/libstdc++-v3/src/c++11/thread.cc", "/src/libcxx/src/string.cpp"})
    EXPECT_EQ(role_of("std::vector<int>::vector()", "/bin/shop", file), FrameRole::kLibrary) << file;
  EXPECT_EQ(role_of("operator new(unsigned long)", "/bin/shop", "/home/me/new.cc"), FrameRole::kLibrary);
}

TEST(LibraryFrames, KnowWhatTheUserNames) {
  const LibraryFrames library({LibraryPattern("boost::*"), LibraryPattern("libQt5*.so*"), LibraryPattern("fmt/core.h"),
                               LibraryPattern("/^util_/")});
  EXPECT_EQ(library.role("boost::asio::run()", "", "/bin/shop"), FrameRole::kLibrary);
  EXPECT_EQ(library.role("QString::QString()", "", "/usr/lib/libQt5Core.so.5"), FrameRole::kLibrary);
  EXPECT_EQ(library.role("fmt::print()", "/usr/include/fmt/core.h", "/bin/shop"), FrameRole::kLibrary);
  EXPECT_EQ(library.role("util_copy", "util.c", "/bin/shop"), FrameRole::kLibrary);
  EXPECT_EQ(library.role("shop::boost()", "shop.cc", "/bin/shop"), FrameRole::kOwn);
  EXPECT_EQ(library.role("std::sort()", "", "/bin/shop"), FrameRole::kLibrary) << "those are more";
}

// A function at each 0x100 bytes, by name.
class NamedFunctions : public SymbolSource {
 public:
  std::vector<SourceFrame> code(const NamedFile&, uint64_t address) override {
    std::vector<SourceFrame> frames;
    for (const std::string& name : functions.at(address >> 8)) {
      const bool is_std = name.starts_with("std::");
      frames.push_back({name, is_std ? "/usr/include/c++/12/bits/stl_vector.h" : "app.cc", 1, true});
    }
    return frames;
  }
  std::optional<DataSymbol> data(const NamedFile&, uint64_t) override { return std::nullopt; }
  bool is_entry(const NamedFile&, uint64_t) override { return false; }
  std::string problem(const NamedFile&) override { return ""; }
  std::map<uint64_t, std::vector<std::string>> functions = {
      {1, {"operator new(unsigned long)"}},
      {2,
       {"std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long)",
        "std::vector<int, std::allocator<int> >::push_back(int&&)"}},
      {3, {"load()"}},
      {4, {"std::sort<int*>(int*, int*)"}},
      {5, {"main"}},
      {6, {"__libc_start_main"}},
      {7, {"_start"}},
      {8, {"std::vector<int, std::allocator<int> >::reserve(unsigned long)"}}};
};

class FoldedStacks : public testing::Test {
 protected:
  FoldedStacks() {
    const uint32_t process = build_.process(100);
    Module module;
    module.path = "/bin/program";
    module.bias = module.start = 0x100000;
    module.end = 0x110000;
    build_.module(process, module);
  }
  // `functions`: innermost first.
  uint32_t stack(std::initializer_list<uint64_t> functions, penna_stack_end end = PENNA_STACK_COMPLETE) {
    std::vector<uint64_t> pcs;
    for (const uint64_t function : functions) pcs.push_back(0x100010 + (function << 8));
    const uint32_t made = build_.stack(0, next_, pcs, end);
    next_ += 10;
    return made;
  }
  static NameStyle folding() { return {true, true, std::make_shared<const LibraryFrames>()}; }
  static std::vector<std::string> names_of(const NamedStack& stack) {
    std::vector<std::string> names;
    for (const NameFrame* frame : stack.frames) names.push_back(frame->function);
    return names;
  }

  RecordingBuilder build_;
  NamedFunctions symbols_;
  uint32_t next_ = 1;
};

TEST_F(FoldedStacks, ShowWhatTheUserCalled) {
  const uint32_t grown = stack({1, 2, 3, 4, 5, 6, 7}), cut = stack({1, 2, 3, 4}, PENNA_STACK_DEPTH_LIMIT),
                 before_main = stack({1, 2, 6, 7});
  const Recording recording = build_.open();
  Names names(recording, symbols_, folding());
  EXPECT_THAT(names_of(names.shown(0, grown)),
              ElementsAre("std::vector<int>::push_back(int&&)", "load()", "std::sort<int*>(int*, int*)", "main"));
  EXPECT_THAT(names_of(names.shown(0, cut)),
              ElementsAre("std::vector<int>::push_back(int&&)", "load()", "std::sort<int*>(int*, int*)"))
      << "nobody knows that it was not the user's";
  EXPECT_THAT(names_of(names.shown(0, before_main)),
              ElementsAre("operator new(unsigned long)", "std::_Vector_base<int>::_M_allocate(unsigned long)",
                          "std::vector<int>::push_back(int&&)", "__libc_start_main", "_start"))
      << "none is the user's: all are shown";
  EXPECT_THAT(names_of(names.shown(0, grown, 3)), ElementsAre("load()", "std::sort<int*>(int*, int*)", "main"));
  EXPECT_THAT(names_of(names.shown(0, 0)), ElementsAre());
  EXPECT_EQ(names.stack(0, grown).frames.size(), 8u) << "all of it is still there";
  const NamedStack shown = names.shown(0, grown);
  EXPECT_EQ(names.line_name(*shown.frames[0]), "std::vector<int>::push_back");
  EXPECT_EQ(names.line_name(*shown.frames[1]), "load()");
  EXPECT_EQ(names.origin(0, grown)->function, "load()");
  EXPECT_EQ(names.origin(0, before_main)->function, "std::_Vector_base<int>::_M_allocate(unsigned long)");
  EXPECT_EQ(names.origin(0, grown)->full_name(), "load()");
  EXPECT_EQ(names.stack(0, grown).frames[2]->full_name(), "std::vector<int, std::allocator<int> >::push_back(int&&)");
}

TEST_F(FoldedStacks, AreWholeUnlessTheStyleSaysSo) {
  const uint32_t grown = stack({1, 2, 3, 4, 5, 6, 7});
  const Recording recording = build_.open();
  Names names(recording, symbols_);
  EXPECT_EQ(names.shown(0, grown).frames.size(), 8u);
  EXPECT_EQ(names.origin(0, grown)->function,
            "std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long)");
  EXPECT_EQ(names.shown(0, grown, 3).frames.front()->function, "load()");
  // Programs get all frames, and the user's own as the place.
  Names for_programs(recording, symbols_, {false, false, std::make_shared<const LibraryFrames>()});
  EXPECT_EQ(for_programs.shown(0, grown).frames.size(), 8u);
  EXPECT_EQ(for_programs.origin(0, grown)->function, "load()");
}

TEST_F(FoldedStacks, AreTheSameWhereTheyReadTheSame) {
  const uint32_t one = stack({1, 2, 3, 5, 6, 7}), without_new = stack({2, 3, 5, 6, 7}), other = stack({1, 8, 3, 5, 7}),
                 before = stack({1, 2, 7}), before_too = stack({2, 7});
  const Recording recording = build_.open();
  Names folded(recording, symbols_, folding()), whole(recording, symbols_);
  SameStacks same(recording, folded), different(recording, whole);
  EXPECT_EQ(same.first_like(0, one).stack, one);
  EXPECT_EQ(same.first_like(0, without_new).stack, one);
  EXPECT_EQ(same.first_like(0, other).stack, other);
  EXPECT_EQ(same.first_like(0, before).stack, before);
  EXPECT_EQ(same.first_like(0, before_too).stack, before_too) << "shown in full, they differ";
  SameStacks apart(recording, folded), all(recording, folded, SameStacks::Of::kAllProcesses, SameStacks::Lines::kAll);
  apart.keep_apart([&](uint32_t, uint32_t stack) { return stack == without_new; });
  EXPECT_EQ(apart.first_like(0, one).stack, one);
  EXPECT_EQ(apart.first_like(0, without_new).stack, without_new);
  EXPECT_EQ(all.first_like(0, one).stack, one);
  EXPECT_EQ(all.first_like(0, without_new).stack, without_new);
  for (const uint32_t each : {one, without_new, other, before, before_too})
    EXPECT_EQ(different.first_like(0, each).stack, each);
}

}  // namespace
}  // namespace penna::library_frames_test
