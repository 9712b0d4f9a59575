// SPDX-License-Identifier: MIT
// See own_recorder.h.
#include "recorder/own_recorder.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/output_file.h"
#include "collect/collector.h"
#include "collect/control/control_request.h"
#include "collect/control/control_server.h"
#include "collect/doorbell.h"
#include "collect/server.h"
#include "penna/detail/join.h"
#include "recording/writer.h"

namespace penna {
namespace {

// Blocks all signals, for the threads that are created meanwhile.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

// Sent to one thread, which has all signals blocked and reads this one from a descriptor, to which no other thread
// could write.
constexpr int kStopSignal = SIGURG;

Fd stop_descriptor() {
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, kStopSignal);
  return Fd(::signalfd(-1, &stop, SFD_CLOEXEC));
}

// From here on this thread and those that it starts share no descriptors with the program.
Result<> leave_descriptors() {
  // The kernel first copies the table for this thread, then closes everything in the copy.
  if (::close_range(0, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0) return ok();
  return Error{
      fmt::format("cannot create a separate descriptor table: {}; it takes Linux 5.9, and a sandbox that "
                  "allows close_range",
                  errno_text(errno))};
}

std::vector<std::string> own_command() {
  const auto text = read_file("/proc/self/cmdline", 1 << 20);
  std::vector<std::string> words;
  for (size_t at = 0; text && at < text->size(); at += words.back().size() + 1) words.emplace_back(text->c_str() + at);
  return words;
}

// The hooks are functions of libpenna-agent.so that must come before libc's.
Result<> check_hooks(uint32_t classes) {
  constexpr uint32_t kHooked = 1u << PENNA_CALLS | 1u << PENNA_ALLOC | 1u << PENNA_LOCKS;
  Dl_info agent{}, hook{};
  // A function that libc and the agent both define: the first definition shows in which order the linker put them.
  void* first = ::dlsym(RTLD_DEFAULT, "__cyg_profile_func_enter");
  if ((classes & kHooked) == 0 || (::dladdr(reinterpret_cast<void*>(&penna_agent_join), &agent) != 0 &&
                                   ::dladdr(first, &hook) != 0 && agent.dli_fbase == hook.dli_fbase))
    return ok();
  return Error{
      "calls, alloc and locks are recorded only in a program that was linked with libpenna-agent.so in front of "
      "libc: add -lpenna-agent behind -lpenna, or record points alone"};
}

Result<> check_join(penna_join outcome) {
  switch (outcome) {
    case PENNA_JOINED: return ok();
    case PENNA_JOIN_AGAIN: return Error{"this process is or was already recorded: a process can be recorded only once"};
    default: return Error{"there is no memory for events, or a limit (ulimit -v, ulimit -f) prevents it"};
  }
}

// Requests of `penna ctl` to this process. Its forked children have no recorder thread; stopping one of their own would
// show in the program's waits.
std::optional<Result<penna_control>> ask_own_process(uint32_t pid, ControlPage&, const penna_control& request) {
  if (pid != static_cast<uint32_t>(::getpid())) return std::nullopt;
  return ask_patiently(pid, [&]() -> Result<penna_control> {
    penna_control control = request;
    penna_agent_change(&control);
    return control;
  });
}

}  // namespace

OwnRecorder::OwnRecorder(std::string file, const RecordSettings& settings)
    : file_(std::move(file)), settings_(settings), pid_(::getpid()) {}

Result<std::unique_ptr<OwnRecorder>> OwnRecorder::start(const std::string& file, const RecordSettings& settings) {
  // Everything that can be refused without a trace, before a thread is started or a file is touched.
  PENNA_TRY(check_settings(settings));
  PENNA_TRY(check_hooks(settings.classes));
  PENNA_TRY(check_join(penna_agent_join(nullptr)));  // before an existing file is replaced
  std::unique_ptr<OwnRecorder> recorder(new OwnRecorder(file, settings));
  auto body = [](void* self) -> void* {
    auto* own = static_cast<OwnRecorder*>(self);
    own->outcome_ = own->run();
    return nullptr;
  };
  {
    // The thread inherits the mask: no signal of the program is ever handled on it, not even in its first moments.
    NoSignals scope;
    if (int error = ::pthread_create(&recorder->thread_, nullptr, body, recorder.get()); error != 0)
      return Error{fmt::format("cannot start a thread: {}", errno_text(error))};
  }
  recorder->running_ = true;
  // Until the thread listens, or has failed.
  const Result<std::string> socket = recorder->ready_.get_future().get();
  if (!socket) {
    recorder->end_thread();
    return socket.error();
  }
  // On the caller's thread, like any target: the recorder's thread answers it.
  if (const Result<> joined = check_join(penna_agent_join(socket->c_str())); !joined) {
    recorder->end_thread();
    remove_own_file(file);
    return joined.error();
  }
  return recorder;
}

Result<> OwnRecorder::run() {
  penna_agent_mute_thread();
  ::pthread_setname_np(::pthread_self(), "penna-server");
  auto not_ready = [this](const Error& error) {
    ready_.set_value(error);
    return error;
  };
  // Everything is created here, because descriptors and the doorbell's futex belong to this thread.
  if (const Result<> alone = leave_descriptors(); !alone) return not_ready(alone.error());
  const Fd stop = stop_descriptor();
  if (!stop) return not_ready(Error{fmt::format("cannot make a signalfd: {}", errno_text(errno))});
  auto doorbell = Doorbell::create();
  if (!doorbell) return not_ready(doorbell.error());
  SocketDirectory directory;
  auto socket = directory.create();
  if (!socket) return not_ready(socket.error());
  // From here on there is a file: failures below remove it.
  auto writer = RecordingWriter::create(file_, {.overwrite = true});
  if (!writer) return not_ready(writer.error());
  (void)writer->write_session(describe_session(settings_, own_command()));
  Collector collector(std::move(*writer), *doorbell, settings_.conditions);
  collector.set_time_shift(time_shift_of(settings_));
  auto server = Server::listen(*socket, config_for(settings_), *doorbell, collector);
  auto control = server ? ControlServer::listen(*socket, **server, collector, ask_own_process, false)
                        : Result<ControlServer>(server.error());
  const Result<> started = control ? collector.start(penna_agent_mute_thread) : Result<>(control.error());
  if (!started) {
    remove_own_file(file_);
    return not_ready(started.error());
  }
  ready_.set_value(*socket);

  pollfd fds[] = {{(*server)->fd(), POLLIN, 0}, {stop.get(), POLLIN, 0}, {control->fd(), POLLIN, 0}};
  while ((fds[1].revents & POLLIN) == 0) {
    if (::poll(fds, std::size(fds), -1) <= 0) continue;
    (*server)->work();
    if ((fds[2].revents & POLLIN) != 0) control->work();
  }
  // Everything is local to this function: descriptors, doorbell and files end with the thread that owns them.
  return collector.stop();
}

void OwnRecorder::end_thread() {
  // It may have ended by itself: its id stays valid until it is joined.
  ::pthread_kill(thread_, kStopSignal);
  ::pthread_join(thread_, nullptr);
  running_ = false;
}

bool OwnRecorder::is_ours() const { return ::getpid() == pid_; }

Result<> OwnRecorder::stop() {
  if (!running_ || !is_ours()) return ok();
  // First recording stops, then what is left is drained.
  penna_agent_leave();
  end_thread();
  return outcome_;
}

OwnRecorder::~OwnRecorder() {
  if (running_ && is_ours()) (void)stop();
}

}  // namespace penna
