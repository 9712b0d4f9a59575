// SPDX-License-Identifier: MIT
// See cmd_ctl.h.
#include "cli/verbs/cmd_ctl.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/fd.h"
#include "base/file.h"
#include "base/nearest_name.h"
#include "base/pattern.h"
#include "base/say.h"
#include "cli/verbs.h"
#include "collect/control_page.h"
#include "collect/control_request.h"
#include "reach/ask_process.h"
#include "reach/find_recorder.h"
#include "symbols/elf/process_modules.h"
#include "symbols/points/point_list.h"

namespace penna {
namespace {

// Sends one request to the control socket at `path` and reads its answer, one line.
//
// Both are lines of text, described in collect/control_server.h. The path comes from a process that may be hostile: it
// must not control how long an answer takes nor its length.
Result<std::string> ask(const std::string& path, const std::string& line) {
  const Fd socket = PENNA_TRY(connect_to_recorder(path));
  const timeval patience{60, 0};  // a socket named by a process may belong to anyone
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const std::string text = line + "\n";
  if (::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
    return Error{fmt::format("the recorder hangs up: {}", errno_text(errno))};
  std::string answer;
  char bytes[1024];
  while (answer.size() < 65536) {
    const ssize_t got = ::recv(socket.get(), bytes, sizeof bytes, 0);
    if (got < 0 && errno == EINTR) continue;  // for example if this process is itself recorded, and queried
    if (got <= 0) break;
    answer.append(bytes, static_cast<size_t>(got));
  }
  if (answer.empty()) return Error{"the recorder gave no answer; has it ended?"};
  return answer.substr(0, answer.find('\n'));
}

struct Counts {
  uint32_t processes = 0, matched = 0, changed = 0, refused = 0;
};

// "ok PROCESSES MATCHED CHANGED REFUSED" or "error SENTENCE".
Result<Counts> read_answer(const std::string& answer) {
  if (answer.rfind("error ", 0) == 0) return Error{answer.substr(6)};
  std::istringstream words(answer);
  std::string good;
  Counts counts;
  if (!(words >> good >> counts.processes >> counts.matched >> counts.changed >> counts.refused) || good != "ok")
    return Error{"the recorder's answer is not understood; is it another version?"};
  return counts;
}

// Switches one pattern, in one process or in all. A recorder that runs inside the program it records never stops that
// program's processes: for a forked one it answers "yourself". Then we make the change through the process's control
// page, and report it, so that it is in the recording.
Result<Counts> change(const Recorder& recorder, bool on, const std::string& pattern) {
  const char* const way = on ? "on" : "off";
  const std::string answer =
      PENNA_TRY(ask(recorder.control, fmt::format("{} {} {}", way, recorder.asked_pid, pattern)));
  if (answer != "yourself") return read_answer(answer);
  const auto pid = static_cast<uint32_t>(recorder.asked_pid);
  ControlPage page = PENNA_TRY(ControlPage::in_process(pid));
  const penna_control request = PENNA_TRY(points_request(on, pattern));
  const penna_control done = PENNA_TRY(ask_process(pid, page, request));
  PENNA_TRY(ask(recorder.control, fmt::format("was-{} {} {}", way, pid, pattern)));
  return Counts{1, done.matched, done.changed, done.refused};
}

// The points of a process, and of those that it started: `pid` may be penna record's. Bounded, for trees of any size.
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

// A pattern without a match is not an error: it also applies to libraries loaded later.
std::string sentence(const Counts& counts, const std::string& pattern, bool on, int pid) {
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

}  // namespace

// Everything is checked before the recorder is asked: if one of several patterns is wrong, none is switched.
Result<Parsed<CtlOptions>> parse_ctl(const Arguments& arguments) {
  Parsed<CtlOptions> parsed;
  std::vector<std::string> words;
  OptionParser parser(
      "Switches points and triggers of a running recording, or ends it. PID: a process that is recorded, by penna "
      "record or by itself (then it alone), or penna record (then all processes, and programs to come). stop: the "
      "whole recording ends, as by penna record --duration: the programs go on, and those that were attached to (-p) "
      "are as they were before.",
      "penna ctl");
  parser.words("PID on|off|stop [PATTERN...]", words,
               "PATTERN: PROVIDER:NAME with * and ?, or the number of a trigger");
  const std::vector<std::string> ways = {"on", "off", "stop"};
  parser.known(ways);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  if (words.empty()) return Error{"write penna ctl PID on PATTERN, or off instead of on; or penna ctl PID stop"};
  // from_chars, not atoi: "12abc" and "0" are typing errors, and a negative number would mean a process group.
  const char* end = words[0].data() + words[0].size();
  const auto [at, error] = std::from_chars(words[0].data(), end, parsed.options.pid);
  if (error != std::errc() || at != end || parsed.options.pid <= 0)
    return Error{fmt::format("'{}' is no process number", words[0])};
  const std::string what = words.size() > 1 ? words[1] : std::string();
  if (!what.empty() && std::find(ways.begin(), ways.end(), what) == ways.end())
    return Error{there_is_no("command", what, ways)};
  parsed.options.stop = what == "stop";
  if (parsed.options.stop && words.size() > 2)
    return Error{fmt::format("unexpected argument '{}': stop ends the whole recording", words[2])};
  if (!parsed.options.stop && words.size() < 3)
    return Error{fmt::format("write penna ctl {0} on PATTERN, or off instead of on; or penna ctl {0} stop", words[0])};
  parsed.options.on = what == "on";
  parsed.options.patterns.assign(words.begin() + 2, words.end());
  for (const std::string& pattern : parsed.options.patterns) {
    PENNA_TRY(check_pattern(pattern));
    if (pattern.empty() || pattern.find_first_of(" \t\n") != std::string::npos)
      return Error{fmt::format("'{}' is no pattern: write PROVIDER:NAME, where * stands for anything", pattern)};
  }
  return parsed;
}

int cmd_ctl(const CtlOptions& options) {
  const auto recorder = find_recorder(options.pid);
  if (!recorder) return fail(recorder.error().text);
  if (options.stop) {
    const auto answer = ask(recorder->control, fmt::format("stop {} all", recorder->asked_pid));
    if (!answer) return fail(answer.error().text);
    if (const auto counts = read_answer(*answer); !counts) return fail(counts.error().text);
    say("the recording has ended");
    return 0;
  }
  // One pattern after the other: if one fails, those before it have been switched and reported.
  bool all_known = true;
  for (const std::string& pattern : options.patterns) {
    const auto counts = change(*recorder, options.on, pattern);
    if (!counts) return fail(counts.error().text);
    say(sentence(*counts, pattern, options.on, options.pid));
    all_known &= counts->matched != 0;
  }
  return all_known ? 0 : 1;
}

int ctl_verb(const Arguments& arguments) { return run_parsed("ctl", parse_ctl(arguments), cmd_ctl); }

}  // namespace penna
