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

template <typename T>
RemotePtr<T> remote(T* here) {
  return RemotePtr<T>(reinterpret_cast<uintptr_t>(here));
}

TEST(RemoteMemory, ReadsAndWritesWhereItCan) {
  Here here;
  uint64_t word = 7;
  EXPECT_EQ(here.memory.get(remote(&word)), 7U);
  EXPECT_TRUE(here.memory.write(remote(&word), 8));
  EXPECT_EQ(word, 8U);
  EXPECT_EQ(here.memory.text(remote("a text")), "a text");
  const RemotePtr<uint64_t> nowhere(8);
  EXPECT_FALSE(here.memory.get(nowhere));
  EXPECT_FALSE(here.memory.write(nowhere, 1));
  EXPECT_EQ(here.memory.get_or_zero(nowhere), 0U);
  EXPECT_EQ(here.memory.part(nowhere.as<uint8_t>(), 100), "");
}

TEST(RemoteMemory, TakesAsManyAsThereIsRoomFor) {
  Here here;
  uint32_t numbers[] = {1, 2, 3, 4};
  std::vector<uint32_t> got(3);
  EXPECT_TRUE(here.memory.read(remote(numbers) + 1, got));
  EXPECT_EQ(got, (std::vector<uint32_t>{2, 3, 4}));
  EXPECT_TRUE(here.memory.write(remote(numbers), std::vector<uint32_t>{7, 8}));
  EXPECT_EQ(numbers[1], 8U);
  EXPECT_EQ(numbers[2], 3U);
}

TEST(RemoteMemory, FollowsPointersInStructs) {
  struct Node {
    uint32_t value;
    Node* next;
  };
  Here here;
  Node last{2, nullptr}, first{1, &last};
  const RemotePtr<Node> next = here.memory.get_or_zero(field(remote(&first), &Node::next));
  EXPECT_EQ(here.memory.get(field(next, &Node::value)), 2U);
  EXPECT_FALSE(here.memory.get_or_zero(field(next, &Node::next)));
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
    EXPECT_EQ(symbols.find(name), remote(::dlsym(RTLD_DEFAULT, name))) << name;
  EXPECT_FALSE(symbols.find("no_such_function"));
  const std::vector<RemoteRange> code = code_of(here.memory, *libc);
  EXPECT_TRUE(std::any_of(code.begin(), code.end(),
                          [&](const RemoteRange& one) { return one.holds(symbols.find<const uint8_t>("getppid")); }));
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
