// SPDX-License-Identifier: MIT
// See record_options.h.
#include "cli/record_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "cli/verbs.h"

namespace penna {
namespace {

constexpr const char* kClassNames[PENNA_CLASS_COUNT] = {"calls", "alloc", "locks", "points"};

Result<uint32_t> classes_of(const std::vector<std::string>& names) {
  uint32_t classes = 0;
  for (const std::string& name : names) {
    const auto* found = std::find(std::begin(kClassNames), std::end(kClassNames), name);
    if (found == std::end(kClassNames))
      return Error{fmt::format("there is no kind '{}' to record: choose from calls, alloc, locks, points", name)};
    classes |= 1u << (found - std::begin(kClassNames));
  }
  return classes;
}

// Splits at the "--" that stands in front of the command, if that is how it was written: CLI11 sees the part before it.
struct SplitArguments {
  Arguments ours, command;
};
SplitArguments split(const Arguments& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  return {{arguments.begin(), dashes}, {dashes, arguments.end()}};  // `command` keeps the "--"
}

Result<> check(const RecordOptions& options) {
  if (options.command.empty()) return Error{"there is no command to run: write it behind the options, or behind --"};
  if (options.command[0].empty()) return Error{"the name of the command is empty"};
  size_t room = sizeof(penna_config::point_patterns) - 1;  // the empty pattern that ends the list
  for (const std::string& pattern : options.point_patterns) {
    if (pattern.empty()) return Error{"an --event pattern is empty: write PROVIDER:NAME, where * stands for anything"};
    if (pattern.size() + 1 > room)
      return Error{"the --event patterns are too long: together they have room for 470 characters"};
    room -= pattern.size() + 1;
  }
  return ok();
}

}  // namespace

Result<Parsed<RecordOptions>> parse_record(const Arguments& arguments) {
  Parsed<RecordOptions> parsed;
  RecordOptions& options = parsed.options;
  std::vector<std::string> kinds;
  std::array<bool, PENNA_CLASS_COUNT> switches{};
  std::string on_full = "block";

  CLI::App app("Runs a command and records it.", "penna record");
  app.add_option("-o,--output", options.output, "the recording; default CMD.PID.penna here")->type_name("FILE");
  app.add_flag("-f,--force", options.force, "overwrite FILE when it exists");
  app.add_option("-k,--kinds", kinds, "what to record, of calls,alloc,locks,points; default all")
      ->type_name("KINDS")
      ->delimiter(',')
      ->allow_extra_args(false);
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i)
    app.add_flag(fmt::format("--{}", kClassNames[i]), switches[i],
                 fmt::format("record {}; without other kinds: only these", kClassNames[i]));
  app.add_option("-e,--event", options.point_patterns,
                 "points to record, PROVIDER:NAME with * and ?; may be repeated; default all")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  app.add_option("--on-full", on_full,
                 "when events come faster than they can be written: block the program, or drop events and count them")
      ->type_name("block|drop")
      ->check(CLI::IsMember({"block", "drop"}).description(""));
  app.add_option("--pool", options.pool_mib, "memory for events on their way, in MiB for each process; default 64")
      ->type_name("MIB")
      ->check(CLI::Range(4u, 4096u).description(""));
  app.add_option("--stack-depth", options.stack_depth, "frames kept of each stack; default 256")
      ->type_name("N")
      ->check(CLI::Range(1u, static_cast<unsigned>(PENNA_MAX_STACK_DEPTH)).description(""));
  app.add_flag("-q,--quiet", options.quiet, "print nothing of our own but errors");
  app.prefix_command();

  SplitArguments split_arguments = split(arguments);
  parsed.help = PENNA_TRY(parse_with(app, split_arguments.ours));
  if (!parsed.help.empty()) {
    const std::string usage = "penna record [OPTIONS]";  // CLI11 does not know of the command behind them
    if (const size_t at = parsed.help.find(usage); at != std::string::npos)
      parsed.help.replace(at, usage.size(), usage + " [--] CMD [ARGUMENTS...]");
    return parsed;
  }

  // What CLI11 did not know starts the command, and then a "--" was part of it; or it is a mistake.
  options.command = app.remaining();
  if (!options.command.empty() && options.command[0].size() > 1 && options.command[0][0] == '-')
    return Error{fmt::format("there is no option {}", options.command[0])};
  const size_t skip = options.command.empty() && !split_arguments.command.empty() ? 1 : 0;
  options.command.insert(options.command.end(), split_arguments.command.begin() + skip, split_arguments.command.end());

  for (int i = 0; i < PENNA_CLASS_COUNT; ++i)
    if (switches[i]) kinds.push_back(kClassNames[i]);
  if (!kinds.empty()) options.classes = PENNA_TRY(classes_of(kinds));
  options.on_full = on_full == "drop" ? PENNA_ON_FULL_DROP : PENNA_ON_FULL_BLOCK;
  PENNA_TRY(check(options));
  return parsed;
}

int record_verb(const Arguments& arguments) { return run_parsed("record", parse_record(arguments), cmd_record); }

int command_verb(const Arguments& arguments) {
  Result<Parsed<RecordOptions>> parsed = parse_record(arguments);
  if (parsed) parsed->options.short_report = !parsed->options.quiet;
  return run_parsed("record", parsed, cmd_record);
}

}  // namespace penna
