// SPDX-License-Identifier: MIT
// Module lookup by _dl_find_object and the module's own ELF headers. See module.h.
#include "unwind/module.h"

#include "unwind/arch.h"
#include "unwind/program_headers.h"

namespace penna::unwind {
namespace {

struct Segment {
  uintptr_t begin = 0, end = 0;
  bool holds(uintptr_t address) const { return address - begin < end - begin; }
};

// The loaded segment with all of `flags` that holds `address`; empty when there is none. A module without headers has
// no bounds that could be trusted, and counts as one without CFI.
Segment segment_of(const dl_find_object& module, uintptr_t address, uint32_t flags) {
  for (const ElfW(Phdr) & header : program_headers(module)) {
    if (header.p_type != PT_LOAD || (header.p_flags & flags) != flags) continue;
    const uintptr_t begin = module.dlfo_link_map->l_addr + header.p_vaddr;
    const Segment segment{begin, begin + header.p_filesz};
    if (segment.holds(address)) return segment;
  }
  return {};
}

Section section(uintptr_t begin, uintptr_t end) {
  return {reinterpret_cast<const uint8_t*>(begin), end - begin, begin};
}

// The rule at a pc that no FDE is for.
FrameRule rule_without_fde(uintptr_t pc, const dl_find_object& module, const EhFrame& eh_frame) {
  const int32_t cfa_offset = cfa_of_plt_stub([&](int offset) -> int {
    const uintptr_t at = pc + static_cast<uintptr_t>(intptr_t{offset});
    return is_code(module, at, at + 1) ? *reinterpret_cast<const uint8_t*>(at) : 0;
  });
  if (cfa_offset != 0) return {0, cfa_offset, 0};
  Fde next;
  const bool planted = find_fde(eh_frame, pc + 1, next) && next.begin == pc + 1;
  return special_rule(planted ? FrameRule::kEnd : FrameRule::kNone);
}

}  // namespace

bool find_module(uintptr_t pc, dl_find_object& module) {
  return _dl_find_object(reinterpret_cast<void*>(pc), &module) == 0;
}

EhFrame eh_frame_of(const dl_find_object& module) {
  const auto header = reinterpret_cast<uintptr_t>(module.dlfo_eh_frame);
  if (header == 0) return {};
  const Segment around_header = header == made_table.address && made_table.size != 0
                                    ? Segment{header, header + made_table.size}
                                    : segment_of(module, header, PF_R);
  if (!around_header.holds(header)) return {};
  EhFrame result;
  result.header = section(header, around_header.end);
  // .eh_frame mostly shares the header's segment, but a linker script may put it with the data.
  Cursor in(result.header);
  in.skip(1);
  const uint8_t encoding = in.u8();
  in.skip(2);
  uint64_t frame = 0;
  if (!read_pointer(in, encoding, header, frame)) return {};
  const Segment around_frame = segment_of(module, frame, PF_R);
  if (!around_frame.holds(frame)) return {};
  result.frame = section(around_frame.begin, around_frame.end);
  return result;
}

FrameRule rule_of_module(uintptr_t pc, const dl_find_object& module) {
  const EhFrame eh_frame = eh_frame_of(module);
  if (eh_frame.header.size == 0) return special_rule(FrameRule::kNone);
  const FrameRule rule = rule_at(eh_frame, pc);
  return rule.is(FrameRule::kNone) ? rule_without_fde(pc, module, eh_frame) : rule;
}

FrameRule rule_of_pc(uintptr_t pc) {
  dl_find_object module;
  return find_module(pc, module) ? rule_of_module(pc, module) : special_rule(FrameRule::kNone);
}

bool is_code(const dl_find_object& module, uintptr_t from, uintptr_t to) {
  const Segment segment = segment_of(module, from, PF_R | PF_X);
  return segment.holds(from) && to >= from && to <= segment.end;
}

}  // namespace penna::unwind
