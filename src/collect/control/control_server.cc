// SPDX-License-Identifier: MIT
// See control_server.h.
#include "collect/control/control_server.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/command_line.h"
#include "base/file.h"
#include "base/socket_address.h"
#include "collect/control/control_request.h"
#include "collect/settings.h"

namespace penna {
namespace {

enum class Asks { kPoints, kKinds, kSwitchKinds, kFilters, kChangeFilter, kSnapshot, kStop };

// done: a report of the client, not a request.
struct RequestWord {
  std::string_view word;
  Asks asks;
  bool on = false, done = false;
};
constexpr RequestWord kRequestWords[] = {
    {"on", Asks::kPoints, true},
    {"off", Asks::kPoints},
    {"was-on", Asks::kPoints, true, true},
    {"was-off", Asks::kPoints, false, true},
    {"kinds", Asks::kKinds},
    {"kinds-on", Asks::kSwitchKinds, true},
    {"kinds-off", Asks::kSwitchKinds},
    {"filters", Asks::kFilters},
    {"filter-on", Asks::kChangeFilter, true},
    {"filter-off", Asks::kChangeFilter},
    {"snapshot", Asks::kSnapshot},
    {"stop", Asks::kStop},
};

struct Request {
  RequestWord what;
  uint32_t pid = 0;
  std::string pattern;
  std::string rest;  // of the line
};

Result<Request> parse(const std::string& line) {
  std::istringstream words(line);
  std::string what;
  Request request{};
  words >> what >> request.pid >> request.pattern;
  const auto* const known = std::find_if(std::begin(kRequestWords), std::end(kRequestWords),
                                         [&](const RequestWord& one) { return one.word == what; });
  if (known != std::end(kRequestWords)) request.what = *known;
  if (request.what.asks == Asks::kChangeFilter) std::getline(words >> std::ws, request.rest);
  // A client may be another version: anything not understood is an error, never half a request.
  if (!words || known == std::end(kRequestWords))
    return Error{"this recorder does not understand the request; is it another version?"};
  return request;
}

std::string read_line(const Fd& socket) {
  std::string line;
  char bytes[512];
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < end && line.size() < 4096 && line.find('\n') == std::string::npos) {
    const ssize_t got = ::recv(socket.get(), bytes, sizeof bytes, 0);
    if (got <= 0) break;
    line.append(bytes, static_cast<size_t>(got));
  }
  return line.substr(0, line.find('\n'));
}

}  // namespace

std::string control_path(const std::string& socket_path) {
  return socket_path.substr(0, socket_path.rfind('/') + 1) + "control";
}

Result<ControlServer> ControlServer::listen(const std::string& socket_path, Server& server, Collector& collector,
                                            Ask ask, bool may_stop, SetFilters::Chooser chooser) {
  ControlServer control(control_path(socket_path), server, collector, std::move(ask), may_stop, std::move(chooser));
  const auto address = SocketAddress::of_path(control.path_);
  if (!address) return Error{fmt::format("{} is too long for a socket", control.path_)};
  control.listener_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!control.listener_ || address.bind(control.listener_.get()) != 0 || ::chmod(control.path_.c_str(), 0600) != 0 ||
      ::listen(control.listener_.get(), SOMAXCONN) != 0)
    return Error{fmt::format("cannot listen at {}: {}", control.path_, errno_text(errno))};
  return control;
}

ControlServer::~ControlServer() {
  if (listener_) ::unlink(path_.c_str());
}

void ControlServer::work() {
  for (;;) {
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) return;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) continue;
    // The socket's mode already keeps others out, on file systems that enforce it.
    if (peer.uid != ::geteuid() && peer.uid != 0) continue;
    // A client that connects and stays silent must not hold up the thread that also serves targets.
    timeval limit{1, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const std::string line = read_line(socket), text = answer(line) + "\n";
    (void)!::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    // Kept open: its closing tells the client that the recording is complete.
    if (line.starts_with("stop ") && text.starts_with("ok")) stoppers_.push_back(std::move(socket));
  }
}

void ControlServer::note(uint32_t pid, bool on, const std::string& pattern) {
  collector_->note(fmt::format("points '{}' were switched {} while {} ran", pattern, on ? "on" : "off",
                               pid == 0 ? "all processes" : fmt::format("pid {}", pid)),
                   false);
}

std::string ControlServer::switch_kinds(bool on, const std::string& kinds) {
  std::vector<std::string> names;
  std::istringstream words(kinds);
  for (std::string name; std::getline(words, name, ',');) names.push_back(name);
  const auto classes = classes_of(names);
  if (!classes) return "error " + classes.error().text;
  if ((*classes & 1u << PENNA_POINTS) != 0) return "error points are switched by their names: penna ctl PID off '*'";
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    if ((*classes >> i & 1) != 0 && (server_->classes() >> i & 1) == 0)
      return fmt::format("error this recording does not take {0}: start it with {0} among its kinds (-k {0})",
                         kClassNames[i]);
  collector_->switch_kinds(*classes, on);
  return "ok 0 0 0 0";
}

std::string ControlServer::change_filter(bool on, const std::string& kind, const std::string& text) {
  const auto known = filter_kind_of(kind);
  const auto matched = known ? filters_.change(on, *known, text, server_->classes()) : Result<uint32_t>(known.error());
  return matched ? fmt::format("ok 0 {} 0 0", *matched) : "error " + matched.error().text;
}

std::string ControlServer::answer(const std::string& line) {
  const auto request = parse(line);
  if (!request) return "error " + request.error().text;
  const auto& [word, asks, on, done] = request->what;
  if (asks == Asks::kStop && !may_stop_)
    return "error the program records itself, and ends that by itself (penna_recorder_stop)";
  if (request->pid != 0 && !server_->is_living(request->pid))
    return fmt::format("error process {} is not recorded", request->pid);
  switch (asks) {
    case Asks::kStop: return "ok 0 0 0 0";
    case Asks::kKinds: return fmt::format("ok {} {}", server_->classes(), collector_->kinds_off());
    case Asks::kSwitchKinds: return switch_kinds(on, request->pattern);
    case Asks::kFilters: return "ok" + filters_.list();
    case Asks::kChangeFilter: return change_filter(on, request->pattern, request->rest);
    case Asks::kSnapshot:
      return collector_->ask_for_snapshot() ? "ok 0 0 0 0"
                                            : "error all events are stored: a snapshot is for record --keep";
    case Asks::kPoints: break;
  }
  const auto control = points_request(on, request->pattern);
  if (!control) return "error " + control.error().text;
  if (!done) return switch_points(request->pid, on, request->pattern, *control);
  note(request->pid, on, request->pattern);
  return "ok 0 0 0 0";
}

// In one process, or (0) in all and those to come. Where one cannot be asked, the others still are.
std::string ControlServer::switch_points(uint32_t asked, bool on, const std::string& pattern,
                                         const penna_control& control) {
  if (asked == 0 && !server_->add_point_pattern((on ? "+" : "-") + pattern))
    return "error there is no room for more patterns; start a new recording";
  uint32_t processes = 0;
  std::string trouble;
  penna_control sum{};
  for (auto& [pid, page] : server_->control_pages()) {
    if (asked != 0 && asked != pid) continue;
    const auto got = ask_(pid, *page, control);
    if (!got) return "yourself";
    if (!*got) {
      if (asked != 0 || !executable_of(pid).empty()) trouble = got->error().text;
      continue;
    }
    ++processes;
    sum.matched += (*got)->matched;
    sum.changed += (*got)->changed;
    sum.refused += (*got)->refused;
  }
  if (processes == 0 && asked != 0)
    return "error " + (trouble.empty() ? fmt::format("process {} is not recorded", asked) : trouble);
  note(asked, on, pattern);
  if (!trouble.empty())
    return fmt::format("error {}; '{}' is switched in {} other process{}, and in those to come", trouble, pattern,
                       processes, processes == 1 ? "" : "es");
  return fmt::format("ok {} {} {} {}", processes, sum.matched, sum.changed, sum.refused);
}

}  // namespace penna
