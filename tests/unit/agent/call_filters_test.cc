// SPDX-License-Identifier: MIT
// Seccomp filters as programs install them: which of the agent's system calls they refuse, and whether they kill for
// it.
// Why: a wrong answer kills the target, or leaves it unrecorded for nothing.
#include "agent/core/call_filters.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <vector>

namespace penna::agent::call_filters_test {
namespace {

using Code = std::vector<sock_filter>;
const sock_filter kLoadNumber = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
const sock_filter kAllow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
const sock_filter kKill = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);

sock_filter jump(uint16_t how, uint32_t with, uint8_t yes, uint8_t no) {
  return BPF_JUMP(static_cast<uint16_t>(BPF_JMP | how | BPF_K), with, yes, no);
}

uint32_t refused_by(Code code) {
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return refused_by_filter(&program);
}

uint32_t refused_when(uint32_t number, uint32_t answer) {
  return refused_by({kLoadNumber, jump(BPF_JEQ, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, answer), kAllow});
}

TEST(CallFilters, OneThatAllowsRefusesNothing) {
  EXPECT_EQ(refused_by({kAllow}), 0u);
  EXPECT_EQ(refused_when(SYS_ptrace, SECCOMP_RET_KILL_PROCESS), 0u);
  EXPECT_EQ(refused_when(SYS_socket, SECCOMP_RET_LOG), 0u);
}

TEST(CallFilters, WhatCannotBeReadOrIsNoFilterRefusesNothing) {
  EXPECT_EQ(refused_by_filter(nullptr), 0u);
  const sock_fprog program{3, reinterpret_cast<sock_filter*>(8)};
  EXPECT_EQ(refused_by_filter(&program), 0u);
}

TEST(CallFilters, KillingEndsWhatTheCallIsFor) {
  for (const uint32_t answer : {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP}) {
    EXPECT_EQ(refused_when(SYS_socket, answer), kRefusesStart);
    EXPECT_EQ(refused_when(SYS_prctl, answer), kRefusesProgram);
    EXPECT_EQ(refused_when(SYS_futex, answer), kRefusesStart | kRefusesRecording);
  }
}

TEST(CallFilters, AnErrorEndsOnlyWhatMustWork) {
  EXPECT_EQ(refused_when(SYS_memfd_create, SECCOMP_RET_ERRNO | EPERM), kRefusesStart);
  EXPECT_EQ(refused_when(SYS_setsockopt, SECCOMP_RET_ERRNO | EPERM), 0u);
}

TEST(CallFilters, ArgumentsAreLookedAt) {
  const auto domain = static_cast<uint32_t>(offsetof(seccomp_data, args));
  const auto sockets_of = [&](uint32_t family) {
    return refused_by({kLoadNumber, jump(BPF_JEQ, SYS_socket, 0, 2), BPF_STMT(BPF_LD | BPF_W | BPF_ABS, domain),
                       jump(BPF_JEQ, family, 1, 0), kAllow, kKill});
  };
  EXPECT_EQ(sockets_of(AF_INET), 0u);
  EXPECT_EQ(sockets_of(AF_UNIX), kRefusesStart);
}

TEST(CallFilters, AnotherProcessorsNumbersAreKilledByMostOfThem) {
  const auto arch = static_cast<uint32_t>(offsetof(seccomp_data, arch));
  EXPECT_EQ(
      refused_by({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arch), jump(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0), kKill, kAllow}),
      0u);
}

// By halves, as libseccomp writes long lists, and by what the machine can compute.
TEST(CallFilters, TheMachineComputesAsTheKernelDoes) {
  EXPECT_EQ(refused_by({kLoadNumber, jump(BPF_JGE, SYS_memfd_create, 0, 2), jump(BPF_JGT, SYS_memfd_create, 1, 0),
                        kKill, kAllow}),
            uint32_t{kRefusesStart | kRefusesProgram | kRefusesCode});
  const Code computed = {kLoadNumber,
                         BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 5),
                         BPF_STMT(BPF_ST, 3),
                         BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 2),
                         BPF_STMT(BPF_LD | BPF_W | BPF_MEM, 3),
                         BPF_STMT(BPF_ALU | BPF_MUL | BPF_X, 0),
                         jump(BPF_JEQ, (SYS_connect + 5) * 2, 0, 1),
                         kKill,
                         kAllow};
  EXPECT_EQ(refused_by(computed), kRefusesStart);
  EXPECT_EQ(refused_by({BPF_STMT(BPF_LD | BPF_W | BPF_IMM, SECCOMP_RET_ALLOW), BPF_STMT(BPF_RET | BPF_A, 0)}), 0u);
}

}  // namespace
}  // namespace penna::agent::call_filters_test
