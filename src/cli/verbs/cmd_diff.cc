// SPDX-License-Identifier: MIT
// See cmd_diff.h. One recording after the other: no more than one is open at a time.
#include "cli/verbs/cmd_diff.h"

#include <fmt/format.h>

#include "analysis/analyses.h"
#include "cli/input.h"
#include "cli/output/output.h"
#include "cli/output/progress_line.h"
#include "cli/output/table_output.h"
#include "cli/verbs.h"
#include "report/alloc/alloc_diff.h"
#include "report/frames.h"
#include "report/locks/lock_diff.h"
#include "report/name_advice.h"
#include "report/reports.h"

namespace penna {
namespace {

// One side, analysed for `classes`: use(recording, analyses, names). Its warnings go to `warnings`.
template <typename Use>
Result<> read_side(const char* side, const std::string& path, const DiffOptions& options, uint32_t classes,
                   std::vector<std::string>& warnings, Use&& use) {
  InputOptions input = options.input;
  input.recording = path;
  const Recording recording = PENNA_TRY(open_input(input));
  const Summary summary = summarize(recording);
  const std::unique_ptr<SymbolSource> symbols = open_symbols(input, recording);
  Names names(recording, *symbols, name_style(options.input, options.table.format));
  const std::unique_ptr<AllocationChoice> choice = PENNA_TRY(make_choice(options.allocations, recording, names));
  const std::unique_ptr<ProgressObserver> progress = progress_line(!input.no_progress);
  const Analyses analyses =
      analyse(recording, summary, names.map(), {.classes = classes}, progress.get(), {choice.get(), 1});
  PENNA_TRY(use(recording, analyses, names));
  for (const std::string& sentence : unmet_stacks(choice.get()))
    warnings.push_back(fmt::format("{}: {}", side, sentence));
  for (const std::string& warning : health_warnings(examine(recording, summary, analyses, names)))
    warnings.push_back(fmt::format("{}: {}", side, warning));
  for (const std::string& sentence : lost_files(names)) warnings.push_back(fmt::format("{}: {}", side, sentence));
  return ok();
}

// Only names and sums of a side are kept: addresses and stack numbers mean nothing outside of their recording, which is
// closed when these return.
Result<CallsByName> read_calls(const char* side, const std::string& path, const DiffOptions& options,
                               std::vector<std::string>& warnings) {
  CallsByName calls;
  PENNA_TRY(read_side(side, path, options, kCallEvents, warnings,
                      [&](const Recording& recording, const Analyses& analyses, Names& names) -> Result<> {
                        calls = calls_by_name(recording, *analyses.calls, names);
                        if (calls.calls != 0) return ok();
                        return Error{fmt::format("{} holds no calls: {}", path, why_no_calls(recording))};
                      }));
  return calls;
}

// Fails only if allocations were not recorded at all; if the filters left out all of them, that is shown as a
// difference.
Result<StacksByName> read_stacks(const char* side, const std::string& path, const DiffOptions& options, StackSums what,
                                 const Suppressions& listed, std::vector<std::string>& warnings) {
  StacksByName stacks;
  PENNA_TRY(read_side(side, path, options, kAllocEvents, warnings,
                      [&](const Recording& recording, const Analyses& analyses, Names& names) -> Result<> {
                        const HeapTotals total = analyses.allocations->total();
                        if (total.allocations + total.left_out == 0)
                          return Error{fmt::format("{} holds no allocations{}: record it with -k alloc", path,
                                                   family_text(*analyses.allocations))};
                        LeakSuppressor suppressor(recording, names, listed, true);
                        stacks = stacks_by_name(*analyses.allocations, names, what,
                                                options.suppressions.none ? nullptr : &suppressor);
                        return ok();
                      }));
  return stacks;
}

Result<LocksByName> read_locks(const char* side, const std::string& path, const DiffOptions& options,
                               std::vector<std::string>& warnings) {
  LocksByName locks;
  PENNA_TRY(read_side(side, path, options, kLockEvents, warnings,
                      [&](const Recording& recording, const Analyses& analyses, Names& names) -> Result<> {
                        locks = locks_by_name(recording, *analyses.locks, names, analyses.lock_blocks.get());
                        if (!locks.locks.empty()) return ok();
                        return Error{fmt::format("{} holds no locks: record it with -k locks", path)};
                      }));
  return locks;
}

// What to compare without --of: calls, unless one of both has none and both have allocations. Opens each recording once
// more, but reads only its index (Summary).
Result<DiffOf> what_both_have(const DiffOptions& options) {
  bool calls = true, allocations = true;
  for (const std::string& path : {options.a, options.b}) {
    const Recording recording = PENNA_TRY(open_recording(path));
    const Summary summary = summarize(recording);
    calls &= summary.events[PENNA_CALLS] != 0;
    allocations &= summary.events[PENNA_ALLOC] != 0;
  }
  return calls || !allocations ? DiffOf::kCalls : DiffOf::kAlloc;
}

}  // namespace

// The steps of a diff.
Result<Report> make_diff_report(const DiffOptions& options) {
  std::vector<std::string> warnings;
  // The kind of comparison is known; only now is it clear whether --min-delta fits.
  const DiffOf of = options.of ? *options.of : PENNA_TRY(what_both_have(options));
  const QuietLimit quiet = PENNA_TRY(quiet_limit(options.min_delta, of));
  Report report;
  if (of == DiffOf::kCalls) {
    const CallsByName a = PENNA_TRY(read_calls("A", options.a, options, warnings));
    const CallsByName b = PENNA_TRY(read_calls("B", options.b, options, warnings));
    // A and B have been read, one after the other, and both are closed.
    report = diff_report(a, b, quiet);
    PENNA_TRY(select_report_rows(report, options.table));
  } else if (of == DiffOf::kLocks) {
    const LocksByName a = PENNA_TRY(read_locks("A", options.a, options, warnings));
    const LocksByName b = PENNA_TRY(read_locks("B", options.b, options, warnings));
    report = lock_diff_report(a, b, quiet);
    PENNA_TRY(select_report_rows(report, options.table));
  } else {
    const StackSums what = of == DiffOf::kLeaks ? StackSums::kLeaked : StackSums::kAllocated;
    const Suppressions listed = PENNA_TRY(read_suppressions(options.suppressions));
    const StacksByName a = PENNA_TRY(read_stacks("A", options.a, options, what, listed, warnings));
    const StacksByName b = PENNA_TRY(read_stacks("B", options.b, options, what, listed, warnings));
    report = alloc_diff_report(a, b, what, quiet);
    PENNA_TRY(select_report_rows(report, options.table));
    constexpr size_t kFrames = 10;
    if (const size_t frames = options.frames.value_or(kFrames); frames != 0)
      for (Table& table : report.tables) table.most_details = frames;
  }
  // Warnings of both sides, each with its letter: a loss on one side makes its numbers smaller than the other's.
  report.warnings = std::move(warnings);
  return report;
}

// "10" may be nanoseconds or bytes: the parser keeps both interpretations, and the one that fits is chosen here.
Result<QuietLimit> quiet_limit(const std::optional<Typed<MinDelta>>& delta, DiffOf of) {
  if (!delta) return QuietLimit{};
  const MinDelta& least = delta->value;
  const bool is_time = of == DiffOf::kCalls || of == DiffOf::kLocks;
  if (const auto absolute = is_time ? least.ns : least.bytes) return QuietLimit{0, *absolute};
  if (least.percent) return QuietLimit{*least.percent, 0};
  return Error{fmt::format("--min-delta is {} or a percentage, as {} or 5%, not '{}'",
                           is_time ? "a time" : "a number of bytes", is_time ? "10us" : "4k", delta->text)};
}

// Like every parse_*: declare the options, parse, return early for --help, then check combinations of options. The
// similarity is deliberate: each verb's options can be read in one place.
Result<Parsed<DiffOptions>> parse_diff(const Arguments& arguments) {
  Parsed<DiffOptions> parsed;
  DiffOptions& options = parsed.options;
  std::vector<std::string> words;
  OptionParser parser(
      "Compares the calls of two recordings, function by function, their allocations, stack by stack, or their "
      "locks, by name. What "
      "changed least comes last; noise is grey on a terminal and has quiet = 1 in csv and json.",
      "penna diff");
  parser.words("A B", words, "the recordings: before, and after");
  parser.section("What is compared");
  parser.choice(
      "--of", options.of,
      {{"calls", DiffOf::kCalls}, {"alloc", DiffOf::kAlloc}, {"leaks", DiffOf::kLeaks}, {"locks", DiffOf::kLocks}},
      "what is compared; default calls, or where there are none, alloc");
  parser.shorthand("--alloc", options.of, std::optional(DiffOf::kAlloc), "the same as --of alloc");
  parser.shorthand("--leaks", options.of, std::optional(DiffOf::kLeaks), "the same as --of leaks");
  parser.shorthand("--locks", options.of, std::optional(DiffOf::kLocks), "the same as --of locks: waits, by lock");
  parser.value("--min-delta", options.min_delta, "LIMIT",
               "noise is what changed by less: a time as 10us, of allocations bytes as 4k, or a part as 5% (where both "
               "made as many calls; of bytes and number of allocations); default 1%",
               parse_min_delta);
  add_alloc_filter_options(parser, options.allocations);
  add_suppression_options(parser, options.suppressions);
  add_filter_options(parser, options.input.filter, FilterUse::kReading);
  add_thread_options(parser, options.input.threads);
  add_symbol_options(parser, options.input);
  add_stack_options(parser, options.input);
  parser.section("Output");
  parser.number("--frames", options.frames, "N", "frames of each stack in text, 0 for all; default 10");
  parser.flag("--no-progress", options.input.no_progress, "show no progress on a terminal");
  add_table_options(parser, options.table, true);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  if (words.size() != 2) return Error{"give two recordings, as in 'penna diff before.penna after.penna'"};
  options.a = words[0];
  options.b = words[1];
  // A --min-delta that fits neither calls nor allocations is refused before any recording is opened. Without --of it is
  // not known yet which are compared.
  if (const auto wrong = quiet_limit(options.min_delta, options.of.value_or(DiffOf::kCalls));
      !wrong && (options.of || !quiet_limit(options.min_delta, DiffOf::kAlloc)))
    return wrong.error();
  return parsed;
}

int cmd_diff(const DiffOptions& options) {
  Output output = Output::paged(!options.table.no_pager);
  const Result<Report> report = make_diff_report(options);
  if (!report) return fail("diff", report.error().text);
  write_report(*report, options.table, output);
  return finish_output(output);
}

int diff_verb(const Arguments& arguments) { return run_parsed("diff", parse_diff(arguments), cmd_diff); }

}  // namespace penna
