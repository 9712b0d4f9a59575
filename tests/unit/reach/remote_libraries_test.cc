// SPDX-License-Identifier: MIT
// The libraries of a process, read from its memory: here of this process, which knows the truth.
#include "reach/process/remote_libraries.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>

namespace penna::remote_libraries_test {
namespace {

thread_local uint64_t initial = 0x1234567890abcdef;

struct Here {
  RemoteMemory memory = *RemoteMemory::open(::getpid());
  std::vector<RemoteLibrary> libraries = *list_libraries(::getpid(), memory);

  const RemoteLibrary* named(const std::string& part) const {
    const auto found = std::find_if(libraries.begin(), libraries.end(),
                                    [&](const RemoteLibrary& one) { return one.name.find(part) != std::string::npos; });
    return found != libraries.end() ? &*found : nullptr;
  }
};

TEST(RemoteMemory, ReadsAndWritesWhereItCan) {
  Here here;
  uint64_t word = 7;
  const auto at = reinterpret_cast<uint64_t>(&word);
  EXPECT_EQ(here.memory.word(at), 7U);
  const uint64_t other = 8;
  EXPECT_TRUE(here.memory.write(at, &other, sizeof other));
  EXPECT_EQ(word, 8U);
  EXPECT_EQ(here.memory.text(reinterpret_cast<uint64_t>("a text")), "a text");
  EXPECT_FALSE(here.memory.get<uint64_t>(8));
  EXPECT_EQ(here.memory.word(8), 0U);
  EXPECT_EQ(here.memory.part(8, 100), "");
}

TEST(RemoteLibraries, AreThoseOfTheLinker) {
  const Here here;
  size_t count = 0;
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    ASSERT_LT(count, here.libraries.size());
    EXPECT_EQ(here.libraries[count].bias, map->l_addr);
    EXPECT_EQ(here.libraries[count].name, map->l_name);
    ++count;
  }
  EXPECT_EQ(here.libraries.size(), count);
}

TEST(RemoteLibraries, DefineWhatTheLinkerFindsThere) {
  const Here here;
  const RemoteLibrary* libc = here.named("libc.so.6");
  ASSERT_NE(libc, nullptr);
  const RemoteSymbols symbols(here.memory, *libc);
  // None that a sanitizer stands in front of.
  for (const char* name : {"gnu_get_libc_version", "getppid"})
    EXPECT_EQ(symbols.find(name), reinterpret_cast<uint64_t>(::dlsym(RTLD_DEFAULT, name))) << name;
  EXPECT_EQ(symbols.find("no_such_function"), 0U);
  const std::vector<RemoteRange> code = code_of(here.memory, *libc);
  EXPECT_TRUE(std::any_of(code.begin(), code.end(),
                          [&](const RemoteRange& one) { return one.holds(symbols.find("getppid")); }));
}

TEST(RemoteLibraries, HaveFirstValuesOfThreadLocalVariables) {
  const Here here;
  initial = 0;  // in this thread; the image stays
  const auto tls = tls_of(here.memory, here.libraries.front());
  ASSERT_TRUE(tls);
  const std::string image = here.memory.part(tls->image, tls->bytes);
  const uint64_t first = 0x1234567890abcdef;
  EXPECT_NE(image.find(std::string(reinterpret_cast<const char*>(&first), sizeof first)), std::string::npos);
}

}  // namespace
}  // namespace penna::remote_libraries_test
