// SPDX-License-Identifier: MIT
// See cmd_export.h.
#include "cli/verbs/cmd_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/count_text.h"
#include "base/nearest_name.h"
#include "base/say.h"
#include "cli/export/export_heap.h"
#include "cli/export/export_tables.h"
#include "cli/input.h"
#include "cli/output/output.h"
#include "cli/output/progress_line.h"
#include "cli/report/weights.h"
#include "cli/sort_words.h"
#include "cli/verbs.h"
#include "cli/verbs/view_readers.h"
#include "export/calls/callgrind_export.h"
#include "export/calls/folded_export.h"
#include "export/calls/graphviz_export.h"
#include "export/timeline/chrome_export.h"
#include "export/timeline/csv_export.h"
#include "export/timeline/ctf_export.h"
#include "export/timeline/firefox_export.h"
#include "export/timeline/perfetto_export.h"
#include "export/timeline/speedscope_export.h"
#include "export/timeline/uftrace_export.h"
#include "options/process_option.h"
#include "options/terminal.h"
#include "report/frames.h"
#include "report/reports.h"
#include "view/data/view_data.h"
#include "view/packed_page.h"
#include "view/tracks/index_file.h"

namespace penna {
namespace {

// Adapts a writer that takes (recording, names, sink, step, walk) to the table below, for formats of one file. `step`
// moves the progress line by one event; `walk` receives what the pass could not read, for health. False: the sink
// refused.
template <auto kExport>
bool write_with(ExportWork& work, const TextSink& sink) {
  return kExport(
      work.recording, work.names, sink, [&] { work.progress.step(); }, &work.analyses.walk);
}

// Call paths that had no room in the tree were added to their callers: totals are right, the deepest frames are
// missing.
void note_folded(ExportWork& work, FoldedReport done) {
  work.analyses.walk = std::move(done.walk);
  if (done.folded != 0)
    say(fmt::format("there are too many distinct call paths: {} were added to their callers",
                    plural_text(static_cast<int64_t>(done.folded), "call")));
}

// Adapts a writer of stacks.
template <auto kExport>
bool write_stacks_with(ExportWork& work, const TextSink& sink) {
  note_folded(work, kExport(work.recording, work.names, work.options.folded, sink,
                            [&](uint64_t events) { work.progress.step(events); }));
  return true;
}

bool write_speedscope(ExportWork& work, const TextSink& sink) {
  if (work.options.aggregate) return write_stacks_with<export_aggregated_speedscope>(work, sink);
  return write_with<export_speedscope>(work, sink);
}

bool write_firefox(ExportWork& work, const TextSink& sink) {
  if (work.options.aggregate) return write_stacks_with<export_aggregated_firefox>(work, sink);
  return write_with<export_firefox>(work, sink);
}

bool write_graphviz(ExportWork& work, const TextSink& sink) {
  GraphReport done = export_graphviz(work.recording, work.names, work.options.folded, sink,
                                     [&](uint64_t events) { work.progress.step(events); });
  note_folded(work, std::move(done.folded));
  if (done.drawn < done.functions)
    say(fmt::format("{} of {} with less than 0.5 % of all are not drawn", done.functions - done.drawn,
                    plural_text(static_cast<int64_t>(done.functions), "function")));
  return true;
}

// A size that can be mailed.
constexpr size_t kMostPage = 20'000'000;

bool write_html(ExportWork& work, const TextSink& sink) {
  const std::unique_ptr<SymbolSource> symbols = open_symbols(work.options.input, work.recording);
  Names names(work.recording, *symbols, name_style(work.options.input, Format::kTable));
  TrackOptions tracks;
  tracks.step = [&](uint64_t events) { work.progress.step(events); };
  tracks.index_paths = index_paths(work.recording);
  tracks.answers_key = answers_key(work.options.input);
  ViewData data(work.recording, names, std::move(tracks));
  const std::vector<std::string> here = {"."}, &given = work.options.source_dirs;
  Questions questions(data, view_tables,
                      view_readers(work.options.input, work.recording.path(), given.empty() ? here : given));
  const Result<PackedPage> page = pack_page(questions, *data.summary(), {kMostPage, work.options.embed_source});
  work.analyses.walk = data.walk();
  if (!page) {
    work.trouble = page.error().text;
    return false;
  }
  if (!page->sources.empty()) say(page->sources);
  return sink(page->text);
}

// Writers to a directory, or to files whose names they choose, report their own errors and return an exit status. CTF
// 1.8 requires the stream and its metadata as two files of one directory.
int write_ctf(ExportWork& work) {
  Result<Output> stream = Output::create_new_in(work.directory, "events", work.options.output);
  Result<Output> metadata = Output::create_new_in(work.directory, "metadata", work.options.output);
  if (!stream || !metadata) return fail(stream ? metadata.error().text : stream.error().text);
  std::string text;
  export_ctf(
      work.recording, work.names, work.size.through(stream->sink()), &text, [&] { work.progress.step(); },
      &work.analyses.walk);
  metadata->write(text);
  const int status = finish_output(*stream);
  return status != 0 ? status : finish_output(*metadata);
}

// uftrace needs one file per thread, and more: the exporter requests them one by one, by name.
int write_uftrace(ExportWork& work) {
  int status = 0;
  const WriteFile write_file = [&](const std::string& name, const std::function<bool(const TextSink&)>& fill) {
    Result<Output> file = Output::create_new_in(work.directory, name, work.options.output);
    if (!file) {
      status = fail(file.error().text);
      return false;
    }
    const bool filled = fill(work.size.through(file->sink()));
    status = finish_output(*file);
    return filled && status == 0;
  };
  const UftraceReport done = export_uftrace(work.recording, work.names, write_file, [&] { work.progress.step(); });
  work.analyses.walk = done.walk;
  if (done.too_deep != 0)
    say(fmt::format("{} deeper than uftrace supports are left out",
                    plural_text(static_cast<int64_t>(done.too_deep), "call")));
  return status;
}

// Everything that the verb knows about a format; a new one is a row in kFormats.
struct ExportFormat {
  const char* name;
  const char* about;
  uint32_t classes;  // the events that it contains
  // One of the two: into a file, or elsewhere.
  bool (*write)(ExportWork&, const TextSink&);
  int (*write_elsewhere)(ExportWork&);
  int passes = 1;  // over the events
  bool of_one_process() const { return passes > 1; }
  enum class Into { kFile, kDirectory, kFiles } into = Into::kFile;   // kDirectory: an empty one
  enum class Shape { kText, kBinary, kStacks } shape = Shape::kText;  // kStacks: text that accepts --weight
};
constexpr auto kStacks = ExportFormat::Shape::kStacks;
constexpr ExportFormat kFormats[] = {
    {"csv", "one line for each event, in time order", kEventClasses, write_with<export_csv>, nullptr},
    {"chrome", "Trace Event Format, for chrome://tracing and ui.perfetto.dev", kEventClasses, write_with<export_chrome>,
     nullptr},
    {"perfetto", "protobuf trace, for ui.perfetto.dev: smaller than chrome", kEventClasses, write_with<export_perfetto>,
     nullptr, 1, ExportFormat::Into::kFile, ExportFormat::Shape::kBinary},
    {"html", "the page of penna view as one file for any browser, 20 MB at most", kEventClasses, write_html, nullptr},
    {"folded", "calls as stacks with their time, for flame graphs; other things by --weight", kCallEvents,
     write_stacks_with<export_folded>, nullptr, 1, ExportFormat::Into::kFile, kStacks},
    {"speedscope", "calls and spans of each thread, for speedscope.app; with --aggregate stacks",
     kCallEvents | kPointEvents, write_speedscope, nullptr},
    {"firefox", "calls, waits, points and allocations with their stacks, for profiler.firefox.com; --aggregate, too",
     kEventClasses, write_firefox, nullptr},
    {"callgrind", "functions and their callers, for KCachegrind and callgrind_annotate", kCallEvents,
     write_stacks_with<export_callgrind>, nullptr, 1, ExportFormat::Into::kFile, kStacks},
    {"graphviz", "the same as a graph for dot, xdot and other viewers of Graphviz", kCallEvents, write_graphviz,
     nullptr, 1, ExportFormat::Into::kFile, kStacks},
    {"ctf", "Common Trace Format 1.8, a directory for babeltrace2 and Trace Compass", kEventClasses, nullptr, write_ctf,
     1, ExportFormat::Into::kDirectory},
    {"heaptrack", "allocations of a process, for heaptrack_print and heaptrack_gui", kAllocEvents, write_heaptrack,
     nullptr, 3},
    {"massif", "live bytes of a process over time, for ms_print and massif-visualizer", kAllocEvents, write_massif,
     nullptr, 3},
    {"rtrace", "allocations and frees of a process as text, for tools of functracer and sp-rtrace", kAllocEvents,
     write_rtrace, nullptr, 2},
    {"libleaks", "blocks of a process that were not freed: OUT.N.map and OUT.N.trace, as functracer wrote them",
     kAllocEvents, nullptr, write_libleaks, 2, ExportFormat::Into::kFiles},
    {"pprof", "allocations as profile.proto, compressed by gzip, for go tool pprof", kAllocEvents, write_pprof, nullptr,
     1, ExportFormat::Into::kFile, ExportFormat::Shape::kBinary},
    {"uftrace", "a directory for uftrace's replay, report, graph, tui and dump", kCallEvents, nullptr, write_uftrace, 1,
     ExportFormat::Into::kDirectory},
    {"sqlite", "the tables of penna sql as a database of SQLite", kEventClasses, nullptr, write_sqlite, 1,
     ExportFormat::Into::kFiles},
    {"duckdb", "the same of DuckDB, with the macros", kEventClasses, nullptr, write_duckdb, 1,
     ExportFormat::Into::kFiles},
    {"parquet", "the same as Parquet: a directory with a file for each table", kEventClasses, nullptr, write_parquet, 1,
     ExportFormat::Into::kDirectory}};

// For messages: "heaptrack, massif, rtrace, libleaks".
std::string of_one_process() {
  std::vector<std::string> names;
  for (const ExportFormat& format : kFormats)
    if (format.of_one_process()) names.push_back(format.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const ExportFormat* find_format(const std::string& name) {
  for (const ExportFormat& format : kFormats)
    if (name == format.name) return &format;
  return nullptr;
}

bool can_aggregate(const ExportFormat& format) {
  return format.write == write_speedscope || format.write == write_firefox;
}

// Whether it sums by stack, and so accepts a --weight.
bool is_of_stacks(const ExportOptions& options) {
  return find_format(options.format)->shape == kStacks || options.aggregate;
}

// Whether some of the events are not written.
bool leaves_out(const InputOptions& options) {
  return !filter_text(options.filter).empty() || !thread_text(options.threads).empty() || !options.conditions.empty();
}

// Advice for a smaller file.
std::string advice_on_size(const ExportFormat& format) {
  if (can_aggregate(format)) return "with --aggregate it has one sample a stack; --depth and -r help, too";
  if (format.classes == kAllocEvents) return "-r makes it smaller";
  return "-r, -F, --depth and --min-time make it smaller";
}

bool is_standard_output(const std::string& path) { return path.empty() || path == "-"; }

// Standard output, or a file that replaces an existing one. A recording must not be replaced by its own export.
Result<Output> open_output(const ExportFormat& format, const ExportOptions& options, const std::string& recording) {
  if (is_standard_output(options.output)) {
    Output output;
    if (format.shape == ExportFormat::Shape::kBinary && is_terminal(output.fd()))
      return Error{
          fmt::format("{0} is binary, and standard output is a terminal: name a file, as in 'penna export {0} "
                      "-o FILE', or a pipe",
                      format.name)};
    return output;
  }
  if (is_same_file(options.output, recording))
    return Error{fmt::format("{} is the recording itself: choose another output", options.output)};
  return Output::create(options.output);
}

// Opens the directory of a format that needs one. It must be empty or missing: these formats are read as a whole
// directory, and files of an older export would be mistaken for a part of this one.
Result<Fd> make_directory(const std::string& path, const char* format) {
  if (is_standard_output(path))
    return Error{fmt::format(
        "{0} is a directory: name one that is empty or not there yet, as in 'penna export {0} REC DIR'", format)};
  return open_output_directory(path);
}

// The writer's own result is not needed: it is false only if the sink refused, and finish() knows why.
int write_file(const ExportFormat& format, Output& output, ExportWork& work) {
  format.write(work, work.size.through(output.sink()));
  return work.trouble.empty() ? finish_output(output) : fail("export", work.trouble);
}

// The events that are read for it.
uint32_t classes_in(const ExportFormat& format, const ExportOptions& options) {
  return is_of_stacks(options) ? classes_of(options.folded.weight) : format.classes;
}

uint64_t count_events(const Summary& summary, uint32_t classes) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i) count += (classes & 1u << i) != 0 ? summary.events[i] : 0;
  return count;
}

// A sentence if the recording has nothing that the format could show; the file is still written, valid and empty.
std::string what_is_missing(const ExportFormat& format, const ExportOptions& options, const Recording& recording,
                            const Summary& summary) {
  const uint32_t classes = classes_in(format, options);
  if (classes == kEventClasses || recording.processes().empty()) return "";  // its health report says why
  if (count_events(summary, classes) != 0) return "";
  const bool calls = (classes & kCallEvents) != 0;
  const char* const kind = classes == kAllocEvents ? "alloc" : classes == kPointEvents ? "points" : "locks";
  return fmt::format("the recording holds no {}, and so there is nothing for {}: {}",
                     calls                     ? "calls"
                     : classes == kAllocEvents ? "allocations"
                                               : kind,
                     format.name, calls ? kRecordAllCalls : fmt::format("record it with -k {}", kind));
}

// FORMAT, REC and OUT in this order, but the format may be in any position: "penna export app.penna ctf".
Result<> take_words(const std::vector<std::string>& words, ExportOptions& options) {
  std::vector<std::string*> places;
  for (std::string* place : {&options.input.recording, &options.output})
    if (place->empty()) places.push_back(place);  // -i and -o name them too
  SortedWords sorted = PENNA_TRY(
      sort_words(words, {"format", export_formats(), places.size(), "one format, one recording and one output"}));
  if (sorted.known.empty()) {
    const auto wrong = std::find_if_not(words.begin(), words.end(), is_meant_as_file);
    if (wrong != words.end()) return Error{there_is_no("format", *wrong, export_formats())};
    return Error{fmt::format("a format is missing: name one of {}", fmt::join(export_formats(), ", "))};
  }
  options.format = std::move(sorted.known);
  for (size_t i = 0; i < sorted.files.size(); ++i) *places[i] = std::move(sorted.files[i]);
  return ok();
}

// Options of one format are refused for the others rather than ignored.
Result<> check_export_options(const ExportOptions& options) {
  if (options.embed_source && find_format(options.format)->write != write_html)
    return Error{"--embed-source is for the format html"};
  if (!options.source_dirs.empty() && !options.embed_source) return Error{"--source-dir is for --embed-source"};
  if (options.aggregate && !can_aggregate(*find_format(options.format))) {
    return Error{find_format(options.format)->shape == kStacks
                     ? fmt::format("{} is aggregated already: leave out --aggregate", options.format)
                     : "--aggregate is for the formats speedscope and firefox"};
  }
  if (options.has_weight && !is_of_stacks(options))
    return Error{
        "--weight is for the formats folded, callgrind, graphviz and, with --aggregate, speedscope and firefox"};
  if (options.folded.threads && options.format != "folded" && !options.aggregate)
    return Error{"--threads is for the formats folded and, with --aggregate, speedscope and firefox"};
  if (options.pid && !find_format(options.format)->of_one_process())
    return Error{fmt::format("--pid is for {}", of_one_process())};
  PENNA_TRY(check_threads(options.folded));
  if (options.allocations.any() && (!is_of_stacks(options) || classes_of(options.folded.weight) != kAllocEvents))
    return Error{
        "--family, --size, --lifetime and --stack are for a --weight of allocations, as in 'penna export folded "
        "--weight alloc-bytes'"};
  return ok();
}

}  // namespace

std::vector<std::string> export_formats() {
  std::vector<std::string> names;
  for (const ExportFormat& format : kFormats) names.push_back(format.name);
  return names;
}

Result<Parsed<ExportOptions>> parse_export(const Arguments& arguments) {
  Parsed<ExportOptions> parsed;
  ExportOptions& options = parsed.options;
  std::vector<std::string> words;
  const std::string formats = fmt::format("{}", fmt::join(export_formats(), ", "));
  OptionParser parser("Writes the events of a recording for other tools.", "penna export");
  for (const ExportFormat& format : kFormats) parser.about_row(format.name, format.about);
  parser.words("FORMAT [REC [OUT]]", words, "one of " + formats + ", the recording, and where to (as -o)");
  parser.known(export_formats());
  add_input_options(parser, options.input);
  add_thread_options(parser, options.input.threads);
  parser.section("Output");
  parser.text("-o,--output", options.output, "OUT",
              "the file, default standard output; of ctf, parquet and uftrace the directory, of libleaks "
              "how the names of its files begin, default allocs-PID. heaptrack, massif and rtrace are compressed when "
              "it ends in .gz or .zst");
  std::optional<FoldedWeight> weight;
  add_weight_option(parser, weight, "folded, callgrind, graphviz");
  add_process_option(parser, "-p,--pid", options.pid,
                     fmt::format("{}: of which process; default the one that allocated most", of_one_process()));
  add_alloc_filter_options(parser, options.allocations);
  parser.section("Output");
  parser.flag("--threads", options.folded.threads, "folded: process and thread as the outermost of each stack");
  parser.flag(
      "--aggregate", options.aggregate,
      "speedscope, firefox: one profile of all stacks with their --weight, instead of every call in time order: small, "
      "however long the program ran");
  parser.flag("--embed-source", options.embed_source, "html: with the text of source files, and what each line cost");
  parser.texts("--source-dir", options.source_dirs, "DIR",
               "html: of source files that lie in DIR, default the current directory; may be repeated");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  PENNA_TRY(take_words(words, options));
  options.has_weight = weight.has_value();
  options.folded.weight = weight.value_or(FoldedWeight::kTime);
  PENNA_TRY(check_export_options(options));
  return parsed;
}

// The steps of an export.
int cmd_export(const ExportOptions& options) {
  const Result<Recording> recording = open_input(options.input);
  if (!recording) return fail(recording.error().text);
  const ExportFormat& format = *find_format(options.format);
  // Where to write. Before anything is read: an output that cannot be opened is reported at once.
  const bool is_file = format.into == ExportFormat::Into::kFile;
  const bool is_directory = format.into == ExportFormat::Into::kDirectory;
  Result<Output> output = is_file ? open_output(format, options, recording->path()) : Output();
  if (!output) return fail(output.error().text);
  Result<Fd> directory = is_directory ? make_directory(options.output, format.name) : Fd();
  if (!directory) return fail(directory.error().text);

  // What is in the recording, and how to name it.
  const Summary summary = summarize(*recording);
  const std::unique_ptr<SymbolSource> symbols = open_symbols(options.input, *recording);
  Names names(*recording, *symbols);
  const Result<std::unique_ptr<AllocationChoice>> choice = make_choice(options.allocations, *recording, names);
  if (!choice) return fail("export", choice.error().text);
  if (const Result<> known = check_weight_of_sample(*recording, options.folded.weight); !known)
    return fail("export", known.error().text);
  // Without --weight, only the recording determines the default weight.
  ExportOptions chosen = options;
  if (is_of_stacks(options) && !options.has_weight && default_weight(summary) != options.folded.weight) {
    chosen.folded.weight = default_weight(summary);
    say("there are no calls: the weights are bytes allocated, as with --weight alloc-bytes");
  }
  chosen.folded.choice = choice->get();
  // --pid matches existing processes: the writers below rely on it.
  if (options.pid)
    if (const auto meant = meant_processes(*recording, *options.pid); !meant) return fail("export", meant.error().text);
  Analyses analyses;
  // The events are read and written; the progress line is gone before any sentence is printed.
  int status = 0;
  {
    const std::unique_ptr<ProgressObserver> line =
        progress_line(!options.input.no_progress && (!is_file || !is_terminal(output->fd())));
    const uint64_t events = count_events(summary, classes_in(format, chosen));
    Progress progress("exporting", events * format.passes, "events", line.get());
    ExportSize size(is_standard_output(options.output) ? "standard output" : options.output, advice_on_size(format),
                    progress, leaves_out(options.input) ? 0 : events);
    ExportWork work{chosen, *recording, names, analyses, progress, size, *directory};
    status = is_file ? write_file(format, *output, work) : format.write_elsewhere(work);
  }
  // All bytes have arrived. What they lack is reported on stderr: standard output may be the export itself.
  if (status != 0) return status;
  if (const std::string missing = what_is_missing(format, chosen, *recording, summary); !missing.empty()) say(missing);
  for (const std::string& sentence : unmet_stacks(choice->get())) say(sentence);
  for (const std::string& warning : health_warnings(examine(*recording, summary, analyses, names))) say(warning);
  return status;
}

int export_verb(const Arguments& arguments) { return run_parsed("export", parse_export(arguments), cmd_export); }

}  // namespace penna
