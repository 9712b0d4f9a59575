// SPDX-License-Identifier: MIT
// etrace PROGRAM: the call tree of a program that is started elsewhere, in the same directory, with libpenna-etrace.so.
//
//   TRACE is a recording   shows it
//   there is no TRACE      waits for the program, shows its calls as they come, ends with it
//
// Invariant: the program never notices whether somebody waits, reads slowly, or is killed.
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/count_text.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/arguments.h"
#include "cli/cmd_replay.h"
#include "cli/live_view.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "collect/clocks.h"
#include "collect/doorbell.h"
#include "collect/server.h"
#include "collect/settings.h"
#include "program_symbols.h"
#include "text_trace.h"
#include "trace_link.h"

namespace penna {
namespace {

struct EtraceOptions {
  std::string program;  // or its debug file, or what nm printed of it; may be empty
  std::string output;   // the recording is kept here; empty: nowhere
  bool all = false;     // a line for every call
  bool quiet = false;
  std::optional<uint32_t>
      serve;  // started by libpenna-etrace.so: writes TRACE, tells its socket through this descriptor
};

constexpr int kServePatienceMs = 10'000;
constexpr int kPatienceMs = 500;  // for a process that was started and has not met us

void tell(const EtraceOptions& options, const std::string& text) {
  if (options.quiet) return;
  const std::string line = "etrace: " + printable(text) + "\n";
  (void)!::write(2, line.data(), line.size());
}
int fail_with(const std::string& text) {
  tell({}, text);
  return kOurFailure;
}

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
  parser.flag("-q,--quiet", options.quiet, "say nothing but errors");
  parser.number("--serve", options.serve, "FD", "what libpenna-etrace.so starts, to write TRACE");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  return parsed;
}

Result<std::unique_ptr<ProgramSymbols>> open_symbols(const EtraceOptions& options) {
  std::string path = options.program;
  if (!path.empty()) {
    std::error_code unknown;
    path = std::filesystem::canonical(path, unknown).string();
    if (unknown) return Error{fmt::format("cannot open {}: {}", options.program, errno_text(unknown.value()))};
  }
  return ProgramSymbols::open(path, make_symbol_source());
}

bool is_executable_of(const Recording& recording, const std::string& path) {
  for (const RecordedProcess& one : recording.processes())
    if (one.process.executable == path) return true;
  return false;
}

std::string library() {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return (self.parent_path().parent_path() / "lib" / "libpenna-etrace.so").string();
}

// ---- A run that is over

// The etrace of a run that has just ended needs a moment to close its file.
void wait_for_writer(const EtraceOptions& options) {
  const Fd file(::open(kTrace, O_RDONLY | O_CLOEXEC));
  for (int tries = 0; tries < 200; ++tries) {
    if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    ::usleep(10'000);
  }
  tell(options, "the program still runs: what it has done until now");
}

int show_file(const EtraceOptions& options, ProgramSymbols& symbols) {
  wait_for_writer(options);
  const Result<Recording> recording = Recording::open(kTrace);
  if (!recording) return fail_with(recording.error().text);
  symbols.set_program([&](const std::string& path) { return is_executable_of(*recording, path); });
  ReplayOptions tree;
  tree.tree = true;
  tree.all = options.all;
  return replay(*recording, symbols, tree);
}

// What the original's ptrace.c has written.
int show_text(const EtraceOptions& options, ProgramSymbols& symbols) {
  std::error_code unknown;
  const std::string program =
      options.program.empty() ? "" : std::filesystem::canonical(options.program, unknown).string();
  const auto address_of = [&](const std::string& name) { return symbols.address_of(name); };
  const Result<TextTrace> trace = read_text_trace(kTrace, program, address_of);
  if (!trace) return fail_with(trace.error().text);
  if (trace->other_lines != 0)
    tell(options, fmt::format("TRACE: {} passed over: neither enter, exit, REFERENCE nor EXIT",
                              plural_text(trace->other_lines, "line is", "lines are")));
  if (program.empty()) tell(options, "name the program, and its functions have names: etrace PROGRAM");
  symbols.set_program([&](const std::string& path) { return path == program; });
  ReplayOptions tree;
  tree.tree = true;
  tree.all = options.all;
  return replay(trace->recording, symbols, tree);
}

// ---- A run to come

// Until all processes that have come are gone, or we are told to stop.
// `patience_ms`: for the first one; -1: for ever.
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

// TRACE is written for a program that has started us. What goes wrong it hears, and tells.
Result<> serve(uint32_t descriptor) {
  Fd told(static_cast<int>(descriptor));
  const auto tell_program = [&told](const std::string& text) {
    (void)!::write(told.get(), text.data(), text.size());
    told = Fd();
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
    tell_program("!" + error->text);
    return *error;
  }
  (void)writer->write_session(describe_session(settings, {}));
  Collector collector(std::move(*writer), *doorbell);
  const auto server = PENNA_TRY(Server::listen(*socket_path, config_for(settings), *doorbell, collector));
  PENNA_TRY(collector.start());
  tell_program(*socket_path);
  follow(*server, *doorbell, signals, kServePatienceMs);
  return collector.stop();
}

Result<> show_live(const EtraceOptions& options, ProgramSymbols& symbols) {
  const Signals signals(ending_signals());
  RecordSettings settings;
  settings.classes = 1u << PENNA_CALLS;
  Doorbell doorbell = PENNA_TRY(Doorbell::create());
  SocketDirectory directory;
  const std::string socket_path = PENNA_TRY(directory.create());
  RecordingWriter writer = PENNA_TRY(writer_for(options));
  const Session session = describe_session(settings, {});
  const ClockTriplet start = read_clocks();
  (void)writer.write_session(session);
  LiveView view(options.all ? LiveForm::kAll : LiveForm::kTree, false, session, start, symbols, 1);
  symbols.set_program([&](const std::string& path) { return is_executable_of(view.recording(), path); });
  Collector collector(std::move(writer), doorbell);
  collector.set_onlooker(view.onlooker());
  const auto server = PENNA_TRY(Server::listen(socket_path, config_for(settings), doorbell, collector));
  TraceLink link;
  PENNA_TRY(link.make(socket_path));
  PENNA_TRY(view.start());
  PENNA_TRY(collector.start());

  tell(options,
       fmt::format("waiting; start the program in this directory, linked with -lpenna-etrace or with LD_PRELOAD={}",
                   library()));
  follow(*server, doorbell, signals, -1);
  const Result<> closed = collector.stop();
  view.finish();
  if (server->has_met_any() && collector.totals().stored[PENNA_CALLS] == 0)
    tell(options, "no calls came: compile the program with -finstrument-functions");
  return closed;
}

int run(const EtraceOptions& options) {
  if (options.serve) return serve(*options.serve) ? 0 : kOurFailure;
  const Result<TraceState> trace = look_at_trace();
  if (!trace) return fail_with(trace.error().text);
  if (*trace == TraceState::kEmpty)
    return fail_with(
        "TRACE is empty: run the program here, then etrace shows its calls; or remove TRACE to see them live");
  const auto symbols = open_symbols(options);
  if (!symbols) return fail_with(symbols.error().text);
  if (*trace == TraceState::kRecording && is_text_trace(kTrace)) return show_text(options, **symbols);
  if (*trace == TraceState::kRecording) return show_file(options, **symbols);
  const Result<> shown = show_live(options, **symbols);
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
