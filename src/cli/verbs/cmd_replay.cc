// SPDX-License-Identifier: MIT
// See cmd_replay.h.
#include "cli/verbs/cmd_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/analyses.h"
#include "base/count_text.h"
#include "cli/input.h"
#include "cli/output/output.h"
#include "cli/output/progress_line.h"
#include "cli/output/table_output.h"
#include "cli/verbs.h"
#include "options/process_option.h"
#include "options/terminal.h"
#include "report/calls/replay.h"
#include "report/calls/tree_lines.h"
#include "report/file_state.h"
#include "report/frames.h"
#include "report/name_advice.h"
#include "report/reports.h"

namespace penna {
namespace {

// Indices of the threads selected by --pid, --tid and --thread. An empty selection by --pid is an error, not a replay
// without events: most likely the number is mistyped.
Result<std::vector<uint32_t>> wanted_threads(const Recording& recording, const ReplayOptions& options) {
  std::vector<bool> processes(recording.processes().size(), true);
  if (options.pid) processes = PENNA_TRY(meant_processes(recording, *options.pid));
  std::vector<uint32_t> wanted;
  for (uint32_t i = 0; i < recording.threads().size(); ++i) {
    const RecordedThread& thread = recording.threads()[i];
    if (takes_thread(recording, i) && processes[thread.process]) wanted.push_back(i);
  }
  if (wanted.empty() && options.pid)
    return Error{fmt::format("no thread {}has pid {}: 'penna report threads' lists them",
                             selects_threads(recording) ? "that matches --tid and --thread " : "", options.pid->text)};
  return wanted;
}

// The call trees of penna replay --tree.
class CallTrees {
 public:
  CallTrees(const Recording& recording, Names& names, const ReplayOptions& options, Output& output)
      : recording_(recording),
        options_(options),
        printer_(recording, names, {style_of(options.table, output), false}, output.sink()),
        sink_(output.sink()) {}

  // False: stopped early.
  bool run(const std::vector<uint32_t>& threads) {
    for (uint32_t thread : threads) {
      // The index says which chunks contain calls: threads without any are skipped without reading their events.
      const auto chunks = recording_.chunks(thread);
      const bool has_calls = std::any_of(chunks.begin(), chunks.end(),
                                         [](const ChunkRef& chunk) { return chunk.events[PENNA_CALLS] != 0; });
      if (has_calls && !show(thread, threads.size() > 1)) return false;
    }
    return true;
  }
  uint64_t shown() const { return shown_; }
  std::string ends() const { return ends_.sentence(); }
  const WalkReport& walk() const { return walk_; }

 private:
  // One thread's tree. False: the requested number of lines is reached, or the reader has left. The title waits for the
  // first line, so that a thread without one has none.
  bool show(uint32_t thread, bool with_title) {
    const auto show_line = [this, thread, &with_title](std::string_view text) {
      if (std::exchange(with_title, false) && !printer_.thread_title(thread)) return false;
      // `lines` of 0 means all: `shown_` is at least 1 here, so it never equals that.
      return sink_(text) && ++shown_ != options_.lines;  // never 0
    };
    TreeLines tree(printer_, names_, options_.all, show_line);
    const TimelineOptions calls{.filter = {.classes = kCallEvents}, .fold_leaves = false};
    const auto line = [&](const TimelineLine& next) {
      ends_.count(next);
      return tree.line(next);
    };
    walk_.add(for_each_timeline_line(recording_, thread, calls, line));
    return !walk_.stopped && tree.finish();
  }

  const Recording& recording_;
  const ReplayOptions& options_;
  ReplayPrinter printer_;
  TextSink sink_;
  TreeNames names_;
  UnbalancedEnds ends_;
  uint64_t shown_ = 0;
  WalkReport walk_;
};

// Shows lines, as text or as rows, until the requested number is reached, or the reader has left.
class Replay {
 public:
  Replay(const Recording& recording, Names& names, const ReplayOptions& options, Output& output)
      : recording_(recording),
        options_(options),
        // The order of members matters: `columns_` and `cells_` refer to members before them.
        style_(style_of(options.table, output)),
        printer_(recording, names, {style_, options.stacks, options.fields ? &columns_ : nullptr, !options.merge},
                 output.sink()),
        cells_(recording, names, printer_) {
    // On a terminal the lines themselves are the progress.
    line_ = progress_line(!options.input.no_progress && !is_terminal(output.fd()));
    progress_.emplace("reading", summarize(recording).total_events(), "events", line_.get());
    if (options.table.format != Format::kTable) {
      table_.emplace(options.table.format, output, replay_table(*options.fields));
    } else if (options.fields) {
      columns_ = replay_columns(*options.fields, cells_, style_);
    }
  }

  // Thread by thread, or all by time. False: stopped early.
  bool run(const std::vector<uint32_t>& threads) { return options_.merge ? merged(threads) : each(threads); }
  uint64_t shown() const { return shown_; }
  std::string ends() const { return ends_.sentence(); }
  const WalkReport& walk() const { return walk_; }
  // Prints the closing sentences. The progress line must be gone before.
  void finish(const Report& closing, Output& output) {
    progress_.reset();
    table_ ? table_->finish(closing) : write_report(closing, options_.table, output);
  }

 private:
  // Thread by thread. A title is printed just before the first line of a thread, and so not for a thread whose lines
  // are all filtered out.
  bool each(const std::vector<uint32_t>& threads) {
    for (uint32_t thread : threads) {
      if (recording_.chunks(thread).empty()) continue;
      bool titled = false;  // a thread without lines needs no title
      const auto line = [&](const TimelineLine& next) {
        if (next.kind == LineKind::kLockRequest) return show(next);
        if (!titled && !table_ && (!printer_.thread_title(thread) || !printer_.titles())) return false;
        titled = true;
        return show(next);
      };
      walk_.add(for_each_timeline_line(recording_, thread, TimelineOptions{}, line));
      if (walk_.stopped) return false;
    }
    return true;
  }
  // By time, over all threads of the recording. A walk takes one thread or all: lines of other threads are dropped
  // here.
  bool merged(const std::vector<uint32_t>& threads) {
    std::vector<bool> wanted(recording_.threads().size());
    for (uint32_t thread : threads) wanted[thread] = true;
    const auto line = [&](const TimelineLine& next) { return !wanted[next.thread] || show(next); };
    if (!table_ && !printer_.titles()) return false;
    walk_ = for_each_merged_line(recording_, TimelineOptions{}, line);
    return !walk_.stopped;
  }
  // False: enough lines were shown, or the reader has left.
  bool show(const TimelineLine& line) {
    progress_->step();
    ends_.count(line);
    if (line.kind == LineKind::kLockRequest) return true;  // shown when it ends
    if (!(table_ ? row(line) : printer_.line(line))) return false;
    return ++shown_ != options_.lines;  // never 0
  }
  // Cells in the order of the fields, which is that of the columns in the header.
  bool row(const TimelineLine& line) {
    cells_.next(line);
    std::vector<Cell> cells;
    cells.reserve(options_.fields->size());
    for (ReplayField field : *options_.fields) cells.push_back(cells_.cell(field));
    return table_->add(std::move(cells));
  }

  const Recording& recording_;
  const ReplayOptions& options_;
  TextStyle style_;
  ReplayColumns columns_;  // for text with fields
  ReplayPrinter printer_;
  ReplayCells cells_;
  std::optional<ReportStream> table_;  // for CSV and JSON
  std::unique_ptr<ProgressObserver> line_;
  std::optional<Progress> progress_;  // until the end is written
  UnbalancedEnds ends_;
  uint64_t shown_ = 0;
  WalkReport walk_;
};

// The sentences after the lines. `complete`: every line was shown.
template <typename Shown>  // CallTrees or Replay
Report closing_of(const Recording& recording, Names& names, const ReplayOptions& options, bool complete,
                  const Shown& lines) {
  const uint64_t shown = lines.shown();
  const std::string ends = lines.ends();  // about exits without an entry and the like
  Report closing;
  if (complete && shown == 0)
    closing.head.push_back(call_rules(recording) != nullptr
                               ? "There are no events to show: options such as -r and -F filtered out all of them."
                               : "There are no events to show: 'penna report health' says what went wrong.");
  if (complete && lacks_calls(recording, summarize(recording))) closing.tail.push_back(no_calls_text(recording));
  if (!complete) closing.tail.push_back(fmt::format("Stopped after {}, as -n says.", plural_text(shown, "line")));
  if (complete && !ends.empty()) closing.tail.push_back(ends);
  if (const std::string several = several_text(recording, options.pid); !several.empty())
    closing.tail.push_back(several + ".");
  if (std::string chosen = chosen_text(options.input, recording); !chosen.empty())
    closing.tail.push_back(std::move(chosen));
  add_lost_files(closing, names);
  Analyses read;
  read.walk = lines.walk();
  add_health(closing, recording, examine(recording, summarize(recording), read, names));
  return closing;
}

// Options that exclude each other; the user must decide which to drop.
Result<> check_replay(const ReplayOptions& options) {
  if (options.all && !options.tree) return Error{"--all is for --tree: a replay shows every call anyway"};
  if (options.tree && (options.fields || options.table.format != Format::kTable))
    return Error{"--tree shows names only: leave it out for --fields, csv and json"};
  return ok();
}

// The requested fields, else those of the format. In text without --fields there are none: the printer then lays out
// each line itself, which columns cannot do.
Result<> choose_fields(const std::string& text, ReplayOptions& options) {
  const bool is_text = options.table.format == Format::kTable;
  if (text.empty() && is_text) return ok();
  options.fields = PENNA_TRY(parse_replay_fields(text, options.table.format));
  const auto& fields = *options.fields;
  if (options.stacks && !is_text && std::find(fields.begin(), fields.end(), ReplayField::kStack) == fields.end())
    options.fields->push_back(ReplayField::kStack);
  return ok();
}

}  // namespace

Result<Parsed<ReplayOptions>> parse_replay(const Arguments& arguments) {
  Parsed<ReplayOptions> parsed;
  ReplayOptions& options = parsed.options;
  OptionParser parser("Shows what happened in each thread, in order, nested as the calls were.", "penna replay");
  parser.word("REC", options.input.recording, "the recording; default the newest *.penna here");
  add_input_options(parser, options.input);
  add_stack_options(parser, options.input);
  add_thread_options(parser, options.input.threads);
  add_process_option(parser, "-p,--pid", options.pid, "only the threads of this process");
  parser.section("Output");
  parser.number("-n,--top", options.lines, "N", "stop after N lines; default all");
  parser.flag("--merge", options.merge, "all threads in one listing, by time");
  parser.flag("--tree", options.tree, "only the calls, as a tree of names; equal neighbours are counted, not repeated");
  parser.flag("--all", options.all, "with --tree: a line for every call");
  parser.flag("--stacks", options.stacks,
              "show the stacks of allocations and waits, and of functions recorded with -T FUNC@stack");
  std::string fields;
  parser.text(
      "-f,--fields", fields, "FIELD,...",
      fmt::format(
          "the columns in front of the events, or +FIELD for one more, or none; in csv and json all that they have; "
          "delta and elapsed count from the line before and the first one of the thread. Of {}",
          replay_field_names()));
  add_table_options(parser, options.table, false);
  for (const char* other : {"--merge", "--stacks", "--fields"}) parser.either({"--tree", other});
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  PENNA_TRY(choose_fields(fields, options));
  PENNA_TRY(check_replay(options));
  return parsed;
}

int cmd_replay(const ReplayOptions& options) {
  const Result<Recording> recording = open_input(options.input);
  if (!recording) return fail(recording.error().text);
  return replay(*recording, *open_symbols(options.input, *recording), options,
                name_style(options.input, options.table.format));
}

// Threads are selected before the output is opened: a mistyped pid leaves no half-written table.
int replay(const Recording& recording, SymbolSource& symbols, const ReplayOptions& options, NameStyle style) {
  const Result<std::vector<uint32_t>> threads = wanted_threads(recording, options);
  if (!threads) return fail(threads.error().text);
  Names names(recording, symbols, std::move(style));

  Output output = Output::paged(!options.table.no_pager);
  // Text that was stopped early (-n, | head) gets no closing sentences: they would not be read, or be longer than the
  // requested lines. CSV and JSON must always be closed to be valid.
  if (options.tree) {
    CallTrees trees(recording, names, options, output);
    if (trees.run(*threads)) write_report(closing_of(recording, names, options, true, trees), options.table, output);
  } else {
    Replay lines(recording, names, options, output);
    const bool complete = lines.run(*threads);
    if (complete || options.table.format != Format::kTable)
      lines.finish(closing_of(recording, names, options, complete, lines), output);
  }
  return finish_output(output);
}

int replay_verb(const Arguments& arguments) { return run_parsed("replay", parse_replay(arguments), cmd_replay); }

}  // namespace penna
