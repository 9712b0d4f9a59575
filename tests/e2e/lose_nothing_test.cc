// SPDX-License-Identifier: MIT
// Every emitted event is in the recording or counted as lost, whichever process dies and whatever is full.
//
// A program that counts its own events in a shared file (tests/programs/emitter.c) is recorded by the real penna; then
// target or recorder are killed at random moments, the pool is made small, or the disk full. Invariant under test: done
// <= stored + lost <= begun for each kind of event, and = if the program came to its end.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "programs/emitter.h"
#include "recording/reader.h"

namespace penna {
namespace {

using namespace std::chrono_literals;

// The emitter running under penna record, with access to its counters.
class Emission {
 public:
  Emission(const std::vector<std::string>& options, int threads, uint64_t iterations) {
    char folder[] = "/tmp/penna-lose-XXXXXX";
    folder_ = ::mkdtemp(folder);
    int fd = ::open(counters().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_EQ(::ftruncate(fd, sizeof(emitter_page)), 0);
    page_ = static_cast<emitter_page*>(::mmap(nullptr, sizeof(emitter_page), PROT_READ, MAP_SHARED, fd, 0));
    ::close(fd);
    std::vector<std::string> words = {PENNA_PATH, "record", "-q", "-o", recording(), "-k", "calls,alloc,locks"};
    words.insert(words.end(), options.begin(), options.end());
    for (const std::string& word : {std::string("--"), std::string(EMITTER_PATH), counters(), std::to_string(threads),
                                    std::to_string(iterations)})
      words.push_back(word);
    recorder_ = ::fork();
    if (recorder_ == 0) {
      std::vector<char*> arguments;
      arguments.reserve(words.size() + 1);
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ::execv(arguments[0], arguments.data());
      ::_exit(99);
    }
    if (recorder_ < 0) throw std::runtime_error("fork failed");
  }
  ~Emission() {
    ::munmap(page_, sizeof *page_);
    ::unlink(counters().c_str());
    ::unlink(recording().c_str());
    ::rmdir(folder_.c_str());
  }
  Emission(const Emission&) = delete;
  Emission& operator=(const Emission&) = delete;

  std::string counters() const { return folder_ + "/counters"; }
  std::string recording() const { return folder_ + "/r.penna"; }
  const emitter_page& page() const { return *page_; }
  pid_t recorder() const { return recorder_; }

  // Throws if there is none: kill(-1) would signal every process of the machine.
  pid_t target() const {
    for (int i = 0; i < 5000; ++i) {
      if (uint32_t pid = __atomic_load_n(&page_->pid, __ATOMIC_ACQUIRE)) return static_cast<pid_t>(pid);
      std::this_thread::sleep_for(1ms);
    }
    throw std::runtime_error("the emitter did not start");
  }
  int wait() const {
    int status = 0;
    ::waitpid(recorder_, &status, 0);
    return status;
  }

 private:
  std::string folder_;
  emitter_page* page_;
  pid_t recorder_;
};

struct Counts {
  uint64_t calls = 0, allocs = 0, locks = 0;  // in the recording
  uint64_t lost[PENNA_CLASS_COUNT] = {};      // as stated by the recording: no room, or could not be written
  uint64_t torn = 0;
};

// Counts the emitter's own events.
Counts count(const Emission& run) {
  Counts counts;
  auto opened = Recording::open(run.recording());
  EXPECT_TRUE(opened) << opened.error().text;
  if (!opened) return counts;
  std::vector<uint8_t> bytes;
  for (const ChunkRef& chunk : opened->chunks()) {
    auto read = opened->read_chunk(chunk, bytes);
    EXPECT_TRUE(read) << read.error().text;
    RecordCursor cursor(bytes);
    Record record;
    while (cursor.next(record)) {
      if (record.kind == PENNA_KIND_CALL_ENTRY && record.pc == run.page().function) ++counts.calls;
      if (record.kind == PENNA_KIND_ALLOC && record.as<penna_alloc>().size == EMITTER_BLOCK) ++counts.allocs;
      if (record.kind != PENNA_KIND_LOCK && record.kind != PENNA_KIND_LOCK_AT) continue;  // both begin with the lock
      for (uint64_t lock : run.page().lock)
        if (lock != 0 && record.as<penna_lock>().lock == lock) ++counts.locks;
    }
    EXPECT_FALSE(cursor.damaged());
    counts.torn += cursor.torn();
  }
  for (const RecordedProcess& process : opened->processes())
    for (int i = 0; i < PENNA_CLASS_COUNT; ++i) counts.lost[i] += process.health.lost[i];
  auto failures = opened->write_failures();
  EXPECT_TRUE(failures.has_value());
  for (int i = 0; failures && i < PENNA_CLASS_COUNT; ++i) counts.lost[i] += failures->lost[i];
  return counts;
}

uint64_t sum_begun(const Emission& run) {
  uint64_t sum = 0;
  for (const emitter_thread& thread : run.page().thread) sum += thread.begun;
  return sum;
}
uint64_t sum_done(const Emission& run) {
  uint64_t sum = 0;
  for (const emitter_thread& thread : run.page().thread) sum += thread.done;
  return sum;
}

void expect_between(uint64_t done, uint64_t stored, uint64_t begun, const char* what) {
  EXPECT_LE(done, stored) << what;
  EXPECT_LE(stored, begun) << what;
}

TEST(LoseNothing, TargetKilledAtRandomMoments) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    Emission run({}, 1 + i % 3, 100'000'000);
    pid_t target = run.target();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    ::kill(target, SIGKILL);
    int status = run.wait();
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    Counts counts = count(run);
    expect_between(sum_done(run), counts.calls, sum_begun(run), "calls");
    expect_between(sum_done(run), counts.allocs, sum_begun(run), "allocations");
    expect_between(sum_done(run), counts.locks, sum_begun(run), "locks");
    EXPECT_EQ(counts.lost[PENNA_CALLS] + counts.lost[PENNA_ALLOC] + counts.lost[PENNA_LOCKS], 0u);
    if (HasFailure()) break;
  }
}

TEST(LoseNothing, RecorderKilledAtRandomMoments) {
  std::mt19937 random(2);
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    // More events than the pool holds: a target that waited for a dead recorder would never end.
    Emission run({"--pool", "4"}, 2, 300'000);
    pid_t target = run.target();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 100'000));
    ::kill(run.recorder(), SIGKILL);
    run.wait();
    for (int tries = 0; ::kill(target, 0) == 0 && !run.page().finished && tries < 3000; ++tries)
      std::this_thread::sleep_for(10ms);
    EXPECT_EQ(run.page().finished, 1u) << "the target did not come to its end";
    Counts counts = count(run);  // it can be opened and contains only emitted events
    EXPECT_LE(counts.calls, sum_begun(run));
    EXPECT_LE(counts.allocs, sum_begun(run));
    if (HasFailure()) break;
  }
}

void expect_ended(int status) { EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status; }

// An iteration emits two events of each class, which count() counts as one.
void expect_all(const Emission& run, int status) {
  expect_ended(status);
  const Counts counts = count(run);
  const uint64_t emitted = sum_done(run);
  EXPECT_EQ(counts.calls, emitted);
  EXPECT_EQ(counts.allocs, emitted);
  EXPECT_EQ(counts.locks, emitted);
  for (const uint64_t lost : counts.lost) EXPECT_EQ(lost, 0u);
}

TEST(LoseNothing, SmallPoolThatBlocks) {
  Emission run({"--pool", "4", "--on-full", "block"}, 3, 200'000);
  int status = run.wait();
  expect_all(run, status);
}

// Counts every record of the recording, of all origins, and the lost ones: the sum is the same with and without losses,
// because the emitter does the same every time.
struct Sums {
  uint64_t stored = 0, lost = 0;
};
Sums sums_of(const Emission& run, penna_event_class event_class) {
  auto opened = Recording::open(run.recording());
  EXPECT_TRUE(opened);
  Sums sums;
  if (!opened) return sums;
  for (const ChunkRef& chunk : opened->chunks()) sums.stored += chunk.events[event_class];
  for (const RecordedProcess& process : opened->processes()) sums.lost += process.health.lost[event_class];
  if (auto failures = opened->write_failures()) sums.lost += failures->lost[event_class];
  return sums;
}

// `some_lost`: a run with interference, in which losses are counted to the event.
void expect_same_sum(const Emission& complete, const Emission& some_lost) {
  for (auto event_class : {PENNA_CALLS, PENNA_ALLOC, PENNA_LOCKS}) {
    const Sums all = sums_of(complete, event_class), parts = sums_of(some_lost, event_class);
    EXPECT_EQ(all.lost, 0u) << event_class;
    EXPECT_GT(parts.lost, 0u) << event_class << ": nothing came in its way";
    EXPECT_EQ(parts.stored + parts.lost, all.stored) << event_class;
  }
}

TEST(LoseNothing, StoredAndLostAddUpWhenDropping) {
  constexpr uint64_t kIterations = 300'000;
  Emission complete({}, 2, kIterations), dropping({"--pool", "4", "--on-full", "drop"}, 2, kIterations);
  // Stopping the recorder for a while makes sure that the pool overflows.
  dropping.target();
  ::kill(dropping.recorder(), SIGSTOP);
  std::this_thread::sleep_for(500ms);
  ::kill(dropping.recorder(), SIGCONT);
  expect_all(complete, complete.wait());
  expect_ended(dropping.wait());
  expect_same_sum(complete, dropping);
}

TEST(LoseNothing, StoredAndLostAddUpOnAFullDisk) {
  constexpr uint64_t kIterations = 200'000;
  Emission complete({}, 2, kIterations), full({}, 2, kIterations);
  full.target();
  rlimit64 limit{100'000, 100'000};
  EXPECT_EQ(::prlimit64(full.recorder(), RLIMIT_FSIZE, &limit, nullptr), 0);
  expect_all(complete, complete.wait());
  expect_ended(full.wait());
  expect_same_sum(complete, full);
}

}  // namespace
}  // namespace penna
