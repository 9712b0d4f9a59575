// SPDX-License-Identifier: MIT
// See chunk_cut.h.
#include "filter/chunk_cut.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "recording/records.h"

namespace penna {
namespace {

// Copies a chunk without some of its records.
class Cutter {
 public:
  Cutter(std::span<const uint8_t> chunk, std::vector<uint8_t>& out) : chunk_(chunk), out_(out) {
    // Full size: exits may be added. finish() truncates it.
    out_.resize(std::max<size_t>(chunk.size(), PENNA_CHUNK_BYTES));
  }
  // Runs of bytes are copied at once, when the next gap is known.
  void copy_until(size_t end) {
    const uint8_t* from = chunk_.data() + copied_;
    uint8_t* to = out_.data() + written_;
    if (end - copied_ <= 4 * sizeof(uint64_t)) {  // a call or two between others: not worth a memcpy call
      for (size_t i = 0; i < end - copied_; i += sizeof(uint64_t)) std::memcpy(to + i, from + i, sizeof(uint64_t));
    } else {
      std::memcpy(to, from, end - copied_);
    }
    written_ += end - copied_;
    copied_ = end;
  }
  void pass_until(size_t end) { copied_ = end; }
  // Replaces one exit by several, each in the form of the original if its pc allows (8 bytes), else in the full form
  // (16). A chunk cannot grow beyond PENNA_CHUNK_BYTES: if there is no room for all, the last one, which is the
  // outermost, has precedence: it ends what is inside.
  void put_exits(const Record& record, const RecordCursor& in, size_t begin, const std::vector<uint64_t>& pcs) {
    copy_until(begin);
    copied_ = in.position();
    const size_t room = PENNA_CHUNK_BYTES - (in.content_end() - in.position());
    const uint64_t old = load_word(chunk_.data() + begin);
    const auto is_short = [&](uint64_t pc) {
      return penna_header_tag(old) == PENNA_TAG_EXIT && pc >> 32 == in.header().pc_high;
    };
    const auto bytes = [&](uint64_t pc) { return is_short(pc) ? sizeof old : 2 * sizeof old; };
    const size_t last = bytes(pcs.back());
    for (size_t i = 0; i < pcs.size(); ++i) {
      const size_t needed = i + 1 < pcs.size() ? bytes(pcs[i]) + last : last;
      if (written_ + needed > room) continue;
      if (is_short(pcs[i])) {
        put(pcs[i] << 32 | static_cast<uint32_t>(old));
      } else {
        put(penna_full_header(PENNA_KIND_CALL_EXIT, 2, record.time));
        put(pcs[i]);
      }
    }
  }
  void finish(const penna_chunk& header, size_t end, uint64_t last_time) {
    copy_until(end);
    out_.resize(written_);
    if (header.time_end == 0) put_header(offsetof(penna_chunk, time_end), last_time);
    if (header.content_bits == 0) return;  // it never said where it ends
    put_header(offsetof(penna_chunk, content_bits), uint64_t{written_} * 8);
  }

 private:
  void put_header(size_t offset, uint64_t value) { std::memcpy(out_.data() + offset, &value, sizeof value); }
  void put(uint64_t word) {
    std::memcpy(out_.data() + written_, &word, sizeof word);
    written_ += sizeof word;
  }
  std::span<const uint8_t> chunk_;
  std::vector<uint8_t>& out_;
  size_t copied_ = 0;  // of chunk_: what precedes it is in out_, or left out
  size_t written_ = 0;
};

}  // namespace

// One pass, record by record, the only way to find where records begin; torn ones and holes are copied as they are.
void ChunkCut::apply(std::span<const uint8_t> chunk, std::vector<uint8_t>& out) const {
  if (chunk.size() < sizeof(penna_chunk)) {
    out.assign(chunk.begin(), chunk.end());
    return;
  }
  Cutter cutter(chunk, out);
  RecordCursor in(chunk);
  Record record;
  auto exit = exits_.begin();
  uint64_t last_time = 0;
  while (in.next(record)) {
    last_time = std::max(last_time, record.time);
    const size_t begin = static_cast<size_t>(record.payload - chunk.data()) - sizeof(uint64_t);
    if (leaves_out(begin)) [[unlikely]] {
      cutter.copy_until(begin);
      cutter.pass_until(in.position());
    } else if (exit != exits_.end() && exit->offset == begin) [[unlikely]] {
      cutter.put_exits(record, in, begin, exit->pcs);
      ++exit;
    }
  }
  cutter.finish(in.header(), in.content_end(), last_time);
}

}  // namespace penna
