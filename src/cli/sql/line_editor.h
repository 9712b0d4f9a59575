// SPDX-License-Identifier: MIT
// LineEditor: lines typed at a terminal, with history and completion.
//
// Uses libedit, loaded on demand; without it, lines are read unedited. Why libedit and not readline: readline's license
// would apply to penna. Invariant: one at a time, on one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace penna {

class LineEditor {
 public:
  // Candidates for the word that begins at `start` of the line and ends at the cursor.
  using Complete = std::function<std::vector<std::string>(const std::string& line, size_t start)>;

  // `history`: its file, which need not exist; empty: none is kept.
  LineEditor(std::string history, Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;

  bool can_edit() const { return library_ != nullptr; }
  // Empty at the end of input (Ctrl-D).
  std::optional<std::string> read(const char* prompt);
  // One history entry, however many lines it was typed in.
  void remember(const std::string& text);

 private:
  struct Library;
  const Library* library_ = nullptr;
  std::string history_;
};

}  // namespace penna
