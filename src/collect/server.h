// SPDX-License-Identifier: MIT
// Server: where traced processes connect to the recorder ("Rendezvous" in penna/channel.h), and which of them are
// alive.
//
// Invariant: never blocks, whatever a peer does or fails to do; answers only processes of our own user, and those of
// other users that are part of the recording: a program may change its user. The peer's identity comes from the kernel,
// not from the peer. Memory and descriptors held for peers stay within the budget (budget.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "collect/collector.h"
#include "collect/control_page.h"
#include "collect/memory_groups.h"
#include "collect/socket_directory.h"
#include "penna/channel.h"
#include "penna/patch_plan.h"

namespace penna {

class Server {
 public:
  // Listens at `socket_path`, in a SocketDirectory. Every process gets the doorbell's descriptor.
  static Result<std::unique_ptr<Server>> listen(const std::string& socket_path, const penna_config& config,
                                                Doorbell& doorbell, Collector& collector);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Answers a process that asks what to patch (penna/patch_plan.h); without a planner, processes are not asked to.
  // `plans`: a set of penna_plans.
  using Planner = std::function<std::vector<uint8_t>(std::span<const penna_patch_question> questions, uint32_t pid)>;
  void set_planner(Planner planner, uint32_t plans = PENNA_PLANS_MODULES);

  // A thread that waits to start a program which no dynamic linker loads (penna/detail/starts.h). Without
  // `on_start`, it starts it at once.
  struct AnnouncedStart {
    Fd socket;
    uint32_t pid;     // of its process
    uint32_t thread;  // as the process says, in its own PID namespace: untrusted
    bool spawns;      // by a child
  };
  void on_start(std::function<void(AnnouncedStart)> on_start) { on_start_ = std::move(on_start); }
  // Called for each process that is recorded, while it waits.
  void on_admission(std::function<void(uint32_t pid)> on_admission) { on_admission_ = std::move(on_admission); }

  int fd() const { return epoll_.get(); }  // readable when there is something for work()
  void work();
  uint32_t classes() const { return config_.classes; }  // that are recorded, as bits
  size_t living() const { return living_.size(); }      // recorded processes whose last event is not written yet
  // A process that is not our descendant, whatever its user: we have attached to it.
  void invite(uint32_t pid);
  // Admits only processes that were invited, or the first one, and programs that these exec.
  void leave_others() { leaves_others_ = true; }
  uint64_t left_others() const { return left_others_.size(); }  // processes
  // Our own process that connects on behalf of others, and keeps each connection until it has written the last event of
  // that process.
  void set_introducer(uint32_t pid) { introducer_ = pid; }
  std::vector<uint32_t> living_pids() const;  // without those that have ended, of which something may be unwritten
  bool is_living(uint32_t pid) const { return living_.count(pid) != 0; }
  bool has_met(uint32_t pid) const { return met_.count(pid) != 0; }
  bool has_met_any() const { return !met_.empty(); }

  // The living processes, for requests to them.
  std::vector<std::pair<uint32_t, ControlPage*>> control_pages();
  // For future programs: a pattern after those of the config. False: no room.
  bool add_point_pattern(const std::string& signed_pattern);

 private:
  // Connected, but no hello yet: only what the kernel says about it is known.
  struct Peer {
    Fd socket;
    uint32_t pid = 0;
    uint64_t since_ms = 0;
    bool of_other_user = false;
    bool is_introduced = false;  // it is the introducer, and `pid` the process on whose behalf it connects
  };
  struct Ended {
    EndKind how = EndKind::kUnknown;
    int code = 0;
    uint64_t processor_ns = 0, ticks = 0;
  };
  // Has handed over its channel, and its last event may not be in there yet.
  struct Living {
    uint32_t number = 0;
    Fd pidfd;  // readable when it has ended
    ControlPage control;
    Fd writer;                   // hung up when the introducer has written all it has of it; none: it writes itself
    std::optional<Ended> ended;  // and its writer has not hung up
  };

  Server(const penna_config& config, Doorbell& doorbell, Collector& collector);
  Result<> bind_to(const std::string& path);
  void listen_without_a_place(const std::string& path);
  void listen_by(Fd listener);
  void watch(int fd);
  void accept_peers(const Fd& listener);
  void make_room_for(uint32_t pid);
  void drop_silent_peers();
  void make_room_for_process();
  bool drop_oldest_silent(uint64_t at_least_ms);  // false: none has been silent for so long
  void pause(bool paused);
  bool is_full() const;
  void tick(bool wanted);
  bool is_part_of_it(uint32_t pid) const;
  void left_unanswered(uint32_t pid);
  bool send_config(const Fd& socket, pid_t pid) const;
  void hear(int fd);
  Process describe(const Peer& peer, const penna_hello& hello, const penna_channel& geometry);
  void admit(Peer peer, const penna_hello& hello, Fd memory);
  void answer(const Peer& peer, const Fd& questions) const;
  void watch_process(uint32_t pid, Living living);
  void see_end(int fd, uint32_t pid);
  void forget(uint32_t pid, const Ended& end);

  penna_config config_;
  MemoryGroups memory_groups_;
  Doorbell& doorbell_;
  Collector& collector_;
  Planner planner_;
  std::function<void(AnnouncedStart)> on_start_;
  std::function<void(uint32_t)> on_admission_;
  Fd epoll_, timer_;
  std::string path_;                     // of the first listener
  std::vector<Fd> listeners_;            // then the same name as an abstract socket, and those near invited processes
  bool paused_ = false, ticks_ = false;  // no peers are accepted; the timer runs
  uint64_t too_many_ = 0;                // processes that were refused
  std::map<int, Peer> peers_;            // by descriptor
  std::map<uint32_t, Living> living_;    // by pid
  std::map<int, uint32_t> pid_of_fd_;    // of pidfds and writers
  std::set<uint32_t> met_;               // pids that were ever admitted
  std::set<uint32_t> invited_, left_others_;
  bool leaves_others_ = false;
  uint32_t introducer_ = 0;
  uint32_t next_number_ = 0;
};

}  // namespace penna
