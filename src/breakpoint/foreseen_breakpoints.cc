// SPDX-License-Identifier: MIT
// See foreseen_breakpoints.h. The same as Guardian::plan_module(), without the writes.
#include "breakpoint/foreseen_breakpoints.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "breakpoint/registers_x86_64.h"
#include "breakpoint/traced_functions.h"
#include "plan/displaced.h"
#include "symbols/elf/process_modules.h"

namespace penna {
namespace {

constexpr size_t kLongestInstruction = 15;

// Taken from memory: the program may have written other code there than its file has.
std::optional<PlannedChange> breakpoint_at(const RemoteMemory& memory, uint64_t at, const char** refusal) {
  const std::string code = memory.part(at, kLongestInstruction + 1);
  const auto* bytes = reinterpret_cast<const uint8_t*>(code.data());
  const DisplacedOffer offer = look_at_displaced({bytes, code.size()}, at);
  *refusal = offer.refusal;
  if (!offer.one) return {};
  return PlannedChange{at, PlannedChange::Kind::kCode, code.substr(0, 1),
                       std::string(1, static_cast<char>(kBreakpointByte))};
}

// Of a probe whose arguments are computed only while it is being traced.
std::optional<PlannedChange> raised_semaphore(const RemoteMemory& memory, uint64_t at) {
  const auto count = memory.get<uint16_t>(at);
  if (!count) return {};
  const auto raised = static_cast<uint16_t>(*count + 1);
  const auto bytes = [](uint16_t value) {
    return std::string{static_cast<char>(value & 0xff), static_cast<char>(value >> 8)};
  };
  return PlannedChange{at, PlannedChange::Kind::kFlag, bytes(*count), bytes(raised)};
}

}  // namespace

Result<ForeseenBreakpoints> foresee_breakpoints(pid_t pid, const penna_config& config, const GuardianPlan& plan) {
  const RemoteMemory memory = PENNA_TRY(RemoteMemory::open(pid));
  const auto process = PENNA_TRY(read_process_modules(static_cast<uint32_t>(pid)));
  ForeseenBreakpoints foreseen;
  std::vector<std::string> troubles;
  std::map<std::string, std::string> refused;
  std::vector<PlannedChange>& changes = foreseen.rehearsed.changes;
  for (const ProcessModule& module : process.modules) {
    FilePlan file = plan_file(module.file, module.path, config, plan);
    std::move(file.refused.begin(), file.refused.end(), std::back_inserter(troubles));
    for (const PlannedPlace& place : file.places) {
      const char* refusal = nullptr;
      auto change = breakpoint_at(memory, place.address + module.bias, &refusal);
      if (!change) {
        refused[place.name] = refusal;
        continue;
      }
      changes.push_back(std::move(*change));
      const uint64_t semaphore = place.meaning.point ? place.meaning.point->semaphore : 0;
      if (semaphore == 0) continue;
      if (auto raised = raised_semaphore(memory, semaphore + module.bias)) changes.push_back(std::move(*raised));
    }
  }
  foreseen.refused = refusal_notes(std::move(troubles), refused);
  std::sort(changes.begin(), changes.end(),
            [](const PlannedChange& a, const PlannedChange& b) { return a.address < b.address; });
  return foreseen;
}

}  // namespace penna
