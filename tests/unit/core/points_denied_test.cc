// SPDX-License-Identifier: MIT
// A process that may not make code writable, as under systemd's MemoryDenyWriteExecute: points are armed while nobody can be
// inside of them, and what is refused later is counted and left as it was.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstring>
#include <thread>

#include "core/fake_agent.h"
#include "penna/point.h"

namespace {

// mprotect with PROT_WRITE and PROT_EXEC together: EACCES.
bool deny_writable_code() {
  constexpr uint32_t kBoth = PROT_WRITE | PROT_EXEC;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kBoth),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kBoth, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{sizeof filter / sizeof filter[0], filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void pass() { PENNA_EVENT(denied, point, 7); }

TEST(DeniedPoints, are_armed_at_the_start_and_then_stay_as_they_are) {
  ASSERT_TRUE(deny_writable_code());
  fake::start();
  EXPECT_GE(fake::sites_armed(), 1u);
  EXPECT_EQ(fake::sites_refused(), 0u);
  pass();
  ASSERT_EQ(fake::events().size(), 1u);
  EXPECT_EQ(fake::events()[0].values[0].word, 7u);

  std::thread([] {
    penna_change_counts change{};
    EXPECT_EQ(penna::agent::change_points("denied:*", false, &change), PENNA_CONTROL_DONE);
    EXPECT_EQ(change.matched, 1u);
    EXPECT_EQ(change.changed, 0u);
    EXPECT_EQ(change.refused, 1u);
  }).join();
  EXPECT_EQ(fake::sites_refused(), 1u);
  fake::rewind();
  pass();  // still armed, and whole
  EXPECT_EQ(fake::events().size(), 1u);
}

}  // namespace
