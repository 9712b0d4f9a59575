// SPDX-License-Identifier: MIT
// The options that all reading verbs share: which recording, what part of it, and how its names are looked up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "filter/where.h"
#include "model/names/library_frames.h"
#include "options/arguments.h"
#include "options/filter_options.h"
#include "options/thread_options.h"
#include "symbols/demangle.h"

namespace penna {

// Paths and names stay as typed; open_input() and open_symbols() access the file system, the parser never does.
struct InputOptions {
  std::string recording;  // empty: the newest here
  std::string symfs;
  std::vector<std::string> debug_dirs;
  std::optional<Demangle> demangle;  // none: short in text, in full for machines
  std::string debuginfod;            // "": never; "default": DEBUGINFOD_URLS; else servers
  bool no_progress = false;
  bool with_library = false;            // --std: frames of libraries are shown like all others
  std::vector<LibraryPattern> library;  // libraries besides the language's own
  std::vector<Where> conditions;        // on the arguments of points: --where
  FilterOptions filter;                 // by calls and time
  ThreadChoice threads;                 // for verbs that accept them
};

// Adds those of filter_options.h, --where, -i, --symfs, --debug-dir, --demangle, --debuginfod, --no-progress.
void add_input_options(OptionParser& parser, InputOptions& options);
void add_symbol_options(OptionParser& parser, InputOptions& options);
// --std and --library, for verbs that show stacks.
void add_stack_options(OptionParser& parser, InputOptions& options);
void add_recording_option(OptionParser& parser, InputOptions& options);

}  // namespace penna
