// SPDX-License-Identifier: MIT
// What determines how a program can be recorded, and its static tracepoints.
#include "symbols/elf/elf_facts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "programs.h"
#include "symbols/points/sdt_notes.h"

namespace penna::elf_facts_test {
namespace {

using test::build_text;
using test::tree;

constexpr const char* kMain = "int main(void) { return 0; }\n";

ElfFacts facts(const std::string& path) {
  auto result = read_elf_facts(path);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text);
  return result ? *result : ElfFacts{};
}

void write_script(const std::string& name, const std::string& text) {
  test::write_bytes(tree() + "/" + name, {text.begin(), text.end()});
}

TEST(ElfFacts, DynamicProgram) {
  std::string path = build_text("gcc -g", "plain.c", kMain);
  auto f = facts(path);
  EXPECT_TRUE(f.is_elf && f.is_program && f.is_dynamic && f.position_independent);
  EXPECT_FALSE(f.is_static || f.setuid || f.defines_malloc || !f.call_options.empty());
  EXPECT_EQ(f.bits, 64);
  EXPECT_NE(f.interpreter.find("ld-linux"), std::string::npos);
  EXPECT_EQ(f.needed, (std::vector<std::string>{"libc.so.6"}));
  EXPECT_TRUE(f.has_symtab && f.has_dwarf);
  EXPECT_EQ(f.build_id.size(), 20u);
  EXPECT_NE(test::run("readelf -n " + path).find(build_id_text(f.build_id)), std::string::npos);
  EXPECT_TRUE(f.chain.empty());
#if defined(__x86_64__)
  EXPECT_EQ(f.machine_name, "x86-64");
#endif
}

TEST(ElfFacts, StaticPrograms) {
  auto fixed = facts(build_text("gcc -static -no-pie", "static.c", kMain));
  EXPECT_TRUE(fixed.is_static && fixed.is_program && fixed.defines_malloc);
  EXPECT_FALSE(fixed.is_dynamic || fixed.position_independent);
  auto pie = facts(build_text("gcc -static-pie", "static_pie.c", kMain));
  EXPECT_TRUE(pie.is_static && pie.is_program && pie.position_independent);
  EXPECT_FALSE(pie.is_dynamic);
}

TEST(ElfFacts, SharedLibraryIsNoProgram) {
  auto f = facts(build_text("gcc -shared -fPIC", "lib.c", "void* malloc(unsigned long n) { (void)n; return 0; }\n"));
  EXPECT_TRUE(f.is_elf && f.defines_malloc);
  EXPECT_FALSE(f.is_program || f.is_static || f.is_dynamic);
}

TEST(ElfFacts, OwnMallocAndInstrumentation) {
  auto own = facts(build_text("gcc -rdynamic", "own.c",
                              "static char b[64];\nvoid* malloc(unsigned long n) { (void)n; return b; }\n"
                              "int main(void) { return !malloc(1); }\n"));
  EXPECT_TRUE(own.defines_malloc);
  auto calls = facts(build_text("gcc -finstrument-functions", "calls.c", kMain));
  EXPECT_EQ(calls.call_options, std::vector<std::string>{"-finstrument-functions"});
  auto stripped = facts(build_text("gcc -s -finstrument-functions", "calls_stripped.c", kMain));
  EXPECT_EQ(stripped.call_options, calls.call_options);
  EXPECT_FALSE(stripped.has_symtab || stripped.has_dwarf);
}

TEST(ElfFacts, ThirtyTwoBits) {
#if defined(__x86_64__)
  std::string path =
      build_text("gcc -m32 -nostdlib -static -Wl,--build-id", "small.c", "void _start(void) { for (;;); }\n");
  auto f = facts(path);
  EXPECT_EQ(f.bits, 32);
  EXPECT_EQ(f.machine_name, "i386");
  EXPECT_TRUE(f.is_static && f.is_program);
#endif
}

TEST(ElfFacts, Setuid) {
  std::string path = build_text("gcc", "privileged.c", kMain);
  EXPECT_FALSE(facts(path).setuid);
  test::run("chmod u+s " + path);
  EXPECT_TRUE(facts(path).setuid);
}

TEST(ElfFacts, ScriptsLeadToTheirInterpreter) {
  std::string program = build_text("gcc", "interpreter.c", kMain);
  write_script("one", "#!" + program + " -x\necho\n");
  write_script("two", "#! \t" + tree() + "/one\n");
  auto f = facts(tree() + "/two");
  EXPECT_TRUE(f.is_elf && f.is_dynamic);
  EXPECT_EQ(f.chain, (std::vector<std::string>{tree() + "/one", program}));
  EXPECT_EQ(f.elf_path(), program);

  write_script("loop", "#!" + tree() + "/loop\n");
  auto loop = read_elf_facts(tree() + "/loop");
  ASSERT_FALSE(loop.has_value());
  EXPECT_NE(loop.error().text.find("interpreters"), std::string::npos);
  write_script("lost", "#!/no/such/interpreter\n");
  EXPECT_FALSE(read_elf_facts(tree() + "/lost").has_value());
  write_script("empty_line", "#!\n");
  EXPECT_FALSE(facts(tree() + "/empty_line").is_elf);
}

TEST(ElfFacts, OtherFiles) {
  write_script("text", "hello\n");
  EXPECT_FALSE(facts(tree() + "/text").is_elf);
  write_script("nothing", "");
  EXPECT_FALSE(facts(tree() + "/nothing").is_elf);
  EXPECT_FALSE(read_elf_facts(tree()).has_value()) << "a folder";
  EXPECT_FALSE(read_elf_facts("/dev/zero").has_value());
  write_script("cut", "\177ELF\2\1\1");
  EXPECT_FALSE(read_elf_facts(tree() + "/cut").has_value());
}

TEST(SdtNotes, OfAnAssembledProbe) {
#if defined(__x86_64__)
  std::string path = test::build("gcc", "assembly.S");
  auto notes = read_sdt_notes(path);
  ASSERT_TRUE(notes.has_value());
  ASSERT_EQ(notes->size(), 1u);
  const SdtNote& note = notes->front();
  EXPECT_EQ(note.provider, "penna_test");
  EXPECT_EQ(note.name, "hit");
  EXPECT_EQ(note.args, "-4@%eax 8@-8(%rbp)");
  EXPECT_EQ(note.pc, test::address_of(path, "probe_here"));
  EXPECT_EQ(note.semaphore, test::address_of(path, "semaphore_here"));
  EXPECT_EQ(note.base, test::address_of(path, "_.stapsdt.base"));
#endif
}

// As many as readelf lists, with the same places (libstdc++ has three: catch, throw, rethrow).
TEST(SdtNotes, OfLibstdcxx) {
  std::string library = test::run("gcc -print-file-name=libstdc++.so.6");
  library.pop_back();
  auto notes = read_sdt_notes(library);
  ASSERT_TRUE(notes.has_value());
  std::string listing = test::run("readelf -n " + library);
  size_t listed = 0;
  for (size_t at = 0; (at = listing.find("Provider: ", at)) != std::string::npos; ++at) ++listed;
  EXPECT_EQ(notes->size(), listed);
  for (const SdtNote& note : *notes) {
    char place[32];
    snprintf(place, sizeof place, "0x%016lx", note.pc);
    EXPECT_NE(listing.find(place), std::string::npos) << note.name;
    EXPECT_NE(listing.find("Name: " + note.name), std::string::npos);
  }
}

TEST(SdtNotes, NoneIsNoError) {
  auto notes = read_sdt_notes(build_text("gcc", "no_notes.c", kMain));
  ASSERT_TRUE(notes.has_value());
  EXPECT_TRUE(notes->empty());
  EXPECT_FALSE(read_sdt_notes("/no/such/file").has_value());
}

}  // namespace
}  // namespace penna::elf_facts_test
