// SPDX-License-Identifier: MIT
// See cmd_record.h. The steps of a recording, one a line, in cmd_record() at the end.
#include "cli/verbs/cmd_record.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "analysis/unmet_patterns.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/say.h"
#include "cli/attach_refusal.h"
#include "cli/attached.h"
#include "cli/call_plans.h"
#include "cli/choose_carrier.h"
#include "cli/end_like.h"
#include "cli/filter_rules.h"
#include "cli/follow.h"
#include "cli/installed_library.h"
#include "cli/options/arguments.h"
#include "cli/record_notes.h"
#include "cli/shown_names.h"
#include "cli/signal_relay.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "cli/verbs/cmd_report.h"
#include "collect/clocks.h"
#include "collect/collector.h"
#include "collect/control_server.h"
#include "collect/doorbell.h"
#include "collect/server.h"
#include "collect/settings.h"
#include "reach/ask_process.h"
#include "reach/inject.h"
#include "reach/silencer.h"

namespace penna {
namespace {

// CMD.PID.penna in the current directory, or with the stem that is wanted; with a number when that
// exists and may not be overwritten. An explicit -o is taken as it is, and fails when the file
// exists, unless forced.
Result<RecordingWriter> create_recording(const RecordOptions& options, const std::vector<std::string>& command,
                                         pid_t pid) {
  if (!options.output.empty()) return RecordingWriter::create(options.output, {.overwrite = options.force});
  std::string name = std::filesystem::path(command[0]).filename().string();
  if (!options.pids.empty()) name = name.substr(0, name.find(' '));  // of a title: "redis-server *:6379"
  const std::string stem = !options.stem.empty() ? options.stem : (name.empty() ? "recording" : name) + ".";
  const std::string base = stem + std::to_string(pid);
  std::string path = base + ".penna";
  for (int i = 1; !options.force && is_taken(path); ++i) path = fmt::format("{}.{}.penna", base, i);
  return RecordingWriter::create(path, {.overwrite = options.force});
}

// The recorder holds a descriptor for each living process. The program is not affected: it was
// prepared before, and keeps its own limit.
void use_more_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

// Ticks a nanosecond, measured over 20 ms, and only where a limit of time needs it.
// recording_rules() allows for an error of 0.2 %; the exact rate is known at the end, and readers
// apply the limits again with that.
double clock_rate(const FilterOptions& filter) {
  if (!needs_clock(filter)) return 1;
  constexpr useconds_t kMoment = 20'000;
  const ClockTriplet begin = read_clocks();
  ::usleep(kMoment);
  const ClockTriplet end = read_clocks();
  const auto ns = static_cast<double>(end.monotonic_ns - begin.monotonic_ns);
  return static_cast<double>(end.ticks - begin.ticks) / std::max(ns, 1.0);
}

// The processes of -p that nothing stands against. What stands against each other one is printed.
std::vector<pid_t> attachable(const RecordOptions& options, bool by_breakpoints) {
  std::vector<pid_t> pids;
  for (const pid_t pid : options.pids)
    if (const std::string reason = why_not_attached(pid, by_breakpoints); reason.empty())
      pids.push_back(pid);
    else
      say(reason);
  return pids;
}

// --duration counts from here, which is before the program starts.
std::optional<std::chrono::steady_clock::time_point> end_of_recording(const RecordOptions& options) {
  if (!options.duration_ns) return {};
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds(*options.duration_ns);
}

// With -T FUNC@snapshot only the last calls before such a function are kept; without, nothing is
// thrown away.
SnapshotRules snapshots_of(const RecordOptions& options) {
  constexpr uint32_t kUsualMib = 64;
  CallRules functions = watched_functions(options.filter, TriggerAction::kSnapshot);
  const uint64_t mib = functions.ask ? options.keep_mib.value_or(kUsualMib) : 0;
  return {std::move(functions), mib << 20};
}

}  // namespace

// The steps of a recording. Each declares what the next ones borrow, so the order of destruction is
// that of a recorder that gives up: until carrier.start() an early return leaves no trace but an
// empty file.
int cmd_record(const RecordOptions& options) {
  constexpr int kOurTrouble = 125;
  // How to get in: by an agent or by breakpoints. Nothing has been started or touched yet.
  const auto choice = choose_carrier(options);
  if (!choice) return fail(choice.error().text);
  const std::vector<pid_t> pids = attachable(options, choice->by_breakpoints);
  if (pids.empty() && !options.pids.empty()) return kOurTrouble;
  // Signals are meant for the program: from here on they come to a descriptor, and do not end us.
  auto agent = installed_library("libpenna-agent.so");
  if (!agent) return fail(agent.error().text);
  auto signals = SignalRelay::start();
  if (!signals) return fail(signals.error().text);
  auto doorbell = Doorbell::create();
  if (!doorbell) return fail(doorbell.error().text);

  // Where processes will meet us: a socket in a directory of our own.
  std::optional<SocketDirectory> directory(std::in_place);
  auto socket_path = directory->create();
  if (!socket_path) return fail(socket_path.error().text);
  // What targets are asked to patch. Who was asked for and met no function is known at the end, through these two.
  const auto asked_by_filters = std::make_shared<AskedFunctions>(),
             asked_for_values = std::make_shared<AskedFunctions>();
  PatchRequests requests = patch_requests(options, asked_by_filters, asked_for_values);
  // The carrier is prepared, and nothing has started. It knows the name to give the recording.
  const auto carried =
      make_carrier(*choice, options, pids, *agent, {*socket_path, requests.wanted, requests.also}, signals->before());
  if (!carried) return fail(carried.error().text);
  Carrier& carrier = **carried;
  // The file exists before the program starts, so that a full or read-only disk is known first.
  use_more_descriptors();
  auto writer = create_recording(options, carrier.command(), carrier.pid());
  if (!writer) return fail(writer.error().text);
  std::string path = writer->path();
  (void)writer->write_session(describe_session(options, carrier.command()));

  // What is left out is decided: the collector applies it before anything is written.
  ClockTriplet start = read_clocks();
  const double ticks_per_ns = clock_rate(options.filter);
  const CallRules rules = recording_rules(options.filter, ticks_per_ns);
  const SnapshotRules snapshots = snapshots_of(options);
  Collector collector(std::move(*writer), *doorbell, options.conditions, rules, snapshots);
  collector.set_time_shift(time_shift_of(options));
  if (options.threads.any()) collector.set_threads(options.threads);
  if (CallRules finishes = watched_functions(options.filter, TriggerAction::kFinish); finishes.ask) {
    if (const auto set = collector.set_finish(std::move(finishes)); !set) return fail(set.error().text);
  }
  // Processes can meet us, get their plans and be switched by penna ctl. None knows of us yet.
  auto server = Server::listen(*socket_path, config_for(options), *doorbell, collector);
  if (!server) return fail(server.error().text);
  PatchPlanner planner(std::move(requests));
  plan_calls(**server, planner, options);
  auto* const inject = dynamic_cast<Inject*>(&carrier);
  CallIn call = call_in;
  if (inject != nullptr) call = [inject](pid_t pid, const RemoteCode& code) { return inject->call(pid, code); };
  auto control = ControlServer::listen(*socket_path, **server, collector,
                                       [&](uint32_t pid, ControlPage& page, const penna_control& request) {
                                         return ask_process(pid, page, request, call);
                                       });
  if (!control) return fail(control.error().text);
  // --live shows events as the collector drains them, with names of its own; --max-overhead counts them.
  SymbolOptions names;
  names.rank = rank_of_names(describe_session(options, carrier.command()), {});
  const std::unique_ptr<SymbolSource> symbols = make_symbol_source(names);
  std::optional<LiveView> live;
  if (options.live) {
    live.emplace(*options.live, wants_color(options.color, 1), describe_session(options, carrier.command()), start,
                 *symbols, 1,
                 LiveFilter::make(live_rules(options.filter, ticks_per_ns), options.conditions, options.threads));
    collector.set_onlooker(live->onlooker());
    if (const auto started = live->start(); !started) return fail(started.error().text);
  }
  auto silencer =
      Silencer::make(options.max_overhead, **server, collector, live ? &live->onlooker() : nullptr, function_namer());
  if (!silencer) return fail(silencer.error().text);
  if (*silencer) (*silencer)->call_by(call);
  if (const auto started = collector.start(); !started) return fail(started.error().text);
  // From here on the program runs, and nothing of ours may keep it from ending as it likes.
  CarrierError trouble;
  for (const pid_t pid : pids) (*server)->invite(static_cast<uint32_t>(pid));
  (*server)->set_introducer(static_cast<uint32_t>(carrier.introducer()));
  carrier.serve_by([&] { serve_for_a_moment(**server); });
  if (!options.quiet && !choice->reason.empty()) say(choice->reason);
  // The program runs, or it could not be started: then its recording is removed, as it is of nothing.
  if (!carrier.start(&trouble)) {
    (void)collector.stop();
    remove_own_file(path);
    if (inject != nullptr)
      for (const std::string& sentence : inject->refused()) say(sentence);
    say(trouble.text);
    return trouble.exit_code;
  }
  if (inject != nullptr)
    for (const std::string& sentence : inject->refused()) say(sentence);
  // Until the program has ended, or the recording while the program goes on.
  Outcome outcome = follow(carrier,
                           {**server, *control, silencer->get(), *doorbell, collector.finished_fd(), *socket_path,
                            end_of_recording(options)},
                           *signals, options.quiet);
  // Processes that go on are left as they were before; what that met belongs into the recording.
  const bool some_go_on = !(*server)->living_pids().empty();
  const Restored restored = carrier.leave([&] { return (*server)->living_pids(); });
  for (const std::string& sentence : restored.notes) collector.note(sentence, false);
  // Last notes: stop() writes them and closes the file.
  std::string unrecorded;
  if (!(*server)->has_met(static_cast<uint32_t>(carrier.pid()))) unrecorded = why_unrecorded(carrier.command()[0]);
  if (!unrecorded.empty()) collector.note(unrecorded, false, kNoteOfAllClasses);
  const std::string refused = note_refused(planner, collector);
  const std::string without_locks = note_locks(planner, collector);
  const std::string without_values = options.optional_values ? "" : note_unmet(*asked_for_values, collector);
  auto closed = collector.stop(outcome.hurried);
  // The recording is complete. What remains is to say what is in it, and what is not.
  const ClockTriplet end = read_clocks();
  if (live) live->finish();

  // Which options met nothing: a typing error in -F would otherwise look like a program without
  // calls.
  const std::vector<std::string> unmet =
      rules.unmet ? asked_by_filters->with_nearest(without_refused(rules.unmet(), options.filter.functions, planner))
                  : std::vector<std::string>{};
  std::optional<std::vector<std::string>> without_snapshot;
  if (snapshots.functions.unmet) without_snapshot = snapshots.functions.unmet();
  if (!closed) say(closed.error().text);
  if (!options.quiet && !without_locks.empty()) say(without_locks);
  if (!options.quiet && !without_values.empty()) say(without_values);
  if (!options.quiet && closed) {
    for (const std::string& sentence : unmet_points("-e", options.point_patterns, "", path)) say(sentence);
    const std::vector<std::string> stacked = triggered(options.filter, {TriggerAction::kPointStack});
    for (const std::string& sentence : unmet_points("-T", stacked, "@stack", path)) say(sentence);
  }
  if (!options.quiet)
    print_closing_lines(
        {path, start, end, options.conditions, unmet_conditions(path, options.conditions), filter_text(options.filter),
         unmet, thread_text(options.threads), unmet_threads(path, options.threads), outcome.goes_on, refused,
         *silencer ? (*silencer)->summary() : std::string{}, without_snapshot, options.on_full == PENNA_ON_FULL_BLOCK},
        collector, unrecorded);
  if (!options.quiet)
    for (const std::string& sentence : restored.notes) say(sentence);
  if (!pids.empty() && some_go_on && !options.quiet) say(restored_text(restored));
  if (options.short_report && closed) print_short_report(path);
  // From here on there is no recorder: nobody waits for it, new programs do not look for it, and a signal that ends us
  // leaves nothing behind.
  silencer->reset();
  { const Result<ControlServer> no_control = std::move(control); }
  server->reset();
  directory.reset();
  { const Doorbell no_bell = std::move(*doorbell); }
  // Our child goes on unrecorded: we stay, as its parent expects the program's signals and status
  // from us.
  if (outcome.goes_on && carrier.is_child()) outcome.status = follow_unrecorded(carrier, *signals);
  signals->end();
  return end_like(outcome.status);
}

int record_verb(const Arguments& arguments) { return run_parsed("record", parse_record(arguments), cmd_record); }

// "penna CMD...", without a verb: record, then show a short report.
int command_verb(const Arguments& arguments) {
  Result<Parsed<RecordOptions>> parsed = parse_record(arguments);
  if (parsed) parsed->options.short_report = !parsed->options.quiet;
  return run_parsed("record", parsed, cmd_record);
}

}  // namespace penna
