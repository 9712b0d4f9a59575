// SPDX-License-Identifier: MIT
// What two etraces on two machines send each other: calls as they are recorded, and the names of their functions.
//
//   "etrace 1\n"                  the connecting side sends this first
//   {u32 kind, u32 bytes} ...     then frames, little-endian, kind is a WireKind, to kOver or the end of the connection
//
// Why not the recording itself: a live view wants records before their chunk is full, and names from files of the other
// machine.
// Invariant: everything read is untrusted: WireReader takes any bytes in any pieces, holds one frame at a time, and
// ends with an error if they are not frames, contradict themselves, or describe more than kMax...; records are checked
// by the code that decodes chunks.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "recording/types.h"

namespace penna {

inline constexpr std::string_view kWireGreeting = "etrace 1\n";
inline constexpr uint32_t kMaxFrameBytes = 1 << 20;
inline constexpr size_t kMaxProcesses = 1 << 16, kMaxThreads = 1 << 16;
inline constexpr uint64_t kMaxDescribedBytes = 256 << 20;  // of processes, names and what chunks contain besides events

enum class WireKind : uint32_t {
  kBegan = 1,     // u32 number, a process as metadata.h encodes it
  kRecords = 2,   // u32 process, u32 0, u64 calls and u64 other events that are missing before it, a chunk
  kName = 3,      // u64 address in the file, string path, string name of the function there
  kEnded = 4,     // u32 number, the end of a process as metadata.h encodes it
  kUpToDate = 5,  // no payload: everything so far was sent
  kOver = 6,      // no payload: and nothing more will follow
};

// Appends frames to `out`.
using WireBytes = std::vector<uint8_t>;
void put_began(WireBytes& out, const Process& process);
void put_records(WireBytes& out, uint32_t process, std::span<const uint8_t> chunk, uint64_t calls_missing,
                 uint64_t others_missing);
void put_name(WireBytes& out, std::string_view path, uint64_t address, std::string_view name);
void put_ended(WireBytes& out, const ProcessEnd& end);
void put_up_to_date(WireBytes& out);
void put_over(WireBytes& out);

// Receives what was sent. A process is named only between its began() and its ended().
class WireListener {
 public:
  virtual ~WireListener() = default;
  virtual void began(const Process& process) = 0;
  // Like Observer::records(); this many calls and other events are missing before them.
  virtual void records(uint32_t process, std::span<const uint8_t> chunk, uint64_t calls, uint64_t others) = 0;
  virtual void name(std::string_view path, uint64_t address, std::string_view name) = 0;
  virtual void ended(const ProcessEnd& end) = 0;
  virtual void up_to_date() = 0;
};

// Holds what the other side has sent as far as later frames must agree with it: which processes are open, how many
// threads and descriptions there were.
class WireReader {
 public:
  explicit WireReader(WireListener& listener) : listener_(listener) {}
  // The next bytes of the connection. An error is final.
  Result<> take(std::span<const uint8_t> bytes);
  // Another peer begins to send, before any was greeted.
  void forget() { waiting_.clear(); }
  bool is_greeted() const { return greeted_; }
  bool is_over() const { return over_; }
  const std::set<uint32_t>& open_processes() const { return open_; }

 private:
  Result<> frame(WireKind kind, std::span<const uint8_t> payload);
  Result<> began(std::span<const uint8_t> payload);
  Result<> records(std::span<const uint8_t> payload);
  Result<> describe(uint64_t bytes);

  WireListener& listener_;
  WireBytes waiting_;  // less than a frame
  std::set<uint32_t> open_;
  std::set<std::pair<uint32_t, uint32_t>> threads_;  // of all processes, by number and serial
  size_t processes_ = 0;
  uint64_t described_ = 0;
  bool greeted_ = false, over_ = false;
};

}  // namespace penna
