// SPDX-License-Identifier: MIT
// See export_heap.h.
#include "cli/export_heap.h"

#include <fmt/core.h>

#include "base/count_text.h"
#include "base/say.h"
#include "export/compressed_sink.h"
#include "export/heaptrack_export.h"
#include "export/massif_export.h"
#include "export/pprof_export.h"

namespace penna {
namespace {

// `write(history, process, names, sink)` for the process that was chosen; an empty file when there is none, which is said elsewhere.
template <typename Write>
bool write_of_process(ExportWork& work, const TextSink& sink, Write&& write) {
  HeapHistory history(work.recording, [&] { work.progress.step(); });
  work.analyses.walk = history.walk();
  const std::optional<uint32_t> process = history.choose(work.options.pid);
  if (!process) {
    if (work.options.pid && history.busy_processes() != 0)
      say(fmt::format("process {} has not allocated anything: penna report processes shows those that are recorded",
                      *work.options.pid));
    return true;
  }
  CompressedSink packed(compression_of(work.options.output), sink);
  write(history, *process, packed.sink());
  if (history.busy_processes() > 1 && !work.options.pid)
    say(fmt::format("{} processes have allocated, and this is the one that allocated most, {}: --pid chooses another",
                    history.busy_processes(), work.recording.processes()[*process].process.pid));
  return packed.finish();
}

}  // namespace

bool write_heaptrack(ExportWork& work, const TextSink& sink) {
  return write_of_process(work, sink, [&](HeapHistory& history, uint32_t process, const TextSink& to) {
    const HeaptrackReport done = export_heaptrack(work.recording, work.names, history, process, to);
    if (done.not_temporary != 0)
      say(fmt::format("heaptrack counts {} fewer as temporary than penna report: other threads allocated in between",
                      count_text(static_cast<int64_t>(done.not_temporary))));
  });
}

bool write_massif(ExportWork& work, const TextSink& sink) {
  return write_of_process(work, sink, [&](HeapHistory& history, uint32_t process, const TextSink& to) {
    export_massif(work.recording, work.names, history, process, to);
  });
}

bool write_pprof(ExportWork& work, const TextSink& sink) {
  Allocations heap(work.recording);
  work.analyses.walk = for_each_event(work.recording, {.classes = kAllocEvents}, [&](const Event& event) {
    work.progress.step();
    heap(event);
  });
  CompressedSink packed(Compression::kGzip, sink);
  return export_pprof(work.recording, work.names, heap, packed.sink()) && packed.finish();
}

}  // namespace penna
