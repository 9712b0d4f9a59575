// SPDX-License-Identifier: MIT
// LibraryFrames: which frames of a stack are not the user's own code, and what becomes of them when a stack is shown.
//
// Why: a growing vector is six frames of the standard library, and one call to its user.
// Invariant: the role of a frame depends on its name and file only, so it is determined once per place in code.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/names/function_pattern.h"
#include "model/names/path_pattern.h"

namespace penna {

enum class FrameRole : uint8_t {
  kOwn,      // the user's code, or a library whose inside matters to the user
  kLibrary,  // of the language: std::, operator new, libc, an allocator
  kStart,    // what starts a process or a thread, outside of main() and the like
};

// What the user also regards as a library: functions, modules or source files.
class LibraryPattern {
 public:
  explicit LibraryPattern(const std::string& text) : function_(text), path_(text) {}
  bool matches(const std::string& function, const std::string& file, const std::string& module) const {
    return function_.matches(function) || path_.matches(file) || path_.matches(module);
  }

 private:
  FunctionPattern function_;
  PathPattern path_;
};

class LibraryFrames {
 public:
  explicit LibraryFrames(std::vector<LibraryPattern> more = {}) : more_(std::move(more)) {}
  // `function`: in full, demangled or not; `file`: its source, or empty; `module`: the path of its file.
  FrameRole role(const std::string& function, const std::string& file, const std::string& module) const;

 private:
  std::vector<LibraryPattern> more_;
};

// libc, the dynamic linker, the C++ library, or an allocator.
bool is_library_file(const std::string& path);

// Which frames of a stack are shown, asked from the outermost one inwards: of adjacent library frames the outermost,
// which is the one that the user called; nothing outside of the user's first function.
class StackFold {
 public:
  enum class State : uint8_t { kOutside, kInOwn, kInLibrary };
  // `leads_to_start`: the stack is known to its beginning. A cut stack has no start code to hide: the missing outer
  // frames count as the user's.
  explicit StackFold(bool leads_to_start) : state_(leads_to_start ? State::kOutside : State::kInOwn) {}
  explicit StackFold(State state) : state_(state) {}
  bool shows(FrameRole role);
  State state() const { return state_; }
  // No frame was the user's: show them all.
  bool saw_only_library() const { return state_ == State::kOutside; }

 private:
  State state_;
};

}  // namespace penna
