// SPDX-License-Identifier: MIT
// See cmd_ctl.h.
#include "cli/verbs/cmd_ctl.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "base/nearest_name.h"
#include "base/pattern.h"
#include "base/say.h"
#include "base/whole_number.h"
#include "cli/verbs.h"
#include "collect/settings.h"
#include "reach/control/control_client.h"
#include "reach/control/find_recorder.h"
#include "symbols/elf/process_modules.h"
#include "symbols/points/point_list.h"

namespace penna {
namespace {

// The points of a process, and of those that it started: `pid` may be that of penna record. Stops at a bound, for trees
// of any size.
void see_points(int pid, NearestName& nearest, int& left) {
  if (left-- <= 0) return;
  if (const auto process = read_process_modules(static_cast<uint32_t>(pid)))
    for (const ProcessModule& module : process->modules) {
      PointList points;
      points.add(module.file, nullptr);
      for (const ListedPoint& point : points.take()) nearest.see(point.full_name());
    }
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid));
  for (int child = 0; children >> child;) see_points(child, nearest, left);
}

std::string near_point(const std::string& pattern, int pid) {
  constexpr int kMostProcesses = 64;
  NearestName nearest(pattern);
  int left = kMostProcesses;
  see_points(pid, nearest, left);
  return nearest.hint();
}

// A pattern without a match is no error: it holds for libraries that are loaded later, too.
std::string sentence(const SwitchedPoints& counts, const std::string& pattern, bool on, int pid) {
  const char* way = on ? "on" : "off";
  const std::string where =
      counts.processes == 1 ? std::string("1 process") : fmt::format("{} processes", counts.processes);
  if (counts.matched == 0)
    return fmt::format("'{}' names no point of {} yet{}; it holds for what is loaded later", pattern, where,
                       near_point(pattern, pid));
  std::string text = fmt::format("'{}' names {} site{} of {}: {} switched {}", pattern, counts.matched,
                                 counts.matched == 1 ? "" : "s", where, counts.changed, way);
  if (const uint32_t were = counts.matched - counts.changed - counts.refused; were != 0)
    text += fmt::format(", {} {} {} already", were, were == 1 ? "was" : "were", way);
  if (counts.refused != 0) text += fmt::format(", {} cannot be switched while the program runs", counts.refused);
  return text;
}

const std::vector<std::string>& ctl_commands() {
  static const std::vector<std::string> all = {"on", "off", "snapshot", "stop"};
  return all;
}

// PID, what to do, and with which points.
Result<> take_words(const std::vector<std::string>& words, CtlOptions& options) {
  if (words.empty()) return Error{"write penna ctl PID on PATTERN, or off instead of on; or penna ctl PID stop"};
  options.pid = whole_number<int>(words[0]).value_or(0);
  if (options.pid <= 0)  // a negative number would mean a process group
    return Error{fmt::format("'{}' is no process number", words[0])};
  const std::string what = words.size() > 1 ? words[1] : std::string();
  if (!what.empty() && std::find(ctl_commands().begin(), ctl_commands().end(), what) == ctl_commands().end())
    return Error{there_is_no("command", what, ctl_commands())};
  options.stop = what == "stop";
  options.snapshot = what == "snapshot";
  options.on = what == "on";
  if (words.size() > 2) options.patterns.assign(words.begin() + 2, words.end());
  const bool is_of_all = options.stop || options.snapshot;
  if (is_of_all && !options.patterns.empty())
    return Error{fmt::format("unexpected argument '{}': {} is of the whole recording", options.patterns[0], what)};
  const bool is_switch_alone = !is_of_all && words.size() == 2;
  if (!options.kinds.empty() && !is_switch_alone)
    return Error{"-k is for on and off, and without a pattern: penna ctl PID off -k calls"};
  if (!options.filters.empty() && (!is_switch_alone || !options.kinds.empty()))
    return Error{"filters are for on and off, and without anything else: penna ctl PID on --where 'rows > 100'"};
  if (!is_of_all && options.kinds.empty() && options.filters.empty() && options.patterns.empty())
    return Error{fmt::format("write penna ctl {0} on PATTERN, or off instead of on; or penna ctl {0} stop", words[0])};
  return ok();
}

Result<> check_patterns(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    PENNA_TRY(check_pattern(pattern));
    if (pattern.empty() || pattern.find_first_of(" \t\n") != std::string::npos)
      return Error{fmt::format("'{}' is no pattern: write PROVIDER:NAME, where * stands for anything", pattern)};
  }
  return ok();
}

}  // namespace

// Everything is checked before the recorder is asked: if one of several patterns is wrong, none is switched.
Result<Parsed<CtlOptions>> parse_ctl(const Arguments& arguments) {
  Parsed<CtlOptions> parsed;
  std::vector<std::string> words;
  OptionParser parser(
      "Switches points, triggers and kinds of event of a running recording, takes a snapshot of it, or ends it. "
      "PID: a process that is recorded, by penna "
      "record or by itself (then it alone), or penna record (then all processes, and programs to come). -k: in the "
      "whole recording, calls, allocations or lock operations that begin while their kind is off are left out. "
      "--where, "
      "-F, -N: a filter that is set (on) or removed (off), in the whole recording. stop: the whole recording ends, as "
      "by penna record --duration: the programs go on, and those that were attached to (-p) "
      "are as they were before. snapshot: what penna record --keep has kept is stored.",
      "penna ctl");
  parser.words("PID on|off|snapshot|stop [PATTERN...]", words,
               "PATTERN: PROVIDER:NAME with * and ?, or the number of a trigger");
  parser.texts("-k,--kinds", parsed.options.kinds, "KINDS", "for on and off: calls,alloc,locks or some of them",
               OptionParser::Split::kAtCommas);
  std::vector<std::string> conditions, functions, not_functions;
  parser.texts("--where", conditions, "CONDITION", "for on and off: only points whose arguments satisfy it");
  parser.texts("-F,--function", functions, "PATTERN", "for on and off: only calls of functions of this name");
  parser.texts("-N,--no-function", not_functions, "PATTERN", "for on and off: no calls of functions of this name");
  parser.known(ctl_commands());
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  for (const auto& [kind, texts] :
       {std::pair("where", &conditions), {"function", &functions}, {"no-function", &not_functions}})
    for (const std::string& text : *texts) parsed.options.filters.push_back({kind, text});
  PENNA_TRY(take_words(words, parsed.options));
  if (!parsed.options.kinds.empty()) PENNA_TRY(classes_of(parsed.options.kinds));
  PENNA_TRY(check_patterns(parsed.options.patterns));
  return parsed;
}

int cmd_ctl(const CtlOptions& options) {
  const auto recorder = find_recorder(options.pid);
  if (!recorder) return fail(recorder.error().text);
  if (options.stop) {
    if (const auto stopped = stop_recording(*recorder); !stopped) return fail(stopped.error().text);
    say("the recording has ended");
    return 0;
  }
  if (options.snapshot) {
    if (const auto taken = take_snapshot(*recorder); !taken) return fail(taken.error().text);
    say("the recorder stores what it has kept");
    return 0;
  }
  if (!options.kinds.empty()) {
    const std::string kinds = fmt::format("{}", fmt::join(options.kinds, ","));
    if (const auto done = switch_kinds(*recorder, options.on, kinds); !done) return fail(done.error().text);
    say(fmt::format("{} switched {}: {}", kinds, options.on ? "on" : "off",
                    options.on ? "what begins from now on is recorded again"
                               : "what has begun is recorded to its end, nothing else"));
    return 0;
  }
  for (const SetFilter& filter : options.filters) {
    const auto done = change_filter(*recorder, options.on, filter);
    if (!done) return fail(done.error().text);
    say(*done);
  }
  if (!options.filters.empty()) return 0;
  // One pattern after the other: when one fails, those before it have been switched, and were
  // reported so.
  bool all_known = true;
  for (const std::string& pattern : options.patterns) {
    const auto counts = switch_points(*recorder, options.on, pattern);
    if (!counts) return fail(counts.error().text);
    say(sentence(*counts, pattern, options.on, options.pid));
    all_known &= counts->matched != 0;
  }
  return all_known ? 0 : 1;
}

int ctl_verb(const Arguments& arguments) { return run_parsed("ctl", parse_ctl(arguments), cmd_ctl); }

}  // namespace penna
