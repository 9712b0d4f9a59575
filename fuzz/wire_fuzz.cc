// SPDX-License-Identifier: MIT
// Any bytes, in any pieces, as input from another etrace: only processes that have begun are mentioned, no text or
// chunk is longer than its frame, and splitting makes no difference. Input: a byte with the length of the pieces, then
// the data.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <vector>

#include "recording/records.h"
#include "wire.h"

using namespace penna;

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

class Ear : public WireListener {
 public:
  void began(const Process& process) override { demand(open_.insert(process.number).second), ++heard; }
  void records(uint32_t process, std::span<const uint8_t> chunk, uint64_t, uint64_t) override {
    demand(open_.count(process) == 1 && chunk.size() >= sizeof(penna_chunk) && chunk.size() <= PENNA_CHUNK_BYTES);
    RecordCursor in(chunk);
    Record record;
    while (in.next(record)) bytes += record.payload_bytes;
    demand(bytes <= limit);
    ++heard;
  }
  void name(std::string_view path, uint64_t, std::string_view name) override {
    bytes += path.size() + name.size();
    demand(bytes <= limit && !name.empty());
    ++heard;
  }
  void ended(const ProcessEnd& end) override { demand(open_.erase(end.number) == 1), ++heard; }
  void up_to_date() override { ++heard; }

  uint64_t heard = 0, bytes = 0, limit = 0;

 private:
  std::set<uint32_t> open_;
};

uint64_t listen(std::span<const uint8_t> sent, size_t piece) {
  Ear ear;
  ear.limit = sent.size();
  WireReader reader(ear);
  for (size_t at = 0; at < sent.size(); at += piece)
    if (!reader.take(sent.subspan(at, std::min(piece, sent.size() - at)))) break;
  return ear.heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::vector<uint8_t> sent(kWireGreeting.begin(), kWireGreeting.end());
  if (data[0] % 8 == 0) sent.clear();
  sent.insert(sent.end(), data + 1, data + size);
  demand(listen(sent, 1 + data[0]) == listen(sent, sent.size() + 1));
  return 0;
}
