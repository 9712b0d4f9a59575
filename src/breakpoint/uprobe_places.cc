// SPDX-License-Identifier: MIT
// See uprobe_places.h.
#include "breakpoint/uprobe_places.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "breakpoint/uprobe_returns.h"
#include "plan/arch.h"
#include "plan/instruction.h"

namespace penna {
namespace {

std::optional<uint64_t> offset_of(const ElfFile& file, uint64_t address) {
  for (const GElf_Phdr& segment : file.segments())
    if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_memsz)
      return segment.p_offset + (address - segment.p_vaddr);
  return {};
}

bool is_function(const Meaning& meaning) {
  return meaning.is_call || meaning.allocator != AllocatorCall::kNone || meaning.lock != LockCall::kNone;
}

// Registers and the stack are copied when the place is hit; other memory would be read too late.
bool is_copied(const ProbeOperand& operand) { return operand.kind != ProbeOperand::kMemory || is_in_frame(operand); }

const char* refusal_of(const Meaning& meaning) {
  if (meaning.allocator == AllocatorCall::kPosixMemalign)
    return "returns its block in memory, which uprobes read too late";
  if (meaning.point == nullptr) return nullptr;
  for (const PointValue& value : meaning.point->values)
    if (value.type == PENNA_ARG_STRING || !is_copied(value.operand))
      return "has a value in memory, which uprobes read too late";
  return nullptr;
}

UprobeCopies copies_for(const Meaning& meaning, bool with_free_stacks) {
  const bool has_stack_values =
      meaning.point != nullptr &&
      std::any_of(meaning.point->values.begin(), meaning.point->values.end(),
                  [](const PointValue& value) { return value.operand.kind == ProbeOperand::kMemory; });
  const bool allocates = meaning.allocator != AllocatorCall::kNone && meaning.allocator != AllocatorCall::kFree;
  const bool is_released = meaning.lock == LockCall::kGive || meaning.lock == LockCall::kEnd;
  const bool wants_stack = allocates || (meaning.allocator == AllocatorCall::kFree && with_free_stacks) ||
                           (meaning.lock != LockCall::kNone && !is_released) || has_stack_values ||
                           (meaning.point != nullptr && meaning.point->with_stack);
  if (meaning.lock != LockCall::kNone) return wants_stack ? UprobeCopies::kStackAndArgument : UprobeCopies::kArgument;
  return wants_stack ? UprobeCopies::kStack : UprobeCopies::kWord;
}

// Return probes change the return address on the stack, so no exception may pass: C functions that call nothing of the
// program's, and are no cancellation points.
bool may_have_return_probe(const Meaning& meaning) {
  return !meaning.is_call && (meaning.allocator != AllocatorCall::kNone ||
                              (meaning.lock != LockCall::kNone && meaning.lock != LockCall::kWaitOn));
}

penna_event_class class_of(const Meaning& meaning) {
  if (meaning.allocator != AllocatorCall::kNone) return PENNA_ALLOC;
  if (meaning.lock != LockCall::kNone) return PENNA_LOCKS;
  return meaning.point != nullptr ? PENNA_POINTS : PENNA_CALLS;
}

// In one order of their addresses, so that each place of the file has one uprobe.
class PlaceFinder {
 public:
  PlaceFinder(const ElfFile& file, bool with_free_stacks)
      : file_(file), returns_(file), with_free_stacks_(with_free_stacks) {}

  // Null: it is added; else the reason.
  const char* add(const PlannedPlace& place) {
    const Meaning& meaning = place.meaning;
    if (const char* const refusal = refusal_of(meaning)) return refusal;
    const auto offset = offset_of(file_, place.address);
    if (!offset) return "is not in its file";
    if (is_mistaken_by_uprobes(file_.bytes_at(place.address, kLongestInstruction)))
      return "begins with an instruction that the kernel's uprobes mistake for another one";
    FoundReturns found;
    if (is_function(meaning) && meaning.jump == JumpCall::kNone) found = returns_.of(place.address);
    const bool has_return_probe = found.refusal != nullptr && may_have_return_probe(meaning);
    if (found.refusal != nullptr && !has_return_probe) return found.refusal;
    const penna_event_class event_class = class_of(meaning);
    const uint64_t counter = meaning.point != nullptr ? meaning.point->semaphore : 0;
    if (counter != 0) places_.semaphores.push_back(counter);
    uprobes_[place.address] = {*offset, counter != 0 ? offset_of(file_, counter).value_or(0) : 0,
                               copies_for(meaning, with_free_stacks_), event_class};
    places_.entries.push_back(place);
    if (has_return_probe)
      return_probes_.emplace_back(place.address, UprobePlace{*offset, 0, UprobeCopies::kReturned, event_class});
    else
      for (const uint64_t at : found.returns) add_return(at, event_class);
    return nullptr;
  }
  void refuse(const std::string& name, const char* reason) { places_.refused[name] = reason; }

  UprobePlaces take() {
    std::sort(places_.returns.begin(), places_.returns.end());
    places_.returns.erase(std::unique(places_.returns.begin(), places_.returns.end()), places_.returns.end());
    const auto add = [&](const auto& addressed) {
      places_.addresses.push_back(addressed.first);
      places_.in_file.push_back(addressed.second);
    };
    std::for_each(uprobes_.begin(), uprobes_.end(), add);
    std::for_each(return_probes_.begin(), return_probes_.end(), add);
    return std::move(places_);
  }

 private:
  // A function that only returns begins there, too: then that uprobe serves for both.
  void add_return(uint64_t at, penna_event_class event_class) {
    const auto offset = offset_of(file_, at);
    if (!offset) return;
    places_.returns.push_back(at);
    uprobes_.emplace(at, UprobePlace{*offset, 0, UprobeCopies::kWord, event_class});
  }

  const ElfFile& file_;
  const UprobeReturns returns_;
  const bool with_free_stacks_;
  UprobePlaces places_;
  std::map<uint64_t, UprobePlace> uprobes_;  // by address
  std::vector<std::pair<uint64_t, UprobePlace>> return_probes_;
};

}  // namespace

UprobePlaces find_uprobe_places(const ElfFile& file, const FilePlan& plan, bool with_free_stacks) {
  PlaceFinder finder(file, with_free_stacks);
  for (const PlannedPlace& place : plan.places)
    if (const char* const refusal = finder.add(place)) finder.refuse(place.name, refusal);
  return finder.take();
}

}  // namespace penna
