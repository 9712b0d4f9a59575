// SPDX-License-Identifier: MIT
// See cmd_report.h. The steps of a report, one per line, in show().
#include "cli/verbs/cmd_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "analysis/analyses.h"
#include "base/count_text.h"
#include "base/nearest_name.h"
#include "base/say.h"
#include "cli/fleet/fleet_report.h"
#include "cli/input.h"
#include "cli/output/progress_line.h"
#include "cli/output/table_output.h"
#include "cli/report/report_by.h"
#include "cli/report/report_flame.h"
#include "cli/report/report_rules.h"
#include "cli/report/report_table.h"
#include "cli/report/weights.h"
#include "cli/sort_words.h"
#include "cli/verbs.h"
#include "fleet/fleet_client.h"
#include "model/names/same_stacks.h"
#include "options/terminal.h"
#include "report/file_state.h"
#include "report/frames.h"
#include "report/name_advice.h"
#include "sql/clickhouse/fleet_push.h"

namespace penna {
namespace {

// From the words that are not options, takes the one that names a table and the one that names a recording.
Result<> take_words(const std::vector<std::string>& words, ReportOptions& options) {
  const size_t most = options.input.recording.empty() ? 1 : 0;  // -i names it too
  SortedWords sorted = PENNA_TRY(sort_words(words, {"table", report_names(), most, "one recording and one table"}));
  options.which = std::move(sorted.known);
  if (!sorted.files.empty()) options.input.recording = std::move(sorted.files.front());
  return ok();
}

// Wait chains concern all threads: for one thread, its critical path is shown.
Result<> take_threads(ReportOptions& options) {
  ThreadChoice& threads = options.input.threads;
  const ThreadUse use = find_report(options.which).threads;
  if (!threads.any() || use == ThreadUse::kChoose) return ok();
  if (use == ThreadUse::kRefuse)
    return Error{
        fmt::format("--tid and --thread leave nothing out here: {} is about all threads together", options.which)};
  if (threads.tids.size() + threads.names.size() != 1)
    return Error{"chains shows the critical path of one thread: give one --thread or one --tid"};
  options.path.thread = threads.names.empty() ? threads.tids.front() : threads.names.front();
  threads = {};
  return ok();
}

// Shows `rows` rows of each table, unless the user gave a number.
TableOptions with_rows(TableOptions options, size_t rows) {
  if (!options.top) options.top = rows;
  return options;
}

// Among the lines below rows only stacks are limited: they are long and alike.
void limit_stacks(Report& report, size_t frames) {
  for (Table& table : report.tables)
    if (table.details_key == "stack" && frames != 0) table.most_details = frames;
}

// Whether rows of allocations are stacks.
bool shows_stacks(const NamedReport& which, const ReportOptions& options) {
  return (which.name.empty() || which.is_by_stacks()) &&
         (!options.by || options.by == ReportBy::kStack || options.by == ReportBy::kFreer);
}

// A table of calls with allocations in them needs recorded calls.
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

// Above call times: how far they can be trusted.
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

// Limits are given in time and compared in ticks, so that the hot loop over waits need not convert.
LockOptions lock_options(const ReportOptions& options, const Recording& recording) {
  const auto ticks = [&](const std::optional<Duration>& time) {
    return time ? static_cast<uint64_t>(static_cast<double>(time->value) / recording.time().ns_per_tick()) : 0;
  };
  return {ticks(options.min_wait), ticks(options.min_hold)};
}

// The cost of an event is measured while recording, and stored only by a recorder that closes its file.
Result<> check_net_is_known(const ReportOptions& options, const Recording& recording, const Summary& summary) {
  if (!options.net || summary.events[PENNA_CALLS] == 0 || NetTimes(recording).is_known()) return ok();
  return Error{"--net: this recording does not say what a call cost: it is older, or was not finished; record again"};
}

Result<std::optional<CriticalPath>> path_of(const ReportOptions& options, const Recording& recording,
                                            const Summary& summary, const Analyses& analyses) {
  if (!options.path.any()) return std::optional<CriticalPath>();
  return std::optional(PENNA_TRY(find_path(recording, summary, *analyses.relations->history(), options.path)));
}

// `view` is `material`'s: its steps are shown as progress, because groups need all names.
Report build(const NamedReport& which, const Material& material, AllocationView& view, ProgressObserver* progress) {
  const Allocations* heap = material.analyses.allocations.get();
  Progress naming("naming", heap != nullptr ? heap->stacks().size() : 0, "stacks", progress);
  view.step = [&] { naming.slow_step(); };
  Report report = which.build(material);
  view.step = [] {};
  return report;
}

// The sentences above and below the tables: what was sampled, left out or selected, and how far times can be trusted.
void add_sentences(Report& report, const NamedReport& which, const ReportOptions& options, const Recording& recording,
                   const Summary& summary, const Allocations* heap, const AllocationChoice* choice) {
  if (options.by == ReportBy::kCall && summary.events[PENNA_CALLS] == 0) {
    report = without_calls(std::move(report), recording);
  } else {
    if (heap != nullptr && heap->family().is_heap() && !which.is_of_health)
      if (std::string others = other_families_text(recording, *heap); !others.empty())
        report.tail.push_back(std::move(others));
    if ((which.passes.classes & kAllocEvents) != 0 && heap != nullptr && heap->is_sampled())
      report.head.push_back(sample_text(*heap));
  }
  for (std::string& sentence : choice_notes(options.allocations, recording, choice))
    report.tail.push_back(std::move(sentence));
  if (selects_threads(recording)) report.head.push_back(selected_text(recording));
  if (std::string chosen = chosen_text(options.input, recording); !chosen.empty())
    report.head.push_back(std::move(chosen));
  if (which.does_take(kTakesNet)) add_cost(report, recording, options.net);
}

}  // namespace

// The steps of a report.
Result<Report> make_report(const Recording& recording, const ReportOptions& options, bool ascii) {
  const NamedReport& which = find_report(options.which);
  // What the recording contains, and how to name it.
  const Summary summary = summarize(recording);
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options.input, recording);
  Names names(recording, *symbols, name_style(options.input, options.table.format));
  // Everything that the options refer to exists, and the files that they name have been read.
  PENNA_TRY(check_net_is_known(options, recording, summary));
  const std::unique_ptr<AllocationChoice> choice = PENNA_TRY(make_choice(options.allocations, recording, names));
  const Suppressions listed = PENNA_TRY(read_suppressions(options.suppressions));
  LeakSuppressor suppressor(recording, names, listed, true);
  SameStacks same(recording, names);
  if (which.does_take(kTakesSuppressions) && !options.suppressions.none)
    same.keep_apart([&](uint32_t process, uint32_t stack) { return suppressor.suppresses(process, stack); });
  // One pass over the events, for everything that this table needs (NamedReport::passes).
  const std::unique_ptr<ProgressObserver> progress = progress_line(!options.input.no_progress);
  const AllocationRequest request{choice.get(), options.within.value_or(1),
                                  shows_stacks(which, options) ? &same : nullptr};
  const Analyses analyses = analyse(recording, summary, names.map(), passes_of(options, which.passes), progress.get(),
                                    request, lock_options(options, recording));
  const std::optional<CriticalPath> path = PENNA_TRY(path_of(options, recording, summary, analyses));
  // The analyses are complete and no longer change: tables are built from them, with names.
  AllocationView view{groups_of(options), [] {}, analyses.tree.get(),
                      options.suppressions.none ? nullptr : &suppressor};
  Report report = build(which, {recording, summary, analyses, names, view, options, ascii, path ? &*path : nullptr},
                        view, progress.get());
  add_sentences(report, which, options, recording, summary, analyses.allocations.get(), choice.get());
  // All rows exist: they are sorted, and cut to -n. Columns that are expensive to fill are filled now.
  PENNA_TRY(select_report_rows(report, options.table));
  limit_stacks(report, options.frames.value_or(which.frames));
  if (which.does_take(kTakesAllocations)) advise_on_names(report, names);
  if (!which.is_of_health) add_lost_files(report, names);
  // After the rows: only now is it known which names were missing.
  if (!which.is_of_health) add_health(report, recording, examine(recording, summary, analyses, names));
  return report;
}

namespace {

// `output` is not written to before the report is made, so an error leaves it empty.
Result<> show(const Recording& recording, const ReportOptions& options, Output& output) {
  // "flame" is a drawing of stacks, not a table of rows.
  if (find_report(options.which).build == nullptr) return show_flame(recording, options, output);
  const Report report = PENNA_TRY(make_report(recording, options, wants_ascii(options.ascii, output.fd())));
  write_report(report, options.table, output);
  return ok();
}

void add_options_of_one_table(OptionParser& parser, ReportOptions& options) {
  parser.section("Of one table");
  parser.flag(
      "--net", options.net,
      "calls, tree: subtract the cost of recording from times, by the number of events inside each call (docs: calls)");
  parser.flag("--unmatched", options.unmatched, "alloc: frees of unknown blocks and double frees, by stack");
  parser.number("--within", options.within, "N",
                "temp, alloc: a block is temporary if its thread frees it before making N more allocations; default 1",
                1, AllocationOptions::kMostWithin);
  add_suppression_options(parser, options.suppressions);
  parser.section("Of one table");
  add_weight_option(parser, options.weight, "flame");
  parser.value("--lock", options.lock, "NAME", "locks, waits, holds: only locks of this name; may be a glob",
               parse_any_pattern<std::string>);
  parser.value("--min-wait", options.min_wait, "DURATION", "locks, waits: leave out shorter waits: 10us, 1.5ms",
               ParseDuration{"--min-wait"});
  parser.value("--min-hold", options.min_hold, "DURATION", "holds: leave out shorter holds",
               ParseDuration{"--min-hold"});
  parser.flag("--ascii", options.ascii, "heap, locks, flame: draw with ASCII characters only");
  parser.text(
      "--span", options.path.span, "NAME",
      "chains: show the critical path of the slowest span with this name (with --thread, that of a thread): what "
      "it ran, and what the threads it waited for ran");
  parser.number("--width", options.width, "COLUMNS", "flame: default as wide as the terminal, else 100", 20, 10000);
}

void add_options_of_server(OptionParser& parser, ReportOptions& options) {
  parser.section("Of a server");
  parser.text(
      "--at", options.server.url, "URL",
      fmt::format("of what was pushed to this ClickHouse server: {}, a row for each function", fleet_report_names()));
  parser.values("--label", options.labels, "NAME=VALUE",
                "of that, only recordings with this label; -r is of days then: 2026-11-20..21; may be repeated",
                parse_label);
  add_server_options(parser, options.server);
}

}  // namespace

// Which options go with which table is defined in the table of reports (report_table.h), and checked at the end.
Result<Parsed<ReportOptions>> parse_report(const Arguments& arguments) {
  Parsed<ReportOptions> parsed;
  ReportOptions& options = parsed.options;
  std::vector<std::string> words;
  OptionParser parser("Shows the tables of a recording; without TABLE the top of each.", "penna report");
  parser.words("[REC] [TABLE]", words, fmt::format("the recording, and one of {}", fmt::join(report_names(), ", ")));
  parser.known(report_names());
  add_input_options(parser, options.input);
  add_stack_options(parser, options.input);
  add_thread_options(parser, options.input.threads);
  add_table_options(parser, options.table, true);
  parser.number("--frames", options.frames, "N", "frames of each stack in text, 0 for all; default 10");
  parser.choice("--by", options.by, kReportByWords,
                "a row for each: of calls function (default), module or thread; of alloc, leaks, temp, peak and "
                "lifetimes stack (default), function, file, module, process, thread, call (the recorded calls in which "
                "it was), kind (malloc, calloc...; of mappings file, anonymous...), and of alloc and lifetimes freer "
                "(who freed); of waits stack (default: who waited and who held it), function (that waited), holder "
                "(the function that held it, or woke), lock, thread, process");
  add_alloc_filter_options(parser, options.allocations, true);
  add_options_of_one_table(parser, options);
  add_options_of_server(parser, options);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  PENNA_TRY(take_words(words, options));
  PENNA_TRY(check_server_options(options.server));
  if (!options.server.url.empty()) {
    PENNA_TRY(check_fleet_report(options));
    return parsed;
  }
  if (!options.labels.empty()) return Error{"--label chooses among recordings of a server: --at is missing"};
  PENNA_TRY(take_threads(options));
  PENNA_TRY(check_report(options));
  // The overview shows the top of many tables; more rows would push the first ones off the screen.
  if (options.which.empty()) options.table = with_rows(options.table, 5);
  return parsed;
}

// A single word that is neither a table nor a file is more likely a misspelt table.
int not_opened(const ReportOptions& options, const Error& error) {
  const std::string& word = options.input.recording;
  if (word.empty() || !options.which.empty() || is_meant_as_file(word)) return fail(error.text);
  return fail("report", there_is_no("table and no recording", word, report_names()));
}

namespace {

int report_of_server(const ReportOptions& options) {
  const Result<std::unique_ptr<FleetServer>> server = open_fleet_server(options.server);
  if (!server) return fail("report", server.error().text);
  Result<Report> report = make_fleet_report(**server, options);
  if (!report) return fail("report", report.error().text);
  if (const Result<> selected = select_report_rows(*report, options.table); !selected)
    return fail("report", selected.error().text);
  Output output = Output::paged(!options.table.no_pager);
  write_report(*report, options.table, output);
  return finish_output(output);
}

}  // namespace

int cmd_report(const ReportOptions& options) {
  if (!options.server.url.empty()) return report_of_server(options);
  const Result<Recording> recording = open_input(options.input);
  if (!recording) return not_opened(options, recording.error());
  Output output = Output::paged(!options.table.no_pager);
  const Result<> shown = show(*recording, options, output);
  return shown ? finish_output(output) : fail("report", shown.error().text);
}

int report_verb(const Arguments& arguments) { return run_parsed("report", parse_report(arguments), cmd_report); }

// Never fails the command: the recording exists, and errors here are only printed.
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
