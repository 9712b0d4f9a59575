// SPDX-License-Identifier: MIT
// Each verdict of penna doctor that depends on the system and not on a file: its text, and the remedy.
#include "cli/targets/doctor.h"

#include <gtest/gtest.h>

#include "cli/verbs/cmd_doctor.h"

namespace penna::doctor_test {
namespace {

constexpr const char* kFlags = "fpu constant_tsc nonstop_tsc rdtscp";

TEST(Doctor, TrustsTheClockOnlyWhereKernelAndProcessorDo) {
  EXPECT_EQ(clock_finding("tsc", kFlags).verdict, Diagnosis::kOk);
  EXPECT_EQ(clock_finding("hpet", kFlags).verdict, Diagnosis::kLimited);
  EXPECT_EQ(clock_finding("tsc", "fpu constant_tsc rdtscp").verdict, Diagnosis::kLimited);
  EXPECT_EQ(clock_finding("tsc", "fpu xconstant_tsc nonstop_tsc").verdict, Diagnosis::kLimited);
  EXPECT_NE(clock_finding("", "").what.find("'unknown'"), std::string::npos);
}

TEST(Doctor, TellsWhatYamaAllows) {
  EXPECT_EQ(tracing_finding(0, false).verdict, Diagnosis::kOk);
  EXPECT_EQ(tracing_finding(1, true).verdict, Diagnosis::kOk);
  EXPECT_NE(tracing_finding(1, false).remedy.find("sudo sysctl kernel.yama.ptrace_scope=0"), std::string::npos);
  EXPECT_NE(tracing_finding(1, false).remedy.find("penna_allow_attach()"), std::string::npos);
  EXPECT_EQ(tracing_finding(2, false).remedy, "run penna as root");
  EXPECT_EQ(tracing_finding(3, true).verdict, Diagnosis::kLimited);
}

TEST(Doctor, TellsWhetherThereAreUprobes) {
  EXPECT_EQ(uprobes_finding("").verdict, Diagnosis::kOk);
  const DoctorFinding refused = uprobes_finding("uprobes are not available, since (EPERM): run penna as root");
  EXPECT_EQ(refused.verdict, Diagnosis::kLimited);
  EXPECT_EQ(refused.what, "uprobes are not available, since (EPERM)");
  EXPECT_EQ(refused.remedy, "run penna as root");
}

TEST(Doctor, TellsWhereRoomIsShort) {
  constexpr uint64_t kMany = uint64_t{1} << 40, kFew = 1 << 20;
  EXPECT_EQ(disk_finding("/x", kMany, true).verdict, Diagnosis::kOk);
  EXPECT_EQ(disk_finding("/x", kFew, true).verdict, Diagnosis::kLimited);
  EXPECT_EQ(disk_finding("/x", kMany, false).what, "/x cannot be written");
  EXPECT_EQ(address_space_finding(UINT64_MAX).verdict, Diagnosis::kOk);
  EXPECT_EQ(address_space_finding(kFew).verdict, Diagnosis::kLimited);
}

TEST(Doctor, WhatDoesNotWorkHasARemedy) {
  for (const DoctorFinding& one : examine_system())
    EXPECT_TRUE(one.verdict == Diagnosis::kOk || !one.remedy.empty()) << one.check;
}

TEST(Doctor, ReadsItsCommandLine) {
  EXPECT_EQ(parse_doctor({})->options.target, "");
  EXPECT_EQ(parse_doctor({"12", "--format", "json"})->options.target, "12");
  EXPECT_FALSE(parse_doctor({"12", "13"}));
}

}  // namespace
}  // namespace penna::doctor_test
