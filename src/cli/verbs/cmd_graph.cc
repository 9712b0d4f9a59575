// SPDX-License-Identifier: MIT
// See cmd_graph.h.
#include "cli/verbs/cmd_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "analysis/analyses.h"
#include "base/nearest_name.h"
#include "cli/input.h"
#include "cli/output/output.h"
#include "cli/output/progress_line.h"
#include "cli/output/table_output.h"
#include "cli/verbs.h"
#include "model/calls/slowdown.h"
#include "model/names/function_pattern.h"
#include "report/file_state.h"
#include "report/frames.h"
#include "report/name_advice.h"
#include "report/reports.h"

namespace penna {
namespace {

// The message if no function has the name: up to five that contain it, in alphabetical order; else the nearest.
std::string not_found(const std::string& pattern, const Recording& recording, const CallGraph& graph, Names& names) {
  if (graph.counts().calls == 0) return "the recording holds no calls: " + why_no_calls(recording);
  std::set<std::string> similar;
  NearestName nearest(pattern);
  for (FunctionId function = 0; function < graph.functions().size() && similar.size() < 5; ++function) {
    const std::string& name = names.function_name(graph.functions().place(function));
    if (name.find(pattern) != std::string::npos) similar.insert(name);
    nearest.see(name_for_pattern(name, pattern));
  }
  return fmt::format("no function that was called has the name '{}'{}: 'penna report calls -n 0' lists them all",
                     pattern,
                     similar.empty() ? nearest.hint() : fmt::format("; there is {}", fmt::join(similar, ", ")));
}

// The steps of a graph: names, the one pass, the tables.
Result<> show(const Recording& recording, const GraphOptions& options, Output& output) {
  const Summary summary = summarize(recording);
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options.input, recording, options.function.text());
  Names names(recording, *symbols, name_style(options.input, options.table.format));
  // The pattern is matched once per function, not per call.
  CallGraph graph(recording, names.map(),
                  [&](const CodePlace& place) { return options.function.matches(names.full_function_name(place)); });
  Analyses analyses;
  {
    // One pass over the calls, thread by thread: callers and callees are in one thread, so no merge is needed.
    const std::unique_ptr<ProgressObserver> line = progress_line(!options.input.no_progress);
    Progress progress("reading", summary.events[PENNA_CALLS], "events", line.get());
    analyses.walk = for_each_thread_event(recording, {.classes = kCallEvents}, [&](const auto& some) {
      progress.step(count_of(some));
      graph(some);
    });
  }
  graph.finish();
  // A function that was not called is an error, not an empty table: usually the name is mistyped.
  if (graph.chosen().calls == 0) return Error{not_found(options.function.text(), recording, graph, names)};
  Report report = graph_report(recording, graph, names, options.function.text(), options.table.format == Format::kCsv);
  if (std::string slowdown = slowdown_text(recording); !slowdown.empty()) report.head.push_back(std::move(slowdown));
  if (std::string chosen = chosen_text(options.input, recording); !chosen.empty())
    report.head.push_back(std::move(chosen));
  PENNA_TRY(select_report_rows(report, options.table));
  add_lost_files(report, names);
  add_health(report, recording, examine(recording, summary, analyses, names));
  write_report(report, options.table, output);
  return ok();
}

}  // namespace

Result<Parsed<GraphOptions>> parse_graph(const Arguments& arguments) {
  Parsed<GraphOptions> parsed;
  GraphOptions& options = parsed.options;
  std::vector<std::string> words;
  OptionParser parser(
      "Shows who calls a function, and what it calls. FUNC: its name, with or without what it is in and its "
      "parameters; a "
      "glob as 'db::*' takes several together. TOTAL counts recursion once.",
      "penna graph");
  parser.words("FUNC [REC]", words, "the function, and the recording");
  add_input_options(parser, options.input);
  add_thread_options(parser, options.input.threads);
  add_table_options(parser, options.table, true);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  if (words.size() == 2 && ::access(words[0].c_str(), F_OK) == 0 && ::access(words[1].c_str(), F_OK) != 0)
    std::swap(words[0], words[1]);
  const size_t most = options.input.recording.empty() ? 2 : 1;
  if (words.empty()) return Error{"a function is missing: give its name, as in 'penna graph main'"};
  if (words.size() > most)
    return Error{fmt::format("unexpected argument '{}': give one function and one recording", words[most])};
  options.function = PENNA_TRY(parse_any_pattern<FunctionPattern>(words[0]));
  if (words.size() == 2) options.input.recording = words[1];
  return parsed;
}

int cmd_graph(const GraphOptions& options) {
  const Result<Recording> recording = open_input(options.input);
  if (!recording) return fail(recording.error().text);
  Output output = Output::paged(!options.table.no_pager);
  const Result<> shown = show(*recording, options, output);
  return shown ? finish_output(output) : fail("graph", shown.error().text);
}

int graph_verb(const Arguments& arguments) { return run_parsed("graph", parse_graph(arguments), cmd_graph); }

}  // namespace penna
