// SPDX-License-Identifier: MIT
// See etrace_options.h.
#include "etrace_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/printable.h"
#include "options/arguments.h"

namespace penna {

void inform(const EtraceOptions& options, const std::string& text) {
  if (options.quiet) return;
  // One write(2) for each line: other processes write to the same terminal.
  const std::string line = "etrace: " + printable(text) + "\n";
  (void)!::write(2, line.data(), line.size());
}
int fail_with(const std::string& text) {
  inform({}, text);
  return kOurFailure;
}

// Canonical, because recordings name their files by real paths.
Result<std::unique_ptr<ProgramSymbols>> open_symbols(const EtraceOptions& options,
                                                     std::unique_ptr<SymbolSource> others) {
  std::string path = options.program;
  if (!path.empty()) {
    std::error_code unknown;
    path = std::filesystem::canonical(path, unknown).string();
    if (unknown) return Error{fmt::format("cannot open {}: {}", options.program, errno_text(unknown.value()))};
  }
  return ProgramSymbols::open(path, std::move(others));
}

bool is_executable_of(const Recording& recording, const std::string& path) {
  for (const RecordedProcess& one : recording.processes())
    if (one.process.executable == path) return true;
  return false;
}

}  // namespace penna
