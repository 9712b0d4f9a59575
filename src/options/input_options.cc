// SPDX-License-Identifier: MIT
// See input_options.h.
#include "options/input_options.h"

namespace penna {

void add_recording_option(OptionParser& parser, InputOptions& options) {
  parser.section("Input and names");
  parser.text("-i,--input", options.recording, "REC", "the recording; default the newest *.penna here");
}

void add_symbol_options(OptionParser& parser, InputOptions& options) {
  parser.section("Input and names");
  parser.text("--symfs", options.symfs, "DIR", "look for programs and debug files under DIR instead of /");
  parser.texts("--debug-dir", options.debug_dirs, "DIR", "look for debug files in DIR too; may be repeated");
  parser.choice(
      "--demangle", options.demangle,
      {{"short", Demangle::kShort}, {"full", Demangle::kFull}, {"simple", Demangle::kSimple}, {"no", Demangle::kNo}},
      "C++ names with their templates shortened (default in text), in full (default in csv and json), without "
      "arguments, or mangled as in the file");
  parser.text_or("default", "--debuginfod", options.debuginfod, "URLS",
                 "fetch missing debug files from these servers; without URLS from $DEBUGINFOD_URLS");
}

void add_stack_options(OptionParser& parser, InputOptions& options) {
  parser.section("Input and names");
  parser.flag("--std", options.with_library,
              "show all frames of stacks; without it calls inside of the C++ and C libraries are one line, and --by "
              "function and --by file show the first frame that is not in them");
  parser.values("--library", options.library, "PATTERN",
                "functions as for -F, modules or source files that are a library too; may be repeated",
                parse_pattern<LibraryPattern>);
}

void add_input_options(OptionParser& parser, InputOptions& options) {
  add_filter_options(parser, options.filter, FilterUse::kReading);
  add_recording_option(parser, options);
  add_symbol_options(parser, options);
  parser.section("Which points");
  parser.values("--where", options.conditions, "CONDITION",
                "hide points whose arguments do not satisfy it, as in penna record; may be repeated", Where::parse);
  parser.section("Output");
  parser.flag("--no-progress", options.no_progress, "show no progress on a terminal");
}

}  // namespace penna
