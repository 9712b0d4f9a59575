// SPDX-License-Identifier: MIT
// Four threads of a process and their analysis by Locks, for tests of waits. Invariant: as analyse() reads a recording.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/locks/locks.h"
#include "recording_builder.h"

namespace penna {

struct AnalysedWaits {
  explicit AnalysedWaits(RecordingBuilder& build, const LockOptions& options = {})
      : recording(build.open()), locks(recording, options) {
    for_each_event(recording, {.classes = kLockEvents | kAllocEvents}, locks);
    locks.finish();
  }
  // "waiter's stack x other stack side: waits time longest" of every pair.
  std::vector<std::string> pairs() const {
    static constexpr const char* kSides[] = {"held", "gave back", "unknown", "nobody", "woke", "timeout", "broken"};
    std::vector<std::string> all;
    for (const WaitPair& pair : locks.pairs())
      if (pair.time != 0 || pair.side != OtherSide::kFree)
        all.push_back(std::to_string(pair.stack) + " x " + std::to_string(pair.other_stack) + " " +
                      kSides[static_cast<int>(pair.side)] + ": " + std::to_string(pair.waits) + " " +
                      std::to_string(pair.time) + " " + std::to_string(pair.longest));
    return all;
  }
  const LockStats& of(uint64_t address) const {
    for (const LockStats& lock : locks.all())
      if (lock.address == address) return lock;
    static const LockStats none;
    return none;
  }
  Recording recording;
  Locks locks;
};

class WaitsTest : public testing::Test {
 protected:
  WaitsTest() {
    const uint32_t process = build_.process(100);
    for (uint32_t serial = 1; serial <= 4; ++serial) threads_.push_back(&build_.thread(process, serial));
  }
  ThreadBuilder& thread(size_t index) { return *threads_[index]; }
  RecordingBuilder build_;
  std::vector<ThreadBuilder*> threads_;
};

}  // namespace penna
