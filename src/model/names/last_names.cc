// SPDX-License-Identifier: MIT
// See last_names.h.
#include "model/names/last_names.h"

#include "model/names/recorded_names.h"
#include "model/names/shown_names.h"
#include "symbols/symbol_file.h"

namespace penna {

void write_last_names(RecordingWriter& writer, const Session& session, const OtherRoots& roots) {
  const auto end = std::chrono::steady_clock::now() + kMostForNames;
  SymbolOptions options;  // without a server for debug files: readers may query one
  options.search.other_roots = roots.paths();
  options.rank = rank_of_names(session, {});
  const auto symbols = make_symbol_source(options);
  options.reads_dwarf = false;  // lines of libc do not change, and it has many
  const auto of_libraries = make_symbol_source(options);
  for (const FileNames& names :
       names_of(writer.seen_code(), *symbols, *of_libraries, [end] { return std::chrono::steady_clock::now() < end; }))
    (void)writer.write_names(names);
}

}  // namespace penna
