// SPDX-License-Identifier: MIT
// PatchPlanner: plans are complete and match the request; questions may contain anything.
#include "plan/patch_planner.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "plan/plans.h"
#include "symbols/programs.h"

namespace penna::patch_planner_test {
namespace {

using namespace test;

std::string patchable() {
  return build_text("gcc -O1 -fpatchable-function-entry=5", "planned.c",
                    "__attribute__((noinline)) long first(long n) { return n + 1; }\n"
                    "__attribute__((noinline)) long second(long n) { return first(n) * 3; }\n"
                    "int main(int argc, char** argv) { (void)argv; return (int)second(argc); }\n");
}

TEST(PatchPlanner, OnePatchForEachPreparedFunction) {
  PatchPlanner planner({});
  const Plan plan = plan_of(planner, {question_about(patchable())});
  ASSERT_EQ(plan.patches.size(), 3u);
  for (const penna_patch& patch : plan.patches) {
    EXPECT_EQ(patch.kind, PENNA_PATCH_CODE);
    EXPECT_EQ(patch.bytes, 5);
    EXPECT_EQ(patch.head, 5);
    EXPECT_EQ(patch.before[0], 0x90);
    EXPECT_EQ(patch.after[0], 0xe8);
    int32_t distance;
    std::memcpy(&distance, patch.after + 1, 4);
    EXPECT_EQ(patch.address + 5 + static_cast<uint64_t>(int64_t{distance}), kBias - 0x200000);
  }
}

TEST(PatchPlanner, OnlyWhatIsWanted) {
  PatchRequests requests;
  requests.wanted = [](const std::string& name, const std::string&) { return name == "second"; };
  PatchPlanner planner(requests);
  EXPECT_EQ(plan_of(planner, {question_about(patchable())}).patches.size(), 1u);
}

TEST(PatchPlanner, AnotherFileThanTheOneThatIsMappedGetsNothing) {
  PatchPlanner planner({});
  penna_patch_question other = question_about(patchable());
  other.build_id[3] ^= 1;
  penna_patch_question shorter = question_about(patchable());
  shorter.build_id_bytes = 4;
  penna_patch_question without = question_about(patchable());
  without.build_id_bytes = 0;
  EXPECT_EQ(plan_of(planner, {other, shorter, without}).patches.size(), 0u);
}

// A question about one function gets the detour into it, and nothing else; what has none is named, once.
TEST(PatchPlanner, OneFunctionThatDlsymHasFound) {
  const std::string library = build_text("gcc -O1 -fPIC -shared", "found.c",
                                         "extern int other(int);\n"
                                         "int plain(int n) { for (int i = 0; i < n; ++i) n += n * i; return n; }\n"
                                         "void brief(void) {}\n"
                                         "int vfork(void) { return plain(2) + plain(3); }\n");
  auto file = ElfFile::open(library);
  ASSERT_TRUE(file);
  const auto question = [&](const char* name) {
    penna_patch_question one = question_about(library);
    const ElfSection* symbols = file->section_of_type(SHT_DYNSYM);
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(file->data(*symbols), i, &symbol) != nullptr; ++i)
      if (std::string(file->string(symbols->link, symbol.st_name)) == name) one.function = kBias + symbol.st_value;
    EXPECT_NE(one.function, 0u) << name;
    return one;
  };
  PatchRequests requests;
  requests.libcalls = true;
  PatchPlanner planner(requests);
  const penna_patch_question plain = question("plain");
  const Plan plan = plan_of(planner, {plain});
  ASSERT_EQ(plan.patches.size(), 1u);
  EXPECT_EQ(plan.patches[0].kind, PENNA_PATCH_CODE);
  EXPECT_GE(plan.patches[0].address, plain.function);
  EXPECT_LE(plan.patches[0].address, plain.function + 4);
  EXPECT_EQ(plan.patches[0].after[0], 0xe9);
  EXPECT_TRUE(planner.refused().empty());

  penna_patch_question behind = plain, no_room = plain;
  behind.function += 1;
  no_room.near_bytes = 0;
  for (const penna_patch_question& one : {question("brief"), question("vfork"), behind, no_room, no_room})
    EXPECT_EQ(plan_of(planner, {one}).patches.size(), 0u);
  ASSERT_EQ(planner.refused().size(), 4u);
  EXPECT_EQ(planner.refused()[1].reason, "returns twice, or looks at its caller");
  EXPECT_EQ(planner.refused()[2].reason, "is not a function that its file names");
  EXPECT_EQ(planner.refused()[3].name, "plain");

  PatchPlanner without({});  // nobody has asked for calls into libraries
  EXPECT_EQ(plan_of(without, {plain}).patches.size(), 0u);
  requests.wanted = [](const std::string& name, const std::string&) { return name == "nothing"; };
  PatchPlanner other(requests);
  EXPECT_EQ(plan_of(other, {plain}).patches.size(), 0u);
  EXPECT_TRUE(other.refused().empty());
}

// With other threads in it, only the first byte of the code may change: the way leads to where the others say.
TEST(PatchPlanner, AJumpWhoseDistanceIsThereAlready) {
  const std::string library = build_text("gcc -O1 -fPIC -shared", "punned.c",
                                         "int plain(int n) { for (int i = 0; i < n; ++i) n += n * i; return n; }\n");
  auto file = ElfFile::open(library);
  ASSERT_TRUE(file);
  const ElfSection* symbols = file->section_of_type(SHT_DYNSYM);
  GElf_Sym symbol;
  uint64_t start = 0;
  for (int i = 0; gelf_getsym(file->data(*symbols), i, &symbol) != nullptr; ++i)
    if (std::string(file->string(symbols->link, symbol.st_name)) == "plain") start = symbol.st_value;
  ASSERT_NE(start, 0u);
  int32_t distance;
  std::memcpy(&distance, file->bytes_at(start, 5).data() + 1, sizeof distance);
  penna_patch_question question = question_about(library);
  question.function = start + kBias;
  question.near = question.function + 5 + static_cast<uint64_t>(int64_t{distance}) - 16 - sizeof(penna_stub);
  question.near_bytes = 512;
  PatchRequests requests;
  requests.libcalls = true;
  PatchPlanner planner(requests);
  const Plan plan = plan_of(planner, {question});
  ASSERT_EQ(plan.patches.size(), 1u);
  EXPECT_EQ(plan.patches[0].address, question.function);
  EXPECT_EQ(std::memcmp(plan.patches[0].after + 1, plan.patches[0].before + 1, 4), 0);
}

TEST(PatchPlanner, QuestionsWithoutSense) {
  const penna_patch_question sound = question_about(patchable());
  std::vector<penna_patch_question> questions(12, sound);
  questions[11].function = UINT64_MAX;
  questions[0].near = 0;
  questions[1].near_bytes = 0;
  questions[2].near_bytes = 15;
  std::swap(questions[3].start, questions[3].end);
  std::memset(questions[4].path, 'x', sizeof questions[4].path);
  questions[4].path_bytes = UINT32_MAX;
  questions[5].build_id_bytes = UINT32_MAX;
  questions[6].near = UINT64_MAX - 100;
  questions[7].bias = UINT64_MAX - 0x1000;
  questions[8].near = sound.near + (uint64_t{1} << 40);  // out of reach
  questions[9].path_bytes = static_cast<uint32_t>(std::string("/dev/zero").copy(questions[9].path, 20));
  const std::string fifo = copy_of(patchable(), "fifo");
  std::remove(fifo.c_str());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  questions[10].path_bytes = static_cast<uint32_t>(fifo.copy(questions[10].path, sizeof questions[10].path));
  questions.push_back(sound);
  PatchPlanner planner({});
  const Plan plan = plan_of(planner, questions);
  for (size_t i = 0; i + 1 < questions.size(); ++i) EXPECT_EQ(plan.nears[i].patches, 0u) << i;
  EXPECT_EQ(plan.nears.back().patches, 3u);
}

TEST(PatchPlanner, RandomQuestions) {
  std::mt19937_64 random(5);
  const penna_patch_question sound = question_about(patchable());
  for (bool all : {false, true}) {
    PatchRequests requests;
    requests.libcalls = all;
    if (all) requests.wanted = [](const std::string&, const std::string&) { return true; };
    PatchPlanner planner(requests);
    for (int round = 0; round < 300; ++round) {
      std::vector<penna_patch_question> questions(random() % 4, sound);
      for (penna_patch_question& question : questions)
        if (random() % 3 == 0) question.instead = kHook;  // about its locks
      for (penna_patch_question& question : questions)
        for (uint64_t* field : {&question.bias, &question.start, &question.end, &question.near, &question.near_bytes})
          if (random() % 3 == 0) *field = random() >> random() % 64;
      plan_of(planner, questions);
    }
  }
}

// A question about locks gets all of a lock's functions, numbered over all questions, and how each tries.
TEST(PatchPlanner, FunctionsOfLocks) {
  const std::string library =
      build_text("gcc -O1 -fPIC -shared", "locked.c",
                 "#define PLACE __attribute__((noipa))\n"
                 "PLACE int own_try(int* lock) { return __sync_val_compare_and_swap(lock, 0, 1) == 0; }\n"
                 "PLACE void own_lock(int* lock) { if (!own_try(lock)) for (*lock = 2; *lock != 0;) *lock -= 1; }\n"
                 "PLACE void own_unlock(int* lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); *lock += 0; }\n"
                 "PLACE void other_lock(int* lock) { own_lock(lock + 5); lock[7] = 1; }\n"
                 "PLACE void other_unlock(int* lock) { own_unlock(lock + 5); lock[7] = 0; }\n");
  const auto named = [](const std::string& name) {
    return WantedFunction{name, [name](const std::string& one) { return one == name; }};
  };
  PatchRequests requests;
  requests.own_locks = {{"own", named("own_lock"), named("own_unlock"), named("own_try"), PENNA_ANSWER_TRUE},
                        {"other", named("other_lock"), named("other_unlock"), {}, PENNA_ANSWER_NONE},
                        {"gone", named("gone_lock"), named("gone_unlock"), {}, PENNA_ANSWER_NONE}};
  PatchPlanner planner(requests);
  EXPECT_FALSE(planner.was_asked_about_locks());
  penna_patch_question question = question_about(library);
  question.instead = kHook;
  question.first_number = 7;
  question.numbers = PENNA_MOST_LOCK_FUNCTIONS;
  const Plan plan = plan_of(planner, {question, question});
  ASSERT_EQ(plan.patches.size(), 10u);
  std::set<uint32_t> numbers;
  for (const penna_patch& patch : plan.patches) {
    EXPECT_EQ(patch.kind, PENNA_PATCH_LOCK);
    EXPECT_EQ(patch.sync, PENNA_SYNC_OWN);
    EXPECT_EQ(patch.after[0], 0xe9);
    EXPECT_GE(patch.stub, question.near);
    EXPECT_LT(patch.stub, question.near + plan.nears[0].bytes);
    numbers.insert(patch.name);
    if (patch.version == UINT32_MAX) continue;
    EXPECT_EQ(patch.role, PENNA_LOCK_TAKES);
    const auto tries = std::find_if(plan.patches.begin(), plan.patches.end(),
                                    [&](const penna_patch& one) { return one.name == patch.version; });
    ASSERT_NE(tries, plan.patches.end());
    EXPECT_EQ(tries->role, PENNA_LOCK_TRIES);
    EXPECT_EQ(tries->answer, PENNA_ANSWER_TRUE);
  }
  EXPECT_EQ(numbers.size(), 10u);
  EXPECT_EQ(*numbers.begin(), 7u);
  EXPECT_EQ(*numbers.rbegin(), 16u);
  EXPECT_TRUE(planner.refused().empty());
  ASSERT_EQ(planner.unmet_locks().size(), 1u);
  EXPECT_EQ(planner.unmet_locks()[0].text, "gone");
  ASSERT_EQ(planner.timed_locks().size(), 1u);
  EXPECT_EQ(planner.timed_locks()[0].name, "other_lock");

  // More than there are numbers for: none of those that are too many, and it is said once.
  const std::vector<penna_patch_question> many(PENNA_MOST_LOCK_FUNCTIONS / 5 + 3, question);
  EXPECT_EQ(plan_of(planner, many).patches.size(), PENNA_MOST_LOCK_FUNCTIONS / 5 * 5u);
  ASSERT_EQ(planner.refused().size(), 2u);
  EXPECT_EQ(planner.refused()[0].what, RefusedFunction::kLock);
  EXPECT_EQ(planner.refused()[0].lock, "own");
  EXPECT_EQ(planner.refused()[1].lock, "other");
}

// What may be at work in other threads is named, each lock once, and neither entered nor listed as inferred from time.
TEST(PatchPlanner, FunctionsOfLocksThatMayRun) {
  const std::string library = build_text("gcc -O1 -fPIC -shared", "running.c",
                                         "#define PLACE __attribute__((noipa))\n"
                                         "PLACE void own_lock(int* lock) { lock[5] = 2; lock[7] = 1; }\n"
                                         "PLACE void own_unlock(int* lock) { lock[5] = 1; lock[7] = 0; }\n");
  const auto named = [](const std::string& name) {
    return WantedFunction{name, [name](const std::string& one) { return one == name; }};
  };
  PatchRequests requests;
  requests.own_locks = {{"own", named("own_lock"), named("own_unlock"), {}, PENNA_ANSWER_NONE}};
  PatchPlanner planner(requests);
  penna_patch_question question = question_about(library);
  question.instead = kHook;
  question.numbers = PENNA_MOST_LOCK_FUNCTIONS;
  question.unless = PENNA_UNLESS_RUNNING;
  EXPECT_TRUE(plan_of(planner, {question}).patches.empty());
  EXPECT_TRUE(plan_of(planner, {question}).patches.empty());
  ASSERT_EQ(planner.refused().size(), 1u);
  EXPECT_EQ(planner.refused()[0].lock, "own");
  EXPECT_EQ(planner.refused()[0].reason, kMayRun);
  EXPECT_TRUE(planner.timed_locks().empty());
  EXPECT_TRUE(planner.unmet_locks().empty());

  // Another process may open it in time.
  question.unless = PENNA_UNLESS_NOTHING;
  EXPECT_EQ(plan_of(planner, {question}).patches.size(), 2u);
  EXPECT_EQ(planner.timed_locks().size(), 1u);
}

TEST(PatchPlanner, NoQuestionsNoPatches) {
  PatchPlanner planner({});
  EXPECT_EQ(plan_of(planner, {}).head.patches, 0u);
}

}  // namespace
}  // namespace penna::patch_planner_test
