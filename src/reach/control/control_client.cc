// SPDX-License-Identifier: MIT
// See control_client.h.
#include "reach/control/control_client.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <sstream>

#include "base/fd.h"
#include "base/file.h"
#include "collect/control/control_request.h"
#include "collect/control/set_filters.h"
#include "collect/control_page.h"
#include "reach/control/ask_process.h"

namespace penna {
namespace {

constexpr const char* kOtherVersion = "the recorder's answer is not understood; is it another version?";

// Whether there is something to read, or the other side has hung up, before `deadline`.
bool await_bytes(const Fd& socket, std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd ready{socket.get(), POLLIN, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
    if (count > 0 || left.count() <= 0) return count > 0;
  }
}

// Sends one request to the control socket at `path` and reads its answer, one line. The recorder hangs up when it has
// done what was requested.
//
// Both are lines of text, as described in collect/control/control_server.h. The process that named the path may be
// hostile: the time and the length of an answer are limited.
Result<std::string> send_request(const std::string& path, const std::string& line) {
  constexpr std::chrono::seconds kPatience(60), kPatienceForEnd(600);
  constexpr size_t kLongest = 65536;
  const Fd socket = PENNA_TRY(connect_to_recorder(path));
  const std::string text = line + "\n";
  const ssize_t sent = ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return Error{fmt::format("the recorder hangs up: {}", errno_text(errno))};
  if (sent != static_cast<ssize_t>(text.size())) return Error{"the recorder does not read the request"};
  std::string answer;
  char bytes[1024];
  const auto start = std::chrono::steady_clock::now();
  while (answer.size() < kLongest) {
    const bool is_answered = answer.find('\n') != std::string::npos;
    if (!await_bytes(socket, start + (is_answered ? kPatienceForEnd : kPatience)))
      return Error{is_answered ? "the recorder has accepted the request, but is not done after 10 minutes; it goes on"
                               : "the recorder does not answer; is it stopped?"};
    const ssize_t got = ::recv(socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;  // as when this process is itself recorded, and the request reaches it
    if (got <= 0) break;
    answer.append(bytes, static_cast<size_t>(got));
  }
  if (answer.empty()) return Error{"the recorder gave no answer; has it ended?"};
  return answer.substr(0, answer.find('\n'));
}

// The same; "error SENTENCE" is that error.
Result<std::string> ask(const std::string& path, const std::string& line) {
  std::string answer = PENNA_TRY(send_request(path, line));
  if (answer.starts_with("error ")) return Error{answer.substr(6)};
  return answer;
}

// "ok PROCESSES MATCHED CHANGED REFUSED".
Result<SwitchedPoints> read_answer(const std::string& answer) {
  std::istringstream words(answer);
  std::string good;
  SwitchedPoints counts;
  if (!(words >> good >> counts.processes >> counts.matched >> counts.changed >> counts.refused) || good != "ok")
    return Error{kOtherVersion};
  return counts;
}

Result<> order(const Recorder& recorder, const char* what) {
  const std::string answer = PENNA_TRY(ask(recorder.control, fmt::format("{} {} all", what, recorder.asked_pid)));
  PENNA_TRY(read_answer(answer));
  return ok();
}

}  // namespace

// Switches one pattern, in one process or in all. A recorder that runs inside the program it
// records never stops that program's processes: for one that was forked it answers "yourself". Then
// we make the change through the process's control page, and report it, so that the recording holds
// it.
Result<SwitchedPoints> switch_points(const Recorder& recorder, bool on, const std::string& pattern) {
  const char* const way = on ? "on" : "off";
  const std::string answer =
      PENNA_TRY(ask(recorder.control, fmt::format("{} {} {}", way, recorder.asked_pid, pattern)));
  if (answer != "yourself") return read_answer(answer);
  const auto pid = static_cast<uint32_t>(recorder.asked_pid);
  ControlPage page = PENNA_TRY(ControlPage::in_process(pid));
  const penna_control request = PENNA_TRY(points_request(on, pattern));
  const penna_control done = PENNA_TRY(ask_process(pid, page, request));
  PENNA_TRY(send_request(recorder.control, fmt::format("was-{} {} {}", way, pid, pattern)));
  return SwitchedPoints{1, done.matched, done.changed, done.refused};
}

Result<RecordedKinds> recorded_kinds(const Recorder& recorder) {
  const std::string answer = PENNA_TRY(ask(recorder.control, "kinds 0 all"));
  std::istringstream words(answer);
  std::string good;
  RecordedKinds kinds;
  if (!(words >> good >> kinds.recorded >> kinds.off) || good != "ok") return Error{kOtherVersion};
  return kinds;
}

Result<> switch_kinds(const Recorder& recorder, bool on, const std::string& kinds) {
  const char* const way = on ? "kinds-on" : "kinds-off";
  const std::string answer = PENNA_TRY(ask(recorder.control, fmt::format("{} 0 {}", way, kinds)));
  PENNA_TRY(read_answer(answer));
  return ok();
}

Result<std::vector<SetFilter>> set_filters(const Recorder& recorder) {
  const std::string answer = PENNA_TRY(ask(recorder.control, "filters 0 all"));
  std::istringstream parts(answer);
  std::string part;
  if (!std::getline(parts, part, '\t') || part != "ok") return Error{kOtherVersion};
  std::vector<SetFilter> filters;
  while (std::getline(parts, part, '\t')) {
    const size_t space = part.find(' ');
    if (space == part.npos) return Error{kOtherVersion};
    filters.push_back({part.substr(0, space), part.substr(space + 1)});
  }
  return filters;
}

Result<std::string> change_filter(const Recorder& recorder, bool on, const SetFilter& filter) {
  const FilterKind kind = PENNA_TRY(filter_kind_of(filter.kind));
  if (filter.text.find_first_of("\r\n") != std::string::npos) return Error{"a filter is one line"};
  const std::string answer =
      PENNA_TRY(ask(recorder.control, fmt::format("filter-{} 0 {} {}", on ? "on" : "off", filter.kind, filter.text)));
  const SwitchedPoints counts = PENNA_TRY(read_answer(answer));
  const std::string name = fmt::format("{} '{}'", option_of(kind), filter.text);
  if (!on) return fmt::format("{} removed", name);
  if (kind == FilterKind::kWhere && counts.matched == 0)
    return fmt::format("{} set; no point that has been passed so far has these arguments", name);
  return fmt::format("{} set: what does not meet it from now on is not recorded", name);
}

Result<> take_snapshot(const Recorder& recorder) { return order(recorder, "snapshot"); }
Result<> stop_recording(const Recorder& recorder) { return order(recorder, "stop"); }

}  // namespace penna
