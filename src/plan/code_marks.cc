// SPDX-License-Identifier: MIT
// See code_marks.h.
#include "plan/code_marks.h"

#include <algorithm>

namespace penna {

CodeMarks::CodeMarks(const ElfFile& file) {
  uint64_t end = 0;
  for (const AddressRange& code : file.code_ranges()) {
    // What headers claim may overlap, and be more than the file has.
    const uint64_t begin = std::max(code.begin, end);
    if (begin >= code.end) continue;
    const uint64_t bytes = file.bytes_at(begin, code.end - begin).size();
    end = begin + bytes;
    ranges_.push_back({begin, end, marks_.size()});
    marks_.resize(marks_.size() + bytes);
  }
}

std::optional<size_t> CodeMarks::mark_of(uint64_t address) const {
  const auto next = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                     [](uint64_t at, const Range& one) { return at < one.begin; });
  if (next == ranges_.begin() || address >= std::prev(next)->end) return {};
  return std::prev(next)->first + (address - std::prev(next)->begin);
}

void CodeMarks::mark(uint64_t address) {
  const auto mark = mark_of(address);
  if (!mark) return;
  marks_[*mark] = true;
  parts_[part_of(address)] = true;
}

bool CodeMarks::has_mark(uint64_t address) const {
  const auto mark = mark_of(address);
  return mark && marks_[*mark];
}

bool CodeMarks::any_from(uint64_t begin, uint64_t end) const {
  for (uint64_t at = begin; at < end; ++at)
    if (is_marked(at)) return true;
  return false;
}

}  // namespace penna
