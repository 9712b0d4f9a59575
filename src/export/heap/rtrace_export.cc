// SPDX-License-Identifier: MIT
// See rtrace_export.h.
#include "export/heap/rtrace_export.h"

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "base/count_text.h"
#include "export/text/event_words.h"
#include "model/events/summary.h"
#include "model/timeline/timeline.h"

namespace penna {
namespace {

class RtraceExport {
 public:
  RtraceExport(const Recording& recording, Names& names, uint32_t process, const TextSink& sink, const HeapPick& pick)
      : recording_(recording), names_(names), process_(process), pick_(pick), out_(sink) {}

  void begin(const ProcessSummary& process, const char* resource) {
    const auto seconds = static_cast<std::time_t>(recording_.time().realtime_ns(process.first_time) / 1'000'000'000);
    std::tm date{};
    ::gmtime_r(&seconds, &date);
    std::string name = one_line(process.command.empty() ? process.name : process.command[0]);
    // Readers split the header at commas.
    std::replace(name.begin(), name.end(), ',', ' ');
    const Session& session = recording_.session();
    out_.format(
        "version=2.0, arch={}, timestamp={}.{}.{} {:02}:{:02}:{:02}, process={}, pid={}, backtrace depth={}, "
        "origin=penna {},\n",
        session.machine.empty() ? "unknown" : one_line(session.machine), date.tm_mday, date.tm_mon + 1,
        date.tm_year + 1900, date.tm_hour, date.tm_min, date.tm_sec, name, process.pid, pick_.depth,
        one_line(session.penna_version));
    out_.format("<1> : {}\n", resource);
    std::vector<Module> modules = recording_.processes()[process_].modules;
    std::stable_sort(modules.begin(), modules.end(), [](auto& a, auto& b) { return a.start < b.start; });
    for (const Module& module : modules)
      out_.format(": {} => 0x{:x}-0x{:x}\n", one_line(module.path), module.start, module.end);
    with_tid_ = process.threads > 1;
  }

  bool change(const HeapChange& change) {
    stamp(change.time);
    out_.text(allocation_function(change.family, change.is_free));
    if (change.is_free) {
      out_.format("(0x{:x})\n", change.address);
    } else {
      out_.format("({}) = 0x{:x}\n", change.size, change.address);
    }
    details(change.thread, !pick_.wants_stack(change.size) ? 0 : change.is_free ? change.freed_from : change.stack);
    return out_.ok();
  }

  // A call, as functracer's function audit recorded it: a resource of its own, of size 1.
  bool call(const TimelineLine& line, const std::string& function) {
    stamp(line.time);
    out_.format("{}(1) = 0x1\n", one_line(function));
    details(line.thread, line.stack);
    return out_.ok();
  }

  // Frees of blocks that no event of this process allocated; they are not shown.
  void inherited(uint64_t frees) {
    if (frees != 0)
      out_.format("# {} of blocks inherited at the fork: not shown\n",
                  plural_text(static_cast<int64_t>(frees), "free"));
  }

  bool finish(const ProcessSummary& process) {
    if (process.ended && !process.end_text.empty()) out_.format("# process {} {}\n", process.pid, process.end_text);
    return out_.flush();
  }

 private:
  // The beginning of an event: "7. [14:54:26.319] ".
  void stamp(uint64_t ticks) {
    if (!pick_.times) return out_.format("{}. ", number_++);
    const auto ns = static_cast<uint64_t>(std::max<int64_t>(recording_.time().monotonic_ns(ticks), 0));
    const uint64_t ms = ns / 1'000'000;
    out_.format("{}. [{:02}:{:02}:{:02}.{:03}] ", number_++, ms / 3'600'000 % 24, ms / 60'000 % 60, ms / 1000 % 60,
                ms % 1000);
  }
  void details(uint32_t thread, uint32_t stack) {
    if (with_tid_) out_.format("\t$tid = {}\n", recording_.threads()[thread].tid);
    frames(stack);
    out_.character('\n');
  }
  void frames(uint32_t stack) {
    const auto [found, added] = stacks_.try_emplace(stack);
    std::string& text = found.value();
    if (added) {
      uint32_t left = pick_.depth;
      for (auto node = recording_.stack_node(process_, stack); node && left-- != 0;
           node = recording_.stack_node(process_, node->parent)) {
        text += frame(*node);
        if (node->cut) break;
      }
    }
    out_.text(text);
  }
  std::string frame(const StackNode& node) {
    const NameFrame& name = names_.frame(process_, node.pc, node.generation).front();
    std::string text = fmt::format("\t0x{:x}", node.pc);
    if (name.named) text += " in " + one_line(name.function);
    if (name.named && !name.file.empty() && name.line != 0) {
      text += fmt::format(" at {}:{}", one_line(name.file), name.line);
    } else if (name.module != kNoModule) {
      text += " from " + one_line(names_.map().path(name.module));
    }
    return text + "\n";
  }

  const Recording& recording_;
  Names& names_;
  uint32_t process_;
  const HeapPick& pick_;
  TextBuffer out_;
  uint64_t number_ = 0;
  bool with_tid_ = false;
  NumberMap<std::string> stacks_;  // their lines
};

}  // namespace

bool export_rtrace(const Recording& recording, Names& names, HeapChanges& history, uint32_t process,
                   const TextSink& sink, const HeapPick& pick) {
  const Summary summary = summarize(recording);
  RtraceExport out(recording, names, process, sink, pick);
  out.begin(summary.processes[process], "memory (memory allocation in bytes)");
  history.for_each(
      process, [&](const HeapChange& change) { return out.change(change); }, pick);
  out.inherited(history.allocations().processes()[process].inherited_frees);
  return out.finish(summary.processes[process]);
}

bool export_rtrace_calls(const Recording& recording, Names& names, uint32_t process, const TextSink& sink,
                         const HeapPick& pick) {
  const Summary summary = summarize(recording);
  RtraceExport out(recording, names, process, sink, pick);
  out.begin(summary.processes[process], "virtual (calls of functions)");
  for_each_merged_line(
      recording, {.filter = {.classes = kCallEvents, .process = process, .begin = pick.begin, .end = pick.end}},
      [&](const TimelineLine& line) {
        return line.kind != LineKind::kEnter || out.call(line, names.function_name(process, line.pc, line.time));
      });
  return out.finish(summary.processes[process]);
}

}  // namespace penna
