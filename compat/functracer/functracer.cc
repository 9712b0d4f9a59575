// SPDX-License-Identifier: MIT
// functracer PROGRAM: runs it, and writes the memory that it holds when it gets SIGUSR1 or SIGUSR2 (traced.h,
// toggle.h); functracer -p PID: the same for a running process, when functracer gets these signals.
//
// A child process is `penna record`, with an additional library for the program; its recording lies next to the output
// files, and is removed at the end. We wait for signals that the program got, and read the recording once it has
// everything before them: chunks that are not full yet are in the file within a second.
// Invariant: the program's exit status is ours; a dump contains everything that was recorded in its period.
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <pwd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "base/installed_library.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "cli/verbs/cmd_record.h"
#include "collect/server.h"
#include "options/arguments.h"
#include "options/record_options.h"
#include "penna/clock.h"
#include "penna/version.h"
#include "session/end_like.h"
#include "session/signal_relay.h"
#include "toggle.h"
#include "traced.h"

namespace penna {
namespace {

using Clock = std::chrono::steady_clock;
// After this time, what was in chunks when a signal arrived is in the recording.
constexpr std::chrono::milliseconds kSettle{2500};
constexpr size_t kMostPids = 20;

struct FunctracerOptions {
  std::vector<std::string> command;
  std::vector<std::string> functions;  // whose calls are traced instead of memory
  DumpStyle style;
  std::vector<std::string> pids;       // of running processes, instead of the command
  std::vector<std::string> libraries;  // parts of names of the files whose functions are traced; none: all
  bool start = false, debug = false, free_stacks = false, quiet = false, skip_missing = false;
};

// "16,24"; "" has none. By hand, because parts_of() would skip empty parts: "16,,24" is an error.
Result<std::vector<uint64_t>> sizes_of(std::string_view text) {
  std::vector<uint64_t> sizes;
  const char *at = text.data(), *const end = at + text.size();
  while (at != end) {
    if (!sizes.empty() && *at++ != ',') break;
    const auto [behind, error] = std::from_chars(at, end, sizes.emplace_back());
    if (error != std::errc{}) break;
    if ((at = behind) == end) return sizes;
  }
  if (text.empty()) return sizes;
  return Error{fmt::format("-M takes sizes in bytes, as 16,24, not '{}'", text)};
}

int fail_with(const std::string& text) {
  std::fputs(("functracer: " + printable(text) + "\n").c_str(), stderr);
  return kOurFailure;
}

// The non-empty parts between any of these characters.
std::vector<std::string> parts_of(std::string list, std::string_view separators) {
  std::replace_if(
      list.begin(), list.end(), [&](char c) { return separators.find(c) != separators.npos; }, '\n');
  std::vector<std::string> found;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part);)
    if (!part.empty()) found.push_back(part);
  return found;
}

// Names or globs: "open*;close", or "@FILE" with one in each line.
Result<std::vector<std::string>> functions_of(const std::string& text) {
  std::vector<std::string> functions = parts_of(text[0] == '@' ? PENNA_TRY(read_file(text.substr(1))) : text, ";");
  if (functions.empty()) return Error{fmt::format("{} names no function", text)};
  return functions;
}

// $HOME, where functracer has always written its files, or the user's directory.
std::string home() {
  if (const char* set = std::getenv("HOME"); set != nullptr && *set != '\0') return set;
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_dir : ".";
}

// The options are functracer's, with its letters and long names; what they mean for us is determined at the end.
Result<Parsed<FunctracerOptions>> parse(const Arguments& arguments) {
  Parsed<FunctracerOptions> parsed;
  FunctracerOptions& options = parsed.options;
  std::string function, audit, libraries, sizes, directory;
  bool names = false, no_times = false, version = false;
  OptionParser parser(
      "Runs PROGRAM and writes the blocks that it has allocated and not freed, each with its backtrace, into "
      "$HOME/allocs-PID.N.map and $HOME/allocs-PID.N.trace. Signals to PROGRAM say when: idle, SIGUSR1 and SIGUSR2 "
      "both start "
      "tracing; tracing, SIGUSR2 writes, SIGUSR1 writes, stops and forgets. What is traced when it ends is written, "
      "too.",
      "functracer");
  parser.flag("-s,--start", options.start, "trace from the beginning");
  parser.text("-e,--track-function", function, "FUNCTION", "trace the calls of this function, in place of memory");
  parser.text("-a,--audit", audit, "FUNCTIONS", "the same for several, as 'open*;close', or of @FILE, one in a line");
  parser.number("-n,--number", options.style.pick.most, "NUMBER", "no more blocks than this; default all", 1);
  parser.number("-t,--depth,-b,--backtrace-depth", options.style.pick.depth, "DEPTH",
                "frames of a backtrace; default 256", 0, PENNA_MAX_STACK_DEPTH);
  parser.text("-o,--path", directory, "DIR", "write all that happened, as rtrace text, into DIR/PID-N.rtrace.txt");
  parser.text("-M,--monitor-sizes", sizes, "SIZES", "backtraces only of blocks of these sizes, as 16,24");
  parser.text("-L,--libraries", libraries, "LIBS",
              "only functions (-e, -a) of files whose names hold one of these, as 'libc;libssl'");
  parser.flag("-S,--skip-missing", options.skip_missing, "do not report functions (-e, -a) that were not called");
  parser.flag("-T,--no-timestamps,--no-time", no_times, "events without times: in rtrace text (-o)");
  parser.flag("-A,--backtrace-all,--free-backtraces", options.free_stacks,
              "backtraces of frees, too: in rtrace text (-o)");
  parser.flag("-r,--resolve,--resolve-name", names, "names of functions: they are always there");
  parser.texts("-p,--pid", options.pids, "PID",
               "trace a process that runs, and leave it as it was; may be repeated. The signals then go to functracer, "
               "for all of them: the process keeps its own. Ctrl-C ends the tracing",
               OptionParser::Split::kAtCommas);
  parser.flag("-q,--quiet", options.quiet, "do not report what could not be recorded");
  parser.flag("-V,--version", version, "say which version this is");
  parser.flag("-d,--debug", options.debug, "say what happens, and keep the recording");
  parser.command(options.command);
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (version) parsed.help = fmt::format("functracer of penna {}\n", PENNA_VERSION);
  if (!parsed.help.empty()) return parsed;
  if (options.pids.empty() && options.command.empty()) return Error{"a program to run is missing"};
  if (options.pids.size() > kMostPids) return Error{fmt::format("-p takes at most {} processes", kMostPids)};
  if (!function.empty() && !audit.empty()) return Error{"-e and -a name functions both: give all to -a, as 'one;two'"};
  if (!function.empty()) options.functions.push_back(function);
  if (!audit.empty()) options.functions = PENNA_TRY(functions_of(audit));
  options.libraries = parts_of(libraries, ";,:");
  if (!options.libraries.empty() && options.functions.empty())
    return Error{"-L is for functions: name them with -e or -a"};
  options.style.pick.stacks_of_sizes = PENNA_TRY(sizes_of(sizes));
  options.style.directory = directory.empty() ? home() : directory;
  options.style.rtrace = !directory.empty();
  options.style.pick.times = !no_times;
  options.style.calls = !options.functions.empty();
  std::error_code unknown;
  if (!std::filesystem::is_directory(options.style.directory, unknown))
    return Error{fmt::format("{} is no directory: make it, or name another one with -o", options.style.directory)};
  return parsed;
}

// ---- The child that records

// Translates into a command line of penna record, which has all checks.
Result<RecordOptions> record_options(const FunctracerOptions& options, const std::string& recording) {
  // A depth of 0 is for what is written: the minimum that is recorded is one frame.
  const std::string depth = std::to_string(std::max<uint32_t>(options.style.pick.depth, 1));
  Arguments arguments = {"-q", "-f", "-o", recording, "--stack-depth", depth};
  if (options.functions.empty()) {
    arguments.insert(arguments.end(), {"-k", "alloc"});
    if (options.free_stacks) arguments.push_back("--free-stacks");
  } else {
    arguments.insert(arguments.end(), {"-k", "calls"});
    for (const std::string& function : options.functions)
      arguments.insert(arguments.end(), {"-F", function, "-T", function + "@stack"});
    for (const std::string& library : options.libraries)
      arguments.insert(arguments.end(), {"--module", "*" + library + "*"});
  }
  for (const std::string& pid : options.pids) arguments.insert(arguments.end(), {"-p", pid});
  if (!options.command.empty()) arguments.push_back("--");
  arguments.insert(arguments.end(), options.command.begin(), options.command.end());
  RecordOptions to_record = PENNA_TRY(parse_record(arguments)).options;
  to_record.optional_values = true;  // functions that were not called are reported here
  return to_record;
}

// For the program that the child starts. Our library precedes what was preloaded before.
void set_environment(const std::string& library, const std::string& socket_path) {
  const char* preloaded = std::getenv("LD_PRELOAD");
  const std::string preload =
      library + (preloaded != nullptr && *preloaded != '\0' ? std::string(":") + preloaded : "");
  ::setenv("LD_PRELOAD", preload.c_str(), 1);
  ::setenv(FUNCTRACER_VARIABLE, socket_path.c_str(), 1);
}

// In the child: _exit(), because the parent's destructors and atexit handlers must not run here.
[[noreturn]] void record(const RecordOptions& options) {
  const int status = cmd_record(options);
  std::fflush(nullptr);
  ::_exit(status);
}

// ---- The parent that listens and writes

Result<Fd> listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Error{fmt::format("{} is too long for a socket", path)};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return Error{fmt::format("cannot listen at {}: {}", path, errno_text(errno))};
  return socket;
}

// The signals that are for us while running processes are traced.
sigset_t own_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) ::sigaddset(&set, number);
  return set;
}

// Waits for signals and for the child's end, and writes each dump once everything that belongs to it is in the
// recording.
class Follower {
 public:
  Follower(const FunctracerOptions& options, std::string recording, const Fd& socket)
      : options_(options), recording_(std::move(recording)), socket_(socket), traced_(options.start) {}

  // For attached processes, until the child that records has ended; returns its wait status. `signals` is readable when
  // one of own_signals() has arrived: SIGUSR1 and SIGUSR2 are for us, all others end the recording.
  int follow_attached(pid_t child, const Fd& signals) {
    const Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    int status = 0;
    for (bool running = true; running;) {
      pollfd fds[] = {{signals.get(), POLLIN, 0}, {ended.get(), POLLIN, 0}};
      ::poll(fds, 2, patience());
      for (signalfd_siginfo come; ::read(signals.get(), &come, sizeof come) == sizeof come;) {
        const auto number = static_cast<int>(come.ssi_signo);
        if (number == SIGUSR1 || number == SIGUSR2)
          toggle_all(number);
        else
          ::kill(child, number);
      }
      running = ::waitpid(child, &status, WNOHANG) == 0;
      // Once the child has ended the recording is complete, and nothing has to wait any longer.
      while (running && !waiting_.empty() && waiting_.front().due <= Clock::now()) write_first();
    }
    write_rest();
    return status;
  }

  // The same for a program that the child has started.
  int follow(pid_t child, SignalRelay& signals) {
    const Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    int status = 0;
    for (bool running = true; running;) {
      pollfd fds[] = {{socket_.get(), POLLIN, 0}, {signals.fd(), POLLIN, 0}, {ended.get(), POLLIN, 0}};
      ::poll(fds, 3, patience());
      hear();
      signals.hand_on(child);  // which forwards it to the program
      running = ::waitpid(child, &status, WNOHANG) == 0;
      while (running && !waiting_.empty() && waiting_.front().due <= Clock::now()) write_first();
    }
    hear();
    write_rest();
    return status;
  }

 private:
  struct Waiting {
    Dump dump;
    Clock::time_point due;
  };
  void write_rest() {
    while (!waiting_.empty()) write_first();
    if (const auto recording = Recording::open(recording_)) {
      for (const Dump& dump : traced_.rest(*recording)) write(dump);
      // What could not be recorded, and why.
      if (!options_.quiet)
        for (const std::string& note : recording->collector().notes) (void)fail_with(note);
      if (!options_.skip_missing)
        for (const std::string& function : functions_without_calls(*recording, options_.functions))
          (void)fail_with(fmt::format("{} was not called, or there is no such function", function));
    }
  }
  // For attached processes, the signal is ours and applies to all of them.
  void toggle_all(int number) {
    for (const std::string& pid : options_.pids)
      toggle(static_cast<uint32_t>(std::atoi(pid.c_str())), number, penna_now());
  }
  // A dump is due when the chunks of the time before it are certainly in the file.
  void toggle(uint32_t pid, int number, uint64_t ticks) {
    if (const auto dump = traced_.signal(pid, number, ticks)) waiting_.push_back({*dump, Clock::now() + kSettle});
  }
  // Milliseconds for poll(2) until the first dump is due, rounded up; -1: none waits.
  int patience() const {
    if (waiting_.empty()) return -1;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(waiting_.front().due - Clock::now());
    return static_cast<int>(std::max<int64_t>(left.count() + 1, 0));
  }
  // Any process that knows the socket's path may write to it: what is not a signal of ours is ignored.
  void hear() {
    functracer_signal sent{};
    for (ssize_t got; (got = ::recv(socket_.get(), &sent, sizeof sent, 0)) >= 0;) {
      const bool sound = got == sizeof sent && sent.magic == FUNCTRACER_MAGIC && sent.pid > 0 &&
                         (sent.signal == SIGUSR1 || sent.signal == SIGUSR2);
      if (!sound) continue;
      debug(fmt::format("process {} got SIGUSR{}", sent.pid, sent.signal == SIGUSR1 ? 1 : 2));
      toggle(static_cast<uint32_t>(sent.pid), sent.signal, sent.ticks);
    }
  }
  // Few wait at a time, so a vector is a sufficient queue.
  void write_first() {
    const Dump dump = waiting_.front().dump;
    waiting_.erase(waiting_.begin());
    write(dump);
  }
  // An error ends this dump only: the next one may have room.
  void write(const Dump& dump) {
    const Result<DumpReport> done = write_dump(recording_, dump, options_.style);
    if (!done) return void(fail_with(done.error().text));
    for (const std::string& file : done->files) debug("wrote " + file);
    if (done->left_out != 0)
      (void)fail_with(fmt::format("-n {}: {} blocks more were allocated when there were so many, and are left out",
                                  options_.style.pick.most, done->left_out));
  }
  void debug(const std::string& text) const {
    if (options_.debug) (void)fail_with(text);
  }

  const FunctracerOptions& options_;
  std::string recording_;
  const Fd& socket_;
  Traced traced_;
  std::vector<Waiting> waiting_;  // in the order in which they are due
};

// The steps: a socket for the program's signals, a child that records, and waiting. The child is forked before any
// thread is started.
Result<int> run(const FunctracerOptions& options) {
  SocketDirectory directory;
  const std::string path = PENNA_TRY(directory.create());
  const std::string library = PENNA_TRY(installed_library("libpenna-functracer.so"));
  const Fd socket = PENNA_TRY(listen(path));
  // Next to the output files: the same disk has room for both, or for neither.
  const std::string recording = fmt::format("{}/functracer-{}.penna", options.style.directory, ::getpid());
  const RecordOptions to_record = PENNA_TRY(record_options(options, recording));
  if (options.free_stacks && !options.style.rtrace)
    (void)fail_with("-A: what is not freed has no backtraces of frees: -o DIR writes all that happened");
  const auto start = [&](const sigset_t& mask) -> Result<pid_t> {
    const pid_t child = ::fork();
    if (child < 0) return Error{fmt::format("cannot start a process: {}", errno_text(errno))};
    if (child != 0) return child;
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    if (options.pids.empty()) set_environment(library, path);
    record(to_record);
  };
  Follower follower(options, recording, socket);
  int status = 0;
  if (options.pids.empty()) {
    SignalRelay signals = PENNA_TRY(SignalRelay::start());
    status = follower.follow(PENNA_TRY(start(signals.before())), signals);
  } else {
    const sigset_t own = own_signals();
    sigset_t before;
    ::sigprocmask(SIG_BLOCK, &own, &before);
    const Fd signals(::signalfd(-1, &own, SFD_CLOEXEC | SFD_NONBLOCK));
    status = follower.follow_attached(PENNA_TRY(start(before)), signals);
  }
  // It may have gigabytes, and everything that was requested has been written.
  if (!options.debug) remove_own_file(recording);
  return status;
}

}  // namespace
}  // namespace penna

int main(int argc, char** argv) {
  penna::Arguments arguments(argv + 1, argv + argc);
  // functracer has always accepted these.
  // Only our own options: from the first word that is not one, it is the program's command line.
  for (std::string& word : arguments) {
    if (word.empty() || word[0] != '-' || word == "--") break;
    if (word == "-?" || word == "--usage") word = "--help";
  }
  const auto parsed = penna::parse(arguments);
  if (!parsed) return penna::fail_with(parsed.error().text + "; 'functracer --help' shows what is possible");
  if (!parsed->help.empty()) {
    std::fputs(parsed->help.c_str(), stdout);
    return 0;
  }
  const auto status = penna::run(parsed->options);
  return status ? penna::end_like(*status) : penna::fail_with(status.error().text);
}
