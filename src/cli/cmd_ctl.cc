// SPDX-License-Identifier: MIT
// See cmd_ctl.h. The recorder is found by what its targets were told in their environment.
#include "cli/cmd_ctl.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "base/fd.h"
#include "base/file.h"
#include "base/pattern.h"
#include "base/say.h"
#include "cli/control_server.h"
#include "cli/verbs.h"
#include "penna/channel.h"

namespace penna {
namespace {

// The recorder's socket, as a process was told it when its program started; empty when it was told none.
std::string socket_of(int pid) {
  const auto text = read_file(fmt::format("/proc/{}/environ", pid), 4 << 20);
  if (!text) return "";
  constexpr std::string_view name = PENNA_SOCKET_VARIABLE "=";
  for (size_t at = 0; at < text->size();) {
    const size_t end = std::min(text->find('\0', at), text->size());
    std::string_view entry(*text);
    entry = entry.substr(at, end - at);
    const bool begins_so = entry.starts_with(name[0]) || entry.starts_with(PENNA_SOCKET_MET);
    if (begins_so && entry.substr(1).starts_with(name.substr(1)))
      return text->substr(at + name.size(), end - at - name.size());
    at = end + 1;
  }
  return "";
}

std::vector<int> children_of(int pid) {
  std::vector<int> children;
  const auto text = read_file(fmt::format("/proc/{0}/task/{0}/children", pid));
  if (!text) return children;
  std::istringstream numbers(*text);
  for (int child = 0; numbers >> child;) children.push_back(child);
  return children;
}

struct Recorder {
  std::string path;
  int asked_pid = 0;  // 0: all of its processes
};

// One of its threads is a recorder (recorder/own_recorder.cc).
bool records_itself(int pid) {
  std::error_code gone;
  std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", pid), gone);
  for (; !gone && thread != std::filesystem::directory_iterator(); thread.increment(gone)) {
    const auto name = read_file(thread->path() / "comm", 64);
    if (name && *name == "penna-server\n") return true;
  }
  return false;
}

Result<Recorder> find_recorder(int pid) {
  if (::access(fmt::format("/proc/{}", pid).c_str(), F_OK) != 0)
    return Error{fmt::format("there is no process {}", pid)};
  if (const std::string socket = socket_of(pid); !socket.empty()) return Recorder{control_path(socket), pid};
  for (int child : children_of(pid))
    if (const std::string socket = socket_of(child); !socket.empty()) return Recorder{control_path(socket), 0};
  if (records_itself(pid))
    return Error{fmt::format(
        "process {} records itself, and nobody stops it from outside to switch its points: it does so itself, with "
        "penna/control.h, or is told PENNA_RECORD_EVENTS, or runs under penna record",
        pid)};
  return Error{fmt::format("process {} is neither recorded nor a recorder; start it with: penna record -- CMD", pid)};
}

Result<std::string> ask(const std::string& path, const std::string& line) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Error{fmt::format("{} is too long for a socket", path)};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return Error{fmt::format("the recorder does not answer at {}: {}; has it ended?", path, errno_text(errno))};
  const timeval patience{60, 0};  // a socket that a process names may be anybody's
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const std::string text = line + "\n";
  if (::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
    return Error{fmt::format("the recorder hangs up: {}", errno_text(errno))};
  std::string answer;
  char bytes[1024];
  while (answer.size() < 65536) {
    const ssize_t got = ::recv(socket.get(), bytes, sizeof bytes, 0);
    if (got < 0 && errno == EINTR) continue;  // as where this process is one of those that are recorded, and asked
    if (got <= 0) break;
    answer.append(bytes, static_cast<size_t>(got));
  }
  if (answer.empty()) return Error{"the recorder gave no answer; has it ended?"};
  return answer.substr(0, answer.find('\n'));
}

struct Counts {
  uint32_t processes = 0, matched = 0, changed = 0, refused = 0;
};

Result<Counts> read_answer(const std::string& answer) {
  if (answer.rfind("error ", 0) == 0) return Error{answer.substr(6)};
  std::istringstream words(answer);
  std::string good;
  Counts counts;
  if (!(words >> good >> counts.processes >> counts.matched >> counts.changed >> counts.refused) || good != "ok")
    return Error{"the recorder's answer cannot be read; is it of another version?"};
  return counts;
}

std::string sentence(const Counts& counts, const std::string& pattern, bool on) {
  const char* way = on ? "on" : "off";
  const std::string where =
      counts.processes == 1 ? std::string("1 process") : fmt::format("{} processes", counts.processes);
  if (counts.matched == 0)
    return fmt::format("'{}' names no point of {} yet; it holds for what is loaded later", pattern, where);
  std::string text = fmt::format("'{}' names {} site{} of {}: {} switched {}", pattern, counts.matched,
                                 counts.matched == 1 ? "" : "s", where, counts.changed, way);
  if (const uint32_t were = counts.matched - counts.changed - counts.refused; were != 0)
    text += fmt::format(", {} {} {} already", were, were == 1 ? "was" : "were", way);
  if (counts.refused != 0) text += fmt::format(", {} cannot be patched", counts.refused);
  return text;
}

}  // namespace

Result<Parsed<CtlOptions>> parse_ctl(const Arguments& arguments) {
  Parsed<CtlOptions> parsed;
  std::vector<std::string> words;
  OptionParser parser(
      "Switches points and triggers of a recording that is under way. PID: a process that is recorded (then it alone), "
      "or the recorder (then all processes, and programs to come).",
      "penna ctl");
  parser.words("PID on|off PATTERN...", words, "PATTERN: PROVIDER:NAME with * and ?, or the number of a trigger");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  if (words.size() < 3 || (words[1] != "on" && words[1] != "off"))
    return Error{"write penna ctl PID on PATTERN, or off instead of on"};
  const char* end = words[0].data() + words[0].size();
  const auto [at, error] = std::from_chars(words[0].data(), end, parsed.options.pid);
  if (error != std::errc() || at != end || parsed.options.pid <= 0)
    return Error{fmt::format("'{}' is no process number", words[0])};
  parsed.options.on = words[1] == "on";
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
  bool all_known = true;
  for (const std::string& pattern : options.patterns) {
    const auto answer =
        ask(recorder->path, fmt::format("{} {} {}", options.on ? "on" : "off", recorder->asked_pid, pattern));
    if (!answer) return fail(answer.error().text);
    const auto counts = read_answer(*answer);
    if (!counts) return fail(counts.error().text);
    say(sentence(*counts, pattern, options.on));
    all_known &= counts->matched != 0;
  }
  return all_known ? 0 : 1;
}

int ctl_verb(const Arguments& arguments) { return run_parsed("ctl", parse_ctl(arguments), cmd_ctl); }

}  // namespace penna
