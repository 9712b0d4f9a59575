// SPDX-License-Identifier: MIT
// See cmd_record.h. The steps of a recording, one per line, in prepare() and cmd_record() at the end.
#include "cli/verbs/cmd_record.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "analysis/unmet_patterns.h"
#include "base/file.h"
#include "base/installed_library.h"
#include "base/output_file.h"
#include "base/say.h"
#include "cli/input.h"
#include "cli/targets/dry_run.h"
#include "cli/verbs.h"
#include "cli/verbs/cmd_report.h"
#include "collect/clocks.h"
#include "collect/collector.h"
#include "collect/control/control_server.h"
#include "collect/doorbell.h"
#include "collect/server.h"
#include "collect/settings.h"
#include "model/names/last_names.h"
#include "model/names/shown_names.h"
#include "options/arguments.h"
#include "options/filter_rules.h"
#include "options/terminal.h"
#include "reach/control/ask_process.h"
#include "reach/control/silencer.h"
#include "reach/inject/standalone_starts.h"
#include "report/frames.h"
#include "session/attached.h"
#include "session/call_plans.h"
#include "session/choose_carrier.h"
#include "session/end_like.h"
#include "session/follow.h"
#include "session/record_notes.h"
#include "session/signal_relay.h"
#include "session/snapshot_shelf.h"
#include "session/snapshot_watches.h"
#include "session/verb_process.h"
#include "symbols/elf/other_roots.h"

namespace penna {
namespace {

WriterOptions writer_options(const RecordOptions& options) {
  return {.overwrite = options.force, .remembers_code = !options.no_names, .packing = options.packing};
}

// CMD.PID in the current directory, or with the requested stem: a recording's name without ".penna".
std::string base_name(const RecordOptions& options, const std::vector<std::string>& command, pid_t pid) {
  std::string name = std::filesystem::path(command[0]).filename().string();
  if (!options.pids.empty()) name = name.substr(0, name.find(' '));  // a process title: "redis-server *:6379"
  // Of the 255 bytes of a file's name, with what follows.
  constexpr size_t kMost = 200;
  const std::string stem =
      !options.stem.empty() ? options.stem : (name.empty() ? "recording" : name.substr(0, kMost)) + ".";
  return stem + std::to_string(pid);
}

// base_name(), with a number if that exists and may not be overwritten. An explicit -o is used as is, and fails if the
// file exists, unless forced.
Result<RecordingWriter> create_recording(const RecordOptions& options, const std::vector<std::string>& command,
                                         pid_t pid) {
  const WriterOptions how = writer_options(options);
  if (!options.output.empty()) return RecordingWriter::create(options.output, how);
  const std::string base = base_name(options, command, pid);
  std::string path = base + ".penna";
  for (int i = 1; !options.force && is_taken(path); ++i) path = fmt::format("{}.{}.penna", base, i);
  return RecordingWriter::create(path, how);
}

// The recorder holds a descriptor for each living process. The program is not affected: it was prepared before, and
// keeps its own limit.
void use_more_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

// --duration counts from here, which is before the program starts.
std::optional<std::chrono::steady_clock::time_point> end_of_recording(const RecordOptions& options) {
  if (!options.duration_ns) return {};
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds(*options.duration_ns);
}

constexpr int kViewedMs = 100;  // between writes of chunks that threads are still filling, for an observer

// With -T FUNC@snapshot or --keep only the last events before a snapshot are kept, with --ring those before the end;
// without, nothing is thrown away.
SnapshotRules snapshots_of(const RecordOptions& options, double ticks_per_ns) {
  constexpr uint32_t kUsualMib = 64;
  SnapshotRules rules;
  rules.functions = watched_functions(options.filter, TriggerAction::kSnapshot);
  const auto is_end = [](const SnapshotCondition& one) { return one.kind == SnapshotCondition::Kind::kEnd; };
  rules.takes_the_end =
      options.on.empty() ? options.ring_ns.has_value() : std::any_of(options.on.begin(), options.on.end(), is_end);
  const bool are_due = rules.functions.ask || rules.takes_the_end || !options.on.empty();
  rules.bytes = uint64_t{options.keep_mib.value_or(are_due ? kUsualMib : 0)} << 20;
  if (options.ring_ns) rules.ticks = static_cast<uint64_t>(static_cast<double>(*options.ring_ns) * ticks_per_ns);
  if (!options.on.empty())
    rules.again_ticks = static_cast<uint64_t>(static_cast<double>(*options.on_again_ns) * ticks_per_ns);
  return rules;
}

// One recording. Its steps are called in the order in which they are declared here.
//
// Invariant: each member is made by one step and borrows from those above it. So the order of destruction is right for
// a recorder that gives up: until start(), an early return leaves no trace except an empty file.
class RecordRun {
 public:
  explicit RecordRun(const RecordOptions& options) : options_(options) {}
  RecordRun(const RecordRun&) = delete;
  RecordRun& operator=(const RecordRun&) = delete;

  Result<> choose_way_in();
  Result<> take_signals();
  Result<> open_meeting_place();
  Result<> prepare_carrier();
  Result<> create_file();
  Result<> prepare_shelf();
  Result<> prepare_collector();
  Result<> listen();
  Result<> prepare_live_view();
  Result<> start_viewer();
  Result<> start_collector();
  bool start(CarrierError* error);
  void serve(int also);
  void follow_to_the_end();
  void leave_processes();
  void close_file();
  void print_summary() const;
  void stay_with(VerbProcess& other);
  void stay_with_page();
  void stay_with_shelf();
  void start_push();
  int end();

  bool is_complete() const { return closed_; }  // the file
  const std::string& path() const { return path_; }

 private:
  const FilterOptions& filter() const { return options_.filter; }
  CallIn call_by_carrier() const;
  void say_unmet_points() const;
  std::string way_to_calls() const;

  const RecordOptions& options_;
  CarrierChoice choice_;
  std::vector<pid_t> pids_;  // from -p
  std::string agent_;
  std::optional<SignalRelay> signals_;
  std::optional<Doorbell> doorbell_;
  std::optional<SocketDirectory> directory_;
  std::string socket_path_;
  // These two know at the end which options matched no function.
  const std::shared_ptr<RequestedFunctions> asked_by_filters_ = std::make_shared<RequestedFunctions>();
  const std::shared_ptr<RequestedFunctions> asked_for_values_ = std::make_shared<RequestedFunctions>();
  PatchRequests requests_;
  std::unique_ptr<Carrier> carrier_;
  std::optional<StandaloneStarts> starts_;  // none without an agent: these programs are then met like all others
  Session session_;
  OtherRoots roots_;
  std::optional<RecordingWriter> writer_;
  std::string path_;
  ClockTriplet start_, end_;
  double ticks_per_ns_ = 1;
  CallRules rules_;
  SnapshotRules snapshots_;
  std::unique_ptr<SnapshotShelf> shelf_;  // with --on
  std::optional<Collector> collector_;
  std::unique_ptr<Server> server_;
  std::optional<PatchPlanner> planner_;
  bool has_read_ahead_ = false;
  std::optional<ControlServer> control_;
  std::unique_ptr<SymbolSource> symbols_;
  std::optional<LiveView> live_;
  std::optional<VerbProcess> viewer_, pusher_;
  std::unique_ptr<Silencer> silencer_;
  // Known once the recording has ended:
  Outcome outcome_;
  bool some_go_on_ = false;
  Restored restored_;
  std::string unrecorded_, others_, refused_, without_locks_, without_values_;  // sentences
  bool closed_ = false;
};

// By an agent or by breakpoints, and into which processes.
Result<> RecordRun::choose_way_in() {
  choice_ = PENNA_TRY(choose_carrier(options_));
  pids_ = PENNA_TRY(attachable(options_.pids, choice_));
  agent_ = PENNA_TRY(installed_library("libpenna-agent.so"));
  return ok();
}

// Signals are meant for the program: from here on they arrive at a descriptor, and do not end us.
Result<> RecordRun::take_signals() {
  signals_.emplace(PENNA_TRY(SignalRelay::start()));
  return ok();
}

// Where processes will connect: a socket in a private directory.
Result<> RecordRun::open_meeting_place() {
  doorbell_.emplace(PENNA_TRY(Doorbell::create()));
  directory_.emplace();
  socket_path_ = PENNA_TRY(directory_->create());
  return ok();
}

// Starts nothing yet. The carrier knows the name for the recording.
Result<> RecordRun::prepare_carrier() {
  requests_ = patch_requests(options_, asked_by_filters_, asked_for_values_);
  carrier_ = PENNA_TRY(make_carrier(choice_, options_, pids_, agent_, {socket_path_, requests_.wanted, requests_.also},
                                    signals_->before()));
  return ok();
}

// Before the program starts, so that a full or read-only disk is noticed first.
Result<> RecordRun::create_file() {
  use_more_descriptors();
  if (!options_.on.empty()) return prepare_shelf();
  writer_.emplace(PENNA_TRY(create_recording(options_, carrier_->command(), carrier_->pid())));
  path_ = writer_->path();
  session_ = describe_session(options_, carrier_->command());
  (void)writer_->write_session(session_);
  return ok();
}

// With --on, each snapshot is a file, and there is no other.
Result<> RecordRun::prepare_shelf() {
  session_ = describe_session(options_, carrier_->command());
  std::string base =
      options_.output.empty() ? base_name(options_, carrier_->command(), carrier_->pid()) : options_.output;
  if (constexpr std::string_view kEnding = ".penna"; base.ends_with(kEnding)) base.resize(base.size() - kEnding.size());
  ShelfPlan plan{base,
                 writer_options(options_),
                 options_.keep_snapshots,
                 options_.push,
                 options_.quiet,
                 signals_->before(),
                 session_,
                 &roots_};
  shelf_ = PENNA_TRY(SnapshotShelf::open(std::move(plan)));
  writer_.emplace(RecordingWriter::nowhere());
  return ok();
}

// The filters are decided here: the collector applies them before anything is written.
Result<> RecordRun::prepare_collector() {
  start_ = read_clocks();
  // Only if a limit needs it. recording_rules() allows for an error of 0.2 %; the exact rate is known at the end, and
  // readers apply the limits again with that.
  if (needs_clock(filter()) || options_.ring_ns) ticks_per_ns_ = measure_ticks_per_ns(std::chrono::milliseconds(20));
  rules_ = recording_rules(filter(), ticks_per_ns_);
  snapshots_ = snapshots_of(options_, ticks_per_ns_);
  if (shelf_)
    snapshots_.files = {
        [this] { return shelf_->create(); },
        [this](RecordingWriter file, CollectorHealth health) { shelf_->take(std::move(file), std::move(health)); }};
  collector_.emplace(std::move(*writer_), *doorbell_, options_.conditions, rules_, snapshots_);
  collector_->set_time_shift(time_shift_of(options_));
  add_watches(*collector_, options_, ticks_per_ns_);
  if (!options_.no_names && !shelf_)
    collector_->set_last_words([this](RecordingWriter& writer) { write_last_names(writer, session_, roots_); });
  if (options_.threads.any()) collector_->set_threads(options_.threads);
  if (options_.max_bytes) PENNA_TRY(collector_->set_most_bytes(*options_.max_bytes));
  if (CallRules finishes = watched_functions(filter(), TriggerAction::kFinish); finishes.ask)
    PENNA_TRY(collector_->set_finish(std::move(finishes)));
  return ok();
}

// For penna ctl and --max-overhead.
CallIn RecordRun::call_by_carrier() const {
  return [carrier = carrier_.get()](pid_t pid, const RemoteCode& code) { return carrier->call(pid, code); };
}

// From here on processes can connect, get their plans and be switched by penna ctl. None knows about us yet.
Result<> RecordRun::listen() {
  server_ = PENNA_TRY(Server::listen(socket_path_, config_for(options_), *doorbell_, *collector_));
  planner_.emplace(std::move(requests_));
  plan_calls(*server_, *planner_, options_);
  server_->on_admission([this](uint32_t pid) { roots_.add(static_cast<pid_t>(pid)); });
  if (carrier_->instead_of_agent() == nullptr && !options_.no_follow) {
    starts_.emplace(agent_, socket_path_);
    server_->on_start([this](Server::AnnouncedStart start) { starts_->announce(std::move(start)); });
  }
  control_.emplace(PENNA_TRY(ControlServer::listen(
      socket_path_, *server_, *collector_,
      [call = call_by_carrier()](uint32_t pid, ControlPage& page, const penna_control& request) {
        return ask_process(pid, page, request, call);
      },
      true, chosen_functions)));
  return ok();
}

// --live shows events as the collector drains them, with its own names.
Result<> RecordRun::prepare_live_view() {
  if (!options_.live) return ok();
  SymbolOptions names;
  names.rank = rank_of_names(session_, {});
  symbols_ = make_symbol_source(names);
  live_.emplace(*options_.live, wants_color(options_.color, 1), session_, start_, *symbols_, 1,
                name_style({}, Format::kTable),
                LiveFilter::make(live_rules(filter(), ticks_per_ns_), options_.conditions, options_.threads));
  collector_->set_observer(live_->observer());
  return live_->start();
}

// --view: a separate process reads the file, so that nothing that it does can harm the recording.
Result<> RecordRun::start_viewer() {
  if (!options_.view) return ok();
  collector_->write_open_chunks_every(kViewedMs);
  std::vector<std::string> words = {"view", "--no-progress"};
  if (options_.no_open) words.emplace_back("--no-open");
  words.insert(words.end(), {"--", path_});
  viewer_.emplace(PENNA_TRY(VerbProcess::start(std::move(words), signals_->before())));
  return ok();
}

Result<> RecordRun::start_collector() {
  Observer* const observer = live_ ? &live_->observer() : nullptr;
  silencer_ = PENNA_TRY(
      Silencer::make(options_.max_overhead, call_by_carrier(), *server_, *collector_, observer, function_namer()));
  return collector_->start();
}

// False: it could not be started. Then its empty recording is removed.
bool RecordRun::start(CarrierError* error) {
  for (const pid_t pid : pids_) server_->invite(static_cast<uint32_t>(pid));
  if (options_.no_follow) {
    server_->leave_others();
    collector_->leave_others();
  }
  server_->set_introducer(static_cast<uint32_t>(carrier_->introducer()));
  carrier_->serve_by([this](int also) { serve(also); });
  if (!options_.quiet && !choice_.reason.empty()) say(choice_.reason);
  const bool runs = carrier_->start(error);
  if (!runs) {
    (void)collector_->stop();
    if (!path_.empty()) remove_own_file(path_);
  }
  for (const std::string& sentence : carrier_->refused()) say(sentence);
  if (!runs) say(error->text);
  return runs;
}

// Called while a step waits for a process that may be waiting for us.
void RecordRun::serve(int also) {
  if (!has_read_ahead_ && carrier_->instead_of_agent() == nullptr && !pids_.empty())
    read_ahead(*planner_, pids_.front());
  has_read_ahead_ = true;
  serve_for_a_moment(*server_, also);
  if (starts_) starts_->work();
}

void RecordRun::follow_to_the_end() {
  outcome_ = follow(*carrier_,
                    {*server_, *control_, silencer_.get(), starts_ ? &*starts_ : nullptr, *doorbell_,
                     collector_->finished_fd(), socket_path_, end_of_recording(options_), !options_.no_follow},
                    *signals_, options_.quiet);
}

void RecordRun::leave_processes() {
  some_go_on_ = !server_->living_pids().empty();
  if (starts_) restored_ = starts_->leave([&] { return server_->living_pids(); }, [this](int also) { serve(also); });
  restored_.add(carrier_->leave([&] {
    std::vector<uint32_t> pids = server_->living_pids();
    std::erase_if(pids, [&](uint32_t pid) { return starts_ && starts_->owns(pid); });
    return pids;
  }));
  for (const std::string& sentence : restored_.notes) collector_->note(sentence, false);
}

// Includes the last notes, which stop() writes.
void RecordRun::close_file() {
  if (!server_->has_met(static_cast<uint32_t>(carrier_->pid()))) {
    const std::string& program = carrier_->command()[0];
    const std::vector<std::string>& refused = carrier_->refused();
    unrecorded_ = refused.empty() ? why_unrecorded(program)
                                  : fmt::format("nothing was recorded of {}: {}", program, refused.front());
  }
  if (!unrecorded_.empty()) collector_->note(unrecorded_, false, kNoteOfAllClasses);
  if (const uint64_t others = server_->left_others(); options_.no_follow) {
    others_ = fmt::format("--no-follow: {} not recorded",
                          others == 0 ? "nothing was started that is"
                                      : plural_text(static_cast<int64_t>(others), "process that was started is",
                                                    "processes that were started are"));
    if (others != 0) collector_->note(others_, false);
  }
  if (starts_)
    for (const std::string& reason : starts_->refused())
      collector_->note(fmt::format("a statically linked program that was started {}, and was not recorded", reason),
                       false);
  refused_ = note_refused(*planner_, *collector_, options_.all_functions);
  without_locks_ = note_locks(*planner_, *collector_);
  if (!options_.optional_values) without_values_ = note_unmet(*asked_for_values_, *collector_);
  const auto closed = collector_->stop(outcome_.hurried);
  end_ = read_clocks();
  if (live_) live_->finish();
  closed_ = closed.has_value();
  if (!closed) say(closed.error().text);
  if (!shelf_) return;
  shelf_->finish_files();
  path_ = shelf_->newest();
  closed_ = !path_.empty();
}

void RecordRun::say_unmet_points() const {
  for (const std::string& sentence : unmet_points("-e", options_.point_patterns, "", path_)) say(sentence);
  for (const std::string& sentence : unmet_points("-T", stacked_points(filter()), "@stack", path_)) say(sentence);
}

// Printed if calls were wanted and there are none, though no filter leaves them out. A short report says it by itself.
std::string RecordRun::way_to_calls() const {
  if (shelf_) return {};  // nobody counts what is in several files
  const CollectorTotals& totals = collector_->totals();
  const bool wanted = (options_.classes & 1u << PENNA_CALLS) != 0 && !options_.all_functions && !options_.short_report;
  if (!wanted || totals.processes == 0 || totals.stored[PENNA_CALLS] != 0 || !filter_text(filter()).empty()) return {};
  if (!filter().functions.empty()) return "no calls: no function that was called matches -F '*'";
  if (const char* way = carrier_->instead_of_agent())
    return fmt::format("no calls: by {} those of functions that -F names are recorded", way);
  return "no calls: " + record_all_calls(session_);
}

void RecordRun::print_summary() const {
  if (options_.quiet) return;
  if (!without_locks_.empty()) say(without_locks_);
  if (!without_values_.empty()) say(without_values_);
  if (closed_) say_unmet_points();
  // Which options matched nothing: otherwise a typing error in -F would look like a program without calls.
  std::vector<std::string> unmet;
  if (rules_.unmet)
    unmet = asked_by_filters_->with_nearest(without_refused(rules_.unmet(), filter().functions, *planner_));
  std::optional<std::vector<std::string>> without_snapshot;
  if (snapshots_.bytes != 0)
    without_snapshot = snapshots_.functions.unmet ? snapshots_.functions.unmet() : std::vector<std::string>{};
  print_closing_lines(
      {path_, start_, end_, options_.conditions,
       closed_ ? unmet_conditions(path_, options_.conditions) : std::vector<std::string>{}, filter_text(filter()),
       unmet, thread_text(options_.threads),
       closed_ ? unmet_threads(path_, options_.threads) : std::vector<std::string>{}, outcome_.goes_on, refused_,
       silencer_ ? silencer_->summary() : std::string{}, without_snapshot, options_.on_full == PENNA_ON_FULL_BLOCK,
       way_to_calls(), others_, shelf_ ? shelf_->summary() : std::string{}},
      *collector_, unrecorded_);
  for (const std::string& sentence : restored_.notes) say(sentence);
  const bool reports_leaving = carrier_->reports_leaving() || (starts_ && starts_->has_any());
  if (reports_leaving && some_go_on_) say(restored_text(restored_));
}

// Waits until it has ended, or a signal tells us to.
void RecordRun::stay_with(VerbProcess& other) {
  while (other.is_running() && !signals_->end_requested()) {
    pollfd fds[] = {{signals_->fd(), POLLIN, 0}, {other.pidfd(), POLLIN, 0}};
    (void)::poll(fds, std::size(fds), -1);
  }
  other.end();
}

// The page continues with the finished recording until Ctrl-C.
void RecordRun::stay_with_page() {
  if (!viewer_) return;
  if (!options_.quiet && viewer_->is_running()) say("the page shows the recording until Ctrl-C");
  stay_with(*viewer_);
}

// Until what it has not pushed is pushed, or noted.
void RecordRun::stay_with_shelf() {
  bool is_over = false;
  while (!is_over) {
    pollfd fds[] = {{signals_->fd(), POLLIN, 0}, {shelf_->ended_fd(), POLLIN, 0}};
    (void)::poll(fds, std::size(fds), -1);
    is_over = (fds[1].revents & POLLIN) != 0;
    if (signals_->end_requested()) shelf_->hurry();
  }
}

// --push: whatever the server does, the recording is on disk, and the program's status is the result.
void RecordRun::start_push() {
  if (shelf_) return shelf_->begin_last_push();
  if (!closed_ || options_.push.server.url.empty()) return;
  Result<VerbProcess> pusher = VerbProcess::start(push_words(options_.push, path_, options_.quiet), signals_->before());
  if (pusher)
    pusher_.emplace(std::move(*pusher));
  else
    say(pusher.error().text);
}

// The recorder is gone: no process waits for it, new programs do not look for it, and a signal that ends us leaves
// nothing behind.
int RecordRun::end() {
  silencer_.reset();
  control_.reset();
  server_.reset();
  collector_.reset();  // and its lock on the file, which says that it is still recorded
  directory_.reset();
  doorbell_.reset();
  start_push();
  // Our child continues unrecorded: we stay, because its parent expects the program's signals and status from us.
  if (outcome_.goes_on && carrier_->is_child()) outcome_.status = follow_unrecorded(*carrier_, *signals_);
  stay_with_page();
  if (pusher_) stay_with(*pusher_);
  if (shelf_) stay_with_shelf();
  signals_->end();
  return end_like(outcome_.status);
}

// Everything before the program starts.
Result<> prepare(RecordRun& run) {
  PENNA_TRY(run.choose_way_in());
  PENNA_TRY(run.take_signals());
  PENNA_TRY(run.open_meeting_place());
  PENNA_TRY(run.prepare_carrier());
  PENNA_TRY(run.create_file());
  PENNA_TRY(run.prepare_collector());
  PENNA_TRY(run.listen());
  PENNA_TRY(run.prepare_live_view());
  PENNA_TRY(run.start_viewer());
  return run.start_collector();
}

}  // namespace

int cmd_record(const RecordOptions& options) {
  RecordRun run(options);
  if (const auto prepared = prepare(run); !prepared) return fail(prepared.error().text);
  // From here on the program runs, and nothing of ours may keep it from ending.
  CarrierError trouble;
  if (!run.start(&trouble)) return trouble.exit_code;
  // Until the program has ended, or the recording while the program continues.
  run.follow_to_the_end();
  // Restores processes that keep running; the result of that belongs in the recording.
  run.leave_processes();
  run.close_file();
  // The recording is complete. What remains is to report what is in it, and what is not.
  run.print_summary();
  if (options.short_report && run.is_complete()) print_short_report(run.path());
  return run.end();
}

int record_verb(const Arguments& arguments) {
  const Result<Parsed<RecordOptions>> parsed = parse_record(arguments);
  return run_parsed("record", parsed, parsed && parsed->options.dry_run ? dry_run : cmd_record);
}

// "penna CMD...", without a verb: record, then show a short report.
int command_verb(const Arguments& arguments) {
  Result<Parsed<RecordOptions>> parsed = parse_record(arguments);
  if (parsed) parsed->options.short_report = !parsed->options.quiet;
  return run_parsed("record", parsed, cmd_record);
}

}  // namespace penna
