// SPDX-License-Identifier: MIT
// FollowedRecording: reads a recording while it is written, each block once.
//
// Why not Recording::open() again and again: that reads all of it. Here what was appended is read, and what it
// describes is told by a LiveRecording, where an index once given stays.
// Usage:  while (!followed.is_finished()) { followed.read(kMost); followed.describe(now); followed.give(use); }
// Invariant: the records of a thread come in their order, each once, be it in a piece of an open chunk or in the whole
// one; where some are missing, it is said. They come one turn late: what another thread has described by then is known.
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

  // Reads what was appended, blocks of at most so many bytes in all, and one more. True: there is more by now.
  bool read(uint64_t most_bytes);
  // Its end was written: Recording::open() gives all of it.
  bool is_finished() const;

  struct Records {
    uint32_t thread = 0;  // index into recording().threads()
    bool gap = false;     // records of the thread are missing in front of these
    std::vector<uint8_t> chunk;
  };
  // Makes part of recording() what was read of descriptions. `now`: of this machine. True: what was made of modules and
  // processes (Names) must be made anew.
  bool describe(const ClockTriplet& now);
  // Gives the records that had been read before describe() was called last. False: there were none.
  bool give(const std::function<void(const Records&)>& use);

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
    size_t bytes = 0;     // of that chunk, as far as it was given
    uint64_t time = 0;    // of the last record that was given
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
  void meet(Part part, const Use& use);
  static void hand_over(Place& place, Part& part, bool gap, const Use& use);
  static void cut_known(const Place& place, Bytes* chunk);
  void wait_no_longer(const Use& use);

  std::string path_;
  BlockFile file_;
  uint64_t at_ = layout::kBlocksAt;
  std::vector<Block> described_;       // read, and not taken in
  std::vector<Part> fresh_, waiting_;  // read; the same, before the last describe()
  Bytes stored_;
  LiveRecording live_;
  std::vector<ClockTriplet> clocks_;
  std::map<uint32_t, uint32_t> processes_;  // number -> index
  std::map<Key, Place> places_;
};

}  // namespace penna
