// SPDX-License-Identifier: MIT
// See sifted_pieces.h.
#include "filter/sifted_pieces.h"

#include <cstring>
#include <utility>

#include "recording/call_records.h"

namespace penna {
size_t append_pieces(const SiftedChunk& sifted, std::vector<uint8_t>&& chunk, const CallRules& rules,
                     std::deque<std::vector<uint8_t>>& out) {
  penna_chunk header{};
  if (chunk.size() >= sizeof header) std::memcpy(&header, chunk.data(), sizeof header);
  std::vector<uint64_t> inherited, opened;
  for (size_t i = 0; i < sifted.opened.size(); ++i)
    if (!sifted.opened_out[i]) (i < sifted.inherited ? inherited : opened).push_back(sifted.opened[i]);
  const size_t before = out.size();
  append_calls(PENNA_KIND_CALL_ENTRY, rules.begin, inherited, header, out);
  const size_t of_inherited = out.size() - before;
  append_calls(PENNA_KIND_CALL_ENTRY, rules.begin, opened, header, out);
  if (sifted.cut.changes()) {
    sifted.cut.apply(chunk, out.emplace_back());
  } else {
    out.push_back(std::move(chunk));
  }
  append_calls(PENNA_KIND_CALL_EXIT, rules.end, sifted.closed, header, out);
  return of_inherited;
}

}  // namespace penna
