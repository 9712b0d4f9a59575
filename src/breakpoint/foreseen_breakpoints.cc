// SPDX-License-Identifier: MIT
// See foreseen_breakpoints.h. The same as set_places() of Guardian and UprobeWatch, without the writes.
#include "breakpoint/foreseen_breakpoints.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "breakpoint/registers_x86_64.h"
#include "breakpoint/traced_functions.h"
#include "breakpoint/uprobe_places.h"
#include "plan/displaced.h"
#include "symbols/elf/process_modules.h"

namespace penna {
namespace {

constexpr size_t kLongestInstruction = 15;

// Taken from memory: the program may have written other code there than its file has.
std::optional<PlannedChange> breakpoint_at(const RemoteMemory& memory, uint64_t at, const char** refusal) {
  const std::string code = memory.part(RemoteBytes(at), kLongestInstruction + 1);
  const auto* bytes = reinterpret_cast<const uint8_t*>(code.data());
  const DisplacedOffer offer = look_at_displaced({bytes, code.size()}, at);
  *refusal = offer.refusal;
  if (!offer.one) return {};
  return PlannedChange{at, PlannedChange::Kind::kCode, code.substr(0, 1),
                       std::string(1, static_cast<char>(kBreakpointByte))};
}

// Of a probe whose arguments are computed only while it is being traced.
std::optional<PlannedChange> raised_semaphore(const RemoteMemory& memory, RemotePtr<uint16_t> at) {
  const auto count = memory.get(at);
  if (!count) return {};
  const auto raised = static_cast<uint16_t>(*count + 1);
  const auto bytes = [](uint16_t value) {
    return std::string{static_cast<char>(value & 0xff), static_cast<char>(value >> 8)};
  };
  return PlannedChange{at.number(), PlannedChange::Kind::kFlag, bytes(*count), bytes(raised)};
}

// What a file's part of the changes is added to.
struct Foreseen {
  std::vector<PlannedChange> changes;
  std::vector<std::string> troubles;
  std::map<std::string, std::string> refused;

  void add_semaphore(const RemoteMemory& memory, RemotePtr<uint16_t> at) {
    if (auto raised = raised_semaphore(memory, at)) changes.push_back(std::move(*raised));
  }
};

// add(foreseen, module, its plan) for each module.
template <typename Add>
Result<ForeseenBreakpoints> foresee(pid_t pid, const penna_config& config, const GuardianPlan& plan, Add&& add) {
  const auto process = PENNA_TRY(read_process_modules(static_cast<uint32_t>(pid)));
  Foreseen all;
  for (const ProcessModule& module : process.modules) {
    FilePlan file = plan_file(module.file, module.path, config, plan);
    std::move(file.refused.begin(), file.refused.end(), std::back_inserter(all.troubles));
    add(all, module, file);
  }
  std::sort(all.changes.begin(), all.changes.end(),
            [](const PlannedChange& a, const PlannedChange& b) { return a.address < b.address; });
  ForeseenBreakpoints foreseen;
  foreseen.rehearsed.changes = std::move(all.changes);
  foreseen.refused = refusal_notes(std::move(all.troubles), all.refused);
  return foreseen;
}

}  // namespace

Result<ForeseenBreakpoints> foresee_breakpoints(pid_t pid, const penna_config& config, const GuardianPlan& plan) {
  const RemoteMemory memory = PENNA_TRY(RemoteMemory::open(pid));
  return foresee(pid, config, plan, [&](Foreseen& all, const ProcessModule& module, const FilePlan& file) {
    for (const PlannedPlace& place : file.places) {
      const char* refusal = nullptr;
      auto change = breakpoint_at(memory, place.address + module.bias, &refusal);
      if (!change) {
        all.refused[place.name] = refusal;
        continue;
      }
      all.changes.push_back(std::move(*change));
      const uint64_t semaphore = place.meaning.point ? place.meaning.point->semaphore : 0;
      if (semaphore != 0) all.add_semaphore(memory, RemotePtr<uint16_t>(semaphore + module.bias));
    }
  });
}

Result<ForeseenBreakpoints> foresee_uprobes(pid_t pid, const penna_config& config, const GuardianPlan& plan) {
  const RemoteMemory memory = PENNA_TRY(RemoteMemory::open(pid));
  const bool with_free_stacks = (config.options & PENNA_OPTION_FREE_STACKS) != 0;
  return foresee(pid, config, plan, [&](Foreseen& all, const ProcessModule& module, const FilePlan& file) {
    const UprobePlaces places = find_uprobe_places(module.file, file, with_free_stacks);
    all.refused.insert(places.refused.begin(), places.refused.end());
    // Return probes share the byte of an entry.
    for (const uint64_t at : std::set<uint64_t>(places.addresses.begin(), places.addresses.end()))
      all.changes.push_back({at + module.bias, PlannedChange::Kind::kCode,
                             memory.part(RemoteBytes(at + module.bias), 1),
                             std::string(1, static_cast<char>(kBreakpointByte))});
    for (const uint64_t at : places.semaphores) all.add_semaphore(memory, RemotePtr<uint16_t>(at + module.bias));
  });
}

}  // namespace penna
