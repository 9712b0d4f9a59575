// SPDX-License-Identifier: MIT
// The formats of penna export about allocations: of one process, with totals that are known before the first line.
//
// Invariant: what a format leaves out (other processes, what it cannot express) is reported in a sentence.
#pragma once

#include "analysis/analyses.h"
#include "analysis/progress.h"
#include "base/fd.h"
#include "cli/export/export_size.h"
#include "export/heap/libleaks_export.h"
#include "export/text/text_sink.h"
#include "options/export_options.h"

namespace penna {

// The input of all formats. They fill `analyses.walk`, which the health report uses afterwards, and step `progress`.
struct ExportWork {
  const ExportOptions& options;
  const Recording& recording;
  Names& names;
  Analyses& analyses;
  Progress& progress;
  ExportSize& size;       // all file output goes through it
  const Fd& directory;    // the output directory, for formats that need one
  std::string trouble{};  // why nothing was written, unless the output fails
};

// Writers to a file, compressed if its name ends in .gz or .zst; pprof always is.
bool write_heaptrack(ExportWork& work, const TextSink& sink);
bool write_massif(ExportWork& work, const TextSink& sink);
bool write_pprof(ExportWork& work, const TextSink& sink);
bool write_rtrace(ExportWork& work, const TextSink& sink);
// Writes OUT.N.map and OUT.N.trace with the first N for which neither exists; OUT defaults to allocs-PID. Returns an
// exit status.
int write_libleaks(ExportWork& work);

// "allocs-7.3": the first such name for which neither file exists.
std::string unused_libleaks_name(const std::string& prefix);
// A process's two files.
Result<LibleaksReport> write_libleaks_pair(const Recording& recording, Names& names, HeapChanges& history,
                                           uint32_t process, const std::string& name, const HeapPick& pick = {});

}  // namespace penna
