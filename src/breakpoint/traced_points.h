// SPDX-License-Identifier: MIT
// The points and probes of a file that get a breakpoint, and where their values are.
//
// Invariant: addresses are the file's; a point whose values cannot be read as its file describes them is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "penna/channel.h"
#include "plan/probe_operand.h"
#include "symbols/elf/elf_file.h"

namespace penna {

struct PointValue {
  uint8_t type = PENNA_ARG_INT;  // penna_arg_type, except array
  std::string name;
  ProbeOperand operand;                // of a string: its address
  std::optional<ProbeOperand> length;  // of a string without a terminating zero
};

struct TracedPoint {
  uint64_t address = 0;    // where the breakpoint goes
  uint64_t semaphore = 0;  // 0: none
  std::string provider, name, file;
  uint32_t line = 0;
  uint8_t kind = PENNA_SITE_EVENT;  // penna_site_kind
  bool with_stack = false;
  std::vector<PointValue> values;

  // The strings after a penna_site_info.
  std::string text() const;
};

struct FilePoints {
  std::vector<TracedPoint> points;
  std::vector<std::string> refused;  // "shop:order is not recorded: it ..."
};

// Those that the configuration requests.
FilePoints find_traced_points(const ElfFile& file, const penna_config& config);

}  // namespace penna
