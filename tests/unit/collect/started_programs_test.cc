// SPDX-License-Identifier: MIT
// Which started programs were recorded and which were not, in any order of starts and connections.
#include "collect/started_programs.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstring>

namespace penna {
namespace {

penna_start start(uint64_t ticks, penna_start_why why, const std::string& path) {
  penna_start told{};
  told.ticks = ticks;
  told.why = static_cast<uint16_t>(why);
  told.path_bytes = static_cast<uint16_t>(path.size());
  std::memcpy(told.path, path.data(), path.size());
  return told;
}

std::string all(const StartedPrograms& programs) {
  std::string text;
  for (const UnrecordedProgram& one : programs.unrecorded()) text += unrecorded_sentence(one) + "\n";
  return text;
}

TEST(StartedPrograms, WhoMeetsIsRecordedInWhateverOrderIsHeardOfIt) {
  StartedPrograms programs;
  programs.add(start(10, PENNA_START_EXPECTED, "/a"), 5);
  programs.met(5, 20);
  programs.met(6, 21);
  programs.add(start(11, PENNA_START_EXPECTED, "/b"), 6);
  EXPECT_EQ(all(programs), "");
}

TEST(StartedPrograms, AMeetingIsOfTheLastStartBeforeIt) {
  StartedPrograms programs;
  programs.met(5, 20);
  programs.add(start(30, PENNA_START_STATIC, "/still"), 5);
  EXPECT_EQ(all(programs),
            "/still (pid 5) was not recorded: it is statically linked, and the agent could not come to it\n");
  programs.add(start(40, PENNA_START_EXPECTED, "/again"), 5);
  programs.met(5, 50);
  EXPECT_EQ(programs.unrecorded().size(), 1U);
  EXPECT_EQ(programs.unrecorded()[0].path, "/still");
}

TEST(StartedPrograms, WhatDidNotStartIsNothing) {
  StartedPrograms programs;
  programs.add(start(1, PENNA_START_FAILED, "/never"), 5);
  programs.add(start(2, PENNA_START_MUSL, "/never"), 5);
  programs.add(start(3, PENNA_START_FAILED, "/never"), 5);
  EXPECT_EQ(all(programs), "");
}

TEST(StartedPrograms, TheyAreToldInTheirOrder) {
  StartedPrograms programs;
  programs.add(start(9, PENNA_START_BITS, "/late"), 3);
  programs.add(start(4, PENNA_START_MUSL, "/early"), 8);
  EXPECT_EQ(programs.unrecorded()[0].path, "/early");
  EXPECT_EQ(unrecorded_summary(programs.unrecorded(), 2),
            "4 programs that were started were not recorded: 1 32-bit, 1 with musl as libc, 2 of which nothing else is "
            "known");
}

TEST(StartedPrograms, ForkedChildrenAreToldWhateverTheyBecome) {
  StartedPrograms programs;
  programs.add(start(5, PENNA_START_UNREACHED, ""), 7);
  programs.met(7, 9);  // the program that it has become
  EXPECT_EQ(
      all(programs),
      "a process (pid 7) was not recorded: it was forked and could not reach the recorder (another root, a sandbox)\n");
  EXPECT_EQ(
      unrecorded_summary(programs.unrecorded(), 1),
      "2 programs and processes were not recorded: 1 forked without a way to the recorder, 1 of which nothing else "
      "is known");
  programs.add(start(6, PENNA_START_NO_ROOM, ""), 8);
  programs.add(start(7, PENNA_START_NO_ROOM, "killed"), 9);
  EXPECT_NE(all(programs).find("\na process (pid 8) was not recorded: its resource limits"), std::string::npos);
  EXPECT_NE(all(programs).find("killed (pid 9) was not recorded: its resource limits"), std::string::npos);
}

TEST(StartedPrograms, ASummaryCallsForkedChildrenProcesses) {
  StartedPrograms programs;
  programs.add(start(6, PENNA_START_NO_ROOM, "/full"), 8);
  constexpr const char* kRest = "were not recorded: 1 whose resource limits (ulimit) leave no memory";
  EXPECT_EQ(unrecorded_summary(programs.unrecorded(), 0), fmt::format("1 programs that were started {}", kRest));
  programs.left_unanswered(9, false);
  EXPECT_EQ(unrecorded_summary(programs.unrecorded(), 0),
            fmt::format("2 programs and processes {}, 1 that the recorder answered too late", kRest));
}

TEST(StartedPrograms, WhoGaveUpIsToldAsWhatItWasToBecome) {
  StartedPrograms programs;
  programs.add(start(5, PENNA_START_EXPECTED, "/late"), 7);
  programs.left_unanswered(7, true);
  programs.left_unanswered(8, true);   // it had asked something
  programs.left_unanswered(9, false);  // a forked child
  EXPECT_EQ(all(programs),
            "/late (pid 7) was not recorded: it ended, or timed out after 10 s, before the recorder answered: the "
            "recorder was "
            "stopped or starved\n"
            "a process (pid 9) was not recorded: it ended, or timed out after 10 s, before the recorder answered: the "
            "recorder was "
            "stopped or starved\n");
}

TEST(StartedPrograms, WhatIsNotKnownIsCountedUpToALimit) {
  StartedPrograms programs;
  programs.add_unreported(kMostCounted);
  programs.add_unreported(kMostCounted);
  EXPECT_EQ(
      unrecorded_summary({}, programs.unreported()),
      "at least 9,007,199,254,740,992 programs that were started were not recorded: at least 9,007,199,254,740,992 "
      "of which nothing else is known");
}

TEST(StartedPrograms, UntrustedStartsAreBounded) {
  StartedPrograms programs;
  penna_start hostile = start(1, PENNA_START_EXPECTED, "");
  hostile.why = 999;
  hostile.path_bytes = 65535;
  for (uint32_t i = 0; i < 100'000; ++i) {
    programs.add(hostile, i);
    programs.met(i + 1'000'000, 5);
  }
  EXPECT_EQ(programs.unrecorded().size(), 65'536U);
  EXPECT_EQ(programs.unreported(), 100'000U - 65'536U);
  EXPECT_NE(unrecorded_sentence(programs.unrecorded()[0]).find("was not recorded: it ended before"), std::string::npos);
}

}  // namespace
}  // namespace penna
