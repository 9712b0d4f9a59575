// SPDX-License-Identifier: MIT
// See rendezvous.h, and "Rendezvous" in penna/channel.h.
#include "agent/core/rendezvous.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/core/channel_room.h"
#include "agent/core/pages.h"
#include "agent/core/sys.h"
#include "agent/core/text.h"
#include "penna/clock.h"
#include "penna/detail/starts.h"
#include "penna/patch_plan.h"
#include "penna/ring.h"

namespace penna::agent {
namespace {

// A file descriptor of the agent, closed at the end of the scope: the target never sees it.
struct Descriptor {
  long fd = -1;
  explicit Descriptor(long opened) : fd(opened) {}
  ~Descriptor() {
    if (fd >= 0) sys(SYS_close, fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return fd >= 0; }
};

// The most descriptors that one message carries.
constexpr int kMostDescriptors = 2;

// A buffer and room for descriptors, in the form that sendmsg and recvmsg take.
struct Message {
  Message(void* bytes, size_t size) : part{bytes, size} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = room;
    header.msg_controllen = sizeof room;
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  long address() const { return reinterpret_cast<long>(&header); }

  // Where the kernel stores descriptors, or reads them from.
  cmsghdr& control() { return *reinterpret_cast<cmsghdr*>(room); }

  iovec part;
  msghdr header{};
  alignas(cmsghdr) char room[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
};

// Repeats an interrupted call, but only a limited number of times: signals may keep coming.
template <typename Call>
long uninterrupted(Call&& call) {
  constexpr int kTries = 1000;
  long got = -EINTR;
  for (int i = 0; i < kTries && got == -EINTR; ++i) got = call();
  return got;
}

// Connects by path or, where the path is not reachable (another user, another root), to the abstract socket of the same
// name.
long connect_by(long fd, const char* path, bool by_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  *text_append(address.sun_path + (by_path ? 0 : 1), path) = '\0';
  const size_t bytes = by_path ? sizeof address : offsetof(sockaddr_un, sun_path) + 1 + text_length(path);
  return uninterrupted(
      [&] { return sys(SYS_connect, fd, reinterpret_cast<long>(&address), static_cast<long>(bytes)); });
}

// The peer can make the agent change code, so it must run as the same user or as root. Once the recorder has ended, any
// process can bind its name.
bool may_be_trusted(long fd) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (sys_failed(sys(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, reinterpret_cast<long>(&peer),
                     reinterpret_cast<long>(&bytes))))
    return false;
  return peer.uid == 0 || peer.uid == static_cast<uint32_t>(sys(SYS_geteuid));
}

long connect_to(const char* path) {
  if (text_length(path) + 2 > sizeof sockaddr_un::sun_path) return -1;
  long fd = sys(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  timeval patience{PENNA_ANSWER_SECONDS, 0};
  sys(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, reinterpret_cast<long>(&patience), sizeof patience);
  sys(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, reinterpret_cast<long>(&patience), sizeof patience);
  if ((connect_by(fd, path, true) == 0 || connect_by(fd, path, false) == 0) && may_be_trusted(fd)) return fd;
  sys(SYS_close, fd);
  return -1;
}

// Receives `bytes` bytes and exactly `count` descriptors. False: something else arrived; then no descriptor is left
// open.
bool receive_with_descriptors(long socket, void* to, long bytes, int* fds, int count) {
  Message message(to, static_cast<size_t>(bytes));
  const cmsghdr& control = message.control();
  long got = uninterrupted([&] { return sys(SYS_recvmsg, socket, message.address(), MSG_CMSG_CLOEXEC | MSG_WAITALL); });
  if (message.header.msg_controllen < CMSG_LEN(sizeof(int)) || control.cmsg_type != SCM_RIGHTS) return false;
  const int came = static_cast<int>((control.cmsg_len - CMSG_LEN(0)) / sizeof(int));
  const int* descriptors = reinterpret_cast<const int*>(CMSG_DATA(&control));
  const bool good = got == bytes && came == count;
  for (int i = 0; i < came; ++i) {
    if (good)
      fds[i] = descriptors[i];
    else
      sys(SYS_close, descriptors[i]);
  }
  return good;
}

// Descriptors of the recorder's shared pages, until they are mapped.
struct SharedPages {
  int fds[kMostDescriptors] = {-1, -1};  // of the doorbell and of the life
  ~SharedPages() {
    for (int fd : fds)
      if (fd >= 0) sys(SYS_close, fd);
  }
};

// Receives the recorder's configuration and its pages.
bool receive_config(long socket, penna_config* config, SharedPages* pages) {
  if (!receive_with_descriptors(socket, config, sizeof *config, pages->fds, kMostDescriptors)) return false;
  return config->magic == PENNA_CHANNEL_MAGIC && config->version == PENNA_ABI_VERSION && config->chunk_count >= 64 &&
         config->chunk_count <= PENNA_MAX_CHUNKS && config->chunk_count % 64 == 0 && config->max_nodes >= 1024 &&
         config->max_nodes <= (1u << 26) && config->stack_depth >= 1 && config->stack_depth <= PENNA_MAX_STACK_DEPTH;
}

// `channel_fd`: -1: none goes with it.
bool send_hello(long socket, const penna_hello& hello, long channel_fd) {
  Message message(const_cast<penna_hello*>(&hello), sizeof hello);
  if (channel_fd < 0) message.header.msg_controllen = 0;
  cmsghdr& control = message.control();
  control.cmsg_level = SOL_SOCKET;
  control.cmsg_type = SCM_RIGHTS;
  control.cmsg_len = CMSG_LEN(sizeof(int));
  int fd = static_cast<int>(channel_fd);
  __builtin_memcpy(CMSG_DATA(&control), &fd, sizeof fd);
  return sys(SYS_sendmsg, socket, message.address(), MSG_NOSIGNAL) == sizeof hello;
}

// Waits until the recorder has identified this process and says so.
bool wait_until_admitted(long socket) {
  char admitted = 0;
  return uninterrupted([&] { return sys(SYS_recvfrom, socket, reinterpret_cast<long>(&admitted), 1, 0, 0, 0); }) == 1;
}

// The layout of the channel; see the drawing in penna/channel.h.
penna_channel plan_channel(const penna_config& config) {
  penna_channel plan{};
  plan.magic = PENNA_CHANNEL_MAGIC;
  plan.version = PENNA_ABI_VERSION;
  plan.pid = static_cast<uint32_t>(sys(SYS_getpid));
  plan.chunk_count = config.chunk_count;
  plan.backlog_limit = config.backlog_limit;
  plan.max_nodes = config.max_nodes;
  plan.hash_slots = slots_for_nodes(config.max_nodes);
  uint32_t ring_slots = 1;
  while (ring_slots < config.chunk_count) ring_slots *= 2;
  plan.free_at = 4096;
  plan.full_at = plan.free_at + page_up(config.chunk_count / 8);
  plan.hash_at = plan.full_at + page_up(penna_ring_bytes(ring_slots, sizeof(uint32_t)));
  plan.nodes_at = plan.hash_at + page_up(uint64_t{plan.hash_slots} * sizeof(uint32_t));
  uint64_t nodes_end = plan.nodes_at + uint64_t{plan.max_nodes} * sizeof(penna_stack_node);
  plan.chunks_at = (nodes_end + PENNA_CHUNK_BYTES - 1) & ~uint64_t{PENNA_CHUNK_BYTES - 1};
  plan.total_bytes = plan.chunks_at + uint64_t{plan.chunk_count} * PENNA_CHUNK_BYTES;
  plan.node_count = 1;  // the root
  plan.time_begin = penna_now();
  return plan;
}

// An address away from libraries that are loaded later, and from stubs within their reach: the channel may take
// gigabytes. A hint: if it is 0 or in use, the kernel chooses.
uint64_t apart_from_libraries(uint64_t bytes) {
  constexpr uint64_t kApart = uint64_t{8} << 30;
  const uint64_t here = reinterpret_cast<uintptr_t>(&apart_from_libraries);
  return here > 2 * (kApart + bytes) ? page_up(here - kApart - bytes) : 0;
}

// Maps the channel, without access, such that its chunks are aligned to their size: a record finds its chunk by a mask.
uint8_t* map_aligned(long fd, uint64_t bytes) {
  uint64_t room = bytes + PENNA_CHUNK_BYTES;
  long got = sys(SYS_mmap, static_cast<long>(apart_from_libraries(room)), static_cast<long>(room), PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (sys_failed(got)) return nullptr;
  auto begin = static_cast<uint64_t>(got);
  uint64_t at = (begin + PENNA_CHUNK_BYTES - 1) & ~uint64_t{PENNA_CHUNK_BYTES - 1};
  long mapped =
      sys(SYS_mmap, static_cast<long>(at), static_cast<long>(bytes), PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0);
  if (at > begin) sys(SYS_munmap, static_cast<long>(begin), static_cast<long>(at - begin));
  uint64_t tail = begin + room - (at + bytes);
  if (tail > 0) sys(SYS_munmap, static_cast<long>(at + bytes), static_cast<long>(tail));
  if (!sys_failed(mapped)) return reinterpret_cast<uint8_t*>(at);
  sys(SYS_munmap, static_cast<long>(at), static_cast<long>(bytes));
  return nullptr;
}

// The program's limits: RLIMIT_FSIZE, which would raise SIGXFSZ, and RLIMIT_AS.
struct Room {
  uint64_t file = 0, memory = 0;

  static Room now() {
    const auto limit_of = [](int resource) {
      rlimit64 found{};
      const bool is_known = !sys_failed(sys(SYS_prlimit64, 0, resource, 0, reinterpret_cast<long>(&found)));
      return is_known ? found.rlim_cur : 0;
    };
    return {limit_of(RLIMIT_FSIZE), limit_of(RLIMIT_AS)};
  }
  bool holds(uint64_t bytes) const { return bytes <= file / 4 && bytes <= memory / 4; }
  // A part of the limits so small that the program hardly notices.
  bool hardly_feels(uint64_t bytes) const { return bytes <= file / 4 && (!is_limited() || bytes <= memory / 32); }
  bool is_limited() const { return memory != RLIM64_INFINITY; }
};

void shrink(penna_config& config, uint32_t chunks, uint32_t nodes) {
  config.chunk_count = chunks;
  config.max_nodes = nodes;
  if (config.backlog_limit > chunks / 2) config.backlog_limit = chunks / 2;
}

uint32_t half_but(uint32_t least, uint32_t value) {
  return value / 2 > least ? value / 2 : least < value ? least : value;
}

// Under tight limits, fewer chunks and stack nodes rather than no recording. One chunk for each thread that fits by its
// default stack size, and the stacks of a medium program, are given up last.
penna_channel plan_within(const Room& room, penna_config& config) {
  constexpr uint64_t kUsualStack = 8 << 20;
  constexpr uint32_t kMiddling = 1 << 15, kLeastChunks = 64, kLeastNodes = 1024;
  const uint64_t threads = room.is_limited() ? room.memory / kUsualStack : 0;
  const auto chunks_of_threads =
      threads < config.chunk_count ? static_cast<uint32_t>(threads + 63) & ~63u : config.chunk_count;
  const uint32_t fewest = chunks_of_threads > kLeastChunks ? chunks_of_threads : kLeastChunks;
  penna_channel plan = plan_channel(config);
  while (!room.hardly_feels(plan.total_bytes) && (config.chunk_count > fewest || config.max_nodes > kMiddling)) {
    shrink(config, (half_but(fewest, config.chunk_count) + 63) & ~63u, half_but(kMiddling, config.max_nodes));
    plan = plan_channel(config);
  }
  while (!room.holds(plan.total_bytes) && (config.chunk_count > kLeastChunks || config.max_nodes > kLeastNodes)) {
    shrink(config, (half_but(kLeastChunks, config.chunk_count) + 63) & ~63u, half_but(kLeastNodes, config.max_nodes));
    plan = plan_channel(config);
  }
  return plan;
}

// The channel holds none of the program's data, and a core dump would make the kernel allocate all of its pages.
void keep_out_of_dumps(uint8_t* base, uint64_t bytes) {
  if (system_calls_filtered) return;
  sys(SYS_madvise, reinterpret_cast<long>(base), static_cast<long>(bytes), MADV_DONTDUMP);
}

uint8_t* make_channel(const penna_channel& plan, long fd, ReadyRoom* ready) {
  if (sys_failed(sys(SYS_ftruncate, fd, static_cast<long>(plan.total_bytes)))) return nullptr;
  // Sealed: the collector must be able to rely on the size.
  if (sys_failed(sys(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))) return nullptr;
  uint8_t* base = map_aligned(fd, plan.total_bytes);
  if (base == nullptr) return nullptr;
  keep_out_of_dumps(base, plan.total_bytes);
  if (!open_room(plan, base, fd, ready)) {
    sys(SYS_munmap, reinterpret_cast<long>(base), static_cast<long>(plan.total_bytes));
    return nullptr;
  }
  __builtin_memcpy(base, &plan, sizeof plan);
  __builtin_memset(base + plan.free_at, 0xff, plan.chunk_count / 8);
  uint32_t ring_slots = 1;
  while (ring_slots < plan.chunk_count) ring_slots *= 2;
  penna_ring_init_zeroed(reinterpret_cast<penna_ring*>(base + plan.full_at), ring_slots, sizeof(uint32_t));
  return base;
}

}  // namespace

bool meet_recorder(const char* socket_path, const ForkedFrom& forked_from, const MeetingSteps& steps,
                   Rendezvous* result) {
  Descriptor socket(connect_to(socket_path));
  if (!socket) return false;
  SharedPages pages;
  if (!receive_config(socket.fd, &result->config, &pages)) return false;
  const Room room = Room::now();
  penna_channel plan = plan_within(room, result->config);
  if (!room.holds(plan.total_bytes)) return false;
  steps.make_room();
  long doorbell = sys(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, pages.fds[0], 0);
  if (sys_failed(doorbell)) return false;
  long life = sys(SYS_mmap, 0, 4096, PROT_READ, MAP_SHARED, pages.fds[1], 0);
  if (sys_failed(life)) {
    sys(SYS_munmap, doorbell, 4096);
    return false;
  }

  Descriptor memory(sys(SYS_memfd_create, reinterpret_cast<long>("penna-channel"), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  steps.complete(&plan);
  plan.forked_by = forked_from.thread;
  plan.fork_ticks = forked_from.ticks;
  uint8_t* base = memory ? make_channel(plan, memory.fd, &result->ready) : nullptr;
  penna_hello hello{PENNA_CHANNEL_MAGIC,
                    PENNA_ABI_VERSION,
                    plan.pid,
                    forked_from.pid != 0 ? forked_from.pid : static_cast<uint32_t>(sys(SYS_getppid)),
                    forked_from.pid == 0 ? 1u : 0u,
                    plan.total_bytes};
  if (base != nullptr && send_hello(socket.fd, hello, memory.fd) && wait_until_admitted(socket.fd)) {
    result->channel = reinterpret_cast<penna_channel*>(base);
    result->channel_bytes = plan.total_bytes;
    result->doorbell = reinterpret_cast<penna_doorbell*>(doorbell);
    result->life = reinterpret_cast<const penna_life*>(life);
    result->pid = plan.pid;
    return true;
  }
  if (base != nullptr) sys(SYS_munmap, reinterpret_cast<long>(base), static_cast<long>(plan.total_bytes));
  sys(SYS_munmap, doorbell, 4096);
  sys(SYS_munmap, life, 4096);
  return false;
}

bool room_for_channel() {
  penna_config least{};
  least.chunk_count = 64;
  least.max_nodes = 1024;
  return Room::now().holds(plan_channel(least).total_bytes);
}

long ask_recorder(const char* socket_path, long questions) {
  Descriptor socket(connect_to(socket_path));
  penna_config config{};
  if (!socket) return -1;
  SharedPages pages;
  const bool met = receive_config(socket.fd, &config, &pages);
  penna_hello hello{
      PENNA_CHANNEL_MAGIC, PENNA_ABI_VERSION, static_cast<uint32_t>(sys(SYS_getpid)), 0, PENNA_HELLO_ASKS, 0};
  const timeval patience{PENNA_PLAN_SECONDS, 0};
  sys(SYS_setsockopt, socket.fd, SOL_SOCKET, SO_RCVTIMEO, reinterpret_cast<long>(&patience), sizeof patience);
  if (!met || !send_hello(socket.fd, hello, questions)) return -1;
  char answered = 0;
  int answer = -1;
  return receive_with_descriptors(socket.fd, &answered, 1, &answer, 1) ? answer : -1;
}

long announce_start(const char* socket_path, bool spawns) {
  const long socket = connect_to(socket_path);
  if (socket < 0) return -1;
  penna_config config{};
  SharedPages pages;
  const penna_hello hello{PENNA_CHANNEL_MAGIC,
                          PENNA_ABI_VERSION,
                          static_cast<uint32_t>(sys(SYS_getpid)),
                          static_cast<uint32_t>(sys(SYS_gettid)),
                          spawns ? PENNA_HELLO_SPAWNS : PENNA_HELLO_STARTS,
                          0};
  if (receive_config(socket, &config, &pages) && send_hello(socket, hello, -1) && wait_until_admitted(socket))
    return socket;
  sys(SYS_close, socket);
  return -1;
}

void take_back_start(long socket) {
  char started_nothing = 0;
  Message message(&started_nothing, sizeof started_nothing);
  message.header.msg_controllen = 0;
  sys(SYS_sendmsg, socket, message.address(), MSG_NOSIGNAL);
  (void)wait_until_admitted(socket);
  sys(SYS_close, socket);
}

}  // namespace penna::agent
