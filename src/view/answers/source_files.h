// SPDX-License-Identifier: MIT
// SourceFiles: the text of the source files that a recording names, as far as the user allows (--source-dir).
//
// A file is shown if it lies in one of the directories: under its own path, or, when the program was built elsewhere,
// under the longest end of that path that exists there.
// Invariant: nothing outside of the directories is read, however the recording names it and wherever links lead;
// neither is anything but a regular file of text.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace penna {

struct SourceText {
  std::string path{};  // where it was found
  std::vector<std::string> lines{};
  bool is_newer = false;  // changed after the recording began
};

class SourceFiles {
 public:
  static constexpr size_t kMostBytes = 4 << 20;

  // Directories that do not exist hold nothing. `start_ns`: when the recording began, CLOCK_REALTIME.
  SourceFiles(const std::vector<std::string>& directories, uint64_t start_ns);

  // The error says why there is nothing to show.
  Result<SourceText> read(const std::string& name) const;

 private:
  std::string find(const std::string& name) const;

  std::vector<std::string> directories_;  // real paths
  uint64_t start_ns_;
};

}  // namespace penna
