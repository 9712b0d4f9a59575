// SPDX-License-Identifier: MIT
// See export_heap.h.
#include "cli/export/export_heap.h"

#include <fmt/core.h>

#include "base/count_text.h"
#include "base/output_file.h"
#include "base/say.h"
#include "cli/output/output.h"
#include "export/heap/heaptrack_export.h"
#include "export/heap/libleaks_export.h"
#include "export/heap/massif_export.h"
#include "export/heap/pprof_export.h"
#include "export/heap/rtrace_export.h"
#include "export/text/compressed_sink.h"
#include "options/process_option.h"

namespace penna {
namespace {

// The process to export: among those that match --pid, or all, the one that allocated most. What is not exported is
// reported, sentence by sentence. Empty if no process allocated.
std::optional<uint32_t> choose_process(ExportWork& work, const HeapChanges& history) {
  work.analyses.walk = history.walk();
  const std::optional<ProcessChoice>& pid = work.options.pid;
  // cmd_export() has checked that --pid matches one: this cannot fail.
  std::vector<bool> among;
  if (pid) among = *meant_processes(work.recording, *pid);
  const std::optional<uint32_t> process = history.choose(among);
  if (!process && pid && history.busy_processes() != 0)
    say(fmt::format("process {} has not allocated anything: penna report threads shows those that are recorded",
                    pid->text));
  if (process && history.busy_processes() > 1 && !pid)
    say(fmt::format("{} processes have allocated, and this is the one that allocated most, {}: --pid chooses another",
                    history.busy_processes(), work.recording.processes()[*process].process.pid));
  if (const std::string several = several_text(work.recording, pid); process && !several.empty())
    say(fmt::format("{}; this is the one that allocated most, {}", several,
                    process_name(work.recording.processes()[*process].process)));
  if (const uint64_t frees = process ? history.allocations().processes()[*process].inherited_frees : 0; frees != 0)
    say(fmt::format(
        "{} of blocks that were there when process {} was forked: left out, as what allocated them is of its parent",
        plural_text(static_cast<int64_t>(frees), "free"), work.recording.processes()[*process].process.pid));
  if (process && history.allocations().is_sampled())
    say("a sample was recorded: what is written is that alone, not what it stands for");
  return process;
}

// write(history, process, sink), compressed according to the output's name. Without a process the file is empty, and
// choose_process() has said why.
template <typename Write>
bool write_of_process(ExportWork& work, const TextSink& sink, Write&& write) {
  // The events are walked several times (ExportFormat::passes), not kept: a format's header needs totals before the
  // first event is written.
  HeapChanges history(work.recording, [&] { work.progress.step(); });
  const std::optional<uint32_t> process = choose_process(work, history);
  if (!process) return true;
  work.size.writes_later(summarize(work.recording).processes[*process].events[PENNA_ALLOC]);
  CompressedSink packed(compression_of(work.options.output), sink);
  write(history, *process, packed.sink());
  return packed.finish();
}

}  // namespace

bool write_heaptrack(ExportWork& work, const TextSink& sink) {
  return write_of_process(work, sink, [&](HeapChanges& history, uint32_t process, const TextSink& to) {
    const HeaptrackReport done = export_heaptrack(work.recording, work.names, history, process, to);
    if (done.not_temporary != 0)
      say(fmt::format("heaptrack counts {} fewer as temporary than penna report: other threads allocated in between",
                      count_text(static_cast<int64_t>(done.not_temporary))));
  });
}

bool write_massif(ExportWork& work, const TextSink& sink) {
  return write_of_process(work, sink, [&](HeapChanges& history, uint32_t process, const TextSink& to) {
    export_massif(work.recording, work.names, history, process, to);
  });
}

bool write_rtrace(ExportWork& work, const TextSink& sink) {
  return write_of_process(work, sink, [&](HeapChanges& history, uint32_t process, const TextSink& to) {
    export_rtrace(work.recording, work.names, history, process, to);
  });
}

int write_libleaks(ExportWork& work) {
  HeapChanges history(work.recording, [&] { work.progress.step(); });
  const std::optional<uint32_t> process = choose_process(work, history);
  if (!process) return 0;
  const std::string prefix = work.options.output.empty()
                                 ? fmt::format("allocs-{}", work.recording.processes()[*process].process.pid)
                                 : work.options.output;
  const Result<LibleaksReport> written =
      write_libleaks_pair(work.recording, work.names, history, *process, unused_libleaks_name(prefix));
  return written ? 0 : fail(written.error().text);
}

// functracer numbered a process's files like this. Another program may take the name meanwhile: create_new() below then
// fails, and overwrites nothing.
std::string unused_libleaks_name(const std::string& prefix) {
  for (uint64_t number = 0;; ++number) {
    const std::string name = fmt::format("{}.{}", prefix, number);
    if (!is_taken(name + ".map") && !is_taken(name + ".trace")) return name;
  }
}

Result<LibleaksReport> write_libleaks_pair(const Recording& recording, Names& names, HeapChanges& history,
                                           uint32_t process, const std::string& name, const HeapPick& pick) {
  Output map = PENNA_TRY(Output::create_new(name + ".map"));
  Output trace = PENNA_TRY(Output::create_new(name + ".trace"));
  export_libleaks_map(recording, process, map.sink());
  const LibleaksReport report = export_libleaks_trace(recording, names, history, process, trace.sink(), pick);
  PENNA_TRY(map.finish());
  PENNA_TRY(trace.finish());
  return report;
}

// All processes together: profile.proto has labels for them.
bool write_pprof(ExportWork& work, const TextSink& sink) {
  Allocations heap(work.recording);
  work.analyses.walk =
      for_each_event(work.recording, {.classes = kAllocEvents, .all_threads = true}, [&](const Event& event) {
        work.progress.step();
        heap(event);
      });
  CompressedSink packed(Compression::kGzip, sink);
  return export_pprof(work.recording, work.names, heap, packed.sink()) && packed.finish();
}

}  // namespace penna
