// SPDX-License-Identifier: MIT
// etrace PROGRAM: the call tree of a program that is started elsewhere, in the same directory, with libpenna-etrace.so.
//
//   TRACE is a recording   shows it
//   there is no TRACE      waits for the program, shows its calls as they are recorded, ends with it
//
// Two etraces share that work between two machines: --connect where the program runs, --listen where its calls are
// shown.
//
// Invariant: the program never notices whether an etrace waits, reads slowly, or is killed.
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/count_text.h"
#include "base/file.h"
#include "base/installed_library.h"
#include "base/printable.h"
#include "cli/verbs/cmd_replay.h"
#include "collect/clocks.h"
#include "collect/doorbell.h"
#include "collect/server.h"
#include "collect/settings.h"
#include "etrace_options.h"
#include "far_listen.h"
#include "far_sender.h"
#include "far_socket.h"
#include "live/live_view.h"
#include "options/arguments.h"
#include "options/terminal.h"
#include "program_symbols.h"
#include "session/signals.h"
#include "text_trace.h"
#include "trace_link.h"

namespace penna {
namespace {

constexpr int kServePatienceMs = 10'000;
constexpr int kPatienceMs = 500;  // for a process that was started and has not connected yet

Result<Parsed<EtraceOptions>> parse(const Arguments& arguments) {
  Parsed<EtraceOptions> parsed;
  EtraceOptions& options = parsed.options;
  OptionParser parser(
      "Shows the calls of a program as a tree. Waits for the program, which is started in this directory with "
      "libpenna-etrace.so, linked or preloaded, and shows its calls as they come; or shows those of a run that is "
      "over, "
      "which a file TRACE that was there (touch TRACE) has kept.",
      "etrace");
  parser.word("PROGRAM", options.program,
              "where names come from when the program itself has none: its debug file, or the output of nm");
  parser.flag("-a,--all", options.all, "a line for every call; else equal neighbours are counted");
  parser.text("-o,--output", options.output, "FILE", "keep what is shown as a recording, for penna");
  parser.text(
      "--listen", options.listen, "[HOST:]PORT",
      "wait for the program of another machine, where etrace --connect runs; HOST: the address of this one where "
      "it waits, * for all; else localhost");
  parser.text("--connect", options.connect, "[HOST:]PORT",
              "show the calls there, where etrace --listen waits, instead of here");
  parser.flag("-q,--quiet", options.quiet, "print only errors");
  parser.number("--serve", options.serve, "FD", "what libpenna-etrace.so starts, to write TRACE");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!options.listen.empty() && !options.connect.empty())
    return Error{"--listen and --connect are for two machines, or two terminals: give one of them"};
  if (!options.listen.empty() && !options.output.empty())
    return Error{"-o keeps the recording where the program runs: give it to etrace --connect"};
  if (!options.connect.empty() && options.all)
    return Error{"--all is for who shows the calls: give it to etrace --listen"};
  return parsed;
}

// ---- A run that is over

// The etrace that writes TRACE holds a lock on it until it exits, and after the program's end needs a moment to close
// the file. Waits two seconds at most; then whatever the file has is shown.
void wait_for_writer(const EtraceOptions& options) {
  const Fd file(::open(kTrace, O_RDONLY | O_CLOEXEC));
  for (int tries = 0; tries < 200; ++tries) {
    if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::usleep(10'000);
  }
  inform(options, "the program still runs: what it has done until now");
}

int show_file(const EtraceOptions& options, ProgramSymbols& symbols) {
  wait_for_writer(options);
  const Result<Recording> recording = Recording::open(kTrace);
  if (!recording) return fail_with(recording.error().text);
  symbols.set_program([&](const std::string& path) { return is_executable_of(*recording, path); });
  ReplayOptions tree;
  tree.input.recording = recording->path();
  tree.tree = true;
  tree.all = options.all;
  return replay(*recording, symbols, tree);
}

// Shows what the original's ptrace.c wrote, which has only addresses: the names must come from PROGRAM.
int show_text(const EtraceOptions& options, ProgramSymbols& symbols) {
  std::error_code unknown;
  const std::string program =
      options.program.empty() ? "" : std::filesystem::canonical(options.program, unknown).string();
  const auto address_of = [&](const std::string& name) { return symbols.address_of(name); };
  const Result<TextTrace> trace = read_text_trace(kTrace, program, address_of);
  if (!trace) return fail_with(trace.error().text);
  if (trace->other_lines != 0)
    inform(options, fmt::format("TRACE: {} passed over: neither enter, exit, REFERENCE nor EXIT",
                                plural_text(trace->other_lines, "line is", "lines are")));
  if (program.empty()) inform(options, "name the program, and its functions have names: etrace PROGRAM");
  symbols.set_program([&](const std::string& path) { return path == program; });
  ReplayOptions tree;
  tree.input.recording = trace->recording.path();
  tree.tree = true;
  tree.all = options.all;
  return replay(trace->recording, symbols, tree);
}

// ---- A run to come

// Returns when all processes that have connected are gone, or a signal ends us. `patience_ms`: how long the first
// process is waited for; -1: forever. After the last one, processes that were started and have not connected yet get
// kPatienceMs.
void follow(Server& server, const Doorbell& doorbell, const Signals& signals, int patience_ms) {
  for (;;) {
    const bool over = server.has_met_any() && server.living() == 0;
    if (over && doorbell.expected() == 0) return;
    pollfd fds[] = {{server.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
    const int patience = over ? kPatienceMs : server.has_met_any() ? -1 : patience_ms;
    if (::poll(fds, 2, patience) == 0) return;
    server.work();
    for (auto signal = signals.next(); signal.ssi_signo != 0; signal = signals.next())
      if (signal.ssi_signo != SIGPIPE && signal.ssi_signo != SIGXFSZ) return;
  }
}

Result<RecordingWriter> writer_for(const EtraceOptions& options) {
  if (options.output.empty()) return RecordingWriter::nowhere();
  return RecordingWriter::create(options.output, {.overwrite = false});
}

// etrace --serve: writes TRACE for a program that has started this process (find_trace.c). Errors are reported to the
// program, because this process has no terminal: "!" and a sentence, else the path of the socket. The program waits for
// one of them.
Result<> serve(uint32_t descriptor) {
  Fd answers(static_cast<int>(descriptor));
  const auto answer_program = [&answers](const std::string& text) {
    (void)!::write(answers.get(), text.data(), text.size());
    answers = Fd();
  };
  const Signals signals(ending_signals());
  RecordSettings settings;
  settings.classes = 1u << PENNA_CALLS;
  SocketDirectory directory;
  auto doorbell = Doorbell::create();
  const auto socket_path = directory.create();
  auto writer = RecordingWriter::create(kTrace, {.overwrite = true});
  for (const Error* error : {doorbell ? nullptr : &doorbell.error(), socket_path ? nullptr : &socket_path.error(),
                             writer ? nullptr : &writer.error()}) {
    if (error == nullptr) continue;
    answer_program("!" + error->text);
    return *error;
  }
  (void)writer->write_session(describe_session(settings, {}));
  Collector collector(std::move(*writer), *doorbell);
  const auto server = PENNA_TRY(Server::listen(*socket_path, config_for(settings), *doorbell, collector));
  PENNA_TRY(collector.start());
  answer_program(*socket_path);
  follow(*server, *doorbell, signals, kServePatienceMs);
  return collector.stop();
}

// What recorded calls pass through on their way to a live view. On the heap, because server and collector keep
// references to it.
struct LiveSession {
  LiveSession(const RecordSettings& wanted, Doorbell bell, RecordingWriter kept)
      : settings(wanted), doorbell(std::move(bell)), writer(std::move(kept)) {
    (void)writer.write_session(session);
  }
  RecordSettings settings;
  Doorbell doorbell;
  RecordingWriter writer;
  SocketDirectory directory;
  std::string socket_path;
  const Session session = describe_session(settings, {});
  const ClockTriplet start = read_clocks();
};

Result<std::unique_ptr<LiveSession>> prepare(const EtraceOptions& options) {
  RecordSettings settings;
  settings.classes = 1u << PENNA_CALLS;
  Doorbell doorbell = PENNA_TRY(Doorbell::create());
  RecordingWriter writer = PENNA_TRY(writer_for(options));
  auto live = std::make_unique<LiveSession>(settings, std::move(doorbell), std::move(writer));
  live->socket_path = PENNA_TRY(live->directory.create());
  return live;
}

// The steps of a live session. View: LiveView or FarSender, which have the same interface. The link TRACE is made last:
// from then on programs connect.
template <typename View>
Result<> show_live(const EtraceOptions& options, const Signals& signals, LiveSession& live, ProgramSymbols& symbols,
                   View& view) {
  const std::string library = PENNA_TRY(installed_library("libpenna-etrace.so"));
  symbols.set_program([&](const std::string& path) { return is_executable_of(view.recording(), path); });
  Collector collector(std::move(live.writer), live.doorbell);
  collector.set_observer(view.observer());
  const auto server = PENNA_TRY(Server::listen(live.socket_path, config_for(live.settings), live.doorbell, collector));
  TraceLink link;
  PENNA_TRY(link.make(live.socket_path));
  PENNA_TRY(view.start());
  PENNA_TRY(collector.start());

  inform(options,
         fmt::format("waiting; start the program in this directory, linked with -lpenna-etrace or with LD_PRELOAD={}",
                     library));
  // After follow() no process is waited for: they are gone, or a signal has ended us.
  follow(*server, live.doorbell, signals, -1);
  const Result<> closed = collector.stop();
  view.finish();
  if (server->has_met_any() && collector.totals().stored[PENNA_CALLS] == 0)
    inform(options, "no calls came: compile the program with -finstrument-functions");
  return closed;
}

// The view is made before the collector and outlives it: the collector forwards records until it has stopped.
Result<> show_here(const EtraceOptions& options, ProgramSymbols& symbols) {
  const Signals signals(ending_signals());
  const auto live = PENNA_TRY(prepare(options));
  LiveView view(options.all ? LiveForm::kAll : LiveForm::kTree, false, live->session, live->start, symbols, 1);
  return show_live(options, signals, *live, symbols, view);
}

// Connects to the other side before anything is made here: without it there is nothing to do.
Result<> show_there(const EtraceOptions& options, ProgramSymbols& symbols) {
  const FarAddress address = PENNA_TRY(parse_far_address(options.connect));
  Fd socket = PENNA_TRY(connect_far(address));
  const Signals signals(ending_signals());
  const auto live = PENNA_TRY(prepare(options));
  FarSender sender(std::move(socket), live->session, live->start, symbols,
                   [&] { inform(options, "the etrace that shows the calls is gone; the program goes on without it"); });
  PENNA_TRY(show_live(options, signals, *live, symbols, sender));
  if (!sender.is_broken()) return ok();
  if (sender.calls_unsent() == 0) return Error{"the other etrace was gone before it had shown everything"};
  return Error{fmt::format("the other etrace ended too early: at least {} did not reach it",
                           plural_text(static_cast<int64_t>(sender.calls_unsent()), "call"))};
}

// What this directory contains decides what is done, as in the original.
int run(const EtraceOptions& options) {
  if (options.serve) return serve(*options.serve) ? 0 : kOurFailure;
  if (!options.listen.empty()) return show_far(options);
  const Result<TraceState> trace = look_at_trace();
  if (!trace) return fail_with(trace.error().text);
  if (!options.connect.empty() && (*trace == TraceState::kEmpty || *trace == TraceState::kRecording))
    return fail_with("TRACE is a file here, of a run that is over or shall be kept: remove it to show one as it comes");
  if (*trace == TraceState::kEmpty)
    return fail_with(
        "TRACE is empty: run the program here, then etrace shows its calls; or remove TRACE to see them live");
  const auto symbols = open_symbols(options, make_symbol_source());
  if (!symbols) return fail_with(symbols.error().text);
  if (*trace == TraceState::kRecording && is_text_trace(kTrace)) return show_text(options, **symbols);
  if (*trace == TraceState::kRecording) return show_file(options, **symbols);
  const Result<> shown = options.connect.empty() ? show_here(options, **symbols) : show_there(options, **symbols);
  return shown ? 0 : fail_with(shown.error().text);
}

}  // namespace
}  // namespace penna

int main(int argc, char** argv) {
  const auto parsed = penna::parse({argv + 1, argv + argc});
  if (!parsed) return penna::fail_with(parsed.error().text + "; 'etrace --help' shows what is possible");
  if (parsed->help.empty()) return penna::run(parsed->options);
  std::fputs(parsed->help.c_str(), stdout);
  return 0;
}
