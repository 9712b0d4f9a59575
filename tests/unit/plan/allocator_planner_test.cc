// SPDX-License-Identifier: MIT
// Plans for allocators: all functions of a file's allocator are hooked or none, and what is left out is named.
#include <gtest/gtest.h>

#include "plan/patch_planner.h"
#include "plan/plans.h"
#include "symbols/programs.h"

namespace penna::allocator_planner_test {
namespace {

using namespace test;

const std::string kSource =
    "int work(int n) { for (int i = 0; i < n; ++i) n += n * i; return n; }\n"
    "void* malloc(unsigned long n) { for (long i = 0; i < 9; ++i) n += n * i; return (void*)n; }\n"
    "void free(void* p) { for (int i = 0; i < 9; ++i) ((volatile char*)p)[i] = 0; }\n";

std::vector<penna_patch_question> questions_about(const std::string& library, const std::vector<std::string>& symbols,
                                                  penna_unless unless = PENNA_UNLESS_NOTHING) {
  std::vector<penna_patch_question> all;
  for (const std::string& symbol : symbols) {
    penna_patch_question one = question_about(library);
    one.instead = one.enter = kHook;
    one.near += all.size() * 512;
    one.near_bytes = 512;
    one.unless = unless;
    symbol.copy(one.symbol, sizeof one.symbol - 1);
    all.push_back(one);
  }
  return all;
}

const std::vector<std::string> kOfC = {"malloc", "calloc", "free", "aligned_alloc", "strdup"};

// How many of them are entered.
size_t entered(PatchPlanner& planner, const std::string& library, const std::vector<std::string>& symbols = kOfC) {
  return plan_of(planner, questions_about(library, symbols)).patches.size();
}

// An allocator that the target cannot enter is named with the target's reason, and only where there is one.
TEST(AllocatorPlanner, AnAllocatorThatIsNotToBeEntered) {
  const std::string with = build_text("gcc -O0 -fPIC -shared -fno-builtin -fvisibility=hidden", "allocator.c", kSource);
  const std::string without =
      build_text("gcc -O0 -fPIC -shared -fno-builtin -Dmalloc=mine -Dfree=drop", "none.c", kSource);
  PatchPlanner planner({});
  EXPECT_EQ(entered(planner, with), 2u);
  EXPECT_EQ(plan_of(planner, questions_about(without, kOfC, PENNA_UNLESS_RUNNING)).patches.size(), 0u);
  EXPECT_TRUE(planner.refused().empty()) << planner.refused()[0].name << " " << planner.refused()[0].reason;
  EXPECT_EQ(plan_of(planner, questions_about(with, kOfC, PENNA_UNLESS_RUNNING)).patches.size(), 0u);
  ASSERT_EQ(planner.refused().size(), 1u);
  EXPECT_EQ(planner.refused()[0].name, "malloc");
  EXPECT_EQ(planner.refused()[0].reason, kMayRun);
  EXPECT_EQ(planner.refused()[0].what, RefusedFunction::kAllocator);
  EXPECT_FALSE(planner.refused()[0].half);
}

// What is too short for a jump, and is one itself to a function that is entered, needs none of its own: directly, by way of another, or
// through a pointer that the dynamic linker fills.
TEST(AllocatorPlanner, WhatGoesOnToAnEnteredFunction) {
  for (const std::string jump :
       {"jmp malloc", ".byte 0xeb, between - . - 1", "mov %rsi, %rdi\\n jmp *malloc@GOTPCREL(%rip)"}) {
    const std::string source =
        kSource + "__asm__(\".type aligned_alloc, @function\\n.globl aligned_alloc\\naligned_alloc: " + jump +
        "\\n.size aligned_alloc, . - aligned_alloc\\nint3\\n"
        "between: jmp malloc\\nint3\\n\");\n";
    PatchPlanner planner({});
    const std::string library = build_text("gcc -O0 -fPIC -shared -fno-builtin -Wl,-Bsymbolic", "jumps.c", source);
    EXPECT_GE(entered(planner, library), 2u) << jump;
    EXPECT_TRUE(planner.refused().empty()) << jump << ": " << planner.refused()[0].reason;
  }
}

// A way elsewhere, and one that ends in what is not entered itself.
TEST(AllocatorPlanner, WhatGoesOnToNothingThatIsEntered) {
  for (const std::string body : {"jmp *%rax", "ret", ".byte 0x74, 0\\n ret", "0: .byte 0xeb, 0b - . - 1"}) {
    const std::string source =
        kSource + "__asm__(\".type aligned_alloc, @function\\n.globl aligned_alloc\\naligned_alloc: " + body +
        "\\n.size aligned_alloc, . - aligned_alloc\\nint3\\n\");\n";
    PatchPlanner planner({});
    EXPECT_EQ(entered(planner, build_text("gcc -O0 -fPIC -shared -fno-builtin", "elsewhere.c", source)), 0u) << body;
    ASSERT_EQ(planner.refused().size(), 1u) << body;
    EXPECT_EQ(planner.refused()[0].name, "aligned_alloc");
    EXPECT_FALSE(planner.refused()[0].half);
  }
}

// One that nobody needs to free a block may be missing; an operator may be, with its kin. Both are halves of an allocator.
TEST(AllocatorPlanner, AHalfIsNamed) {
  const std::string short_one =
      "__asm__(\".type NAME, @function\\n.globl NAME\\nNAME: ret\\n.size NAME, 1\\nint3\\n\");\n";
  const auto with = [&](const std::string& name) {
    std::string text = short_one;
    for (size_t at; (at = text.find("NAME")) != text.npos;) text.replace(at, 4, name);
    return build_text("gcc -O0 -fPIC -shared -fno-builtin", name + ".c", kSource + text);
  };
  PatchPlanner planner({});
  EXPECT_EQ(entered(planner, with("strdup")), 2u);
  EXPECT_EQ(entered(planner, with("_Znwm"), {"malloc", "free", "_Znwm"}), 2u);
  EXPECT_EQ(entered(planner, with("free_sized"), {"free_sized"}), 0u);  // of a library whose malloc is recorded without
  ASSERT_EQ(planner.refused().size(), 3u);
  EXPECT_EQ(planner.refused()[0].what, RefusedFunction::kAllocatorFunction);
  EXPECT_EQ(planner.refused()[1].name, "_Znwm");
  EXPECT_FALSE(planner.refused()[0].half);  // what it gives is freed by others, and missing there
  EXPECT_TRUE(planner.refused()[1].half);
  EXPECT_TRUE(planner.refused()[2].half);
}

// Whether there is one is asked first: the answer is a name, and no patch.
TEST(AllocatorPlanner, WhetherThereIsOne) {
  const std::string with = build_text("gcc -O0 -fPIC -shared -fno-builtin -fvisibility=hidden", "there.c", kSource);
  const std::string without =
      build_text("gcc -O0 -fPIC -shared -fno-builtin -Dmalloc=mine -Dfree=drop", "not_there.c", kSource);
  PatchPlanner planner({});
  for (int round = 0; round < 2; ++round)
    for (const std::string& library : {with, without}) {
      const Plan plan = plan_of(planner, questions_about(library, {"calloc", "free"}, PENNA_UNLESS_FOUND));
      EXPECT_EQ(plan.patches.size(), 0u);
      EXPECT_EQ(plan.head.name_bytes, library == with ? sizeof "free" : 0u);
    }
  EXPECT_TRUE(planner.refused().empty());
  EXPECT_EQ(entered(planner, with), 2u);
}

// What is native to an allocator counts where it can give and take, with or without a malloc; operators and what is of C only with one.
TEST(AllocatorPlanner, NativeInterfaces) {
  const auto built = [](const std::string& name, const std::string& text) {
    return build_text("gcc -O0 -fPIC -shared -fno-builtin", name, text);
  };
  const std::string
      give = "void* mi_zalloc(unsigned long n) { for (long i = 0; i < 9; ++i) n += n * i; return (void*)n; }\n",
      take = "void mi_free_size(char* p, int n) { for (int i = 0; i < n; ++i) p[i] = 0; }\n",
      others = "int _Znwm(int n) { return n * n + n; } int strdup(int n) { return n * n - n; }\n";
  const std::vector<std::string> symbols = {"malloc",    "free",         "strdup",  "_Znwm",
                                            "mi_zalloc", "mi_free_size", "mallctl", "mi_heap_destroy"};
  PatchPlanner planner({});
  EXPECT_EQ(entered(planner, built("give.c", give + others), symbols), 0u);
  EXPECT_EQ(entered(planner, built("take.c", take + others), symbols), 0u);
  EXPECT_EQ(entered(planner, built("both.c", give + take + others), symbols), 2u);
  EXPECT_EQ(entered(planner, built("malloc.c", give + take + others + kSource), symbols), 6u);
  EXPECT_TRUE(planner.refused().empty());
  // What ends blocks besides, and cannot be entered, leaves the others as they are, and is named.
  EXPECT_EQ(entered(planner,
                    built("ends.c", give + take +
                                        "__asm__(\".type mi_heap_destroy, @function\\n.globl mi_heap_destroy\\n"
                                        "mi_heap_destroy: ret\\n.size mi_heap_destroy, 1\\nint3\\n\");\n"),
                    symbols),
            2u);
  ASSERT_EQ(planner.refused().size(), 1u);
  EXPECT_EQ(planner.refused()[0].what, RefusedFunction::kAllocatorFunction);
  EXPECT_TRUE(planner.refused()[0].half);
}

}  // namespace
}  // namespace penna::allocator_planner_test
