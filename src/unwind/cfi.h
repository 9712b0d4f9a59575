// SPDX-License-Identifier: MIT
// Call frame information: from the bytes of .eh_frame_hdr and .eh_frame to the FrameRule of one pc.
//
// Why not a library's: libgcc's and libunwind's parsers allocate, lock or read memory unchecked; this one runs inside
// malloc and in signal handlers. Only what bears on pc, sp and fp is kept.
// Sources: LSB core 5.0 section 10.6 (.eh_frame, .eh_frame_hdr), DWARF 5 section 6.4 (call frame instructions).
// Invariant: reads only inside the given sections, allocates nothing, terminates for any bytes. Thread- and
// signal-safe.
#pragma once

#include "unwind/cursor.h"
#include "unwind/rule.h"

namespace penna::unwind {

// Where a module keeps its CFI. `header` starts at .eh_frame_hdr, or is empty: then `frame` starts at .eh_frame and is
// searched from the front. With a header, `frame` is any range that holds .eh_frame.
struct EhFrame {
  Section header;
  Section frame;
};

// A common information entry, as far as it is needed.
struct Cie {
  uint64_t code_align = 1;
  int64_t data_align = 1;
  uint64_t return_register = 0;
  uint8_t fde_encoding = 0;  // DW_EH_PE_…
  bool has_augmentation = false;
  bool signal_frame = false;
  uint64_t instructions = 0, end = 0;  // addresses
};

// A frame description entry: the code [begin, end) and its instructions.
struct Fde {
  Cie cie;
  uint64_t begin = 0, end = 0;
  uint64_t instructions = 0, instructions_end = 0;  // addresses
};

enum class Entry : uint8_t { fde, cie, bad, terminator };

// Reads the entry at `address` of `frame`; `next` becomes the address after it. Only for Entry::fde is `fde` filled.
Entry read_entry(const Section& frame, uint64_t address, Fde& fde, uint64_t& next);

// Finds the FDE that covers pc: by the header's sorted table where it has one, else by reading all entries. False:
// none.
bool find_fde(const EhFrame& eh_frame, uint64_t pc, Fde& fde);

// Runs the CFA program of `fde` up to pc. Special rules kEnd, kSignal and kUnsupported are possible results.
FrameRule run_cfa_program(const Section& frame, const Fde& fde, uint64_t pc);

// The rule at pc; special kNone where no FDE covers it.
FrameRule rule_at(const EhFrame& eh_frame, uint64_t pc);

// Reads one DW_EH_PE-encoded pointer; indirect and unknown encodings fail the cursor's caller by returning false.
// `data_base` is what datarel pointers count from. An indirect pointer is skipped and yields false.
bool read_pointer(Cursor& in, uint8_t encoding, uint64_t data_base, uint64_t& value);

}  // namespace penna::unwind
