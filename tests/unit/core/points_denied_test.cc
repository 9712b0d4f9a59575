// SPDX-License-Identifier: MIT
// Processes that may not make code writable, as under systemd's MemoryDenyWriteExecute: points can still be switched,
// because code is written through a second mapping. Without one, what is refused is counted and left unchanged.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <thread>
#include <vector>

#include "core/fake_agent.h"
#include "penna/point.h"

namespace {

// mprotect and mmap with PROT_WRITE and PROT_EXEC together: EACCES; and the system calls of `more`.
bool deny_writable_code(std::initializer_list<uint32_t> more = {}) {
  constexpr uint32_t kBoth = PROT_WRITE | PROT_EXEC;
  std::vector<sock_filter> filter = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const uint32_t number : more) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES));
  }
  const sock_filter rest[] = {
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kBoth),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kBoth, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  filter.insert(filter.end(), std::begin(rest), std::end(rest));
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Linux 6.3: neither both at once, nor one after the other.
bool deny_for_good() {
  constexpr int kSetMdwe = 65, kRefuseExecGain = 1;
  return prctl(kSetMdwe, kRefuseExecGain, 0, 0, 0) == 0;
}

void pass() { PENNA_EVENT(denied, point, 7); }

penna_change_counts switch_in_a_thread(bool on) {
  penna_change_counts change{};
  std::thread([&] { EXPECT_EQ(penna::agent::change_points("denied:*", on, &change), PENNA_CONTROL_DONE); }).join();
  return change;
}

size_t events_of_a_pass() {
  fake::rewind();
  pass();
  return fake::events().size();
}

// Each in a process of its own, for such a ban is never lifted.
template <typename Deny>
void expect_to_switch(Deny&& deny) {
  const pid_t child = fork();
  if (child == 0) {
    if (!deny()) _exit(10);
    fake::start();
    if (fake::sites_armed() == 0 || fake::sites_refused() != 0 || events_of_a_pass() != 1) _exit(11);
    if (switch_in_a_thread(false).changed != 1 || events_of_a_pass() != 0) _exit(12);
    if (switch_in_a_thread(true).changed != 1 || events_of_a_pass() != 1) _exit(13);
    _exit(fake::sites_refused() == 0 ? 0 : 14);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST(DeniedPoints, are_switched_where_no_page_may_be_writable_code) {
  expect_to_switch([] { return deny_writable_code(); });
}

TEST(DeniedPoints, are_switched_without_the_file_of_memory) {
  expect_to_switch([] { return deny_writable_code({SYS_openat}); });
}

TEST(DeniedPoints, are_switched_where_the_process_has_denied_it_itself) { expect_to_switch(deny_for_good); }

TEST(DeniedPoints, stay_as_they_are_where_there_is_no_view_at_all) {
  fake::start();
  EXPECT_GE(fake::sites_armed(), 1u);
  EXPECT_EQ(fake::sites_refused(), 0u);
  ASSERT_TRUE(deny_writable_code({SYS_openat, SYS_memfd_create}));
  EXPECT_EQ(events_of_a_pass(), 1u);
  const penna_change_counts change = switch_in_a_thread(false);
  EXPECT_EQ(change.matched, 1u);
  EXPECT_EQ(change.changed, 0u);
  EXPECT_EQ(change.refused, 1u);
  EXPECT_EQ(fake::sites_refused(), 1u);
  EXPECT_EQ(events_of_a_pass(), 1u);  // still armed, and whole
}

}  // namespace
