// SPDX-License-Identifier: MIT
// The formats of penna export that are about allocations: of one process, with totals that are known before the first
// line.
//
// Invariant: what a format leaves out (other processes, what it cannot express) is said in a sentence.
#pragma once

#include "analysis/analyses.h"
#include "analysis/progress.h"
#include "base/fd.h"
#include "cli/export_size.h"
#include "cli/options/export_options.h"
#include "export/libleaks_export.h"
#include "export/text_sink.h"

namespace penna {

// What all formats get. They fill `analyses.walk`, from which health is told afterwards, and step
// `progress`.
struct ExportWork {
  const ExportOptions& options;
  const Recording& recording;
  Names& names;
  Analyses& analyses;
  Progress& progress;
  ExportSize& size;       // through it goes all that is written into a file
  const Fd& directory;    // into which is written what takes one
  std::string trouble{};  // why nothing was written, but for an output that fails
};

// Writers into a file, compressed when its name ends in .gz or .zst; pprof always is.
bool write_heaptrack(ExportWork& work, const TextSink& sink);
bool write_massif(ExportWork& work, const TextSink& sink);
bool write_pprof(ExportWork& work, const TextSink& sink);
bool write_rtrace(ExportWork& work, const TextSink& sink);
// Writes OUT.N.map and OUT.N.trace with the first N for which there is neither; OUT is allocs-PID when none was named.
// Gives an exit status.
int write_libleaks(ExportWork& work);

// "allocs-7.3": the first such name for which there is neither file yet.
std::string unused_libleaks_name(const std::string& prefix);
// Both files of a process.
Result<LibleaksReport> write_libleaks_pair(const Recording& recording, Names& names, HeapChanges& history,
                                           uint32_t process, const std::string& name, const HeapPick& pick = {});

}  // namespace penna
