// SPDX-License-Identifier: MIT
// See server.h.
#include "collect/server.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/command_line.h"
#include "base/file.h"
#include "base/proc_stat.h"
#include "base/readable.h"
#include "base/socket_address.h"
#include "collect/arrivals.h"
#include "collect/budget.h"
#include "collect/clocks.h"
#include "collect/exit_status.h"
#include "collect/settings.h"
#include "collect/sockets/near_listener.h"
#include "collect/sockets/socket_message.h"
#include "penna/clock.h"
#include "penna/detail/starts.h"

namespace penna {
namespace {

constexpr uint64_t kTurnMs = 100;  // then the caller of work() gets to do other things
// A process speaks as soon as it has connected: beyond this, another one may be worth more.
constexpr uint64_t kBriefMs = 100;

union ControlWithSender {
  cmsghdr header;
  char bytes[CMSG_SPACE(kMostDescriptors * sizeof(int)) + CMSG_SPACE(sizeof(ucred))];
};

bool announces_start(const penna_hello& hello) {
  return hello.after_exec == PENNA_HELLO_STARTS || hello.after_exec == PENNA_HELLO_SPAWNS;
}

// Receives the hello of a peer and the descriptor that comes with it: one, or none with the announcement of a start.
// All others are closed. False: it is not a hello. `from`: the sender's pid, if the socket has SO_PASSCRED.
bool receive_hello(int socket, penna_hello* hello, Fd* descriptor, uint32_t* from) {
  iovec part{hello, sizeof *hello};
  ControlWithSender control{};
  msghdr message = message_of(&part, &control);
  ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  // All of them get owners before any check: a peer cannot make us leak descriptors.
  std::vector<Fd> came;
  for (cmsghdr* part_of = CMSG_FIRSTHDR(&message); part_of != nullptr; part_of = CMSG_NXTHDR(&message, part_of)) {
    if (part_of->cmsg_level == SOL_SOCKET && part_of->cmsg_type == SCM_CREDENTIALS &&
        part_of->cmsg_len >= CMSG_LEN(sizeof(ucred))) {
      ucred sender;
      std::memcpy(&sender, CMSG_DATA(part_of), sizeof sender);
      *from = static_cast<uint32_t>(sender.pid);
    }
    if (part_of->cmsg_level != SOL_SOCKET || part_of->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = CMSG_LEN(0); at + sizeof(int) <= part_of->cmsg_len; at += sizeof(int)) {
      int fd;
      std::memcpy(&fd, reinterpret_cast<const char*>(part_of) + at, sizeof fd);
      came.emplace_back(fd);
    }
  }
  // A stream socket may split a message; a hello is far smaller than any buffer, so a short one is a wrong one.
  const bool good = got == static_cast<ssize_t>(sizeof *hello) && hello->magic == PENNA_CHANNEL_MAGIC &&
                    hello->version == PENNA_ABI_VERSION && came.size() == (announces_start(*hello) ? 0 : 1);
  if (good && !came.empty()) *descriptor = std::move(came[0]);
  return good;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(const std::string& socket_path, const penna_config& config,
                                               Doorbell& doorbell, Collector& collector) {
  std::unique_ptr<Server> server(new Server(config, doorbell, collector));
  PENNA_TRY(server->bind_to(socket_path));
  return server;
}

Server::Server(const penna_config& config, Doorbell& doorbell, Collector& collector)
    : config_(config),
      doorbell_(doorbell),
      collector_(collector),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

Result<> Server::bind_to(const std::string& path) {
  if (!epoll_ || !timer_) return Error{fmt::format("cannot listen at {}: {}", path, errno_text(EMFILE))};
  const auto address = SocketAddress::of_path(path);
  if (!address) return Error{fmt::format("{} is too long for a socket", path)};
  Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener || address.bind(listener.get()) != 0 || ::chmod(path.c_str(), 0600) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0)
    return Error{fmt::format("cannot listen at {}: {}", path, errno_text(errno))};
  path_ = path;
  listen_by(std::move(listener));
  watch(timer_.get());
  listen_without_a_place(path);
  return ok();
}

// For processes that cannot reach the path. If the name is already taken, those are not recorded.
void Server::listen_without_a_place(const std::string& path) {
  const auto address = SocketAddress::of_name(path);
  Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (address && listener && address.bind(listener.get()) == 0 && ::listen(listener.get(), SOMAXCONN) == 0)
    listen_by(std::move(listener));
}

void Server::listen_by(Fd listener) {
  if (!paused_) watch(listener.get());
  listeners_.push_back(std::move(listener));
}

void Server::invite(uint32_t pid) {
  invited_.insert(pid);
  if (Fd listener = listen_near(path_, static_cast<pid_t>(pid))) listen_by(std::move(listener));
}

void Server::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void Server::work() {
  epoll_event events[64];
  // Level-triggered: events not handled in this turn are reported again.
  const uint64_t begin_ms = monotonic_ms();
  int count = ::epoll_wait(epoll_.get(), events, 64, 0);
  for (int i = 0; i < count && monotonic_ms() - begin_ms < kTurnMs; ++i) {
    int fd = events[i].data.fd;
    // What was handled before may have closed the descriptor that this event is for, and its number be another's now.
    if (!is_readable(fd)) continue;
    const auto is_it = [fd](const Fd& listener) { return listener.get() == fd; };
    if (const auto it = std::find_if(listeners_.begin(), listeners_.end(), is_it); it != listeners_.end())
      accept_peers(*it);
    else if (fd == timer_.get())
      drop_silent_peers();
    else if (peers_.count(fd) != 0)
      hear(fd);
    else if (auto found = pid_of_fd_.find(fd); found != pid_of_fd_.end())
      see_end(fd, found->second);
  }
}

bool Server::is_full() const {
  return peers_.size() >= Budget::kConnections || collector_.channels() >= 2 * Budget::kChannels;
}

// A listener whose connections are not accepted would report level-triggered events endlessly.
void Server::pause(bool paused) {
  if (paused == paused_) return;
  paused_ = paused;
  for (const Fd& listener : listeners_) {
    if (paused)
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener.get(), nullptr);
    else
      watch(listener.get());
  }
}

// Checks again a few times a second, as long as there is something to check.
void Server::tick(bool wanted) {
  if (wanted == ticks_) return;
  ticks_ = wanted;
  const timespec often{0, wanted ? 200'000'000 : 0};
  const itimerspec when{often, often};
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

// Whether data from the peer is waiting to be read: then it was the server that did not listen.
static bool has_spoken(int socket) {
  char byte;
  return ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

// Whether a peer has said nothing yet, for that long.
static auto silent_for(uint64_t ms) {
  return [ms, now = monotonic_ms()](const auto& peer) {
    return now - peer.second.since_ms >= ms && !has_spoken(peer.first);
  };
}

void Server::drop_silent_peers() {
  uint64_t times;
  (void)!::read(timer_.get(), &times, sizeof times);
  std::erase_if(peers_, silent_for(Budget::kSilentMs));
  pause(is_full());
  tick(paused_ || !peers_.empty());
}

// The one of these that connected first; end(): there is none.
template <typename Peers, typename IsMeant>
static auto oldest(Peers& peers, IsMeant is_meant) {
  auto found = peers.end();
  for (auto peer = peers.begin(); peer != peers.end(); ++peer)
    if (is_meant(*peer) && (found == peers.end() || peer->second.since_ms < found->second.since_ms)) found = peer;
  return found;
}

// A process connects to be recorded, or to ask a question: one that keeps connecting must not take the others' places.
void Server::make_room_for(uint32_t pid) {
  const auto is_its = [pid](const auto& peer) { return peer.second.pid == pid; };
  if (static_cast<size_t>(std::count_if(peers_.begin(), peers_.end(), is_its)) >= Budget::kConnectionsOfOne)
    peers_.erase(oldest(peers_, is_its));
}

// What an admitted process takes: its channel, its pidfd, and a file of /proc at a time.
static bool has_descriptors_for_process(int any) {
  std::array<Fd, 4> taken;
  for (Fd& one : taken) one = Fd(::fcntl(any, F_DUPFD_CLOEXEC, 0));
  return static_cast<bool>(taken.back());
}

// A process to record is worth more than connections that have said nothing yet.
void Server::make_room_for_process() {
  while (!has_descriptors_for_process(epoll_.get()))
    if (!drop_oldest_silent(0)) return;
}

bool Server::drop_oldest_silent(uint64_t at_least_ms) {
  const auto silent = oldest(peers_, silent_for(at_least_ms));
  if (silent == peers_.end()) return false;
  peers_.erase(silent);
  return true;
}

// Whether it is a program that a recorded one has started, or a recorded process that has exec'd: shown by its
// ancestors, or by the process that it was forked from.
bool Server::is_part_of_it(uint32_t pid) const {
  const auto is_ours = [&](pid_t one) {
    const auto number = static_cast<uint32_t>(one);
    return one == ::getpid() || invited_.count(number) != 0 || living_.count(number) != 0;
  };
  return nearest_ancestor(static_cast<pid_t>(pid), is_ours) != 0 || shares_doorbell(pid, doorbell_.fd());
}

// For a process that has changed its user, the kernel must also identify the sender of the answer: the process that
// connected may be gone, and its pid reused. So the peer must not have sent anything before it was identified.
static bool speaks_first_or_is_unknown(int socket) {
  const int on = 1;
  char byte;
  return ::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
         ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

void Server::accept_peers(const Fd& listener) {
  for (int turn = 0; turn < 64; ++turn) {
    if (is_full()) {
      pause(true);
      return tick(true);
    }
    Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket && errno == EMFILE && drop_oldest_silent(kBriefMs)) continue;
    if (!socket && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {  // out of descriptors, out of memory
      pause(true);
      return tick(true);
    }
    if (!socket) return;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) continue;
    const bool of_other_user = peer.uid != ::geteuid();
    if (of_other_user && (!is_part_of_it(static_cast<uint32_t>(peer.pid)) || speaks_first_or_is_unknown(socket.get())))
      continue;
    if (!send_config(socket, peer.pid)) {
      if (errno == EPIPE || errno == ECONNRESET) left_unanswered(static_cast<uint32_t>(peer.pid));
      continue;
    }
    if (peer.pid != 0) make_room_for(static_cast<uint32_t>(peer.pid));  // 0: it is in another pid namespace
    int fd = socket.get();
    watch(fd);
    peers_[fd] = {std::move(socket), static_cast<uint32_t>(peer.pid), monotonic_ms(), of_other_user};
    tick(true);
  }
}

// A recorded process may only have asked a question, or have exec'd a program that wanted to connect.
void Server::left_unanswered(uint32_t pid) { collector_.left_unanswered(pid, living_.count(pid) != 0); }

// A peer that has given up continues without us, whatever the answer.
static bool has_hung_up(const Fd& socket) {
  char byte;
  return ::recv(socket.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool Server::send_config(const Fd& socket, pid_t pid) const {
  penna_config config = config_;
  if (const auto memory = memory_groups_.of(pid)) fit_into(*memory, config);
  return send_with_descriptors(socket.get(), &config, sizeof config, {doorbell_.fd(), doorbell_.life_fd()});
}

// A peer has answered, or has gone.
void Server::hear(int fd) {
  Peer peer = std::move(peers_[fd]);
  peers_.erase(fd);
  penna_hello hello{};
  uint32_t sender = 0;
  Fd memory;
  if (!receive_hello(fd, &hello, &memory, &sender) || (peer.of_other_user && sender != peer.pid)) return;
  peer.is_introduced = introducer_ != 0 && peer.pid == introducer_;
  if (peer.is_introduced) peer.pid = hello.pid;
  if (announces_start(hello)) {
    // A process that is not part of the recording cannot make us trace it.
    if (!on_start_ || !is_part_of_it(peer.pid)) return;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);  // on_start_ owns it from here on
    on_start_({std::move(peer.socket), peer.pid, hello.parent, hello.after_exec == PENNA_HELLO_SPAWNS});
  } else if (hello.after_exec == PENNA_HELLO_ASKS)
    answer(peer, memory);
  else
    admit(std::move(peer), hello, std::move(memory));
}

void Server::set_planner(Planner planner, uint32_t plans) {
  planner_ = std::move(planner);
  config_.plans = planner_ ? plans : 0;
}

// The questions are copied: the sender may change them, or truncate the file, at any time. Only a memfd has seals:
// reading anything else might block.
void Server::answer(const Peer& peer, const Fd& questions) const {
  if (!planner_ || ::fcntl(questions.get(), F_GET_SEALS) < 0) return;
  std::vector<penna_patch_question> asked(PENNA_PATCH_MAX_MODULES);
  const ssize_t got = ::pread(questions.get(), asked.data(), asked.size() * sizeof asked[0], 0);
  if (got <= 0) return;
  asked.resize(static_cast<size_t>(got) / sizeof asked[0]);
  const std::vector<uint8_t> plan = planner_(asked, peer.pid);
  Fd memory(::memfd_create("penna-plan", MFD_CLOEXEC));
  if (memory && ::write(memory.get(), plan.data(), plan.size()) == static_cast<ssize_t>(plan.size()))
    send_with_descriptors(peer.socket.get(), "", 1, {memory.get()});
}

// Read now: /proc has the names only as long as the process lives and does not exec.
Process Server::describe(const Peer& peer, const penna_hello& hello, const penna_channel& geometry) {
  Process process;
  process.number = next_number_++;
  process.pid = peer.pid;
  process.parent_pid = hello.parent;
  process.after_exec = hello.after_exec != 0;
  process.executable = executable_of(peer.pid);
  process.command = command_of(peer.pid);
  process.start_ticks = geometry.time_begin;
  if (!process.after_exec) {
    process.forked_by = geometry.forked_by;
    process.fork_ticks = geometry.fork_ticks;
    if (process.fork_ticks == 0) process.fork_ticks = process.start_ticks;  // unknown: some time before its start
  }
  return process;
}

void Server::admit(Peer peer, const penna_hello& hello, Fd memory) {
  if (leaves_others_ && !met_.empty() && met_.count(peer.pid) + invited_.count(peer.pid) == 0) {
    left_others_.insert(peer.pid);
    return;
  }
  // Before anything is recorded of it: a process that timed out runs on without us, and would be shown as recorded.
  if (has_hung_up(peer.socket)) return left_unanswered(peer.pid);
  if (living_.size() >= Budget::kChannels && living_.count(peer.pid) == 0) {
    if (++too_many_ == 1)
      collector_.note(
          fmt::format("more than {} processes were alive at once: the rest are not recorded", Budget::kChannels), true);
    return;
  }
  make_room_for_process();
  auto channel = ChannelMap::map(memory, &config_);
  if (!channel) {
    collector_.note(fmt::format("pid {}: {}", peer.pid, channel.error().text), true);
    return;
  }
  if (collector_.holds(*channel)) {  // two collectors would return each other's chunks
    collector_.note(
        fmt::format("pid {}: a process offered a channel that another one has; it is not recorded", peer.pid), true);
    return;
  }
  if (auto before = living_.find(peer.pid); before != living_.end()) {
    const Ended by_exec{EndKind::kExec, 0, processor_ns(static_cast<pid_t>(peer.pid)), penna_now()};
    forget(peer.pid, before->second.ended.value_or(by_exec));
  }
  if (!met_.empty()) doorbell_.met();  // we started the first one ourselves
  met_.insert(peer.pid);
  const Process process = describe(peer, hello, channel->geometry());
  collector_.add(process, std::move(*channel));
  if (on_admission_) on_admission_(peer.pid);

  Living living;
  living.number = process.number;
  living.pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
  living.control = ControlPage::map(memory);
  (void)!::send(peer.socket.get(), "", 1, MSG_NOSIGNAL);  // now it may continue, or exec
  if (peer.is_introduced) living.writer = std::move(peer.socket);
  watch_process(peer.pid, std::move(living));
}

void Server::watch_process(uint32_t pid, Living living) {
  if (!living.pidfd && !living.writer) return collector_.end(living.number, EndKind::kUnknown, 0);  // gone already
  if (!living.pidfd) living.ended = {EndKind::kUnknown, 0, 0, penna_now()};
  if (living.pidfd) {
    ::fcntl(living.pidfd.get(), F_SETFD, FD_CLOEXEC);
    watch(living.pidfd.get());
    pid_of_fd_[living.pidfd.get()] = pid;
  }
  if (living.writer) pid_of_fd_[living.writer.get()] = pid;  // watched since it connected
  living_[pid] = std::move(living);
}

std::vector<uint32_t> Server::living_pids() const {
  std::vector<uint32_t> pids;
  for (const auto& [pid, process] : living_)
    if (!process.ended) pids.push_back(pid);
  return pids;
}

std::vector<std::pair<uint32_t, ControlPage*>> Server::control_pages() {
  std::vector<std::pair<uint32_t, ControlPage*>> pages;
  for (auto& [pid, living] : living_) pages.emplace_back(pid, &living.control);
  return pages;
}

bool Server::add_point_pattern(const std::string& signed_pattern) {
  std::vector<std::string> patterns;
  const std::string_view all(config_.point_patterns, sizeof config_.point_patterns);
  for (size_t at = 0; at < all.size() && all[at] != '\0'; at += patterns.back().size() + 1)
    patterns.emplace_back(all.substr(at, all.find('\0', at) - at));
  if (patterns.empty()) patterns.push_back("+*");  // all points, stated explicitly so that a pattern can follow
  // Earlier entries with this same pattern are obsolete, except the first, which determines the list's default.
  patterns.erase(std::remove_if(patterns.begin() + 1, patterns.end(),
                                [&](const std::string& one) {
                                  return one[0] != '@' && one.substr(1) == signed_pattern.substr(1);
                                }),
                 patterns.end());
  patterns.push_back(signed_pattern);
  std::string list;
  for (const std::string& one : patterns) list.append(one).push_back('\0');
  if (list.size() + 1 > sizeof config_.point_patterns) return false;
  std::memset(config_.point_patterns, 0, sizeof config_.point_patterns);
  std::memcpy(config_.point_patterns, list.data(), list.size());
  return true;
}

void Server::forget(uint32_t pid, const Ended& end) {
  const auto found = living_.find(pid);
  collector_.end(found->second.number, end.how, end.code, end.processor_ns, end.ticks);
  pid_of_fd_.erase(found->second.pidfd.get());
  pid_of_fd_.erase(found->second.writer.get());
  living_.erase(found);
}

// It has ended, or its writer has hung up: once both have happened, or if it has no writer, its channel is complete. A
// writer that is gone before is not missed: what it has written is there.
void Server::see_end(int fd, uint32_t pid) {
  Living& living = living_.at(pid);
  if (fd == living.writer.get()) {
    pid_of_fd_.erase(fd);
    living.writer.reset();
  } else {
    const auto [how, code] = end_of_process(fd, pid);
    living.ended = {how, code, processor_ns(static_cast<pid_t>(pid)), penna_now()};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  }
  if (living.ended && !living.writer) forget(pid, Ended(*living.ended));
}

}  // namespace penna
