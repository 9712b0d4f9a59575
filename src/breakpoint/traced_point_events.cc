// SPDX-License-Identifier: MIT
// See traced_events.h: what is recorded when a thread hits a point.
#include <algorithm>
#include <cstring>

#include "breakpoint/traced_events.h"

namespace penna {
namespace {

// The words of a record after its penna_point. Texts are cut if they exceed the record.
class PointWords {
 public:
  explicit PointWords(const RemoteMemory& memory) : memory_(memory) {}

  void add_number(uint64_t value) { append(&value, sizeof value); }
  void add_text(RemoteBytes at, std::optional<uint64_t> length) {
    // 32 words for the header, the penna_point and what twelve arguments need besides their text.
    constexpr size_t kMostTextBytes = (PENNA_MAX_RECORD_WORDS - 32) * 8;
    const size_t room = bytes_.size() < kMostTextBytes ? kMostTextBytes - bytes_.size() : 0;
    const size_t most = std::min<size_t>(room, PENNA_MAX_STRING);
    // One byte more than fits is read, to distinguish a cut text from one that just fits. Addresses are the program's:
    // unmapped memory reads as an empty text.
    std::string text = !at ? "(null)" : memory_.part(at, std::min<uint64_t>(length.value_or(most + 1), most + 1));
    if (!length) text.resize(std::min(text.find('\0'), text.size()));
    const bool is_cut = text.size() > most;
    text.resize(std::min(text.size(), most));
    const uint32_t head[2] = {static_cast<uint32_t>(text.size()), is_cut ? uint32_t{PENNA_STRING_CUT} : 0};
    append(head, sizeof head);
    // Records consist of words; resize() pads with zeros.
    text.resize((text.size() + 7) & ~size_t{7});
    append(text.data(), text.size());
  }
  std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  void append(const void* from, size_t size) {
    const auto* first = static_cast<const uint8_t*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  const RemoteMemory& memory_;
  std::vector<uint8_t> bytes_;
};

// A float as a double, the format in records.
uint64_t widened(uint64_t bits) {
  const auto low = static_cast<uint32_t>(bits);
  float narrow;
  std::memcpy(&narrow, &low, sizeof narrow);
  const double wide = narrow;
  std::memcpy(&bits, &wide, sizeof bits);
  return bits;
}

}  // namespace

void TracedEvents::pass_point(TracedThread& thread, const TracedPoint& point, const Registers& registers, uint64_t at,
                              uint64_t now) {
  TracedProcess& process = *thread.process;
  ThreadLog& log = log_of(thread);
  penna_point head{process.number_of(point, at, log, now), 0};
  if (point.with_stack) {
    // Like a return address, as in all other frames: readers subtract one to find the line, and so does the walk for
    // its rule.
    WalkStart here = registers.here(at + 1);
    here.exact = false;
    head.stack = process.stack(here);
  }
  PointWords words(process.memory());
  for (const PointValue& value : point.values) {
    // A value that cannot be read is 0: the point was hit even so.
    const uint64_t bits = registers.value(value.operand, process.memory()).value_or(0);
    if (value.type == PENNA_ARG_STRING)
      words.add_text(RemoteBytes(bits), value.length ? registers.value(*value.length, process.memory()) : std::nullopt);
    else
      words.add_number(value.type == PENNA_ARG_FLOAT && value.operand.bytes == 4 ? widened(bits) : bits);
  }
  process.writer()->write(log, PENNA_KIND_POINT, head, PENNA_POINTS, now, words.bytes());
}

}  // namespace penna
