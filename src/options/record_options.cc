// SPDX-License-Identifier: MIT
// See record_options.h.
#include "options/record_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/whole_number.h"
#include "options/standard_input.h"
#include "options/wrong_words.h"

namespace penna {
namespace {

// Checks combinations of options. An option for a class that is not recorded would have no effect: it is refused,
// naming -k, which was forgotten.
Result<> check(const RecordOptions& options) {
  if (!options.pids.empty() && !options.command.empty()) return contradiction("-p PID", "a command");
  if (options.output == "-") return Error{kNoRecordingToOutput};
  if (options.pids.empty() && options.command.empty())
    return Error{"there is no command to run: write it after the options, or after --"};
  if (options.pids.empty() && options.command[0].empty()) return Error{"the name of the command is empty"};
  if (options.dry_run && options.pids.empty())
    return Error{"--dry-run is for -p PID: a command that is started has nothing yet that could be changed"};
  if (!options.dry_run && options.dry_run_format != Format::kTable)
    return Error{"--format is for --dry-run: a recording is shown by penna report, and written by penna export"};
  const bool any_values = !options.arguments.empty() || !options.results.empty() || options.auto_arguments;
  if (any_values && (options.classes & (1u << PENNA_CALLS)) == 0)
    return Error{"-A, -R and --auto-args are about calls: add calls to -k"};
  // -T PROVIDER:NAME@stack only concerns points.
  const bool of_points =
      std::all_of(options.filter.triggers.begin(), options.filter.triggers.end(),
                  [](const auto& option) { return !triggers_of({option}, {TriggerAction::kPointStack}).empty(); });
  if (!of_points && (options.classes & (1u << PENNA_CALLS)) == 0) return Error{"-T is about calls: add calls to -k"};
  if (options.all_functions && (options.classes & (1u << PENNA_CALLS)) == 0)
    return Error{"--all-functions is about calls: add calls to -k"};
  if (options.max_overhead && (options.classes & (1u << PENNA_CALLS)) == 0)
    return Error{"--max-overhead is about calls: add calls to -k"};
  if ((options.sample_bytes != 0 || options.free_stacks) && (options.classes & (1u << PENNA_ALLOC)) == 0)
    return Error{"--sample-bytes and --free-stacks are about allocations: add alloc to -k"};
  if (!options.stacked_points.empty() && (options.classes & (1u << PENNA_POINTS)) == 0)
    return Error{"--point-stacks and -T PROVIDER:NAME@stack are about points: add points to -k"};
  if ((options.lock_sample > 1 || options.min_wait_ns != 0 || options.long_hold_ns != 0) &&
      (options.classes & (1u << PENNA_LOCKS)) == 0)
    return Error{"--sample-locks, --min-wait and --holds are about locks: add locks to -k"};
  if (!options.lock_functions.empty() && (options.classes & (1u << PENNA_LOCKS)) == 0)
    return Error{"--lock-functions is about locks: add locks to -k"};
  return check_settings(options);
}

Result<> check_on(RecordOptions& options) {
  constexpr uint64_t kUsualRingNs = 60'000'000'000;
  if (options.on.empty())
    return options.on_again_ns || options.keep_snapshots != RecordOptions().keep_snapshots
               ? Result<>(Error{"--on-again and --keep-snapshots are for --on CONDITION"})
               : ok();
  for (const SnapshotCondition& condition : options.on)
    if (const penna_event_class needed = class_of(condition);
        needed != PENNA_NO_CLASS && (options.classes & 1u << needed) == 0)
      return Error{
          fmt::format("--on '{}' is about {}: add {} to -k", condition.text, kClassNames[needed], kClassNames[needed])};
  if (!options.ring_ns) options.ring_ns = kUsualRingNs;
  if (!options.on_again_ns) options.on_again_ns = options.ring_ns;
  return ok();
}

// A push at the end of a recording makes its user wait: not for a minute.
Result<> check_push(PushTarget& push) {
  constexpr uint64_t kPatienceNs = 10'000'000'000;
  PENNA_TRY(check_push_target(push));
  if (push.server.url.empty() && (!push.labels.empty() || push.give_up))
    return Error{"--label and --give-up are for --push URL: without it, nothing is pushed"};
  if (!push.give_up) push.give_up = Duration{kPatienceNs, "10s"};
  return ok();
}

// The pids in the given order, each once.
Result<std::vector<int>> parse_pids(const std::vector<std::string>& texts) {
  std::vector<int> pids;
  for (const std::string& text : texts) {
    const int pid = whole_number<int>(text).value_or(0);
    if (pid <= 0)
      return Error{
          fmt::format("-p takes pids, the numbers of processes, such as 1234 or 1234,1250; '{}' is none", text)};
    if (std::find(pids.begin(), pids.end(), pid) == pids.end()) pids.push_back(pid);
  }
  return pids;
}

Result<Typed<TimeRange>> parse_delay(const std::string& text) {
  PENNA_TRY(ParseShortTime{"--delay"}(text));
  return parse_typed_range(text + "-");
}

Result<Typed<ValueSpec>> parse_typed_spec(const std::string& text) {
  return Typed<ValueSpec>{PENNA_TRY(parse_value_spec(text)), text};
}

// What the options say as long as the command line is read.
struct RecordWords {
  std::vector<std::string> pids, kinds;
  std::array<bool, PENNA_CLASS_COUNT> switches{};
  std::optional<Typed<TimeRange>> delay;
  std::optional<ByteSize> max_size;
  std::vector<std::vector<SnapshotCondition>> on;
  std::optional<uint32_t> pool;
  std::optional<uint64_t> sample_bytes, min_wait, holds;
  bool point_stacks = false, live = false, tree = false, all = false;
};

void add_recording_options(OptionParser& parser, RecordOptions& options, RecordWords& words) {
  parser.section("The recording");
  parser.text("-o,--output", options.output, "FILE", "the recording; default CMD.PID.penna here");
  parser.flag("-f,--force", options.force, "overwrite FILE if it exists; the target of a link is never replaced");
  parser.texts("-p,--pid", words.pids, "PID[,PID...]",
               "attach to processes that run, instead of starting a command, and leave them as they were; Ctrl-C and "
               "penna ctl PID stop end the recording",
               OptionParser::Split::kAtCommas);
  parser.choice(
      "--via", options.via, {{"inject", Via::kInject}, {"breakpoint", Via::kBreakpoint}, {"uprobe", Via::kUprobe}},
      "how events are recorded: by an agent in the process, by breakpoints (about 10 us an event; -F, alloc, locks, "
      "points), or by the kernel's uprobes (the same events; root, Linux 6.6; also of a process that a debugger "
      "traces); "
      "default an agent, breakpoints where there can be none, as in programs of musl, and uprobes where neither works");
  parser.flag("--no-names", options.no_names,
              "keep no names of the functions and lines that occur: reports then need the files as they were");
  parser.flag("--dry-run", options.dry_run,
              "with -p: list every byte that recording would change in the process, and change nothing");
  add_format_option(parser, options.dry_run_format, "with --dry-run: the list as text for people, or raw");
  parser.value("--duration", options.duration_ns, "TIME", "end the recording after TIME, such as 10s",
               ParseShortTime{"--duration"});
  parser.value("--delay", words.delay, "TIME",
               "keep nothing of the first TIME, as -r TIME- does; --duration counts from then on", parse_delay);
  parser.either({"--delay", "--range"});
  parser.value("--max-size", words.max_size, "SIZE", "end the recording when its file has SIZE, such as 100MB",
               ParseByteSize{"--max-size"});
}

void add_ring_options(OptionParser& parser, RecordOptions& options, RecordWords& words) {
  parser.value("--ring", options.ring_ns, "TIME",
               "keep only the newest TIME of events, such as 30s: they are in memory (--keep), and stored when the "
               "recording ends, however it does",
               ParseShortTime{"--ring"});
  parser.either({"--ring", "--max-size"});
  parser.values(
      "--on", words.on, "CONDITION",
      "with --ring (default 60s): each time that CONDITION is met, store the newest events in a file of their "
      "own, REC.1.penna, REC.2.penna, ...: 'wait > 100ms', 'wait(LOCK) > 100ms', 'span(NAME) > 1s', "
      "'call(FUNCTION) > 1s', 'rss > +100MB', 'live > 500MB', 'point(PROVIDER:NAME)', crash, end (of the "
      "recording); joined by ||; may be repeated",
      parse_snapshot_conditions);
  parser.value("--on-again", options.on_again_ns, "TIME",
               "with --on: from one snapshot to the next, at least; what is met earlier is counted; default --ring's "
               "TIME",
               ParseShortTime{"--on-again"});
  parser.number("--keep-snapshots", options.keep_snapshots, "N",
                "with --on: keep the newest N snapshots, and delete older ones, first those that --push has sent; "
                "default 10",
                1, 100'000);
  parser.either({"--on", "--max-size"});
  parser.either({"--on", "--view"});
  parser.flag("--no-follow", options.no_follow,
              "record only the process that is started or attached to, and none that it starts");
}

void add_kind_options(OptionParser& parser, RecordOptions& options, RecordWords& words) {
  parser.section("What to record");
  parser.texts("-k,--kinds", words.kinds, "KINDS",
               fmt::format("what to record, of {}; default all", fmt::join(kClassNames, ",")),
               OptionParser::Split::kAtCommas);
  parser.known({std::begin(kClassNames), std::end(kClassNames)});
  parser.sets(&words.kinds);
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) {
    parser.flag(fmt::format("--{}", kClassNames[i]).c_str(), words.switches[i],
                fmt::format("record {}; without other kinds: only these", kClassNames[i]));
    parser.sets(&words.kinds);
  }
  parser.flag("--all-functions", options.all_functions,
              fmt::format("record calls of all functions, however they were built; --max-overhead is {}% then",
                          kOverheadOfAll));
  parser.either({"--all-functions", "--function"});
  parser.flag("--libcalls", options.libcalls,
              "also record calls between libraries and programs, however they were built");
  parser.values(
      "-A,--args", options.arguments, "SPEC",
      "record FUNCTION's arguments, patching it if it was not compiled for tracing: FUNCTION, a name or glob, for all "
      "arguments described by debug information; or FUNCTION@arg1/s,arg2/x,fparg1; may be repeated",
      parse_typed_spec);
  parser.values("-R,--retval", options.results, "SPEC", "record FUNCTION's return value: FUNCTION or FUNCTION@retval/x",
                parse_typed_spec);
  parser.flag("--auto-args", options.auto_arguments,
              "record arguments and return values of all recorded functions described by debug information");
}

void add_point_options(OptionParser& parser, RecordOptions& options) {
  parser.texts("-e,--event", options.point_patterns, "PATTERN",
               "points to record, PROVIDER:NAME with * and ?, or with ! in front not to record; may be repeated, the "
               "last that matches counts; default all points of penna/point.h, and no probes of other headers");
  parser.values("--where", options.conditions, "CONDITION",
                "keep only points whose arguments satisfy it: 'rows > 100 && table ~ \"ord*\"'; points without these "
                "arguments are kept; may be repeated, all must hold",
                Where::parse);
}

void add_cost_options(OptionParser& parser, RecordOptions& options, RecordWords& words) {
  parser.section("Memory and cost");
  parser.choice("--on-full", options.on_full, {{"block", PENNA_ON_FULL_BLOCK}, {"drop", PENNA_ON_FULL_DROP}},
                "when the event buffer is full: block the program, or drop events and count them");
  parser.choice("--compress", options.packing,
                {{"auto", Packing::kAuto}, {"small", Packing::kSmall}, {"fast", Packing::kFast}},
                "how the recording is packed: small; fast, in half the time and up to twice as large; or small except "
                "while events come faster than that");
  parser.value("--pool,--mem-limit", words.pool, "SIZE",
               "event buffer of each process, in MiB or with a unit: 64, 1G; default 64", parse_pool_mib);
  parser.number("--keep", options.keep_mib, "MIB",
                "keep the newest events of all processes in so much memory, in MiB, and store them at a snapshot: by "
                "--ring or -T FUNC@snapshot (default 64), penna ctl PID snapshot, or the page of --view",
                1, 65536);
  parser.value("--max-overhead", options.max_overhead, "PERCENT",
               "how much of the program's time recording calls may cost, such as 10%: functions called too often are "
               "dropped from the recording and listed",
               parse_percent);
  parser.value("--sample-bytes", words.sample_bytes, "BYTES",
               "record a random sample of allocations, one per BYTES on average (512k, 4m); reports estimate the "
               "totals; cheap enough to leave on",
               parse_sample_bytes);
}

void add_stack_options(OptionParser& parser, RecordOptions& options, RecordWords& words) {
  parser.section("What to record");
  parser.flag("--free-stacks", options.free_stacks, "also record the stacks of frees");
  parser.flag("--point-stacks", words.point_stacks,
              "also record the stacks of points; for some points only: -T PROVIDER:NAME@stack");
  parser.number(
      "--stack-depth", options.stack_depth, "N",
      "minimum number of innermost frames kept per stack; deeper stacks keep up to twice as many; default 256", 1,
      PENNA_MAX_STACK_DEPTH);
}

void add_lock_options(OptionParser& parser, RecordOptions& options, RecordWords& words) {
  parser.section("Locks");
  parser.value("--min-wait", words.min_wait, "TIME", "count lock waits shorter than TIME, such as 10us, as uncontended",
               ParseShortTime{"--min-wait"});
  parser.value("--holds", words.holds, "TIME",
               "also record the release stack of locks held for TIME or longer, such as 1ms",
               ParseShortTime{"--holds"});
  parser.number("--sample-locks", options.lock_sample, "N",
                "record 1 in N uncontended acquisitions, chosen at random; reports estimate their number; waits are "
                "always recorded",
                1, 1'000'000);
  parser.values("--lock-functions", options.lock_functions, "SPEC",
                "also record the program's own lock type, an object passed by pointer as the first argument: "
                "LOCK=UNLOCK, names of C or C++ functions; or LOCK=UNLOCK,try=TRYLOCK, where TRYLOCK returns true on "
                "success, or try0=TRYLOCK, where it returns 0; may be repeated",
                parse_own_lock);
}

void add_push_options(OptionParser& parser, RecordOptions& options) {
  parser.section("A server");
  parser.text(
      "--push", options.push.server.url, "URL",
      "push the recording to this ClickHouse server at its end, as penna push --to URL does; if the server does "
      "not answer for 10 s (--give-up), the next 'penna push' goes on");
  add_label_option(parser, options.push);
  parser.value("--give-up", options.push.give_up, "TIME", "after so long without an answer, as 1min; default 10s",
               ParseDuration{"--give-up"});
  add_server_options(parser, options.push.server);
}

void add_output_options(OptionParser& parser, RecordOptions& options, RecordWords& words) {
  parser.section("Output");
  parser.flag(
      "--live", words.live,
      "print events as they happen, after filtering, on standard output, in the format of penna replay --merge");
  parser.flag("--tree", words.tree,
              "with --live: only calls, as a tree of names, in the format of penna replay --tree");
  parser.flag("--all", words.all, "with --live --tree: a line for every call");
  parser.flag("--view", options.view,
              "show the recording in the browser, as penna view does, while it grows; afterwards, too, until Ctrl-C");
  parser.flag("--no-open", options.no_open, "with --view: print the page's address, and do not start a browser");
  add_color_option(parser, options.color);
  parser.flag("-q,--quiet", options.quiet, "print only errors");
}

// Options that say how others are to be read.
Result<> settle(RecordOptions& options, RecordWords& words) {
  // --calls and -k calls add up; without any, options.classes keeps its default, all.
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i)
    if (words.switches[i]) words.kinds.push_back(kClassNames[i]);
  if (words.tree && !words.live)
    return Error{"--tree is for --live: afterwards, penna replay --tree shows the calls as a tree"};
  if (options.no_open && !options.view) return Error{"--no-open is for --view: without it, there is no page"};
  if (words.all && !words.tree) return Error{"--all is for --live --tree: lines show every call anyway"};
  if (options.all_functions && !options.max_overhead) options.max_overhead = kOverheadOfAll;
  options.timed_locks = !options.lock_functions.empty();
  if (words.live) options.live = words.all ? LiveForm::kAll : words.tree ? LiveForm::kTree : LiveForm::kLines;
  options.pids = PENNA_TRY(parse_pids(words.pids));
  if (!words.kinds.empty()) options.classes = PENNA_TRY(classes_of(words.kinds));
  options.pool_mib = words.pool.value_or(options.pool_mib);
  options.sample_bytes = words.sample_bytes.value_or(0);
  options.min_wait_ns = words.min_wait.value_or(0);
  options.long_hold_ns = words.holds.value_or(0);
  if (words.delay) options.filter.range = words.delay;
  if (words.delay && options.duration_ns) *options.duration_ns += static_cast<uint64_t>(words.delay->value.begin);
  if (words.max_size) options.max_bytes = words.max_size->value;
  options.stacked_points = stacked_points(options.filter);
  // --point-stacks is the pattern that matches every point.
  if (words.point_stacks) options.stacked_points = {"*"};
  for (std::vector<SnapshotCondition>& conditions : words.on)
    options.on.insert(options.on.end(), std::make_move_iterator(conditions.begin()),
                      std::make_move_iterator(conditions.end()));
  return ok();
}

// The recording's description of how it was made: readers apply it again, and penna info shows it.
std::vector<std::string> description_of(const RecordOptions& options, const RecordWords& words) {
  std::vector<std::string> all = filter_words(options.filter);
  for (std::string& word : thread_words(options.threads)) all.push_back(std::move(word));
  for (const auto& spec : options.arguments) all.push_back("args=" + spec.text);
  for (const auto& spec : options.results) all.push_back("result=" + spec.text);
  if (words.point_stacks) all.emplace_back(kPointStacksWord);
  if (options.libcalls) all.emplace_back("libcalls");
  if (options.all_functions) all.emplace_back(kAllFunctionsWord);
  if (!options.pids.empty()) all.emplace_back(kAttachedWord);
  if (options.ring_ns) all.push_back(fmt::format("ring={}ns", *options.ring_ns));
  for (const SnapshotCondition& condition : options.on) all.push_back("on=" + condition.text);
  if (words.max_size) all.push_back("max-size=" + words.max_size->text);
  if (options.no_follow) all.emplace_back("no-follow");
  return all;
}

}  // namespace

Result<Parsed<RecordOptions>> parse_record(const Arguments& arguments) {
  Parsed<RecordOptions> parsed;
  RecordOptions& options = parsed.options;
  RecordWords words;
  OptionParser parser("Runs a command and records it.", "penna record");
  add_recording_options(parser, options, words);
  add_ring_options(parser, options, words);
  add_kind_options(parser, options, words);
  add_point_options(parser, options);
  add_filter_options(parser, options.filter, FilterUse::kRecording);
  add_thread_options(parser, options.threads);
  add_stack_options(parser, options, words);
  add_cost_options(parser, options, words);
  add_lock_options(parser, options, words);
  add_push_options(parser, options);
  add_output_options(parser, options, words);
  parser.command(options.command);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  PENNA_TRY(settle(options, words));
  PENNA_TRY(check_on(options));
  PENNA_TRY(check_push(options.push));
  PENNA_TRY(check(options));
  options.filter_words = description_of(options, words);
  return parsed;
}

}  // namespace penna
