// SPDX-License-Identifier: MIT
// FollowedRecording: reads a recording while it is being written, each block once.
//
// Why not Recording::open() again and again: that reads all of it. This reads what was appended, and puts its
// descriptions into a LiveRecording, where an index, once assigned, stays valid.
// Usage:  while (!followed.is_finished()) { followed.read(kMost); followed.describe(now); followed.deliver(use); }
// Invariant: a thread's records come in order, each once, in a piece of an open chunk or in the whole one; missing
// records are marked. They come one turn late, so that what other threads have described by then is known.
// Not thread-safe, but read() does not touch recording().
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/live_recording.h"
#include "recording/scan.h"

namespace penna {

class FollowedRecording {
 public:
  // Errors: it cannot be read, is no recording, or is of another version.
  static Result<FollowedRecording> open(const std::string& path);

  const Recording& recording() const { return live_.recording(); }

  // Reads what was appended: blocks of at most `most_bytes` in all, and one more. True: there is more by now.
  bool read(uint64_t most_bytes);
  // Its end has been written: Recording::open() reads all of it.
  bool is_finished() const;

  struct Records {
    uint32_t thread = 0;  // index into recording().threads()
    bool gap = false;     // records of the thread are missing before these
    std::vector<uint8_t> chunk;
  };
  // Adds the descriptions that were read to recording(). `now`: this machine's clocks. True: what was derived from
  // modules and processes (Names) must be rebuilt.
  bool describe(const ClockTriplet& now);
  // Passes on the records that had been read before the last call of describe(). False: there were none.
  bool deliver(const std::function<void(const Records&)>& use);

 private:
  struct Block {
    BlockRef ref;
    Bytes payload;
  };
  // A chunk, or a piece of one.
  struct Part {
    uint32_t process = 0, serial = 0, tid = 0;  // numbers
    uint64_t sequence = 0;
    bool whole = false;
    Bytes bytes;
  };
  using Use = std::function<void(const Records&)>;
  // How far a thread was followed.
  struct Place {
    uint32_t thread = 0;  // index
    bool begun = false, whole = false;
    uint64_t sequence = 0;
    size_t bytes = 0;     // of that chunk, as far as it was passed on
    uint64_t time = 0;    // of the last record that was passed on
    uint32_t waited = 0;  // turns, for the chunk before those in `early`
    std::deque<Part> early;
  };
  using Key = std::pair<uint32_t, uint32_t>;  // number of the process, serial

  explicit FollowedRecording(const std::string& path) : path_(path), live_({}, {}) {}
  void take_in(const Block& block);
  void describe_threads(uint32_t number, const std::vector<Thread>& threads);
  uint32_t process_of(uint32_t number);
  Place& place_of(const Key& key, uint32_t tid);
  void split(const Block& block);
  void handle(Part part, const Use& use);
  static void hand_over(Place& place, Part& part, bool gap, const Use& use);
  static void cut_known(const Place& place, Bytes* chunk);
  void wait_no_longer(const Use& use);

  std::string path_;
  BlockFile file_;
  uint64_t at_ = layout::kBlocksAt;
  std::vector<Block> described_;       // read, but not yet taken in
  std::vector<Part> fresh_, waiting_;  // read; the same, before the last describe()
  Bytes stored_;
  LiveRecording live_;
  std::vector<ClockTriplet> clocks_;
  std::map<uint32_t, uint32_t> processes_;  // number -> index
  std::map<Key, Place> places_;
};

}  // namespace penna
