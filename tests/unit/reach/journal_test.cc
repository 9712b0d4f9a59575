// SPDX-License-Identifier: MIT
// A child stands for a process with an agent: one thread is in "the agent's code" while the journal is put back, and
// only then makes a change that it had noted before. Another place was changed and changed back; a third goes last.
#include "reach/inject/journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "base/fd.h"
#include "penna/detail/attach.h"

namespace penna {
namespace {

constexpr uint64_t kBefore = 0x1111, kAfter = 0x2222, kThird = 0x3333;

struct Shared {
  penna_attachment head;
  penna_change changes[6];
  uint32_t armed, links;
  uint64_t first, late, toggled, last, unnoted;  // places
  uint64_t last_amid;                            // what `last` was after the first step
  uint32_t is_in_agent, has_left;
};

thread_local uint64_t cursor;

// A function of the unwinder's that a thread never leaves: all of its 5 bytes are one place.
extern "C" const uint8_t endless[];
asm(".pushsection .text\n"
    "endless: nop\n"
    "1: pause\n"
    "jmp 1b\n"
    ".popsection\n");
constexpr uint8_t kEndlessBytes = 5;

// The agent's code: no calls, so that the thread is nowhere else.
__attribute__((noinline, section("agents_code"), no_sanitize("address", "undefined", "thread"))) void change_late(
    volatile Shared* shared) {
  shared->is_in_agent = 1;
  while (shared->armed != PENNA_NOTHING_RECORDED) {
  }
  shared->last_amid = shared->last;
  shared->late = kAfter;
  // Noted only now.
  shared->unnoted = kAfter;
  shared->head.changes = 6;
  shared->has_left = 1;
}
extern "C" const uint8_t __start_agents_code[], __stop_agents_code[];

penna_change change_of(const uint64_t& place, uint64_t before = kBefore, uint64_t after = kAfter) {
  penna_change change{};
  change.address = reinterpret_cast<uintptr_t>(&place);
  change.kind = PENNA_CHANGED_POINTER;
  change.bytes = sizeof place;
  std::memcpy(change.before, &before, sizeof before);
  std::memcpy(change.after, &after, sizeof after);
  return change;
}

void prepare(Shared* shared) {
  shared->first = shared->last = kAfter;
  shared->late = shared->toggled = shared->unnoted = kBefore;
  shared->changes[0] = change_of(shared->first);
  shared->changes[1] = change_of(shared->late);
  shared->changes[2] = change_of(shared->toggled);
  shared->changes[3] = change_of(shared->toggled, kAfter, kBefore);
  shared->changes[4] = change_of(shared->last);
  shared->changes[4].goes_last = 1;
  shared->changes[5] = change_of(shared->unnoted);
  penna_attachment& head = shared->head;
  head.magic = PENNA_ATTACH_MAGIC;
  head.version = PENNA_ABI_VERSION;
  head.state = PENNA_ATTACH_RUNS;
  head.changes = 5;
  head.room = 6;
  head.code_start = reinterpret_cast<uintptr_t>(__start_agents_code);
  head.code_end = reinterpret_cast<uintptr_t>(__stop_agents_code);
  head.armed = reinterpret_cast<uintptr_t>(&shared->armed);
  head.link_count_at = reinterpret_cast<uintptr_t>(&shared->links);
  head.cursor = static_cast<int64_t>(reinterpret_cast<uintptr_t>(&cursor) -
                                     reinterpret_cast<uintptr_t>(__builtin_thread_pointer()));
}

[[noreturn]] void live(Shared* shared) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::thread([shared] {
    change_late(shared);
    for (;;) ::usleep(1000);
  }).detach();
  reinterpret_cast<void (*)()>(reinterpret_cast<uintptr_t>(endless))();
  ::abort();
}

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    shared_ = static_cast<Shared*>(
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    prepare(shared_);
    std::unique_ptr<FILE, int (*)(FILE*)> file(::tmpfile(), ::fclose);
    ASSERT_EQ(1u, ::fwrite(&kBefore, sizeof kBefore, 1, file.get()));
    ASSERT_EQ(0, ::fflush(file.get()));
    const Fd reader(::open(("/proc/self/fd/" + std::to_string(::fileno(file.get()))).c_str(), O_RDONLY | O_CLOEXEC));
    unwritable_ = static_cast<uint64_t*>(::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, reader.get(), 0));
    ASSERT_NE(MAP_FAILED, static_cast<void*>(unwritable_));
    child_ = ::fork();
    if (child_ == 0) live(shared_);
    while (static_cast<volatile Shared*>(shared_)->is_in_agent == 0) ::usleep(1000);
  }
  void TearDown() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::munmap(shared_, sizeof(Shared));
    ::munmap(unwritable_, 4096);
  }

  Journal journal() const {
    return {child_, RemotePtr<penna_attachment>(reinterpret_cast<uintptr_t>(&shared_->head)), {}, {}};
  }

  uint64_t unwritable() const { return *reinterpret_cast<const volatile uint64_t*>(unwritable_); }

  Shared* shared_ = nullptr;
  uint64_t* unwritable_ = nullptr;  // even through /proc/PID/mem
  pid_t child_ = 0;
};

TEST_F(JournalTest, PutsBackWhatAThreadChangesOnItsWayOut) {
  const auto restored = journal().put_back();
  ASSERT_TRUE(restored) << restored.error().text;
  EXPECT_EQ(1u, shared_->has_left);
  EXPECT_EQ(PENNA_ATTACH_LEFT, static_cast<int>(shared_->head.state));
  EXPECT_EQ(kBefore, shared_->first);
  EXPECT_EQ(kBefore, shared_->late);
  EXPECT_EQ(kBefore, shared_->unnoted);
  EXPECT_EQ(kBefore, shared_->toggled);
  EXPECT_EQ(kAfter, shared_->last_amid);
  EXPECT_EQ(kBefore, shared_->last);
  EXPECT_EQ(6u, restored->places);
  EXPECT_EQ(0u, restored->kept);
}

// The agent writes the end of some patches before their beginning; and a write that crosses a page may be cut short.
TEST_F(JournalTest, PutsBackCodeThatWasWrittenInPart) {
  constexpr uint64_t kHalf = 0x1122, kBreakpoint = 0x11cc;
  shared_->changes[0].kind = shared_->changes[2].kind = PENNA_CHANGED_CODE;
  shared_->changes[3] = {};
  shared_->first = kHalf;
  shared_->toggled = kBreakpoint;
  const auto restored = journal().put_back();
  ASSERT_TRUE(restored) << restored.error().text;
  EXPECT_EQ(kBefore, shared_->first);
  EXPECT_EQ(kBreakpoint, shared_->toggled);
  EXPECT_EQ(4u, restored->places);
  EXPECT_EQ(1u, restored->kept);
}

// Something else has changed it since: that is not ours to put back.
TEST_F(JournalTest, LeavesAloneWhatIsOfOthers) {
  shared_->first = kThird;
  const auto restored = journal().put_back();
  ASSERT_TRUE(restored) << restored.error().text;
  EXPECT_EQ(kThird, shared_->first);
  EXPECT_EQ(kBefore, shared_->late);
  EXPECT_EQ(5u, restored->places);
  EXPECT_EQ(1u, restored->kept);
}

TEST_F(JournalTest, WritesAllOrNothing) {
  shared_->first = kBefore;
  shared_->changes[1] = change_of(*unwritable_);
  shared_->head.changes = 2;
  const auto nothing = [] { return std::string(); };
  const auto written = journal().write_all(nothing);
  ASSERT_FALSE(written);
  EXPECT_NE(std::string::npos, written.error().text.find("refuses to write")) << written.error().text;
  EXPECT_EQ(kBefore, shared_->first);
  EXPECT_EQ(kBefore, unwritable());

  shared_->head.changes = 1;
  EXPECT_TRUE(journal().write_all(nothing));
  EXPECT_EQ(kAfter, shared_->first);
}

// A place of code may be longer than a word.
TEST_F(JournalTest, LooksAtAllOfAPlaceThatItMayNotWrite) {
  penna_change& one = shared_->changes[0] = change_of(*unwritable_);
  one.kind = PENNA_CHANGED_CODE;
  one.bytes = sizeof one.before;
  std::memset(one.after, 0xcc, sizeof one.after);
  shared_->head.changes = 1;
  const auto written = journal().write_all([] { return std::string(); });
  ASSERT_FALSE(written);
  EXPECT_NE(std::string::npos, written.error().text.find("refuses to write")) << written.error().text;
  EXPECT_EQ(kBefore, unwritable());
}

// It stays for a thread that is always inside, and the code does not change under it.
TEST_F(JournalTest, WaitsForAThreadInsideTheUnwinder) {
  penna_change& one = shared_->changes[0] = {};
  one.address = shared_->head.unwinder = reinterpret_cast<uintptr_t>(endless);
  one.kind = PENNA_CHANGED_CODE;
  one.bytes = kEndlessBytes;
  std::memset(one.before, 0xcc, kEndlessBytes);
  std::memcpy(one.after, endless, kEndlessBytes);
  Journal its = journal();
  its.set_unwinder({{CodePtr(1ull << 63), CodePtr(1ull << 63) + 1}});
  shared_->armed = PENNA_NOTHING_RECORDED;  // the other thread leaves the agent's code
  EXPECT_FALSE(its.finish_putting_back());
  EXPECT_EQ(0, ::kill(child_, 0));
  int status = 0;
  EXPECT_EQ(0, ::waitpid(child_, &status, WNOHANG)) << "status " << status;
}

// What the process says of its own journal is not believed.
TEST_F(JournalTest, RefusesMoreChangesThanThereIsRoomFor) {
  shared_->head.changes = shared_->head.room = UINT32_MAX;
  EXPECT_FALSE(journal().planned());
}

}  // namespace
}  // namespace penna
