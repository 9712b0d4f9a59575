// SPDX-License-Identifier: MIT
// See cmd_report.h.
#include "cli/verbs/cmd_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "analysis/analyses.h"
#include "base/say.h"
#include "cli/progress_line.h"
#include "cli/report_by.h"
#include "cli/verbs.h"
#include "cli/verbs/cmd_export.h"
#include "cli/verbs/cmd_record.h"
#include "model/names/same_stacks.h"
#include "report/calls/flame.h"
#include "report/file_state.h"
#include "report/frames.h"
#include "report/locks/deadlock_rows.h"
#include "report/locks/wait_reports.h"
#include "report/name_advice.h"
#include "report/overview.h"
#include "report/reports.h"
#include "report/units.h"

namespace penna {
namespace {

// What the builder of a report may use.
struct Material {
  const Recording& recording;
  const Summary& summary;
  const Analyses& analyses;
  Names& names;
  const AllocationView& view;
  const ReportOptions& options;
  bool ascii;
  const CriticalPath* path;  // of chains --thread; null: not asked for
};

LockView view_of_locks(const Material& m) { return {m.analyses.lock_blocks.get(), m.options.lock, m.ascii}; }

struct NamedReport {
  const char* name;
  AnalysisChoice passes;  // what it needs
  Report (*build)(const Material&);
};

WaitTexts wait_texts(const Material& m) {
  constexpr size_t kFrames = 5;  // of several stacks in a row
  return {m.analyses.relations->held(),
          m.names,
          m.analyses.locks.get(),
          m.analyses.lock_blocks.get(),
          m.options.frames.value_or(kFrames),
          m.summary.first_time};
}

// Above all else of what hangs: that it does.
Report with_deadlocks(Report report, const Material& m) {
  if (m.analyses.relations == nullptr) return report;
  std::vector<std::string> sentences = deadlock_sentences(m.analyses.relations->deadlocks(), wait_texts(m));
  if (!sentences.empty()) sentences.back() += " ('penna report chains' shows where.)";
  report.head.insert(report.head.begin(), sentences.begin(), sentences.end());
  return report;
}

constexpr NamedReport kReports[] = {
    {"calls",
     {.classes = kCallEvents},
     [](const Material& m) {
       if (m.analyses.call_groups)
         return calls_report(m.recording, *m.analyses.calls, *m.analyses.call_groups, m.names);
       return calls_report(m.recording, *m.analyses.calls, m.names);
     }},
    {"tree",
     {.classes = kCallEvents, .call_tree = true},
     [](const Material& m) { return tree_report(m.recording, *m.analyses.tree, m.names); }},
    {"alloc",
     {.classes = kAllocEvents},
     [](const Material& m) {
       if (m.analyses.unmatched)
         return unmatched_report(m.recording, *m.analyses.allocations, *m.analyses.unmatched,
                                 examine(m.recording, m.summary, m.analyses, m.names), m.names);
       if (m.analyses.lifetimes)
         return freers_report(m.recording, *m.analyses.allocations, *m.analyses.lifetimes, m.names);
       return alloc_report(m.recording, *m.analyses.allocations, m.names, m.view);
     }},
    {"leaks",
     {.classes = kAllocEvents},
     [](const Material& m) { return leaks_report(m.recording, *m.analyses.allocations, m.names, m.view); }},
    {"temp",
     {.classes = kAllocEvents},
     [](const Material& m) { return temp_report(m.recording, *m.analyses.allocations, m.names, m.view); }},
    {"peak",
     {.classes = kAllocEvents},
     [](const Material& m) { return peak_report(m.recording, *m.analyses.allocations, m.names, m.view); }},
    {"sizes",
     {.classes = kAllocEvents, .blocks = BlockView::kSizes},
     [](const Material& m) { return sizes_report(m.recording, *m.analyses.allocations, *m.analyses.sizes); }},
    {"lifetimes",
     {.classes = kAllocEvents, .blocks = BlockView::kLifetimes},
     [](const Material& m) {
       return lifetimes_report(m.recording, *m.analyses.allocations, *m.analyses.lifetimes, m.names, m.view,
                               m.options.by == ReportBy::kFreer);
     }},
    {"heap",
     {.classes = kAllocEvents, .blocks = BlockView::kHistory},
     [](const Material& m) { return heap_report(m.recording, *m.analyses.allocations, *m.analyses.history, m.ascii); }},
    {"locks",
     {.classes = kLockEvents, .hangs = true},
     [](const Material& m) {
       return with_deadlocks(locks_report(m.recording, *m.analyses.locks, m.names, view_of_locks(m)), m);
     }},
    {"waits",
     {.classes = kLockEvents, .hangs = true},
     [](const Material& m) {
       const std::optional<WaitsBy> by = waits_by(m.options.by);
       return with_deadlocks(by ? waits_by_report(m.recording, *m.analyses.locks, m.names, *by, view_of_locks(m))
                                : waits_report(m.recording, *m.analyses.locks, m.names, view_of_locks(m)),
                             m);
     }},
    {"holds",
     {.classes = kLockEvents, .hangs = true},
     [](const Material& m) {
       return with_deadlocks(holds_report(m.recording, *m.analyses.locks, m.names, view_of_locks(m)), m);
     }},
    {"chains",
     {.classes = kLockEvents, .wait_chains = true},
     [](const Material& m) {
       if (m.path) return path_report(*m.path, wait_texts(m));
       const WaitAnalyses& waits = *m.analyses.relations;
       return chains_report(*waits.chains(), waits.deadlocks(), wait_texts(m), waits.end());
     }},
    {"order",
     {.classes = kLockEvents, .lock_order = true},
     [](const Material& m) {
       const WaitAnalyses& waits = *m.analyses.relations;
       return order_report(*waits.order(), waits.deadlocks(), wait_texts(m), waits.end());
     }},
    {"points",
     {.classes = kPointEvents},
     [](const Material& m) { return points_report(m.recording, *m.analyses.points, m.names); }},
    {"threads", {}, [](const Material& m) { return threads_report(m.recording, m.summary); }},
    {"health",
     {.classes = kEventClasses},
     [](const Material& m) {
       return health_report(m.recording, m.summary, examine(m.recording, m.summary, m.analyses, m.names));
     }},
};

Report build_overview(const Material& m) {
  Report report = overview_report(m.recording, m.summary,
                                  {m.analyses.calls.get(), m.analyses.allocations.get(), m.analyses.locks.get(),
                                   m.analyses.lock_blocks.get(), m.analyses.points.get(), m.view.suppressor},
                                  m.names);
  for (std::string& sentence : deadlock_sentences(m.analyses.relations->deadlocks(), wait_texts(m)))
    report.head.push_back(std::move(sentence));
  return report;
}
constexpr NamedReport kOverview = {"", {.classes = kEventClasses, .deadlocks = true}, build_overview};

// Not a table.
constexpr const char* kFlame = "flame";
constexpr size_t kFlameWidth = 100;

FlameUnit unit_of(FoldedWeight weight) {
  switch (weight) {
    case FoldedWeight::kTime: return {CellKind::kDuration, "of calls"};
    case FoldedWeight::kCalls: return {CellKind::kCount, "calls"};
    case FoldedWeight::kAllocBytes: return {CellKind::kBytes, "allocated"};
    case FoldedWeight::kAllocs: return {CellKind::kCount, "allocations"};
    case FoldedWeight::kLive: return {CellKind::kBytes, "live at the end"};
    case FoldedWeight::kPeak: return {CellKind::kBytes, "live at the peak"};
    case FoldedWeight::kTemp: return {CellKind::kCount, "temporary allocations"};
    case FoldedWeight::kWait: return {CellKind::kDuration, "of waits"};
    case FoldedWeight::kWaitByHolder: return {CellKind::kDuration, "of waits for locks"};
    case FoldedWeight::kPoints: return {CellKind::kCount, "passes of points"};
  }
  return {CellKind::kCount, ""};
}

const NamedReport& report_of(const std::string& name) {
  for (const NamedReport& report : kReports)
    if (name == report.name) return report;
  return kOverview;
}

bool is_report(const std::string& word) {
  const std::vector<std::string> names = report_names();
  return std::find(names.begin(), names.end(), word) != names.end();
}

// Of the words that are no options, the one that names a table and the one that names a recording.
Result<> take_words(const std::vector<std::string>& words, ReportOptions& options) {
  for (const std::string& word : words) {
    if (options.which.empty() && is_report(word)) {
      options.which = word;
    } else if (options.input.recording.empty()) {
      options.input.recording = word;
    } else {
      return Error{fmt::format("'{}' is one word too many: give one recording and one of {}", word,
                               fmt::join(report_names(), ", "))};
    }
  }
  return ok();
}

// Who waits for whom is about all threads: of one it is its critical path that is shown.
Result<> take_threads(ReportOptions& options) {
  ThreadChoice& threads = options.input.threads;
  PENNA_TRY(check_threads(threads));
  if (!threads.any()) return ok();
  if (options.which == "order" || options.which == "health")
    return Error{
        fmt::format("--tid and --thread leave nothing out here: {} is about all threads together", options.which)};
  if (options.which != "chains") return ok();
  if (threads.tids.size() + threads.names.size() != 1)
    return Error{"chains shows the critical path of one thread: give one --thread or one --tid"};
  options.path.thread = threads.names.empty() ? threads.tids.front() : threads.names.front();
  threads = {};
  return ok();
}

constexpr Words kLockTables = {"locks", "waits", "holds"};
constexpr Words kAllocTables = {"alloc", "leaks", "temp", "peak", "lifetimes", "sizes", "heap"};

// Shows `rows` rows of each table, unless the user said how many.
TableOptions with_rows(TableOptions options, size_t rows) {
  if (!options.top) options.top = rows;
  return options;
}

// Of the lines below rows only stacks are limited: they are long and alike.
void limit_stacks(Report& report, const ReportOptions& options) {
  constexpr size_t kFrames = 10, kFramesOfSummary = 6;
  const size_t frames = options.frames.value_or(options.which.empty() ? kFramesOfSummary : kFrames);
  for (Table& table : report.tables)
    if (table.details_key == "stack" && frames != 0) table.most_details = frames;
}

// Are rows of allocations stacks?
bool shows_stacks(const ReportOptions& options) {
  return (options.which.empty() || is_by_stacks(options.which)) &&
         (!options.by || options.by == ReportBy::kStack || options.by == ReportBy::kFreer);
}

// A table of calls in which allocations happened needs some.
Report without_calls(Report report, const Recording& recording) {
  report.head = {fmt::format(
      "No calls were recorded, in which allocations could be: penna record -k calls,alloc records both; {}.",
      why_no_calls(recording))};
  for (Table& table : std::exchange(report.tables, {})) {
    table.rows.clear();
    report.add(std::move(table));
  }
  return report;
}

// Above times of calls: how far they are to be trusted.
void add_cost(Report& report, const Recording& recording, bool net) {
  if (!net) {
    if (std::string slowdown = slowdown_text(recording); !slowdown.empty()) report.head.push_back(std::move(slowdown));
    return;
  }
  report.head.push_back("times are net: without what recording took, by the events inside of each call");
  if (const uint64_t left_out = recording.collector().calls_left_out; left_out != 0)
    report.head.push_back(fmt::format("but for {} that record left out: their cost is still in the times",
                                      plural_text(static_cast<int64_t>(left_out), "call")));
}

// Durations as ticks; they were checked.
LockOptions lock_options(const ReportOptions& options, const Recording& recording) {
  const auto ticks = [&](const std::string& text) {
    return text.empty()
               ? 0
               : static_cast<uint64_t>(static_cast<double>(*parse_duration(text)) / recording.time().ns_per_tick());
  };
  return {ticks(options.min_wait), ticks(options.min_hold)};
}

// The drawing is made of what penna export folded writes.
Result<> show_flame(const Recording& recording, const ReportOptions& options, Output& output) {
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options.input, recording);
  Names names(recording, *symbols);
  const Summary summary = summarize(recording);
  const FoldedWeight weight = options.weight.value_or(default_weight(summary));
  PENNA_TRY(check_weight_of_sample(recording, weight));
  const std::unique_ptr<AllocationChoice> choice = PENNA_TRY(make_choice(options.allocations, recording, names));
  const FoldedOptions folded{weight, false, choice.get()};
  Flame flame;
  Analyses analyses;
  {
    const std::unique_ptr<ProgressObserver> line = progress_line(!options.input.no_progress);
    Progress progress("reading", summary.total_events(), "events", line.get());
    const TextSink take = [&](std::string_view text) {
      flame.add(text);
      return true;
    };
    analyses.walk = export_folded(recording, names, folded, take, [&](uint64_t events) { progress.step(events); }).walk;
  }
  const size_t terminal = terminal_width(output.fd());
  FlameStyle style;
  style.width = options.width.value_or(terminal != 0 ? terminal : kFlameWidth);
  style.color = wants_color(options.table.color, output.fd());
  style.ascii = wants_ascii(options.ascii, output.fd());
  (void)flame.print(style, unit_of(folded.weight), output.sink());
  Report closing;
  closing.tail = choice_notes(options.allocations, recording, choice.get());
  closing.warnings = health_warnings(examine(recording, summary, analyses, names));
  write_report(closing, options.table, output);
  return ok();
}

Result<> show(const Recording& recording, const ReportOptions& options, Output& output) {
  if (options.which == kFlame) return show_flame(recording, options, output);
  const NamedReport& which = report_of(options.which);
  const Summary summary = summarize(recording);
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options.input, recording);
  Names names(recording, *symbols);
  if (options.net && summary.events[PENNA_CALLS] != 0 && !NetTimes(recording).is_known())
    return Error{
        "--net: this recording does not tell what a call cost: it is older, or was not finished; record again"};
  const std::unique_ptr<AllocationChoice> choice = PENNA_TRY(make_choice(options.allocations, recording, names));
  const Suppressions listed = PENNA_TRY(read_suppressions(options.suppressions));
  LeakSuppressor suppressor(recording, names, listed, true);
  SameStacks same(recording, names);
  AnalysisChoice passes = which.passes;
  choose_passes(options, passes);
  const std::unique_ptr<ProgressObserver> progress = progress_line(!options.input.no_progress);
  const Analyses analyses = analyse(recording, summary, names.map(), passes, progress.get(),
                                    {choice.get(), options.within.value_or(1), shows_stacks(options) ? &same : nullptr},
                                    lock_options(options, recording));

  std::optional<CriticalPath> path;
  if (options.path.any()) path = PENNA_TRY(find_path(recording, summary, *analyses.relations->history(), options.path));
  Report report;
  {
    Progress naming("naming", analyses.allocations ? analyses.allocations->stacks().size() : 0, "stacks",
                    progress.get());
    const AllocationView view{groups_of(options), [&] { naming.slow_step(); }, analyses.tree.get(),
                              options.suppressions.none ? nullptr : &suppressor};
    report = which.build({recording, summary, analyses, names, view, options, wants_ascii(options.ascii, output.fd()),
                          path ? &*path : nullptr});
  }
  if (options.by == ReportBy::kCall && summary.events[PENNA_CALLS] == 0) {
    report = without_calls(std::move(report), recording);
  } else {
    const Allocations* heap = options.which == "health" ? nullptr : analyses.allocations.get();
    if (heap != nullptr && heap->family().is_heap())
      if (std::string others = other_families_text(recording, *heap); !others.empty())
        report.tail.push_back(std::move(others));
    if ((which.passes.classes & kAllocEvents) != 0 && analyses.allocations && analyses.allocations->is_sampled())
      report.head.push_back(sample_text(*analyses.allocations));
  }
  for (std::string& sentence : choice_notes(options.allocations, recording, choice.get()))
    report.tail.push_back(std::move(sentence));
  if (selects_threads(recording)) report.head.push_back(selected_text(recording));
  if (is_one_of(options.which, {"calls", "tree"})) add_cost(report, recording, options.net);
  PENNA_TRY(select_report_rows(report, options.table));
  limit_stacks(report, options);
  if (is_one_of(options.which, kAllocTables)) advise_on_names(report, names);
  // After the rows: only now is it known which names were missing.
  if (options.which != "health") add_health(report, recording, examine(recording, summary, analyses, names));
  write_report(report, options.table, output);
  return ok();
}

Result<> check_shortest(const ReportOptions& options, const char* option, const std::string& text, Words tables) {
  if (text.empty()) return ok();
  if (!is_one_of(options.which, tables)) return Error{fmt::format("{} is for {}", option, fmt::join(tables, " and "))};
  return check_duration(option, text);
}

Result<> check_locks(const ReportOptions& options) {
  if (!options.lock.empty() && !is_one_of(options.which, kLockTables))
    return Error{fmt::format("--lock is for {}", fmt::join(kLockTables, ", "))};
  PENNA_TRY(check_pattern(options.lock));
  PENNA_TRY(check_shortest(options, "--min-wait", options.min_wait, {"locks", "waits"}));
  return check_shortest(options, "--min-hold", options.min_hold, {"holds"});
}

// Filters of calls leave out no allocations and no locks.
Result<> check_call_filters(const ReportOptions& options) {
  FilterOptions filter = options.input.filter;
  if (!check_filter(filter, FilterUse::kReading)) return ok();  // said when the recording is opened
  filter.range.clear();
  const std::string text = filter_text(filter);
  if (text.empty() || options.by == ReportBy::kCall) return ok();
  const bool flame = options.which == kFlame && options.weight && classes_of(*options.weight) == kAllocEvents;
  if (flame || is_one_of(options.which, kAllocTables))
    return Error{
        fmt::format("{} chooses calls, and this shows none: allocations are chosen by --stack, --size and "
                    "--lifetime",
                    text)};
  if (is_one_of(options.which, kLockTables))
    return Error{fmt::format("{} chooses calls, and this shows none: locks are chosen by --lock", text)};
  return ok();
}

// What filters leave out had its cost, too, and would not be seen.
Result<> check_net(const ReportOptions& options) {
  if (!options.net) return ok();
  if (!is_one_of(options.which, {"calls", "tree"}))
    return Error{"--net is for calls and tree: penna report calls --net"};
  FilterOptions filter = options.input.filter;
  filter.range.clear();
  if (const std::string text = filter_text(filter); !text.empty())
    return Error{fmt::format("--net needs all calls, for each had its cost: leave out {}", text)};
  return ok();
}

// Options that the table would not look at.
Result<> check_use(const ReportOptions& options) {
  const bool flame = options.which == kFlame;
  if ((options.weight || options.width) && !flame)
    return Error{"--weight and --width are for flame: penna report flame"};
  if (options.ascii && !flame && !is_one_of(options.which, {"heap", "locks"}))
    return Error{"--ascii is for heap, locks and flame"};
  PENNA_TRY(check_locks(options));
  PENNA_TRY(check_call_filters(options));
  PENNA_TRY(check_net(options));
  if (options.unmatched && (options.which != "alloc" || options.by))
    return Error{"--unmatched is a table of its own: penna report alloc --unmatched"};
  if (options.within && !is_one_of(options.which, {"temp", "alloc"})) return Error{"--within is for temp and alloc"};
  const bool suppresses = !options.suppressions.file.empty() || options.suppressions.none;
  if (suppresses && !is_one_of(options.which, {"leaks", ""}))
    return Error{"--suppressions and --no-suppressions are for leaks"};
  const bool filters_flame = flame && classes_of(options.weight.value_or(FoldedWeight::kTime)) == kAllocEvents;
  if (options.allocations.any() && !filters_flame && !is_one_of(options.which, kAllocTables))
    return Error{fmt::format(
        "--family, --size, --lifetime, --stack and --pid are for tables of allocations ({}), and for flame with a "
        "--weight of them",
        fmt::join(kAllocTables, ", "))};
  if (options.path.any() && options.which != "chains")
    return Error{"--span is for the critical path: penna report chains --span NAME"};
  if (!options.path.thread.empty() && !options.path.span.empty()) return Error{"give either --thread or --span"};
  return check_alloc_filter(options.allocations);
}

}  // namespace

std::vector<std::string> report_names() {
  std::vector<std::string> names;
  for (const NamedReport& report : kReports) names.push_back(report.name);
  names.insert(names.begin() + 2, kFlame);
  return names;
}

Result<Parsed<ReportOptions>> parse_report(const Arguments& arguments) {
  Parsed<ReportOptions> parsed;
  ReportOptions& options = parsed.options;
  std::vector<std::string> words;
  OptionParser parser("Shows the tables of a recording; without TABLE the top of each.", "penna report");
  parser.words("[REC] [TABLE]", words, fmt::format("the recording, and one of {}", fmt::join(report_names(), ", ")));
  add_input_options(parser, options.input);
  add_thread_options(parser, options.input.threads);
  add_table_options(parser, options.table, true);
  parser.number("--frames", options.frames, "N", "frames of each stack in text, 0 for all; default 10");
  parser.choice("--by", options.by,
                {{"function", ReportBy::kFunction},
                 {"stack", ReportBy::kStack},
                 {"file", ReportBy::kFile},
                 {"module", ReportBy::kModule},
                 {"process", ReportBy::kProcess},
                 {"thread", ReportBy::kThread},
                 {"call", ReportBy::kCall},
                 {"kind", ReportBy::kKind},
                 {"freer", ReportBy::kFreer},
                 {"holder", ReportBy::kHolder},
                 {"lock", ReportBy::kLock}},
                "a row for each: of calls function (default), module or thread; of alloc, leaks, temp, peak and "
                "lifetimes stack (default), function, file, module, process, thread, call (the recorded calls in which "
                "it was), kind (malloc, calloc...; of mappings file, anonymous...), and of alloc and lifetimes freer "
                "(who freed); of waits stack (default: who waited and who held it), function (that waited), holder "
                "(the function that held it, or woke), lock, thread, process");
  add_alloc_filter_options(parser, options.allocations, true);
  parser.flag("--net", options.net,
              "calls, tree: times without what recording took, by the number of events inside (docs: calls)");
  parser.flag("--unmatched", options.unmatched,
              "alloc: frees of what was not recorded or had been freed before, by the stack that freed");
  parser.number("--within", options.within, "N",
                "temp, alloc: a block is temporary when its thread frees it before it allocates N more; default 1", 1,
                AllocationOptions::kMostWithin);
  add_suppression_options(parser, options.suppressions);
  add_weight_option(parser, options.weight, "flame");
  parser.text("--lock", options.lock, "NAME", "locks, waits, holds: only locks of this name; may be a glob");
  parser.text("--min-wait", options.min_wait, "DURATION", "locks, waits: leave out shorter waits: 10us, 1.5ms");
  parser.text("--min-hold", options.min_hold, "DURATION", "holds: leave out shorter holds");
  parser.flag("--ascii", options.ascii, "heap, locks, flame: draw with ASCII characters only");
  parser.text("--span", options.path.span, "NAME",
              "chains: the critical path of the slowest span of this name, as with --thread that of this thread: what "
              "it and those that it waited for ran");
  parser.number("--width", options.width, "COLUMNS", "flame: default as wide as the terminal, else 100", 20, 10000);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  PENNA_TRY(take_words(words, options));
  PENNA_TRY(take_threads(options));
  PENNA_TRY(check_by(options));
  PENNA_TRY(check_use(options));
  if (options.which == kFlame && options.table.format != Format::kTable)
    return Error{"flame is a drawing: penna export folded writes its numbers"};
  if (options.which.empty()) {
    if (options.table.format == Format::kCsv)
      return Error{fmt::format("the summary has several tables and CSV has room for one: name one of {}",
                               fmt::join(report_names(), ", "))};
    options.table = with_rows(options.table, 5);
  }
  return parsed;
}

int cmd_report(const ReportOptions& options) {
  const Result<Recording> recording = open_input(options.input);
  if (!recording) return fail(recording.error().text);
  Output output;
  const Result<> shown = show(*recording, options, output);
  return shown ? finish_output(output) : fail("report: " + shown.error().text);
}

int report_verb(const Arguments& arguments) { return run_parsed("report", parse_report(arguments), cmd_report); }

void print_short_report(const std::string& path) {
  ReportOptions options;
  options.input.recording = path;
  options.table = with_rows({}, 3);
  options.frames = 3;
  const Result<Recording> recording = Recording::open(path);
  if (!recording) return say(recording.error().text);
  Output output = Output::standard_error();
  output.write("\n");
  if (const Result<> shown = show(*recording, options, output); !shown) say(shown.error().text);
  (void)output.finish();
}

}  // namespace penna
