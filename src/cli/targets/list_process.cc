// SPDX-License-Identifier: MIT
// See list_process.h.
#include "cli/targets/list_process.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "report/units.h"
#include "symbols/elf/process_modules.h"

namespace penna {
namespace {

// Compares a module's code in memory with its file: a difference was patched, by us or by a tracer. Unreadable memory
// leaves the state unknown; nothing is guessed.
class CodeState {
 public:
  CodeState(const ProcessModule& module, const ProcessMemory& memory) : module_(module), memory_(memory) {}

  void look(ListedPoint& point) const {
    for (PointPlace& place : point.places) {
      place.recording = place.slot == 0 ? false : changed(place.slot, is_x86() ? kX86Slot : kArmSlot);
      place.probed = place.probe == 0 ? false : probed(place.probe);
    }
    uint16_t value = 0;
    std::array<uint8_t, 2> bytes{};
    if (point.semaphore == 0 || !memory_.read(module_.in_process(point.semaphore), bytes)) return;
    std::memcpy(&value, bytes.data(), 2);
    point.semaphore_count = value;
  }

 private:
  static constexpr size_t kX86Slot = 5, kArmSlot = 4;  // PENNA_SLOT_BYTES of the module's machine, not of this one
  bool is_x86() const {
    const int machine = module_.file.header().e_machine;
    return machine == EM_X86_64 || machine == EM_386;
  }

  // Empty: the file or the memory could not be read there.
  std::optional<bool> changed(uint64_t address, size_t count) const {
    std::array<uint8_t, kX86Slot> now{};
    const std::span<const uint8_t> was = module_.file.bytes_at(address, count);
    if (was.size() < count || !memory_.read(module_.in_process(address), std::span(now).first(count)))
      return std::nullopt;
    return std::memcmp(was.data(), now.data(), count) != 0;
  }

  // A breakpoint (gdb, a uprobe) replaces the nop's first byte. Newer kernels turn a uprobe on a long nop into a call:
  // then the long nop after the first one changed. Long nops begin with 0f 1f, or with a prefix 66 before that.
  std::optional<bool> probed(uint64_t nop) const {
    if (!is_x86()) return changed(nop, kArmSlot);
    const std::optional<bool> first = changed(nop, 1);
    if (first.value_or(true)) return first;
    const std::span<const uint8_t> code = module_.file.bytes_at(nop, 3);
    const bool long_nop = code.size() > 2 && (code[1] == 0x0f || code[1] == 0x66);
    return long_nop ? changed(nop + 1, 1) : first;
  }

  const ProcessModule& module_;
  const ProcessMemory& memory_;
};

}  // namespace

Result<ListReport> process_report(uint32_t pid, const SymbolOptions& options) {
  ProcessModules process = PENNA_TRY(read_process_modules(pid));
  const ProcessMemory memory(pid);
  ListReport list;
  list.in_process = true;
  list.report.warnings = std::move(process.missing);
  if (!memory.refusal().empty()) list.report.warnings.push_back(memory.refusal());

  std::vector<ListedPoint> all;
  for (ProcessModule& module : process.modules) {
    if (module.file.section(".note.stapsdt") == nullptr && module.file.section("penna_sites") == nullptr) continue;
    // Names only for modules with points: reading all symbols would take long.
    Result<std::unique_ptr<SymbolFile>> symbols =
        SymbolFile::open({module.file.path(), module.file.build_id()}, options);
    PointList points;
    points.add(module.file, symbols ? symbols->get() : nullptr);
    // A file that was replaced while it was read would give places that are not in the process.
    if (const Result<> same = module.file.unchanged(); !same) {
      list.report.warnings.push_back(same.error().text);
      continue;
    }
    for (ListedPoint& point : points.take()) {
      if (memory.refusal().empty()) CodeState(module, memory).look(point);
      point.module = module.path;
      all.push_back(std::move(point));
    }
  }
  const std::string modules =
      plural_text(static_cast<int64_t>(process.modules.size()), "program or library", "programs and libraries");
  list.report.head.push_back(fmt::format("Process {} ({}) has mapped {}.", pid, process.name, modules));
  list.add_points(std::move(all), "They have no points (static tracepoints).");
  return list;
}

}  // namespace penna
