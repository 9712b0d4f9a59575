// SPDX-License-Identifier: MIT
// Values of /proc/PID/status: of real processes, also of one whose name looks like a line.
#include "base/proc_status.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace penna {
namespace {

TEST(ProcStatusTest, ValuesAreThoseOfTheWholeName) {
  const std::string status = "Name:\tx\nNSpid:\t7\t3\nPid:\t7\nSigCgt:\t0010\n";
  EXPECT_EQ(status_value(status, "Name"), "x");
  EXPECT_EQ(status_value(status, "Pid"), "7");
  EXPECT_EQ(status_value(status, "NSpid"), "7\t3");
  EXPECT_EQ(status_value(status, "SigCgt"), "0010");
  EXPECT_EQ(status_value(status, "Sig"), "");
  EXPECT_EQ(status_value("Pid:\t7", "Pid"), "7");
  EXPECT_EQ(status_value("", "Pid"), "");
}

TEST(ProcStatusTest, ANameCannotFakeAValue) {
  char name[16] = {};
  ASSERT_EQ(::prctl(PR_GET_NAME, name), 0);
  for (const char* fake : {"TracerPid:\t1", "\nTracerPid:\t1"}) {
    ASSERT_EQ(::prctl(PR_SET_NAME, fake), 0);
    EXPECT_NE(read_status_value(::getpid(), ::gettid(), "TracerPid"), "1") << fake;
  }
  ::prctl(PR_SET_NAME, name);
  EXPECT_EQ(read_status_value("/proc/self", "Pid"), std::to_string(::getpid()));
  EXPECT_EQ(read_status_value(::getpid(), ::gettid(), "Pid"), std::to_string(::gettid()));
}

TEST(ProcStatusTest, OfAProcessThatIsGoneThereIsNone) { EXPECT_EQ(read_status_value("/proc/0", "Pid"), ""); }

}  // namespace
}  // namespace penna
