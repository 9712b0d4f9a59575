// SPDX-License-Identifier: MIT
// How a verb reads its command line: CLI11 behind a Result, so that no exception leaves this file.
//
// Usage, in each cmd_*.cc: parse_x() fills XOptions and is tested alone; x_verb() = run_parsed("x", parse_x(...), cmd_x).
// Invariant: wrong use gives one sentence on stderr and exit status 125, and nothing else happens.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace penna {

using Arguments = std::vector<std::string>;

inline constexpr int kOurFailure = 125;  // as env(1) and timeout(1): the tool failed, not the program

// What a parse_*() gives: options, or the help text that was asked for.
template <typename Options>
struct Parsed {
  Options options;
  std::string help;
};

// Runs CLI11 over the arguments of a verb. The value is the help text when --help was given, else empty.
Result<std::string> parse_with(CLI::App& app, const Arguments& arguments);

// "penna: TEXT" to stderr; gives 125.
int fail(const std::string& text);

// Prints an error of parse_*() with the way to the verb's help, or the help, or neither: true when the verb may run.
bool may_run(const char* verb, const Error* error, const std::string& help, int* status);

template <typename Options>
int run_parsed(const char* verb, const Result<Parsed<Options>>& parsed, int (*run)(const Options&)) {
  int status = 0;
  const bool good = parsed.has_value();
  if (!may_run(verb, good ? nullptr : &parsed.error(), good ? parsed->help : std::string(), &status)) return status;
  return run(parsed->options);
}

}  // namespace penna
