// SPDX-License-Identifier: MIT
// Each reason not to attach to a process, and which of several is reported. Cases that need other processes:
// tests/e2e/attach_refused.sh.
#include "session/attach_refusal.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace penna::attach_refusal_test {
namespace {

constexpr pid_t kSelf = 7;
constexpr uid_t kUser = 1000;

ProcessFacts usual() {
  ProcessFacts facts;
  facts.pid = facts.leader = 42;
  facts.state = 'S';
  facts.user = kUser;
  facts.permitted = true;
  facts.bits = 64;
  return facts;
}
std::string refusal(const ProcessFacts& facts, uid_t user = kUser, bool by_breakpoints = false) {
  return attach_refusal(facts, kSelf, user, by_breakpoints);
}
void expect(const ProcessFacts& facts, const std::string& part, uid_t user = kUser) {
  EXPECT_NE(refusal(facts, user).find(part), std::string::npos) << refusal(facts, user) << " lacks " << part;
}

TEST(AttachRefusal, NothingStandsAgainstAUsualProcess) { EXPECT_EQ(refusal(usual()), ""); }

TEST(AttachRefusal, EachReason) {
  ProcessFacts facts = usual();
  facts.pid = 43;
  EXPECT_EQ(refusal(facts), "43 is a thread of process 42: use -p 42");
  facts = usual();
  facts.pid = facts.leader = kSelf;
  expect(facts, "process 7 is this penna itself");
  facts = usual();
  facts.kernel_thread = true;
  facts.permitted = false;
  expect(facts, "a kernel thread");
  facts = usual();
  facts.state = 'Z';
  facts.permitted = false;
  expect(facts, "has ended");
  facts = usual();
  facts.tracer = 9;
  facts.state = 't';
  expect(facts, "is already traced by process 9");
  facts = usual();
  facts.state = 'T';
  expect(facts, "kill -CONT 42");
  facts = usual();
  facts.bits = 32;
  expect(facts, "32-bit");
  facts = usual();
  facts.filters_calls = true;
  expect(facts, "only root may read it: run penna as root (CAP_SYS_ADMIN)");
  facts.may_read_filters = true;
  EXPECT_EQ(refusal(facts), "");
  facts = usual();
  facts.is_static = true;
  EXPECT_EQ(refusal(facts), "");
  facts.why_no_standalone_agent = "has no symbols";
  expect(facts, "statically linked and has no symbols, so it can have no agent");
  facts = usual();
  facts.is_musl = true;
  expect(facts, "musl");
  EXPECT_EQ(refusal(facts, kUser, true), "");
  facts.tracer = 9;
  EXPECT_NE(refusal(facts, kUser, true), "");
}

TEST(AttachRefusal, WhoMayNotTrace) {
  ProcessFacts facts = usual();
  facts.permitted = false;
  facts.user = 0;
  expect(facts, "belongs to user root");
  facts = usual();
  facts.permitted = false;
  facts.other_rights = true;
  expect(facts, "setuid");
  for (const int scope : {1, 2, 3}) {
    facts = usual();
    facts.permitted = false;
    facts.ptrace_scope = scope;
    expect(facts, "ptrace_scope is " + std::to_string(scope));
  }
  facts.ptrace_scope = 0;
  expect(facts, "not dumpable");
  // Not the cause where the kernel allows it.
  facts.ptrace_scope = 1;
  facts.permitted = true;
  EXPECT_EQ(refusal(facts), "");
}

TEST(AttachRefusal, UprobesDoNotMindTracersAndFilters) {
  const auto but = [](const ProcessFacts& facts, bool by_breakpoints) {
    return refusal_but_for_uprobes(facts, kSelf, 1000, by_breakpoints);
  };
  EXPECT_EQ(but(usual(), false), "");
  ProcessFacts facts = usual();
  facts.tracer = 9;
  EXPECT_EQ(but(facts, false), "process 42 is already traced by process 9: end that tracer first");
  facts.state = 'Z';
  EXPECT_EQ(but(facts, false), "");
  facts = usual();
  facts.filters_calls = true;
  EXPECT_NE(but(facts, true).find("seccomp"), std::string::npos);
  facts.may_read_filters = true;
  EXPECT_EQ(but(facts, false), "");
  facts = usual();
  facts.tracer = 9;
  facts.first_thread_ended = true;  // uprobes need it
  EXPECT_EQ(but(facts, false), "");
}

TEST(AttachRefusal, FactsOfThisProcess) {
  const auto facts = read_process_facts(::getpid());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->leader, ::getpid());
  EXPECT_EQ(facts->tracer, 0);
  EXPECT_EQ(facts->state, 'R');
  EXPECT_EQ(facts->user, ::getuid());
  EXPECT_EQ(facts->bits, 64);
  EXPECT_FALSE(facts->first_thread_ended || facts->other_rights || facts->kernel_thread || facts->is_static ||
               facts->is_musl);
  EXPECT_TRUE(facts->permitted);  // one may always
}

}  // namespace
}  // namespace penna::attach_refusal_test
