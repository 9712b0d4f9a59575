// SPDX-License-Identifier: MIT
// Files of processes with another root directory. With real containers: tests/e2e/containers.sh.
#include "symbols/elf/other_roots.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs.h"
#include "symbols/elf/elf_file.h"
#include "symbols/symbol_file.h"

namespace penna::other_roots_test {
namespace {

std::string text_of(const Fd& file) {
  char text[16] = {};
  return file && ::read(file.get(), text, sizeof text - 1) >= 0 ? text : "none";
}

TEST(OtherRoots, LinksLeadWhereTheProcessWouldGet) {
  const std::string root = test::tree() + "/root";
  test::make_directory(root + "/etc");
  test::write_bytes(root + "/etc/hostname", {'i', 't', 's'});
  ASSERT_EQ(::symlink("/etc/hostname", (root + "/absolute").c_str()), 0);
  ASSERT_EQ(::symlink("../../../../etc/hostname", (root + "/upward").c_str()), 0);
  ASSERT_EQ(::symlink("/proc/self/root/etc/hostname", (root + "/ours").c_str()), 0);
  EXPECT_EQ(text_of(open_below(root, "/etc/hostname")), "its");
  EXPECT_EQ(text_of(open_below(root, "/absolute")), "its");
  EXPECT_EQ(text_of(open_below(root, "/upward")), "its");
  EXPECT_EQ(text_of(open_below(root, "/../etc/hostname")), "its");
  EXPECT_FALSE(open_below(root, "/ours"));
  EXPECT_FALSE(open_below(root + "/none", "/etc/hostname"));
}

TEST(OtherRoots, AModuleIsTakenByItsBuildId) {
  const std::string program = test::build("gcc -O1 -g -fPIC -shared -Wl,--build-id", "library.c"),
                    root = test::tree() + "/container";
  test::make_directory(root + "/app");
  test::write_bytes(root + "/app/only-there", test::read_bytes(program));
  BuildId id = ElfFile::open(program)->build_id();
  ASSERT_FALSE(id.empty());
  SymbolOptions options;
  EXPECT_FALSE(SymbolFile::open({"/app/only-there", id}, options));
  options.search.other_roots = {test::tree() + "/none", root};
  EXPECT_TRUE(SymbolFile::open({"/app/only-there", id}, options));
  EXPECT_FALSE(SymbolFile::open({"/app/only-there", {}}, options));
  id[0] ^= 1;
  EXPECT_FALSE(SymbolFile::open({"/app/only-there", id}, options));
}

TEST(OtherRoots, OursIsNone) {
  OtherRoots roots;
  roots.add(::getpid());
  const pid_t child = ::fork();
  if (child == 0) ::pause();
  roots.add(child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  roots.add(child);
  EXPECT_TRUE(roots.paths().empty());
}

}  // namespace
}  // namespace penna::other_roots_test
