// SPDX-License-Identifier: MIT
// See cmd_check.h.
#include "cli/verbs/cmd_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "analysis/analyses.h"
#include "cli/input.h"
#include "cli/output/output.h"
#include "cli/output/progress_line.h"
#include "cli/output/table_output.h"
#include "cli/verbs.h"
#include "model/events/sampling.h"
#include "model/names/same_stacks.h"
#include "model/verdict/check_needs.h"
#include "model/verdict/checks.h"
#include "model/verdict/lock_checks.h"
#include "report/check_report.h"
#include "report/file_state.h"
#include "report/reports.h"

namespace penna {
namespace {

// Limits are printed in shell syntax, so that a line of the report can be pasted into a script.
std::string quoted(const std::string& text) {
  return text.find_first_of("* ?[]()<>&$") == std::string::npos ? text : "'" + text + "'";
}

Verdict called(Verdict verdict, std::string limit) {
  verdict.limit = std::move(limit);
  return verdict;
}

void add_missing(Verdict& verdict, const std::vector<Missing>& missing) {
  verdict.missing.insert(verdict.missing.end(), missing.begin(), missing.end());
}

// Information that limits on allocations need and this recording lacks. `ends`: whether the limit depends on blocks
// being freed; a lost free makes a leak look larger, but does not change what was allocated.
void add_needs_of_blocks(const Recording& recording, const HealthReport& health, const Allocations& heap,
                         const AllocationChoice* choice, std::span<Verdict> verdicts, Ends ends) {
  std::vector<Missing> missing =
      missing_events(health, PENNA_ALLOC, ends, choice == nullptr || choice->limits().processes.empty());
  for (Missing& one : missing_blocks(recording, health, ends)) missing.push_back(std::move(one));
  // --stack can only decide about completely recorded stacks.
  if (choice != nullptr)
    if (auto stacks = missing_stacks(choice->doubtful(), "a function of --stack"))
      missing.push_back(std::move(*stacks));
  for (Verdict& verdict : verdicts) {
    add_missing(verdict, missing);
    // Sampling makes sums estimates. For a rate the number of samples is known, and thus its error.
    const bool is_rate = verdict.unit == Verdict::Unit::kBytes && ends == Ends::kDoNotCount;
    const auto samples = is_rate ? std::optional(heap.total().samples) : std::nullopt;
    const uint64_t mean = heap.family().is_heap() ? SampleScale(recording).mean() : 0;
    if (auto sampled = missing_samples(verdict, mean, samples)) add_missing(verdict, {std::move(*sampled)});
  }
}

// Verdicts on live blocks (leaks, peak) first, then on sums (rate, calls): the two groups need different information,
// see add_needs_of_blocks().
void judge_allocations(const CheckOptions& options, const Recording& recording, const Summary& summary,
                       const HealthReport& health, const Analyses& analyses, const AllocationChoice* choice,
                       const Suppressions& listed, Names& names, std::vector<Verdict>& verdicts) {
  const size_t first = verdicts.size();
  const Allocations& heap = *analyses.allocations;
  const std::string family = heap.family().is_heap() ? "" : " --family " + quoted(heap.family().name());
  LeakSuppressor suppressor(recording, names, listed, true);
  LeakSuppressor* suppress = options.suppressions.none ? nullptr : &suppressor;
  if (options.max_leak)
    verdicts.push_back(called(check_leak(heap, suppress, Verdict::Unit::kBytes, options.max_leak->value),
                              "--max-leak " + options.max_leak->text + family));
  if (options.max_leak_blocks)
    verdicts.push_back(called(check_leak(heap, suppress, Verdict::Unit::kCount, *options.max_leak_blocks),
                              fmt::format("--max-leak-blocks {}{}", *options.max_leak_blocks, family)));
  if (options.max_peak)
    verdicts.push_back(
        called(check_peak(heap, options.max_peak->value), "--max-peak " + options.max_peak->text + family));
  const size_t first_of_sums = verdicts.size();
  if (options.max_alloc_rate)
    verdicts.push_back(called(check_alloc_rate(recording, summary, heap, options.max_alloc_rate->value),
                              "--max-alloc-rate " + options.max_alloc_rate->text + family));
  // Stacks that look the same, from several processes or addresses, are one row in the report.
  SameStacks same(recording, names);
  for (Verdict& verdict : verdicts) join_blames(verdict, same);
  std::vector<CallLimit> limits;
  for (const auto& limit : options.max_allocs) limits.push_back(limit.value);
  std::vector<Verdict> of_calls = check_allocations(recording, heap, names, analyses.tree.get(), limits);
  for (Verdict& verdict : of_calls) join_blames(verdict, same);
  for (size_t i = 0; i < of_calls.size(); ++i)
    verdicts.push_back(called(std::move(of_calls[i]), "--max-allocs " + quoted(options.max_allocs[i].text) + family));
  const std::span<Verdict> all = std::span(verdicts).subspan(first);
  add_needs_of_blocks(recording, health, heap, choice, all.first(first_of_sums - first), Ends::kCount);
  add_needs_of_blocks(recording, health, heap, choice, all.subspan(first_of_sums - first), Ends::kDoNotCount);
}

// Limits on times first, each on one number of the statistics; then those on functions, which need every acquisition
// with its place.
void judge_locks(const CheckOptions& options, const Recording& recording, const Analyses& analyses, Names& names,
                 std::vector<Verdict>& verdicts) {
  const Locks& locks = *analyses.locks;
  const auto add = [&](const char* option, const std::optional<Duration>& most, auto check) {
    if (most)
      verdicts.push_back(called(check(recording, locks, most->value), fmt::format("{} {}", option, most->text)));
  };
  add("--max-wait", options.max_wait, check_longest_wait);
  add("--max-wait-p99", options.max_wait_p99, check_wait_p99);
  add("--max-hold", options.max_hold, check_longest_hold);
  // From here on it needs `lock_places`, which is only analysed if --no-lock-in was given.
  if (options.no_lock_in.empty()) return;
  std::vector<CallLimit> limits;
  for (const FunctionPattern& pattern : options.no_lock_in) limits.push_back({pattern, 0});
  std::vector<Verdict> found = check_locks_in(recording, *analyses.lock_places, names, analyses.tree.get(), limits);
  for (size_t i = 0; i < found.size(); ++i)
    verdicts.push_back(called(std::move(found[i]), "--no-lock-in " + quoted(options.no_lock_in[i].text())));
}

// The verdicts are in the order of the report's rows: lost events first, because they cast doubt on all others.
std::vector<Verdict> judge(const CheckOptions& options, const Recording& recording, const Summary& summary,
                           const HealthReport& health, const Analyses& analyses, const AllocationChoice* choice,
                           const Suppressions& listed, Names& names) {
  std::vector<Verdict> verdicts;
  if (options.of_allocations()) verdicts.push_back(check_lost(health, PENNA_ALLOC, "allocation"));
  if (options.of_locks()) verdicts.push_back(check_lost(health, PENNA_LOCKS, "lock"));
  if (std::optional<Verdict> gaps = check_gaps(health)) verdicts.push_back(std::move(*gaps));
  if (options.of_allocations())
    judge_allocations(options, recording, summary, health, analyses, choice, listed, names, verdicts);
  const size_t first_of_locks = verdicts.size();
  if (options.of_locks()) judge_locks(options, recording, analyses, names, verdicts);
  for (Verdict& verdict : judge_waits(options.waits, analyses.relations.get())) verdicts.push_back(std::move(verdict));
  // Lost lock events can hide a wait, a hold or an order, so all limits on locks need the same.
  for (size_t i = first_of_locks; i < verdicts.size(); ++i)
    add_missing(verdicts[i], missing_events(health, PENNA_LOCKS, Ends::kCount));
  return verdicts;
}

// Only what the limits need is analysed: each analysis costs time or memory for all events of its class, and most
// checks need one number.
AnalysisChoice passes_to_check(const CheckOptions& options, const Summary& summary) {
  const bool calls = summary.events[PENNA_CALLS] != 0;
  AnalysisChoice passes;
  if (options.of_allocations()) passes.classes |= kAllocEvents;
  if (options.of_locks()) passes.classes |= kLockEvents;
  passes.lock_order = options.waits.any();
  passes.lock_places = !options.no_lock_in.empty();
  // Without recorded calls --max-allocs and --no-lock-in fall back on the events' stacks.
  if (!options.max_allocs.empty() && calls) passes.context = AllocationContext::kCall;
  passes.call_tree = calls && (passes.lock_places || passes.context == AllocationContext::kCall);
  if (passes.call_tree) passes.classes |= kCallEvents;
  return passes;
}

// A program that could not be recorded would keep every limit; a green check must not mean that.
std::string nothing_recorded_text(const Recording& recording) {
  const std::vector<std::string>& notes = recording.collector().notes;
  return notes.empty()
             ? "no process is in the recording, so nothing can be checked: 'penna report health' says what is "
               "missing"
             : notes.front();
}

// A note that is already the reason of an unknown verdict need not be repeated below it.
bool is_named(const std::string& note, const std::vector<Verdict>& verdicts) {
  for (const Verdict& verdict : verdicts)
    for (const Missing& one : verdict.missing)
      if (verdict.is_unknown() && one.reason == note) return true;
  return false;
}

// The steps of a check. Returns the exit status.
Result<int> show(const Recording& recording, const CheckOptions& options, Output& output) {
  // Limits on events that were not recorded at all are incorrect usage, not kept limits.
  if (options.of_allocations() && (recording.session().classes & kAllocEvents) == 0)
    return Error{"no allocations were recorded, on which the limits are: record with -k alloc"};
  if (options.of_locks() && (recording.session().classes & kLockEvents) == 0)
    return Error{"no locks were recorded, on which the limits are: record with -k locks"};
  if (recording.processes().empty()) return Error{nothing_recorded_text(recording)};
  const Suppressions listed = PENNA_TRY(read_suppressions(options.suppressions));
  const Summary summary = summarize(recording);
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options.input, recording);
  Names names(recording, *symbols, name_style(options.input, options.table.format));
  const std::unique_ptr<AllocationChoice> choice = PENNA_TRY(make_choice(options.allocations, recording, names));
  // The events are read, once.
  const AnalysisChoice passes = passes_to_check(options, summary);
  const std::unique_ptr<ProgressObserver> progress = progress_line(!options.input.no_progress);
  // Because the peak's limit applies to each process, and patterns match functions that may be folded.
  SameStacks same(recording, names, SameStacks::Of::kEachProcess, SameStacks::Lines::kAll);
  const Analyses analyses =
      analyse(recording, summary, names.map(), passes, progress.get(), {choice.get(), 1, &same, PeakOf::kEachProcess});
  // Every limit is judged, and every doubt about it is known.
  const HealthReport health = examine(recording, summary, analyses, names);
  const std::vector<Verdict> verdicts =
      judge(options, recording, summary, health, analyses, choice.get(), listed, names);
  // The tables: the limits, then one for each limit on waits that is broken.
  Report report = check_report(recording, verdicts, names, analyses.allocations.get());
  Table limits = std::exchange(report.tables[0], {});  // all of them, regardless of -n
  report.tables.erase(report.tables.begin());
  constexpr size_t kFrames = 10, kFramesOfSeveral = 5;
  if (options.waits.any()) {
    const WaitTexts texts(analyses.relations->held(), names, analyses.locks.get(), analyses.lock_blocks.get(),
                          options.frames.value_or(kFramesOfSeveral), summary.first_time);
    for (Table& table : tables_of_waits(options.waits, *analyses.relations, texts))
      report.tables.push_back(std::move(table));
  }
  // -n cuts the tables of stacks. The table of limits is taken out meanwhile, so that no limit is hidden.
  PENNA_TRY(select_report_rows(report, options.table));
  report.tables.insert(report.tables.begin(), std::move(limits));
  for (Table& table : report.tables)
    if (const size_t frames = options.frames.value_or(kFrames); frames != 0 && table.details_key == "stack")
      table.most_details = frames;
  for (std::string& sentence : choice_notes(options.allocations, recording, choice.get()))
    report.tail.push_back(std::move(sentence));
  if (std::string chosen = chosen_text(options.input, recording); !chosen.empty())
    report.head.push_back(std::move(chosen));
  // Programs that could not be recorded have kept no limit: say so even if every verdict is "kept".
  for (const std::string& note : recording.collector().notes)
    if (!is_named(note, verdicts)) report.tail.push_back(note);
  add_health(report, recording, health);
  write_report(report, options.table, output);
  // A broken limit is certain; an unknown one is reported only if none is certainly broken.
  const auto any = [&](auto is) { return std::any_of(verdicts.begin(), verdicts.end(), is); };
  if (any([](const Verdict& one) { return one.is_broken(); })) return CheckOptions::kBroken;
  return any([](const Verdict& one) { return one.is_unknown(); }) ? CheckOptions::kCannot : 0;
}

}  // namespace

// Sizes and durations are values here, not texts: 0 is a limit, and none is nullopt. At least one limit must be given,
// or a mistyped script would always pass.
Result<Parsed<CheckOptions>> parse_check(const Arguments& arguments) {
  Parsed<CheckOptions> parsed;
  CheckOptions& options = parsed.options;
  std::vector<std::string> words;
  OptionParser parser(
      "Checks limits on the allocations and locks of a recording. Exits with 0 when all are kept, 1 when one is broken "
      "(and shows the stacks that broke it), 2 when one of them, or all, cannot be checked: what they need to be known "
      "is not in the recording.",
      "penna check");
  parser.words("[REC]", words, "the recording");
  parser.section("Limits");
  parser.value("--max-leak", options.max_leak, "BYTES", "never freed, in bytes: 0, 64k, 1.5MB",
               ParseByteSize{"--max-leak"});
  parser.number("--max-leak-blocks", options.max_leak_blocks, "N", "never freed, in blocks");
  parser.value("--max-peak", options.max_peak, "BYTES", "peak of live bytes, per process", ParseByteSize{"--max-peak"});
  parser.value("--max-alloc-rate", options.max_alloc_rate, "BYTES",
               "average allocation rate over the life of each process, per second: 10MB, 512k/s", parse_rate);
  parser.values("--max-allocs", options.max_allocs, "PATTERN=N",
                "allocations inside functions of this name, by stack or by recorded calls: 'parse*=0'; may be repeated",
                parse_call_limit);
  parser.value("--max-wait", options.max_wait, "DURATION", "the longest wait for a lock: 10us, 1.5ms",
               ParseDuration{"--max-wait"});
  parser.value("--max-wait-p99", options.max_wait_p99, "DURATION", "the 99th percentile of the waits for any lock",
               ParseDuration{"--max-wait-p99"});
  parser.value("--max-hold", options.max_hold, "DURATION", "the longest time a thread held a lock",
               ParseDuration{"--max-hold"});
  parser.values(
      "--no-lock-in", options.no_lock_in, "PATTERN",
      "no lock is taken inside functions of this name, by stack or by recorded calls: 'audio_*'; may be repeated",
      parse_any_pattern<FunctionPattern>);
  add_wait_limit_options(parser, options.waits);
  add_suppression_options(parser, options.suppressions);
  add_alloc_filter_options(parser, options.allocations, true);
  parser.section("Output");
  parser.number("--frames", options.frames, "N", "frames of each stack in text, 0 for all; default 10");
  add_input_options(parser, options.input);
  add_stack_options(parser, options.input);
  add_table_options(parser, options.table, true);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  if (words.size() > 1) return Error{fmt::format("unexpected argument '{}': give one recording", words[1])};
  if (!words.empty()) options.input.recording = words[0];
  if (!options.of_allocations() && !options.of_locks())
    return Error{"there is nothing to check: give a limit, as --max-leak 0 or --max-wait 1ms"};
  if (options.max_allocs.size() > kMostCallLimits || options.no_lock_in.size() > kMostCallLimits)
    return Error{fmt::format("there are more than {} --max-allocs or --no-lock-in", kMostCallLimits)};
  return parsed;
}

int cmd_check(const CheckOptions& options) {
  const Result<Recording> recording = open_input(options.input);
  if (!recording) return fail(recording.error().text);
  Output output = Output::paged(!options.table.no_pager);
  const Result<int> status = show(*recording, options, output);
  if (!status) return fail("check", status.error().text);
  const int written = finish_output(output);
  return written != 0 ? written : *status;
}

// Test harnesses know only 0, 1 and 2: our own failures (125) become 2, "cannot be checked", so that they are never
// mistaken for a broken limit.
int check_verb(const Arguments& arguments) {
  const int status = run_parsed("check", parse_check(arguments), cmd_check);
  return status == kOurFailure ? CheckOptions::kCannot : status;
}

}  // namespace penna
