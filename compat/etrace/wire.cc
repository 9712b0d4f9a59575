// SPDX-License-Identifier: MIT
// See wire.h.
#include "wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "recording/metadata.h"
#include "recording/records.h"

namespace penna {
namespace {

constexpr size_t kFrameHead = 2 * sizeof(uint32_t);

Error nonsense() { return Error{"what the other side sends is not what an etrace sends"}; }

void put_frame(WireBytes& out, WireKind kind, const ByteWriter& payload) {
  ByteWriter head;
  head.put(static_cast<uint32_t>(kind));
  head.put(static_cast<uint32_t>(payload.data().size()));
  out.insert(out.end(), head.data().begin(), head.data().end());
  out.insert(out.end(), payload.data().begin(), payload.data().end());
}

std::span<const uint8_t> rest_of(const ByteCursor& in, std::span<const uint8_t> payload) {
  return payload.subspan(in.position());
}

// Bytes in the chunk that are not events: the listener keeps them, and so they are limited.
uint64_t described_bytes(std::span<const uint8_t> chunk) {
  uint64_t bytes = 0;
  RecordCursor in(chunk);
  Record record;
  while (in.next(record))
    if (!record.is_call() && classify(record.kind) == PENNA_CLASS_COUNT) bytes += record.payload_bytes;
  return bytes;
}

}  // namespace

void put_began(WireBytes& out, const Process& process) {
  ByteWriter payload;
  payload.put(process.number);
  payload.bytes(encode_process(process));
  put_frame(out, WireKind::kBegan, payload);
}

void put_records(WireBytes& out, uint32_t process, std::span<const uint8_t> chunk, uint64_t calls_missing,
                 uint64_t others_missing) {
  ByteWriter payload;
  payload.put(process);
  payload.put(uint32_t{0});
  payload.put(calls_missing);
  payload.put(others_missing);
  payload.bytes(chunk);
  put_frame(out, WireKind::kRecords, payload);
}

void put_name(WireBytes& out, std::string_view path, uint64_t address, std::string_view name) {
  ByteWriter payload;
  payload.put(address);
  payload.string(path.substr(0, kMaxTextBytes));
  payload.string(name.substr(0, kMaxTextBytes));
  put_frame(out, WireKind::kName, payload);
}

void put_ended(WireBytes& out, const ProcessEnd& end) {
  ByteWriter payload;
  payload.put(end.number);
  payload.bytes(encode_process_end(end));
  put_frame(out, WireKind::kEnded, payload);
}

void put_up_to_date(WireBytes& out) { put_frame(out, WireKind::kUpToDate, {}); }
void put_over(WireBytes& out) { put_frame(out, WireKind::kOver, {}); }

// Bytes arrive in any pieces. Whole frames are removed from the beginning; what waits is less than one, because a
// frame's length is checked before its bytes are waited for.
Result<> WireReader::take(std::span<const uint8_t> bytes) {
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  size_t at = 0;
  if (!greeted_) {
    const size_t known = std::min(waiting_.size(), kWireGreeting.size());
    if (std::memcmp(waiting_.data(), kWireGreeting.data(), known) != 0) return nonsense();
    if (known < kWireGreeting.size()) return ok();
    greeted_ = true;
    at = known;
  }
  while (waiting_.size() - at >= kFrameHead) {
    const std::span<const uint8_t> rest = std::span<const uint8_t>(waiting_).subspan(at);
    ByteCursor head(rest);
    const auto kind = static_cast<WireKind>(head.u32());
    const uint32_t length = head.u32();
    if (length > kMaxFrameBytes || over_) return nonsense();
    if (rest.size() - kFrameHead < length) break;
    PENNA_TRY(frame(kind, rest.subspan(kFrameHead, length)));
    at += kFrameHead + length;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(at));
  return ok();
}

// A limit on everything that a listener must remember for one connection.
Result<> WireReader::describe(uint64_t bytes) {
  described_ += bytes;
  if (described_ <= kMaxDescribedBytes) return ok();
  return Error{"the other side describes more processes, modules and names than one program has"};
}

Result<> WireReader::frame(WireKind kind, std::span<const uint8_t> payload) {
  ByteCursor in(payload);
  switch (kind) {
    case WireKind::kBegan: return began(payload);
    case WireKind::kRecords: return records(payload);
    case WireKind::kName: {
      const uint64_t address = in.u64();
      const std::string_view path = in.string(), name = in.string();
      if (!in || name.empty()) return nonsense();
      // More than its bytes: a name costs the listener a node of a map, too.
      PENNA_TRY(describe(payload.size() + sizeof(SiteArgument)));
      listener_.name(path, address, name);
      return ok();
    }
    case WireKind::kEnded: {
      const uint32_t number = in.u32();
      const auto end = decode_process_end(rest_of(in, payload), number);
      if (!in || !end || open_.erase(number) == 0) return nonsense();
      listener_.ended(*end);
      return ok();
    }
    case WireKind::kUpToDate: listener_.up_to_date(); return ok();
    case WireKind::kOver: over_ = true; return ok();
  }
  return nonsense();
}

// A number that is open cannot begin again: the second process would take over the first one's threads.
Result<> WireReader::began(std::span<const uint8_t> payload) {
  ByteCursor in(payload);
  const uint32_t number = in.u32();
  const auto process = decode_process(rest_of(in, payload), number);
  if (!in || !process || ++processes_ > kMaxProcesses || !open_.insert(number).second) return nonsense();
  PENNA_TRY(describe(payload.size()));
  listener_.began(*process);
  return ok();
}

// The chunk itself is not checked here: RecordCursor, which decodes it, trusts nothing in it.
Result<> WireReader::records(std::span<const uint8_t> payload) {
  ByteCursor in(payload);
  const uint32_t process = in.u32();
  (void)in.u32();
  const uint64_t calls = in.u64(), others = in.u64();
  const std::span<const uint8_t> chunk = rest_of(in, payload);
  if (!in || open_.count(process) == 0 || chunk.size() < sizeof(penna_chunk) || chunk.size() > PENNA_CHUNK_BYTES)
    return nonsense();
  threads_.insert({process, header_of(chunk).thread_serial});
  if (threads_.size() > kMaxThreads) return nonsense();
  PENNA_TRY(describe(described_bytes(chunk)));
  listener_.records(process, chunk, calls, others);
  return ok();
}

}  // namespace penna
