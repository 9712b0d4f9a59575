// SPDX-License-Identifier: MIT
// Names of functions, stacks and data, with a symbol source made up by the test; and once with the real one.
#include "model/names/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include "recording_builder.h"

namespace penna::names_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Functions of 0x100 bytes: "file:f1" at 0x100... From 0x800 on each has "file:inlined" in it, from 0xf00 on no name.
class FakeSymbols : public SymbolSource {
 public:
  std::vector<SourceFrame> code(const NamedFile& file, uint64_t address) override {
    ++questions;
    if (address >= 0xf00) return {};
    const std::string name = file.path + ":f" + std::to_string(address >> 8);
    if (address >= 0x800) return {{file.path + ":inlined", "in.h", 5, true}, {name, "main.cc", 7, false}};
    return {{name, "", 0, false}};
  }
  std::optional<DataSymbol> data(const NamedFile&, uint64_t address) override {
    if (address < 0x4000) return std::nullopt;
    return DataSymbol{"table", address - 0x4000};
  }
  // But from 0x1000 on it is known where they begin.
  std::optional<uint64_t> unnamed_start(const NamedFile&, uint64_t address) override {
    return address >= 0x1000 ? std::optional(address & ~uint64_t{0xff}) : std::nullopt;
  }
  bool is_entry(const NamedFile&, uint64_t address) override { return address >> 8 == 0xe; }
  std::string problem(const NamedFile& file) override { return file.path == "/lib/lib.so" ? "It is stripped." : ""; }
  int questions = 0;
};

Module module_at(const std::string& path, uint64_t start, uint32_t generation = 0, uint64_t ticks = 0) {
  Module module;
  module.path = path;
  module.bias = module.start = start;
  module.end = start + 0x10000;
  module.generation = generation;
  module.ticks = ticks;
  return module;
}

std::vector<std::string> names_of(const NamedStack& stack) {
  std::vector<std::string> result;
  for (const NameFrame* frame : stack.frames) result.push_back(frame->function + (frame->inlined ? " (inlined)" : ""));
  return result;
}

// One process of one program.
class NamesOfProgram : public testing::Test {
 protected:
  Recording opened() {
    build_.module(process, module_at("/bin/program", 0x100000));
    return build_.open();
  }

  RecordingBuilder build_;
  const uint32_t process = build_.process(100);
  Recording recording_ = opened();
  FakeSymbols symbols_;
  Names names{recording_, symbols_};
};

TEST_F(NamesOfProgram, OfFunctionsFallBackToWhatIsKnown) {
  EXPECT_EQ(names.function_name(process, 0x100300, 0), "/bin/program:f3");
  EXPECT_EQ(names.function_name(process, 0x100801, 0), "/bin/program:f8");
  EXPECT_EQ(names.function(process, 0x100801, 0).front().function, "/bin/program:inlined");
  EXPECT_EQ(names.function_name(process, 0x100f10, 0), "program+0xf10");
  EXPECT_EQ(names.function_name(process, 0x7000, 0), "[unknown] 0x7000");
  EXPECT_FALSE(names.function(process, 0x100f10, 0).front().named);
}

TEST_F(NamesOfProgram, OfFunctionsWithoutSymbolAreWhereTheyBegin) {
  const NameFrame& first = names.function(process, 0x101010, 0).front();
  const NameFrame& second = names.function(process, 0x101080, 0).front();
  EXPECT_EQ(first.function, "program+0x1000");
  EXPECT_EQ(second.function, "program+0x1000");
  EXPECT_EQ(first.offset, 0x10u);
  EXPECT_EQ(second.offset, 0x80u);
  EXPECT_FALSE(first.named);
  EXPECT_EQ(names.function(process, 0x100f10, 0).front().offset, 0u);
  EXPECT_EQ(names.data(process, 0x102010, 0), "program+0x2010") << "an address in data has no function";
}

TEST(Names, AreAskedForOnce) {
  RecordingBuilder build;
  const uint32_t first = build.process(100), second = build.process(200);
  build.module(first, module_at("/lib/lib.so", 0x100000));
  build.module(second, module_at("/lib/lib.so", 0x900000));
  Recording recording = build.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  const NameFrames* frames = &names.function(first, 0x100300, 0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(&names.function(second, 0x900300, 0), frames);
  EXPECT_EQ(symbols.questions, 1);
}

TEST(Names, OfStacksAreTheCallsBeforeTheReturnAddresses) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.module(process, module_at("/bin/program", 0x100000));
  // 0x100300 is the first byte of f3: a call at the very end of f2 returns there.
  const uint32_t stack = build.stack(process, 1, {0x100300, 0x100810, 0x100150}, PENNA_STACK_NO_RULE);
  Recording recording = build.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  const NamedStack named = names.stack(process, stack);
  EXPECT_THAT(names_of(named),
              ElementsAre("/bin/program:f2", "/bin/program:inlined (inlined)", "/bin/program:f8", "/bin/program:f1"));
  EXPECT_EQ(named.end, StackEnd::kNoRule);
  EXPECT_EQ(names.origin(process, stack)->function, "/bin/program:f2");
  EXPECT_EQ(names.origin(process, 0), nullptr);
  EXPECT_EQ(names.stack(process, 0).end, StackEnd::kUnknown);
  EXPECT_EQ(names.stack(process, 999).end, StackEnd::kUnknown);
}

// What a stripped library does inside says nothing to its callers; what the program, or libc, does is where it is.
TEST(Names, OfNamelessCodeInALibraryIsWhoCalledIt) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.module(process, module_at("/bin/program", 0x100000));
  build.module(process, module_at("/lib/lib.so", 0x200000));
  build.module(process, module_at("/lib/libc.so.6", 0x300000));
  const uint32_t by_program = build.stack(process, 1, {0x201010, 0x200f80, 0x100150});
  const uint32_t by_library = build.stack(process, 10, {0x201010, 0x200110, 0x100150});
  const uint32_t by_libc = build.stack(process, 20, {0x201010, 0x300110});
  const uint32_t of_program = build.stack(process, 30, {0x101010, 0x100150});
  Recording recording = build.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  const auto caller = [&](uint32_t stack) {
    return names.named_caller(process, stack, names.origin(process, stack), [](std::string_view) { return false; })
        ->function;
  };
  EXPECT_EQ(caller(by_program), "/bin/program:f1");
  EXPECT_EQ(caller(by_library), "/lib/lib.so:f1");
  EXPECT_EQ(caller(by_libc), "lib.so+0x1000");
  EXPECT_EQ(caller(of_program), "program+0x1000");
}

TEST(Names, AStackThatEndsWhereTheProcessBeganIsComplete) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.module(process, module_at("/bin/program", 0x100000));
  const uint32_t begun = build.stack(process, 1, {0x100300, 0x100e10}, PENNA_STACK_NO_RULE);
  const uint32_t unread = build.stack(process, 3, {0x100300, 0x100e10}, PENNA_STACK_BAD_MEMORY);
  Recording recording = build.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  EXPECT_EQ(names.stack(process, begun).end, StackEnd::kComplete);
  EXPECT_EQ(names.stack(process, begun).frames.size(), 3u);
  EXPECT_EQ(names.stack(process, unread).end, StackEnd::kBadMemory);
}

TEST(Names, AStackWhoseOuterNodesAreMissingSaysSo) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  const penna_stack_node orphan{0x5000, 77, 3};
  ASSERT_TRUE(build.writer().write_stacks(process, 10, {&orphan, 1}));
  Recording recording = build.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  const NamedStack named = names.stack(process, 10);
  EXPECT_EQ(named.end, StackEnd::kCut);
  EXPECT_THAT(names_of(named), ElementsAre("[unknown] 0x4fff"));
}

// Another library at the same address after dlclose: calls find it by time, stacks by generation.
TEST(Names, FollowLibrariesThatComeAndGo) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.module(process, module_at("/lib/one.so", 0x100000, 0, 10));
  build.module(process, module_at("/lib/two.so", 0x100000, 1, 50));
  const uint64_t generation = uint64_t{1} << 48;
  build.stack(process, 1, {0x100110});
  build.stack(process, 2, {0x100110 | generation});
  Recording recording = build.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  EXPECT_EQ(names.function_name(process, 0x100100, 20), "/lib/one.so:f1");
  EXPECT_EQ(names.function_name(process, 0x100100, 60), "/lib/two.so:f1");
  EXPECT_THAT(names_of(names.stack(process, 1)), ElementsAre("/lib/one.so:f1"));
  EXPECT_THAT(names_of(names.stack(process, 2)), ElementsAre("/lib/two.so:f1"));
}

TEST(Names, OfDataTellWhereItIs) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.module(process, module_at("/bin/program", 0x100000));
  build.module(process, module_at("/lib/lib.so", 0x200000));
  Recording recording = build.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  EXPECT_EQ(names.data(process, 0x104000, 0), "table");
  EXPECT_EQ(names.data(process, 0x104010, 0), "table+16");
  EXPECT_EQ(names.data(process, 0x204008, 0), "lib.so`table+8");
  EXPECT_EQ(names.data(process, 0x200008, 0), "lib.so+0x8");
  EXPECT_EQ(names.data(process, 0x7fff0000, 0), "0x7fff0000");
  EXPECT_EQ(names.variable(process, 0x104010, 0), "table+16");
  EXPECT_EQ(names.variable(process, 0x200008, 0), std::nullopt);
  EXPECT_EQ(names.variable(process, 0x7fff0000, 0), std::nullopt);
}

TEST(Names, CountWhatHasNone) {
  RecordingBuilder build;
  const uint32_t process = build.process(100);
  build.module(process, module_at("/bin/program", 0x100000));
  build.module(process, module_at("/lib/lib.so", 0x200000));
  Recording recording = build.open();
  FakeSymbols symbols;
  Names names(recording, symbols);
  for (uint64_t pc : {0x100100, 0x100810, 0x200f00, 0x200f01, 0x5000}) names.function(process, pc, 0);
  names.function(process, 0x200f00, 0);  // again
  const auto modules = names.modules();
  ASSERT_EQ(modules.size(), 3u);
  EXPECT_EQ(modules[0].path, "/lib/lib.so");
  EXPECT_EQ(modules[0].addresses, 2u);
  EXPECT_EQ(modules[0].unnamed, 2u);
  EXPECT_EQ(modules[0].problem, "It is stripped.");
  EXPECT_EQ(modules[1].module, kNoModule);
  EXPECT_THAT(modules[1].problem, HasSubstr("1 address lies in no mapped file"));
  EXPECT_EQ(modules[2].addresses, 2u);
  EXPECT_EQ(modules[2].without_line, 1u);
  EXPECT_EQ(modules[2].problem, "");
}

extern "C" __attribute__((noinline, used)) int penna_model_test_function(int x) { return x + 1; }
extern "C" {
__attribute__((used)) uint64_t penna_model_test_variable[4] = {1, 2, 3, 4};
}

// This very program, through ELF and DWARF.
TEST(Names, ComeFromRealFiles) {
  RecordingBuilder build;
  Module self;
  char path[4096] = {};
  ASSERT_GT(::readlink("/proc/self/exe", path, sizeof path - 1), 0);
  self.path = path;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* module = static_cast<Module*>(data);
        module->bias = info->dlpi_addr;
        module->start = UINT64_MAX;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
          const uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
          module->start = std::min(module->start, start);
          module->end = std::max(module->end, start + info->dlpi_phdr[i].p_memsz);
        }
        return 1;  // the first is the program
      },
      &self);
  const uint32_t process = build.process(100);
  build.module(process, self);
  Recording recording = build.open();
  auto symbols = make_symbol_source();
  Names names(recording, *symbols);
  EXPECT_EQ(names.function_name(process, reinterpret_cast<uint64_t>(&penna_model_test_function), 0),
            "penna_model_test_function");
  EXPECT_THAT(names.data(process, reinterpret_cast<uint64_t>(&penna_model_test_variable[1]), 0),
              HasSubstr("penna_model_test_variable+8"));
}

}  // namespace
}  // namespace penna::names_test
