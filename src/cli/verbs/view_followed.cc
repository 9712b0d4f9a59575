// SPDX-License-Identifier: MIT
// See view_followed.h.
#include "cli/verbs/view_followed.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <iterator>
#include <map>
#include <optional>

#include "base/directory.h"
#include "base/in_proc.h"
#include "base/pattern.h"
#include "base/readable.h"
#include "cli/input.h"
#include "cli/targets/list_process.h"
#include "cli/verbs/view_readers.h"
#include "collect/clocks.h"
#include "export/text/json_writer.h"
#include "reach/control/control_client.h"

namespace penna {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);
constexpr auto kLookAgain = std::chrono::seconds(1);  // whether the writer has closed the file
constexpr uint64_t kAtOnce = 8 << 20;                 // bytes that are read before questions are answered again

// None: its descriptors cannot be listed.
std::optional<bool> has_open(pid_t pid, const struct stat& file) {
  const std::string directory = in_proc(pid, "fd");
  const std::vector<pid_t> open = numbers_in(directory);
  if (open.empty()) return {};
  return std::any_of(open.begin(), open.end(), [&](int fd) {
    struct stat one {};
    return ::stat(fmt::format("{}/{}", directory, fd).c_str(), &one) == 0 && one.st_dev == file.st_dev &&
           one.st_ino == file.st_ino;
  });
}

struct stat status_of(const std::string& path) {
  struct stat file {};
  (void)::stat(path.c_str(), &file);  // of a file that is gone, nothing is open
  return file;
}

HttpAnswer json_answer(int status, const char* key, const std::string& sentence) {
  return {status, "application/json", json_text([&](JsonWriter& json) { json.field(key, sentence); })};
}

}  // namespace

pid_t writer_of(const Recording& recording) {
  const auto pid = static_cast<pid_t>(recording.session().recorder_pid);
  if (recording.is_finished() || pid <= 0) return 0;
  return has_open(pid, status_of(recording.path())).value_or(false) ? pid : 0;
}

FollowedView::FollowedView(FollowedRecording followed, const ViewOptions& options, pid_t writer,
                           std::function<void()> over)
    : options_(options),
      writer_(writer),
      writer_fd_(static_cast<int>(::syscall(SYS_pidfd_open, writer, 0))),
      file_(status_of(options.input.recording)),
      over_(std::move(over)),
      followed_(std::move(followed)),
      data_(followed_.recording()),
      questions_(data_, view_tables,
                 view_readers(options.input, options.input.recording, options.source_dirs, "",
                              [this](Recording& part) { number(part); })) {}

FollowedView::~FollowedView() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

// What has been written so far is shown at once, if it can be read in that time: a program may write as fast.
void FollowedView::start() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (step() && std::chrono::steady_clock::now() < end) {
  }
  thread_ = std::thread([this] { run(); });
}

void FollowedView::run() {
  while (!stop_) {
    const bool more = step();
    if (followed_.is_finished() || has_writer_ended()) return over_();
    if (!more) std::this_thread::sleep_for(kPause);
  }
}

// A recorder that could not finish the file closes it, and may go on: penna record --view shows the page until Ctrl-C.
// Without a pidfd, it had ended before, or we have no descriptor left.
bool FollowedView::has_writer_ended() {
  if (const auto now = std::chrono::steady_clock::now(); now - looked_ > kLookAgain) {
    looked_ = now;
    if (!has_open(writer_, file_).value_or(true)) return true;
  }
  return writer_fd_ ? is_readable(writer_fd_.get()) : ::kill(writer_, 0) != 0 && errno == ESRCH;
}

// True: there is more to read.
bool FollowedView::step() {
  const bool more = followed_.read(kAtOnce);
  questions_.grow([&] {
    const ClockTriplet now = read_clocks();
    if (followed_.describe(now)) name_anew();
    (void)followed_.deliver(
        [&](const FollowedRecording::Records& records) { data_.add(records.thread, records.chunk, records.gap); });
    data_.settle(now.ticks);
    const std::lock_guard hold(mutex_);
    const Recording& recording = followed_.recording();
    for (size_t i = order_.size(); i < recording.threads().size(); ++i) {
      const RecordedThread& thread = recording.threads()[i];
      order_.emplace_back(recording.processes()[thread.process].process.number, thread.serial);
    }
  });
  return more;
}

void FollowedView::name_anew() {
  const Recording& recording = followed_.recording();
  if (!symbols_) symbols_ = open_symbols(options_.input, recording);
  names_.emplace(recording, *symbols_, name_style(options_.input, Format::kTable));
  data_.use_names(*names_);
}

void FollowedView::number(Recording& recording) {
  const std::lock_guard hold(mutex_);
  recording.number_threads(order_);
}

HttpAnswer FollowedView::answer(const std::string& name, const HttpParameters& parameters) {
  if (name == "controls") return {200, "application/json", controls()};
  return questions_.answer(name, parameters);
}

std::string FollowedView::news() {
  const std::shared_ptr<const Summary> all = data_.summary();
  return json_text([&](JsonWriter& json) {
    json.field("growing", true);
    json.field("duration_ns", all->duration_ns);
    json.field("threads", uint64_t{all->threads.size()});
    json.field("processes", uint64_t{all->processes.size()});
    write_kinds(json, *all);
  });
}

// The points of all live processes, and whether each is on in at least one of them; and the kinds that are recorded,
// except for points, which are switched one by one.
std::string FollowedView::controls() {
  std::map<std::string, bool> points;
  const std::shared_ptr<const Summary> all = data_.summary();  // settle() replaces it meanwhile
  for (const ProcessSummary& process : all->processes) {
    if (process.ended) continue;
    const auto report = process_report(process.pid, symbol_options(options_.input));
    if (!report) continue;
    for (const ListedPoint& point : report->points)
      for (const PointPlace& place : point.places)
        points[point.full_name()] |= (point.kind != 0 ? place.recording : place.probed).value_or(false);
  }
  RecordedKinds kinds;
  std::vector<SetFilter> filters;
  if (const auto recorder = find_recorder(writer_); recorder) {
    if (const auto answer = recorded_kinds(*recorder); answer) kinds = *answer;
    if (auto answer = set_filters(*recorder); answer) filters = std::move(*answer);
  }
  return json_text([&](JsonWriter& json) {
    json.key("kinds");
    json.begin_array();
    for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i) {
      if (i == PENNA_POINTS || (kinds.recorded >> i & 1) == 0) continue;
      json.begin_object();
      json.field("name", kClassNames[i]);
      json.field("on", (kinds.off >> i & 1) == 0);
      json.end_object();
    }
    json.end_array();
    json.key("filters");
    json.begin_array();
    for (const SetFilter& filter : filters) {
      json.begin_object();
      json.field("kind", filter.kind);
      json.field("text", filter.text);
      json.end_object();
    }
    json.end_array();
    json.key("points");
    json.begin_array();
    for (const auto& [name, on] : points) {
      json.begin_object();
      json.field("name", name);
      json.field("on", on);
      json.end_object();
    }
    json.end_array();
  });
}

// Of the parameter "on"; none: it is missing, or neither "1" nor "0".
static std::optional<bool> wanted_state(const HttpParameters& parameters) {
  const auto on = parameters.find("on");
  if (on == parameters.end() || (on->second != "0" && on->second != "1")) return {};
  return on->second == "1";
}

Result<std::string> FollowedView::switch_point(const HttpParameters& parameters) {
  const std::optional<bool> on = wanted_state(parameters);
  const auto pattern = parameters.find("pattern");
  if (!on || pattern == parameters.end() || pattern->second.empty() ||
      pattern->second.find_first_of(" \t\r\n") != std::string::npos)
    return Error{"a pattern is PROVIDER:NAME, where * stands for anything"};
  PENNA_TRY(check_pattern(pattern->second));
  const Recorder recorder = PENNA_TRY(find_recorder(writer_));
  const SwitchedPoints counts = PENNA_TRY(switch_points(recorder, *on, pattern->second));
  return fmt::format("{} of {} switched {}", counts.changed, counts.matched, *on ? "on" : "off");
}

Result<std::string> FollowedView::switch_kind(const HttpParameters& parameters) {
  const std::optional<bool> on = wanted_state(parameters);
  const auto kind = parameters.find("kind");
  const auto* const known = kind == parameters.end()
                                ? std::end(kClassNames)
                                : std::find(std::begin(kClassNames), std::end(kClassNames), kind->second);
  if (!on || known == std::end(kClassNames)) return Error{"kind is calls, alloc or locks, and on is 1 or 0"};
  const Recorder recorder = PENNA_TRY(find_recorder(writer_));
  PENNA_TRY(switch_kinds(recorder, *on, *known));
  return fmt::format("{} switched {}", *known, *on ? "on" : "off");
}

Result<std::string> FollowedView::set_filter(const HttpParameters& parameters) {
  const std::optional<bool> on = wanted_state(parameters);
  const auto kind = parameters.find("kind"), text = parameters.find("text");
  if (!on || kind == parameters.end() || text == parameters.end())
    return Error{"a filter has a kind (where, function or no-function) and a text, and on is 1 or 0"};
  const Recorder recorder = PENNA_TRY(find_recorder(writer_));
  return change_filter(recorder, *on, {kind->second, text->second});
}

HttpAnswer FollowedView::act(const std::string& name, const HttpParameters& parameters) {
  const auto order = [&](Result<> (*request)(const Recorder&), const char* done) -> Result<std::string> {
    const Recorder recorder = PENNA_TRY(find_recorder(writer_));
    PENNA_TRY(request(recorder));
    return std::string(done);
  };
  if (name != "points" && name != "kinds" && name != "filters" && name != "snapshot" && name != "stop")
    return json_answer(404, "error", "nothing is done by that");
  const Result<std::string> done = name == "points"    ? switch_point(parameters)
                                   : name == "kinds"   ? switch_kind(parameters)
                                   : name == "filters" ? set_filter(parameters)
                                   : name == "stop"    ? order(stop_recording, "the recording has ended")
                                                       : order(take_snapshot, "what was kept is stored");
  return done ? json_answer(200, "done", *done) : json_answer(400, "error", done.error().text);
}

}  // namespace penna
