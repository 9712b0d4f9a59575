// SPDX-License-Identifier: MIT
// LineEditor: lines that a person types at a terminal, with history and completion.
//
// By libedit, loaded when it is needed; where there is none, lines are read as they come. Why libedit and not readline:
// that one's licence would be the licence of penna. Invariant: one at a time, on one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace penna {

class LineEditor {
 public:
  // What may stand in place of the word that begins at `start` of the line and that the cursor is behind.
  using Complete = std::function<std::vector<std::string>(const std::string& line, size_t start)>;

  // `history`: its file, which need not be there; empty: none is kept.
  LineEditor(std::string history, Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;

  bool can_edit() const { return library_ != nullptr; }
  // Nothing: the end (Ctrl-D).
  std::optional<std::string> read(const char* prompt);
  // One entry of the history, whatever number of lines it was typed in.
  void remember(const std::string& text);

 private:
  struct Library;
  const Library* library_ = nullptr;
  std::string history_;
};

}  // namespace penna
