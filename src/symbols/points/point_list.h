// SPDX-License-Identifier: MIT
// PointList: the points of a binary: Penna's site records joined with the SDT notes.
//
// Why both: a note has sizes and operands of arguments, a site record their names and types; gdb, perf and bpftrace put
// their breakpoint on the nop of the note, Penna patches the slot of the record. Probes of other headers have only
// notes; record -e arms them next to that nop.
// Invariant: every site and every note is in one place of one point.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recording/types.h"
#include "symbols/points/sdt_args.h"
#include "symbols/points/sdt_notes.h"
#include "symbols/symbol_file.h"

namespace penna {

// One copy of a point in the machine code. Addresses are ELF virtual addresses (for a recording: run-time addresses).
struct PointPlace {
  uint64_t slot = 0;   // patched by Penna; 0: none
  uint64_t probe = 0;  // the nop of the SDT note; 0: none
  std::vector<SdtArg> operands;
  std::optional<bool> recording;  // in a process: the slot is armed; nothing: unknown
  std::optional<bool> probed;     // in a process: a tool put a breakpoint at the nop
};

struct ListedPoint {
  std::string provider, name;
  std::vector<SiteArgument> arguments;  // from a site record
  uint8_t kind = 0;                     // penna_site_kind, from a site record; 0: a probe of another header
  std::string file;                     // source; empty: unknown
  uint32_t line = 0;
  std::string function;  // if the line is unknown
  std::string module;    // in a process
  uint64_t semaphore = 0;
  std::optional<uint16_t> semaphore_count;  // in a process: the semaphore's value
  std::vector<PointPlace> places;

  std::string full_name() const { return provider + ":" + name; }
};

// What a point is to Penna, as a word; a probe (0) comes from another header.
const char* point_kind_name(uint8_t kind);

// Collects sites and notes; copies from one source line are one point.
class PointList {
 public:
  ListedPoint& add(const Site& site);
  // The points of a file. `symbols` (may be null) provides source lines for notes.
  void add(const ElfFile& file, SymbolFile* symbols);
  std::vector<ListedPoint> take() { return std::move(points_); }

 private:
  // The point with that key, or `point` if there is none, with a place added.
  ListedPoint& with_place(const std::string& key, ListedPoint&& point);
  ListedPoint* site_of(const SdtNote& note, const std::string& file, uint32_t line);
  void add_note(const SdtNote& note, SymbolFile* symbols);

  std::vector<ListedPoint> points_;
  std::map<std::string, size_t> index_;
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> sites_;  // provider, name: those with site records
};

}  // namespace penna
