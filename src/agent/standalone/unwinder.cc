// SPDX-License-Identifier: MIT
// Standalone agent: the program's unwinder (libgcc's, which exceptions and cancellation use) looks up the frame of
// every code address. It knows those of the program and of the vDSO; a hook of its lookup adds the agent's.
//
// Why: otherwise an exception, or a cancelled thread, would end the program at a return trampoline, or at a hook whose
// callee throws.
// Invariant: addresses outside the agent are looked up by the program.
// References: LSB core, 10.6.2 (.eh_frame_hdr); libgcc's unwind-dw2-fde.h (struct dwarf_eh_bases).
#include <elf.h>
#include <link.h>
#include <stdint.h>

#include "agent/modules/loader.h"
#include "agent/modules/own_code.h"
#include "agent/standalone/standalone.h"
#include "unwind/program_headers.h"

namespace penna::agent {

FindFrame program_find_frame;

namespace {

// As linkers write it: 32-bit distances from its own start.
struct FrameTable {
  uint8_t version, frame_encoding, count_encoding, table_encoding;
  int32_t frame_at;
  uint32_t count;
  struct Row {
    int32_t code, entry;
  } rows[];
};
constexpr uint8_t kPcRelative4 = 0x1b, kUnsigned4 = 0x03, kTableRelative4 = 0x3b;

const FrameTable* our_table() {
  const link_map& map = *our_map();
  for (const ElfW(Phdr) & part : unwind::program_headers_at(reinterpret_cast<uintptr_t>(__ehdr_start)))
    if (part.p_type == PT_GNU_EH_FRAME) {
      const auto* table = reinterpret_cast<const FrameTable*>(map.l_addr + part.p_vaddr);
      const bool is_usual = table->version == 1 && table->frame_encoding == kPcRelative4 &&
                            table->count_encoding == kUnsigned4 && table->table_encoding == kTableRelative4;
      return is_usual ? table : nullptr;
    }
  return nullptr;
}

struct Bases {
  void *text, *data, *function;
};

const void* our_frame(uintptr_t pc, Bases* bases) {
  const FrameTable* const table = our_table();
  if (table == nullptr || table->count == 0) return nullptr;
  const auto base = reinterpret_cast<uintptr_t>(table);
  const auto at = [base](int32_t distance) { return base + static_cast<uintptr_t>(intptr_t{distance}); };
  uint32_t low = 0, high = table->count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (at(table->rows[middle].code) <= pc ? low : high) = middle;
  }
  *bases = {nullptr, nullptr, reinterpret_cast<void*>(at(table->rows[low].code))};
  return reinterpret_cast<const void*>(at(table->rows[low].entry));
}

}  // namespace

const void* find_frame(void* pc, void* bases) {
  const auto address = reinterpret_cast<uintptr_t>(pc);
  return is_own_code(address) ? our_frame(address, static_cast<Bases*>(bases)) : program_find_frame(pc, bases);
}

}  // namespace penna::agent
