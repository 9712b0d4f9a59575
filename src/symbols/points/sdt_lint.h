// SPDX-License-Identifier: MIT
// The traps in a binary's SDT notes: what makes gdb, perf, bpftrace or libbpf miss a probe, misread it or harm its
// program.
//
// Why: a note is written by inline assembly in some header, and no compiler or linker checks it. tests/clients/traps.py
// tests each claim about a client with the client itself, except those about libbpf.
// Invariant: only the file is read; all these clients can read a note without a finding.
#pragma once

#include <string>
#include <vector>

#include "symbols/points/sdt_notes.h"

namespace penna {

enum class SdtTrap : uint8_t {
  kFloatMarker,
  kSymbolOperand,
  kVectorRegister,
  kByteRegister,
  kHighByteRegister,
  kNarrowRegister,
  kIndexOperand,
  kArgumentSize,
  kUnknownOperand,
  kTooManyArguments,
  kNop5,
  kBareNop10,
  kNoNop,
  kOutsideCode,
  kDuplicateSite,
  kMissingSemaphore,
  kUnwritableSemaphore,
  kMisplacedSemaphore,
  kDiscardedBase,
  kWrongBase,
  kDamagedNote,
  kUnseenSection,
  kCount
};

struct ClientEffect {
  const char* client;
  const char* effect;
};
struct SdtTrapFacts {
  const char* id;    // "float-marker"
  const char* what;  // half a sentence: a description of the trap
  std::vector<ClientEffect> breaks;
  const char* fix;  // a sentence
};
const SdtTrapFacts& sdt_trap_facts(SdtTrap trap);

struct SdtFinding {
  SdtTrap trap = SdtTrap::kCount;
  std::string point;   // "provider:name"; empty: the whole file
  std::string detail;  // "argument 2: 8f@%xmm0"
  uint64_t pc = 0;     // of the probe; 0: the whole file
};

struct SdtLint {
  std::vector<SdtFinding> findings;  // in the order of the notes; those about the whole file come first
  size_t left_out = 0;               // findings above a hundred thousand
};
SdtLint lint_sdt(const ElfFile& file);

}  // namespace penna
