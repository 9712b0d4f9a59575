// SPDX-License-Identifier: MIT
// The lock functions in a file: all of a lock or none, and why not.
#include "plan/lock_functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "symbols/programs.h"

namespace penna::lock_functions_test {
namespace {

using test::address_of, test::build_text;

const std::string kPlace = "#define PLACE __attribute__((noipa))\n";

WantedFunction named(const std::string& name) {
  return {name, [name](const std::string& one) { return one == name || one == name + "(int*)"; }};
}

LockFunctions functions_of(const std::string& path, bool is_library = false, std::vector<OwnLock> own = {},
                           std::vector<PreparedBeginning> prepared = {}) {
  auto file = ElfFile::open(path);
  EXPECT_TRUE(file);
  return find_lock_functions(*file, is_library, own, [&] { return prepared; });
}

std::map<std::string, LockFunction> by_name(const LockFunctions& functions) {
  std::map<std::string, LockFunction> found;
  for (const LockFunction& one : functions.found) found.emplace(one.name, one);
  return found;
}

// Names of absl lie in a namespace of their version, or in none.
TEST(LockFunctions, OfAbsl) {
  for (const std::string version : {"inline namespace lts_20991231 {", "inline namespace debian3 {", "namespace {}"}) {
    const std::string end = version.back() == '{' ? "}" : "";
    const std::string library =
        build_text("g++ -O1 -fPIC -shared", "absl" + std::to_string(version.size()) + ".cc",
                   kPlace + "namespace absl { " + version +
                       " struct Mutex { int word; void Lock(); void Unlock(); bool TryLock(); void ReaderLock(); bool "
                       "ReaderTryLock(); "
                       "void ReaderUnlock(); void Locked(); };\n"
                       "PLACE void Mutex::Lock() { while (!TryLock()) word += 3; }\n"
                       "PLACE void Mutex::Unlock() { __atomic_store_n(&word, 0, __ATOMIC_RELEASE); word += 7; }\n"
                       "PLACE bool Mutex::TryLock() { return __sync_val_compare_and_swap(&word, 0, 1) == 0; }\n"
                       "PLACE bool Mutex::ReaderTryLock() { return __sync_val_compare_and_swap(&word, 0, 2) == 0; }\n"
                       "PLACE void Mutex::ReaderLock() { while (!ReaderTryLock()) word += 5; }\n"
                       "PLACE void Mutex::ReaderUnlock() { __atomic_store_n(&word, 0, __ATOMIC_RELEASE); word += 9; }\n"
                       "PLACE void Mutex::Locked() { word = 1; Unlock(); }\n" +
                       end + "}\n");
    const LockFunctions functions = functions_of(library, true);
    ASSERT_TRUE(functions.refused.empty()) << functions.refused[0].function << " " << functions.refused[0].reason;
    ASSERT_EQ(functions.found.size(), 6u) << version;
    for (const LockFunction& one : functions.found) {
      const bool shared = one.name.find("Reader") != one.name.npos;
      EXPECT_EQ(one.sync, shared ? PENNA_SYNC_READ : PENNA_SYNC_WRITE) << one.name;
      if (one.role != PENNA_LOCK_TAKES) continue;
      ASSERT_GE(one.tried_by, 0) << one.name;
      const LockFunction& tries = functions.found[static_cast<size_t>(one.tried_by)];
      EXPECT_EQ(tries.role, PENNA_LOCK_TRIES);
      EXPECT_EQ(tries.sync, one.sync);
    }
  }
}

// Newer ones wait in private functions, which the compiler calls in place of those that are known to users.
TEST(LockFunctions, OfAbslWhoseWaitsAreInline) {
  const std::string library = build_text(
      "g++ -O1 -fPIC -shared", "newer_absl.cc",
      kPlace +
          "namespace absl { inline namespace lts_20240722 { struct Condition { int* word; };\n"
          "struct KernelTimeout { long rep; };\n"
          "struct Mutex { int word; void Unlock(); void Dtor(); bool AwaitCommon(const Condition&, KernelTimeout); "
          "bool LockWhenCommon(const Condition&, KernelTimeout, bool); };\n"
          "struct CondVar { int word; bool WaitCommon(Mutex*, KernelTimeout); };\n"
          "PLACE void Mutex::Unlock() { __atomic_store_n(&word, 0, __ATOMIC_RELEASE); word += 7; }\n"
          "PLACE void Mutex::Dtor() { __atomic_store_n(&word, 9, __ATOMIC_RELEASE); word += 7; }\n"
          "PLACE bool Mutex::AwaitCommon(const Condition& c, KernelTimeout t) { return word == *c.word + t.rep; }\n"
          "PLACE bool Mutex::LockWhenCommon(const Condition& c, KernelTimeout t, bool w) { return *c.word + t.rep + w; "
          "}\n"
          "PLACE bool CondVar::WaitCommon(Mutex* m, KernelTimeout t) { word += m->word; return t.rep; } } }\n");
  const LockFunctions functions = functions_of(library, true);
  ASSERT_TRUE(functions.refused.empty()) << functions.refused[0].function << " " << functions.refused[0].reason;
  std::map<penna_lock_role, penna_lock_answer> found;
  for (const LockFunction& one : functions.found) found.emplace(one.role, one.answer);
  const std::map<penna_lock_role, penna_lock_answer> wanted = {{PENNA_LOCK_GIVES, PENNA_ANSWER_NONE},
                                                               {PENNA_LOCK_ENDS, PENNA_ANSWER_NONE},
                                                               {PENNA_LOCK_AWAITS, PENNA_ANSWER_TRUE},
                                                               {PENNA_LOCK_WAITS_ON, PENNA_ANSWER_FALSE},
                                                               {PENNA_LOCK_TAKES_WHEN_AS, PENNA_ANSWER_TRUE}};
  EXPECT_EQ(found, wanted);
}

const std::string kMutexes =
    kPlace +
    "PLACE int pthread_mutex_trylock(int* m) { return __sync_val_compare_and_swap(m, 0, 1) ? 16 : 0; }\n"
    "PLACE int pthread_mutex_lock(int* m) { m[1]++; while (pthread_mutex_trylock(m)) m[2]++; return 0; }\n"
    "PLACE int pthread_mutex_unlock(int* m) { m[1]--; __sync_lock_release(m); return 0; }\n";

// What a library shows to others is ours already, as the dynamic linker sees it; a program's is not.
TEST(LockFunctions, OfPosixWhereTheyAreNotReachedThroughOurs) {
  const std::string shown = build_text("gcc -O1 -fno-builtin -fPIC -shared", "shown.c", kMutexes);
  EXPECT_TRUE(functions_of(shown, true).found.empty());
  EXPECT_EQ(functions_of(shown, false).found.size(), 3u);
  const std::string hidden = build_text("gcc -O1 -fno-builtin -fPIC -shared -fvisibility=hidden", "hidden.c", kMutexes);
  EXPECT_EQ(functions_of(hidden, true).found.size(), 3u);
  const auto found = by_name(functions_of(hidden, true));
  EXPECT_EQ(found.at("pthread_mutex_lock").answer, PENNA_ANSWER_ZERO);
  EXPECT_EQ(found.at("pthread_mutex_lock").sync, PENNA_SYNC_MUTEX);

  const std::string sanitizer = build_text("gcc -O1 -fno-builtin -fPIC -shared", "sanitizer.c",
                                           kMutexes + "void __sanitizer_print_stack_trace(void) {}\n");
  EXPECT_TRUE(functions_of(sanitizer).found.empty());
  EXPECT_TRUE(functions_of(sanitizer).refused.empty());  // they go on to ours
}

const std::string kOwn = kPlace +
                         "PLACE void own_lock(int* m) { m[1]++; while (__sync_lock_test_and_set(m, 1)) m[2]++; }\n"
                         "PLACE void own_unlock(int* m) { m[1]--; __sync_lock_release(m); }\n";

TEST(LockFunctions, OfAUser) {
  const OwnLock own{"own", named("own_lock"), named("own_unlock"), {}, PENNA_ANSWER_NONE};
  for (const char* compiler : {"gcc", "g++"}) {
    const std::string program =
        build_text(std::string(compiler) + " -O1 -fPIC -shared", std::string(compiler) + "own.c", kOwn);
    const LockFunctions functions = functions_of(program, false, {own});
    EXPECT_TRUE(functions.refused.empty());
    ASSERT_EQ(functions.found.size(), 2u);
    EXPECT_EQ(functions.own, std::vector<size_t>{0});
    for (const LockFunction& one : functions.found) EXPECT_EQ(one.sync, PENNA_SYNC_OWN);
  }
}

const std::string kLibraries =
    kPlace +
    "PLACE int g_mutex_trylock(int* m) { return !__sync_val_compare_and_swap(m, 0, 1); }\n"
    "PLACE void g_mutex_lock(int* m) { m[1]++; while (!g_mutex_trylock(m)) m[2]++; }\n"
    "PLACE void g_mutex_unlock(int* m) { m[1]--; __sync_lock_release(m); }\n"
    "PLACE void g_cond_wait(int* c, int* m) { c[0]++; g_mutex_unlock(m); g_mutex_lock(m); }\n"
    "PLACE void GOMP_critical_start(void) { static int m; while (__sync_val_compare_and_swap(&m, 0, 1)); }\n"
    "PLACE void GOMP_critical_end(int* m) { m[1]--; __sync_lock_release(m); }\n"
    "PLACE void __kmpc_critical(void* at, int who, int* m) { while (__sync_val_compare_and_swap(m, 0, 1)); }\n"
    "PLACE void __kmpc_end_critical(void* at, int who, int* m) { m[1]--; __sync_lock_release(m); }\n";

TEST(LockFunctions, OfGlibAndOpenMp) {
  const std::string library = build_text("gcc -O1 -fPIC -shared", "libraries.c", kLibraries);
  const LockFunctions functions = functions_of(library, true);
  ASSERT_TRUE(functions.refused.empty()) << functions.refused[0].function << " " << functions.refused[0].reason;
  const auto found = by_name(functions);
  EXPECT_EQ(found.size(), 8u);
  EXPECT_EQ(found.at("g_cond_wait").role, PENNA_LOCK_WAITS_ON);
  EXPECT_GE(found.at("g_mutex_lock").tried_by, 0);
  EXPECT_EQ(found.at("GOMP_critical_start").subject, PENNA_SUBJECT_MODULE);
  EXPECT_EQ(found.at("GOMP_critical_start").tried_by, -1);
  EXPECT_EQ(found.at("__kmpc_critical").subject, PENNA_SUBJECT_THIRD);
  // What a user says of them counts.
  const OwnLock own{"own", named("g_mutex_lock"), named("g_mutex_unlock"), {}, PENNA_ANSWER_NONE};
  const auto others = by_name(functions_of(library, true, {own}));
  EXPECT_EQ(others.size(), 6u);
  EXPECT_EQ(others.at("g_mutex_lock").sync, PENNA_SYNC_OWN);
  EXPECT_EQ(others.count("g_cond_wait"), 0u);
}

// One of a lock's functions that cannot be entered is enough.
TEST(LockFunctions, AllOrNone) {
  const OwnLock own{"own", named("own_lock"), named("own_unlock"), named("own_try"), PENNA_ANSWER_TRUE};
  const auto refusal = [&](const std::string& name, const std::string& more) {
    const LockFunctions functions = functions_of(build_text("gcc -O1 -fPIC -shared", name, kOwn + more), false, {own});
    EXPECT_TRUE(functions.found.empty());
    EXPECT_EQ(functions.refused.size(), 1u);
    return functions.refused.empty() ? "" : functions.refused[0].function + " " + functions.refused[0].reason;
  };
  EXPECT_EQ(refusal("brief_try.c", "PLACE void own_try(int* m) {}\n"), "own_try returns in its first instructions");
  EXPECT_EQ(refusal("part.c",
                    "__asm__(\".globl own_lock.part.0\\n.type own_lock.part.0, @function\\nown_lock.part.0: ret\\n"
                    ".size own_lock.part.0, 1\");\n"),
            "own_lock.part.0 is a part of a function that the compiler has split");
  EXPECT_EQ(refusal("untried.c", ""), "own_try is no function of this file, as own_lock is");
  const OwnLock half{"half", named("own_lock"), named("gone"), {}, PENNA_ANSWER_NONE};
  const LockFunctions functions = functions_of(build_text("gcc -O1 -fPIC -shared", "half.c", kOwn), false, {half});
  EXPECT_TRUE(functions.found.empty());
  ASSERT_EQ(functions.refused.size(), 1u);
  EXPECT_EQ(functions.refused[0].function, "gone");
  // A function of that name gives back something else there.
  const OwnLock elsewhere{"elsewhere", named("gone"), named("own_unlock"), {}, PENNA_ANSWER_NONE};
  const LockFunctions others = functions_of(build_text("gcc -O1 -fPIC -shared", "others.c", kOwn), false, {elsewhere});
  EXPECT_TRUE(others.found.empty() && others.refused.empty() && others.own.empty());
}

// What a compiler has prepared at a beginning is left to the recording of calls; what is entered for these stays so.
TEST(LockFunctions, BehindWhatIsPrepared) {
  const OwnLock own{"own", named("own_lock"), named("own_unlock"), {}, PENNA_ANSWER_NONE};
  const std::string program = build_text("gcc -O1 -fPIC -shared -fpatchable-function-entry=5", "prepared.c", kOwn);
  const uint64_t lock = address_of(program, "own_lock"), unlock = address_of(program, "own_unlock");
  const auto found = by_name(functions_of(program, false, {own}, {{lock, lock + 5}, {unlock, unlock + 5}}));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("own_lock").site.place, lock + 5);
  EXPECT_EQ(found.at("own_unlock").site.place, unlock + 5);
  const LockFunctions taken = functions_of(program, false, {own}, {{lock, 0}});
  EXPECT_TRUE(taken.found.empty());
  ASSERT_EQ(taken.refused.size(), 1u);
  EXPECT_EQ(taken.refused[0].reason, "is already patched to record its calls (-F)");
}

}  // namespace
}  // namespace penna::lock_functions_test
