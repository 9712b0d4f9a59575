// SPDX-License-Identifier: MIT
// See channel_memory.h, and "Rendezvous" in penna/channel.h.
#include "breakpoint/channel_memory.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/socket_address.h"
#include "penna/clock.h"
#include "penna/ring.h"

namespace penna {
namespace {

constexpr uint64_t kChannelPage = 4096;

uint64_t channel_page_up(uint64_t bytes) { return (bytes + kChannelPage - 1) & ~(kChannelPage - 1); }

uint32_t power_of_two(uint32_t least) {
  uint32_t power = 1;
  while (power < least) power *= 2;
  return power;
}

template <typename Call>
ssize_t uninterrupted(Call&& call) {
  ssize_t got;
  do got = call();
  while (got < 0 && errno == EINTR);
  return got;
}

Fd connect_to(const std::string& path) {
  const auto address = SocketAddress::of_path(path);
  if (!address) return {};
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // With the agent's timeout: a stopped recorder must not stop the program forever.
  const timeval patience{PENNA_ANSWER_SECONDS, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const bool connected = socket && address.connect(socket.get()) == 0;
  return connected ? std::move(socket) : Fd();
}

// A message with up to two descriptors. Set up as in agent/core/rendezvous.cc: the agent may not use the tool's code,
// nor this half the agent's.
struct Message {
  Message(void* bytes, size_t size) : part{bytes, size} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = room;
    header.msg_controllen = sizeof room;
  }
  iovec part;
  msghdr header{};
  alignas(cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))] = {};
};

// The configuration, and the descriptors of the doorbell and the life page.
bool receive_config(const Fd& socket, penna_config* config, std::array<Fd, 2>* pages) {
  Message message(config, sizeof *config);
  // A stream socket: MSG_WAITALL, because the configuration may arrive in pieces. The descriptors come with the first.
  const ssize_t got =
      uninterrupted([&] { return ::recvmsg(socket.get(), &message.header, MSG_CMSG_CLOEXEC | MSG_WAITALL); });
  const cmsghdr* control = got > 0 ? CMSG_FIRSTHDR(&message.header) : nullptr;
  if (control == nullptr || control->cmsg_type != SCM_RIGHTS || control->cmsg_len != CMSG_LEN(2 * sizeof(int)))
    return false;
  int descriptors[2];
  std::memcpy(descriptors, CMSG_DATA(control), sizeof descriptors);
  for (size_t i = 0; i < pages->size(); ++i) (*pages)[i] = Fd(descriptors[i]);
  return got == static_cast<ssize_t>(sizeof *config) && config->magic == PENNA_CHANNEL_MAGIC &&
         config->version == PENNA_ABI_VERSION;
}

bool send_hello(const Fd& socket, penna_hello hello, const Fd& channel) {
  Message message(&hello, sizeof hello);
  message.header.msg_controllen = CMSG_SPACE(sizeof(int));
  cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = channel.get();
  std::memcpy(CMSG_DATA(control), &fd, sizeof fd);
  return uninterrupted([&] { return ::sendmsg(socket.get(), &message.header, MSG_NOSIGNAL); }) ==
         static_cast<ssize_t>(sizeof hello);
}

penna_channel plan_channel(const penna_config& config, const ChannelOwner& owner) {
  penna_channel plan{};
  plan.magic = PENNA_CHANNEL_MAGIC;
  plan.version = PENNA_ABI_VERSION;
  plan.pid = static_cast<uint32_t>(owner.pid);
  plan.chunk_count = config.chunk_count;
  plan.backlog_limit = config.backlog_limit;
  plan.max_nodes = config.max_nodes;
  plan.hash_slots = 1;  // we find nodes in our own table
  // The parts in the order of the diagram in channel.h, each starting on a new page: untouched pages cost nothing.
  plan.free_at = kChannelPage;
  plan.full_at = plan.free_at + channel_page_up(config.chunk_count / 8);
  plan.hash_at = plan.full_at + channel_page_up(penna_ring_bytes(power_of_two(config.chunk_count), sizeof(uint32_t)));
  plan.nodes_at = plan.hash_at + kChannelPage;
  const uint64_t nodes_end = plan.nodes_at + uint64_t{plan.max_nodes} * sizeof(penna_stack_node);
  plan.chunks_at = (nodes_end + PENNA_CHUNK_BYTES - 1) & ~uint64_t{PENNA_CHUNK_BYTES - 1};
  plan.total_bytes = plan.chunks_at + uint64_t{plan.chunk_count} * PENNA_CHUNK_BYTES;
  plan.node_count = 1;  // the root
  plan.time_begin = owner.start_ticks;
  plan.forked_by = owner.forked_by;
  plan.fork_ticks = owner.fork_ticks;
  return plan;
}

Mapping map_shared(const Fd& file, uint64_t bytes, int protection) {
  // Reserved for as many chunks and nodes as the recorder allows; few programs use them all.
  void* const at = ::mmap(nullptr, bytes, protection, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  return at == MAP_FAILED ? Mapping() : Mapping(at, bytes);
}

}  // namespace

bool ChannelMemory::make(const ChannelOwner& owner, Fd* file) {
  plan_ = plan_channel(config_, owner);
  *file = Fd(::memfd_create("penna-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // The recorder maps only sealed files (ChannelMap::map()): one that shrinks would raise SIGBUS there.
  if (!*file || ::ftruncate(file->get(), static_cast<off_t>(plan_.total_bytes)) != 0 ||
      ::fcntl(file->get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return false;
  memory_ = map_shared(*file, plan_.total_bytes, PROT_READ | PROT_WRITE);
  if (!memory_) return false;
  std::memcpy(memory_.data(), &plan_, sizeof plan_);
  // All chunks are free. The rest of a new memfd is zeros, as the ring and the nodes require.
  std::memset(memory_.data() + plan_.free_at, 0xff, plan_.chunk_count / 8);
  penna_ring_init_zeroed(reinterpret_cast<penna_ring*>(memory_.data() + plan_.full_at), power_of_two(plan_.chunk_count),
                         sizeof(uint32_t));
  return true;
}

Result<ChannelMemory> ChannelMemory::connect(const std::string& socket_path, const ChannelOwner& owner) {
  const Error unmet{fmt::format("could not connect process {} to the recorder", owner.pid)};
  ChannelMemory channel;
  std::array<Fd, 2> pages;
  // The same exchange as an agent's ("Rendezvous"), by a process that represents another one: the server knows its
  // introducer, and takes the pid from the hello.
  Fd socket = connect_to(socket_path);
  if (!socket || !receive_config(socket, &channel.config_, &pages)) return unmet;
  channel.doorbell_ = map_shared(pages[0], kChannelPage, PROT_READ | PROT_WRITE);
  channel.life_ = map_shared(pages[1], kChannelPage, PROT_READ);
  Fd file;
  if (!channel.doorbell_ || !channel.life_ || !channel.make(owner, &file)) return unmet;
  const penna_hello hello{PENNA_CHANNEL_MAGIC,
                          PENNA_ABI_VERSION,
                          static_cast<uint32_t>(owner.pid),
                          static_cast<uint32_t>(owner.parent),
                          owner.is_program ? 1u : 0u,
                          channel.plan_.total_bytes};
  char admitted = 0;
  // One byte: admitted. End of stream without it: refused.
  if (!send_hello(socket, hello, file) || uninterrupted([&] { return ::recv(socket.get(), &admitted, 1, 0); }) != 1)
    return unmet;
  channel.connection_ = std::move(socket);
  return channel;
}

bool ChannelMemory::recorder_alive() const {
  const auto* life = reinterpret_cast<const penna_life*>(life_.data());
  return (__atomic_load_n(&life->recorder, __ATOMIC_RELAXED) & PENNA_RECORDER_GONE) == 0;
}

void ChannelMemory::expect_process() {
  __atomic_fetch_add(&reinterpret_cast<penna_doorbell*>(doorbell_.data())->expected, 1, __ATOMIC_RELAXED);
}

// Sequentially consistent with the collector's Doorbell::wait(), which sleeps only after it has announced that and
// rechecked the bell.
void ChannelMemory::ring() {
  auto* const doorbell = reinterpret_cast<penna_doorbell*>(doorbell_.data());
  __atomic_fetch_add(&doorbell->bell, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&doorbell->collector_sleeps, __ATOMIC_SEQ_CST) != 0)
    ::syscall(SYS_futex, &doorbell->bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

bool ChannelMemory::is_backlogged() {
  return __atomic_load_n(&head().backlog, __ATOMIC_RELAXED) >= plan_.backlog_limit;
}

std::optional<uint32_t> ChannelMemory::take_chunk() {
  if (is_backlogged()) return {};
  auto* const bitmap = reinterpret_cast<uint64_t*>(memory_.data() + plan_.free_at);
  for (uint32_t word = 0; word < plan_.chunk_count / 64; ++word) {
    // Relaxed: a set bit stays set until we clear it.
    const uint64_t seen = __atomic_load_n(bitmap + word, __ATOMIC_RELAXED);
    if (seen == 0) continue;
    // Acquire: pairs with the collector's release when it returned the chunk, zeroed. No other thread takes chunks.
    __atomic_fetch_and(bitmap + word, ~(seen & -seen), __ATOMIC_ACQUIRE);
    return word * 64 + static_cast<uint32_t>(__builtin_ctzll(seen));
  }
  return {};
}

void ChannelMemory::wait_for_room() {
  // Read before checking the backlog: a chunk that comes back in between changes the generation, and the futex does not
  // sleep. Pairs with the collector's increment in ChannelMap::free_chunk().
  const uint32_t generation = __atomic_load_n(&head().freed_generation, __ATOMIC_ACQUIRE);
  ring();
  if (!is_backlogged()) return;
  const timespec limit{0, 50'000'000};
  __atomic_fetch_add(&head().free_waiters, 1, __ATOMIC_SEQ_CST);  // pairs with the collector's load
  ::syscall(SYS_futex, &head().freed_generation, FUTEX_WAIT, generation, &limit, nullptr, 0);
  __atomic_fetch_sub(&head().free_waiters, 1, __ATOMIC_RELAXED);
}

void ChannelMemory::hand_over(uint32_t number) {
  // Relaxed: it only throttles. The collector decrements it (free_chunk()).
  __atomic_fetch_add(&head().backlog, 1, __ATOMIC_RELAXED);
  auto* const ring_of_full = reinterpret_cast<penna_ring*>(memory_.data() + plan_.full_at);
  uint32_t ticket;
  if (void* slot = penna_ring_reserve(ring_of_full, &ticket)) {
    std::memcpy(slot, &number, sizeof number);
    // Release: pairs with the acquire in penna_ring_read_checked(); the whole chunk is written by now.
    penna_ring_commit(ring_of_full, ticket);
  }
  ring();
}

}  // namespace penna
