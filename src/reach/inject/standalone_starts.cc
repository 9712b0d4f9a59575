// SPDX-License-Identifier: MIT
// See standalone_starts.h.
#include "reach/inject/standalone_starts.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <memory>
#include <sstream>

#include "base/command_line.h"
#include "base/proc_stat.h"
#include "reach/inject/patients.h"
#include "reach/inject/start_watch.h"

namespace penna {
namespace {

constexpr uint64_t kSurgeon = 0;  // the surgeon's epoll data; starts are numbered from 1

void watch(const Fd& epoll, int fd, uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event);
}

}  // namespace

StandaloneStarts::StandaloneStarts(std::string agent, std::string socket_path)
    : agent_(std::move(agent)), socket_path_(std::move(socket_path)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

bool StandaloneStarts::has_surgeon() {
  if (surgeon_ || is_closed_) return surgeon_.has_value();
  // The surgeon is forked from us: what it needs lives as long as it does.
  const auto watch_them = std::make_shared<StartWatch>(Patients(agent_, socket_path_));
  auto surgeon = Surgeon::start({[watch_them](const Surgeon::Order& order) { return watch_them->carry_out(order); },
                                 [watch_them] { watch_them->put_all_back(); },
                                 [watch_them](int socket) { watch_them->while_idle(socket); }});
  is_closed_ = !surgeon;
  if (!surgeon) return refused_.insert(surgeon.error().text), false;
  surgeon_.emplace(std::move(*surgeon));
  watch(epoll_, surgeon_->fd(), kSurgeon);
  return true;
}

void StandaloneStarts::announce(Server::AnnouncedStart start) {
  // A connection that is not kept is closed, and its thread continues.
  if (is_closed_ || coming_.size() >= kMost || !has_surgeon()) return;
  const uint64_t number = next_++;
  if (!surgeon_->send({StartWatch::kWatch,
                       static_cast<pid_t>(start.pid),
                       {number, start.thread, start.spawns ? uint64_t{1} : uint64_t{0}, 0}}))
    return;
  watch(epoll_, start.socket.get(), number);
  coming_[number] = std::move(start.socket);
}

void StandaloneStarts::work() {
  epoll_event events[16];
  const int count = ::epoll_wait(epoll_.get(), events, 16, 0);
  for (int i = 0; i < count; ++i)
    if (events[i].data.u64 == kSurgeon)
      hear_surgeon();
    else
      hear(events[i].data.u64);
}

// The waiting agent reports that there was no exec. An exec closes its connection.
void StandaloneStarts::hear(uint64_t number) {
  const auto found = coming_.find(number);
  if (found == coming_.end() || !found->second) return;
  char byte;
  const ssize_t got = ::recv(found->second.get(), &byte, 1, MSG_DONTWAIT);
  if (got > 0 && surgeon_) surgeon_->send({StartWatch::kRelease, 0, {number}});
  if (got == 0) found->second.reset();
}

// Receives one message: epoll reports further ones again.
void StandaloneStarts::hear_surgeon() {
  std::string said;
  if (surgeon_->receive(&said)) return understand(said);
  surgeon_.reset();
  is_closed_ = true;
  coming_.clear();
  refused_.insert("could not be held at its start: Penna's helper process was killed");
}

void StandaloneStarts::understand(const std::string& said) {
  std::istringstream words(said);
  char what = 0;
  words >> what;
  if (what == StartWatch::kRestore) {
    given_ = said.substr(std::min<size_t>(said.size(), 2));
    return;
  }
  uint64_t number = 0;
  uint32_t pid = 0;
  words >> number;
  const auto found = coming_.find(number);
  if (what == StartWatch::kCame) words >> pid;
  std::string trouble;
  std::getline(words >> std::ws, trouble);
  if (!trouble.empty()) refused_.insert(trouble);
  if (what == StartWatch::kCame && trouble.empty()) programs_.insert(pid);
  if (found == coming_.end()) return;
  if (what == StartWatch::kWatched && trouble.empty())
    (void)!::send(found->second.get(), "", 1, MSG_NOSIGNAL);  // now it may exec
  else
    coming_.erase(found);
}

bool StandaloneStarts::owns(uint32_t pid) const {
  const auto has_agent = [&](pid_t one) { return programs_.count(static_cast<uint32_t>(one)) != 0; };
  return nearest_ancestor(static_cast<pid_t>(pid), has_agent) != 0;
}

Result<Restored> StandaloneStarts::restore(pid_t pid, const Carrier::Serve& serve) {
  given_.reset();
  if (surgeon_) surgeon_->send({StartWatch::kRestore, pid, {}});
  while (surgeon_ && !given_) {
    work();
    serve(surgeon_ ? surgeon_->fd() : -1);
  }
  if (!given_) return Error{"Penna's helper process, which restores everything, was killed"};
  return parse_restored(*given_);
}

Restored StandaloneStarts::leave(const Carrier::Living& living, const Carrier::Serve& serve) {
  is_closed_ = true;
  const bool was_busy = is_busy();
  // Threads that wait for us continue.
  coming_.clear();
  const auto owned = [&] {
    std::vector<uint32_t> pids = living();
    std::erase_if(pids, [this](uint32_t pid) { return !owns(pid); });
    return pids;
  };
  Restored all = leave_all(owned, [&](pid_t pid) { return restore(pid, serve); });
  // No process has pid 0: this waits for the surgeon, which may be bringing the agent into a process that needs our
  // answer.
  if (was_busy) (void)restore(0, serve);
  surgeon_.reset();
  return all;
}

}  // namespace penna
