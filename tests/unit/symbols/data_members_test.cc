// SPDX-License-Identifier: MIT
// Members of variables, by the DWARF of both compilers. The program itself prints the truth.
#include "symbols/dwarf/data_members.h"

#include <gtest/gtest.h>

#include <sstream>

#include "programs.h"
#include "symbols/symbol_file.h"

namespace penna::data_members_test {
namespace {

// Prints: the variable's symbol, the offset of a part, what that is to be called ("-": nothing).
constexpr const char* kProgram = R"(
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>

struct Inner { int number; pthread_mutex_t lock; };
struct Queue { Inner inner; std::mutex mutex; std::condition_variable changed; };
struct Base { long number; pthread_mutex_t guard; };
struct Derived : Base {
  std::shared_timed_mutex table;
  union { long word; struct { int part; sem_t deep; }; };
  unsigned bits : 3, more : 5;
  int after;
};
namespace app {
Queue queue;
Queue rows[3][4];
Derived derived;
std::mutex alone;
pthread_mutex_t plain[5];
typedef const volatile Inner Renamed;
Renamed renamed = {1, PTHREAD_MUTEX_INITIALIZER};
}
extern "C" { pthread_rwlock_t of_c; }
namespace { __attribute__((used)) Inner hidden; }

static void say(const char* symbol, const volatile void* whole, const volatile void* part, const char* name) {
  printf("%s %ld %s\n", symbol, (long)((const volatile char*)part - (const volatile char*)whole), name);
}
#define SAY(symbol, whole, part, name) say(symbol, &whole, &part, name)

int main() {
  using namespace app;
  SAY("_ZN3app5queueE", queue, queue.inner.lock, ".inner.lock");
  SAY("_ZN3app5queueE", queue, queue.inner.number, ".inner.number");
  SAY("_ZN3app5queueE", queue, queue.mutex, ".mutex");
  SAY("_ZN3app5queueE", queue, queue.changed, ".changed");
  SAY("_ZN3app4rowsE", rows, rows[0][0].mutex, "[0][0].mutex");
  SAY("_ZN3app4rowsE", rows, rows[2][3].inner.lock, "[2][3].inner.lock");
  SAY("_ZN3app4rowsE", rows, rows[1][0].changed, "[1][0].changed");
  SAY("_ZN3app7derivedE", derived, derived.guard, ".guard");
  SAY("_ZN3app7derivedE", derived, derived.table, ".table");
  SAY("_ZN3app7derivedE", derived, derived.deep, ".deep");
  SAY("_ZN3app7derivedE", derived, derived.after, ".after");
  SAY("_ZN3app5aloneE", alone, alone, "-");
  SAY("_ZN3app5plainE", plain, plain[0], "[0]");
  SAY("_ZN3app5plainE", plain, plain[4], "[4]");
  SAY("_ZN3app7renamedE", renamed, renamed.lock, ".lock");
  SAY("of_c", of_c, of_c, "-");
  SAY("_ZN12_GLOBAL__N_16hiddenE", hidden, hidden.lock, ".lock");
  return hidden.number;
}
)";

void expect_members(const std::string& compiler, const std::string& name) {
  SCOPED_TRACE(compiler);
  const std::string path = test::build_text(compiler + " -std=c++17 -pthread", name, kProgram);
  auto file = SymbolFile::open({path, {}}, {});
  ASSERT_TRUE(file) << file.error().text;
  int parts = 0;
  for (const std::string& line : test::lines_of(test::run(path))) {
    std::istringstream words(line);
    std::string symbol, wanted;
    uint64_t offset = 0;
    words >> symbol >> offset >> wanted;
    const auto object = (*file)->find_object(test::address_of(path, symbol) + offset);
    ASSERT_TRUE(object) << line;
    EXPECT_EQ(object->offset, offset) << line;
    EXPECT_EQ(object->member, wanted == "-" ? "" : wanted) << line;
    ++parts;
  }
  EXPECT_EQ(parts, 17);
}

TEST(DataMembers, AreThoseOfTheProgram) {
  expect_members("g++ -g -O1", "members_gcc.cc");
  expect_members("clang++ -g -O1", "members_clang.cc");
  expect_members("g++ -g -O2 -gdwarf-4", "members_dwarf4.cc");
}

TEST(DataMembers, WithoutDwarfThereAreNone) {
  const std::string path = test::build_text("g++ -O1 -std=c++17 -pthread", "members_plain.cc", kProgram);
  auto file = SymbolFile::open({path, {}}, {});
  ASSERT_TRUE(file);
  const auto object = (*file)->find_object(test::address_of(path, "_ZN3app5plainE") + 40);
  ASSERT_TRUE(object);
  EXPECT_EQ(object->offset, 40u);
  EXPECT_EQ(object->member, "");
}

}  // namespace
}  // namespace penna::data_members_test
