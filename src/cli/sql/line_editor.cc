// SPDX-License-Identifier: MIT
// See line_editor.h.
#include "cli/sql/line_editor.h"

#include <editline/readline.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "base/loaded_library.h"

namespace penna {

struct LineEditor::Library {
  decltype(&::readline) readline = nullptr;
  decltype(&::add_history) add_history = nullptr;
  decltype(&::read_history) read_history = nullptr;
  decltype(&::write_history) write_history = nullptr;
  decltype(&::stifle_history) stifle_history = nullptr;
  decltype(&::rl_completion_matches) completion_matches = nullptr;
  decltype(&::rl_attempted_completion_function) attempted_completion = nullptr;
  decltype(&::rl_attempted_completion_over) completion_over = nullptr;
  decltype(&::rl_completion_append_character) append_character = nullptr;
  decltype(&::rl_completer_word_break_characters) word_breaks = nullptr;
  decltype(&::rl_line_buffer) line = nullptr;

  static const Library* load();
};

namespace {

constexpr int kMostRemembered = 1000;

// libedit's callbacks get no pointer of ours.
LineEditor::Complete complete_words;
std::vector<std::string> candidates;
size_t next_candidate = 0;

// libedit frees the returned string.
char* give_candidate(const char*, int state) {
  if (state == 0) next_candidate = 0;
  return next_candidate == candidates.size() ? nullptr : ::strdup(candidates[next_candidate++].c_str());
}

}  // namespace

// Null if the system has none, or another version.
const LineEditor::Library* LineEditor::Library::load() {
  static Library library;
  LoadedLibrary libedit("libedit.so.2");
  libedit.find(library.readline, "readline");
  libedit.find(library.add_history, "add_history");
  libedit.find(library.read_history, "read_history");
  libedit.find(library.write_history, "write_history");
  libedit.find(library.stifle_history, "stifle_history");
  libedit.find(library.completion_matches, "rl_completion_matches");
  libedit.find(library.attempted_completion, "rl_attempted_completion_function");
  libedit.find(library.completion_over, "rl_attempted_completion_over");
  libedit.find(library.append_character, "rl_completion_append_character");
  libedit.find(library.word_breaks, "rl_completer_word_break_characters");
  libedit.find(library.line, "rl_line_buffer");
  return libedit.missing() == nullptr ? &library : nullptr;
}

LineEditor::LineEditor(std::string history, Complete complete)
    : library_(Library::load()), history_(std::move(history)) {
  if (library_ == nullptr) return;
  static const Library* editor;
  editor = library_;
  complete_words = std::move(complete);
  static char breaks[] = " \t\n\"'`=<>,;.()[]{}+-*/|&!";
  *library_->word_breaks = breaks;
  *library_->attempted_completion = [](const char* word, int start, int end) -> char** {
    *editor->completion_over = 1;  // never file names
    *editor->append_character = '\0';
    const std::string line(*editor->line, static_cast<size_t>(std::max(end, 0)));
    candidates = complete_words(line, static_cast<size_t>(std::max(start, 0)));
    return candidates.empty() ? nullptr : editor->completion_matches(word, give_candidate);
  };
  library_->stifle_history(kMostRemembered);
  if (!history_.empty()) library_->read_history(history_.c_str());
}

LineEditor::~LineEditor() { complete_words = nullptr; }

std::optional<std::string> LineEditor::read(const char* prompt) {
  if (library_ == nullptr) {
    fmt::print("{}", prompt);
    std::fflush(stdout);
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  char* const typed = library_->readline(prompt);
  if (typed == nullptr) return std::nullopt;
  std::string line = typed;
  std::free(typed);
  return line;
}

void LineEditor::remember(const std::string& text) {
  if (library_ == nullptr) return;
  library_->add_history(text.c_str());
  if (history_.empty()) return;
  // Queries are private to this user.
  const mode_t before = ::umask(0077);
  library_->write_history(history_.c_str());
  ::umask(before);
}

}  // namespace penna
