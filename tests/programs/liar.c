/* SPDX-License-Identifier: MIT
 * A process that meets the recorder as an agent does, and lies (tests/e2e/lying_channel.sh). Static: it has no agent of its own.
 *   liar nodes          a channel of 2^26 stack nodes, all of them handed out, none there
 *   liar many-nodes     a channel of as many nodes as were asked for, each page of them with one node
 *   liar chunks N       N forks that outlive it, ignore SIGTERM, and keep rings of 65,536 chunks full
 *   liar rings N        the same with as many chunks as were asked for
 *   liar unopened N     N forks that give away every chunk of theirs without end, and have touched none
 *   liar huge N         N forks with channels of one TiB that outlive it for a moment
 *   liar twice          a channel, which a fork of it offers once more
 *   liar silent N S     N connections that say nothing for S seconds
 *   liar counters       all counters at their most
 *   liar short N        N forks one after the other that play by the rules; a chunk with one record of each */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "penna/channel.h"
#include "penna/ring.h"

static struct penna_config config;

static int connect_to_recorder(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char* path = getenv(PENNA_SOCKET_VARIABLE);
  if (path == NULL || strlen(path) >= sizeof address.sun_path) exit(3);
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr*)&address, sizeof address) != 0) return -1;
  return fd;
}

static void receive_config(int fd) {
  char room[256];
  struct iovec part = {&config, sizeof config};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  if (recvmsg(fd, &message, MSG_WAITALL) != (ssize_t)sizeof config) exit(4);
}

static uint64_t page_up(uint64_t bytes) { return (bytes + 4095) & ~UINT64_C(4095); }

/* Offers the memory at a connection that has its config; 0: refused. */
static int offer(int fd, int memory, uint64_t bytes) {
  struct penna_hello hello = {
      PENNA_CHANNEL_MAGIC, PENNA_ABI_VERSION, (uint32_t)getpid(), (uint32_t)getppid(), 1, bytes};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
  memcpy(CMSG_DATA(&control.header), &memory, sizeof memory);
  struct iovec part = {&hello, sizeof hello};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  char byte;
  if (sendmsg(fd, &message, MSG_NOSIGNAL) != (ssize_t)sizeof hello) exit(8);
  const int met = read(fd, &byte, 1) == 1;
  close(fd);
  return met;
}

/* A connection that has its config. */
static int ask_for_config(void) {
  int fd = connect_to_recorder();
  if (fd < 0) exit(5);
  receive_config(fd);
  return fd;
}

static uint64_t channel_bytes; /* not 0: the memory is that large */
static int channel_memory;

static struct penna_channel* meet(uint32_t chunks, uint32_t nodes) {
  int fd = ask_for_config();
  if (chunks == 0) chunks = config.chunk_count;
  if (nodes == 0) nodes = config.max_nodes;
  uint32_t slots = 1;
  while (slots < chunks) slots *= 2;
  struct penna_channel plan = {.magic = PENNA_CHANNEL_MAGIC,
                               .version = PENNA_ABI_VERSION,
                               .pid = (uint32_t)getpid(),
                               .chunk_count = chunks,
                               .backlog_limit = chunks,
                               .hash_slots = 1024,
                               .max_nodes = nodes,
                               .free_at = 4096,
                               .node_count = 1};
  plan.full_at = plan.free_at + page_up(chunks / 8);
  plan.hash_at = plan.full_at + page_up(penna_ring_bytes(slots, sizeof(uint32_t)));
  plan.nodes_at = plan.hash_at + page_up(1024 * 4);
  plan.chunks_at = (plan.nodes_at + nodes * UINT64_C(16) + PENNA_CHUNK_BYTES) & ~UINT64_C(0xffff);
  plan.total_bytes = plan.chunks_at + (uint64_t)chunks * PENNA_CHUNK_BYTES;
  int memory = memfd_create("liar", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0 || ftruncate(memory, (off_t)(channel_bytes != 0 ? channel_bytes : plan.total_bytes)) != 0) exit(6);
  fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  char* at = mmap(NULL, plan.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (at == MAP_FAILED) exit(7);
  memcpy(at, &plan, sizeof plan);
  memset(at + plan.free_at, 0xff, chunks / 8);
  penna_ring_init_zeroed((struct penna_ring*)(at + plan.full_at), slots, sizeof(uint32_t));

  if (!offer(fd, memory, plan.total_bytes)) exit(0);
  channel_memory = memory;
  return (struct penna_channel*)at;
}

/* Chunk `number` full of entries of one function, or with one. */
static void fill(struct penna_channel* channel, uint32_t number, uint32_t records) {
  char* chunk = (char*)channel + channel->chunks_at + (uint64_t)number * PENNA_CHUNK_BYTES;
  struct penna_chunk header = {.ctf_magic = PENNA_CTF_MAGIC,
                               .time_begin = 1000,
                               .time_end = 2000,
                               .content_bits = (sizeof header + records * UINT64_C(8)) * 8,
                               .packet_bits = PENNA_CHUNK_BYTES * 8,
                               .tid = (uint32_t)getpid(),
                               .thread_serial = 1,
                               .sequence = number};
  ((uint64_t*)((char*)channel + channel->free_at))[number / 64] &= ~(UINT64_C(1) << number % 64);
  for (uint32_t i = 0; i < records; ++i) ((uint64_t*)(chunk + sizeof header))[i] = UINT64_C(0x1234567800001001);
  memcpy(chunk, &header, sizeof header);
}

static int give(struct penna_channel* channel, uint32_t number) {
  uint32_t ticket;
  void* slot = penna_ring_reserve((struct penna_ring*)((char*)channel + channel->full_at), &ticket);
  if (slot == NULL) return 0;
  memcpy(slot, &number, sizeof number);
  penna_ring_commit((struct penna_ring*)((char*)channel + channel->full_at), ticket);
  return 1;
}

static void keep_full(uint32_t chunks) {
  signal(SIGTERM, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  alarm(1000); /* not for ever */
  setsid();
  struct penna_channel* channel = meet(chunks, 0);
  const uint32_t most = (PENNA_CHUNK_BYTES - sizeof(struct penna_chunk)) / 8;
  for (uint32_t number = 0;; number = (number + 1) % channel->chunk_count) {
    fill(channel, number % 64, most);
    while (!give(channel, number % 64)) usleep(1000);
  }
}

static void give_unopened(void) {
  signal(SIGTERM, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  alarm(1000);
  setsid();
  struct penna_channel* channel = meet(PENNA_MAX_CHUNKS, 1024);
  for (uint32_t number = 0;; number = (number + 1) % channel->chunk_count) {
    /* All of them are taken, too. */
    ((uint64_t*)((char*)channel + channel->free_at))[number / 64] = 0;
    while (!give(channel, number)) usleep(1000);
  }
}

static void play_by_the_rules(void) {
  struct penna_channel* channel = meet(64, 1024);
  fill(channel, 0, 1);
  give(channel, 0);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? atoi(argv[2]) : 1;
  if (strcmp(what, "nodes") == 0) {
    struct penna_channel* channel = meet(64, 1u << 26);
    channel->node_count = 1u << 26;
    fill(channel, 0, 1);
    give(channel, 0);
    sleep(2);
  } else if (strcmp(what, "many-nodes") == 0) {
    struct penna_channel* channel = meet(64, 0);
    struct penna_stack_node* nodes = (struct penna_stack_node*)((char*)channel + channel->nodes_at);
    for (uint32_t i = 1; i < channel->max_nodes; i += 256) nodes[i].pc_generation = 0x1234;
    channel->node_count = channel->max_nodes;
    for (uint32_t i = 0; i < 64; ++i) fill(channel, i, 1), give(channel, i), usleep(20000);
  } else if (strcmp(what, "chunks") == 0 || strcmp(what, "rings") == 0) {
    for (int i = 0; i < count; ++i)
      if (fork() == 0) keep_full(what[0] == 'c' ? PENNA_MAX_CHUNKS : 0);
    sleep(1);
  } else if (strcmp(what, "unopened") == 0) {
    for (int i = 0; i < count; ++i)
      if (fork() == 0) give_unopened();
    sleep(1);
  } else if (strcmp(what, "huge") == 0) {
    channel_bytes = UINT64_C(1) << 40;
    for (int i = 0; i < count; ++i) {
      if (fork() != 0) continue;
      setsid();
      meet(64, 1024);
      sleep(3);
      _exit(0);
    }
    sleep(1);
  } else if (strcmp(what, "twice") == 0) {
    struct penna_channel* channel = meet(0, 0);
    if (fork() == 0) _exit(offer(ask_for_config(), channel_memory, channel->total_bytes));
    int status = 0;
    wait(&status);
    fill(channel, 0, 1);
    give(channel, 0);
    return WEXITSTATUS(status) == 0 ? 0 : 9;
  } else if (strcmp(what, "silent") == 0) {
    for (int i = 0; i < count; ++i) connect_to_recorder();
    sleep(argc > 3 ? (unsigned)atoi(argv[3]) : 3);
  } else if (strcmp(what, "counters") == 0) {
    struct penna_channel* channel = meet(0, 0);
    memset(&channel->counters, 0xff, sizeof channel->counters);
    memset((char*)channel + PENNA_START_COUNTS_AT + offsetof(struct penna_start_counts, unannounced), 0xff,
           sizeof(uint32_t));
    channel->counters.clock_forbidden = channel->counters.calls_forbidden = 0;
  } else if (strcmp(what, "short") == 0) {
    for (int i = 0; i < count; ++i) {
      if (fork() == 0) {
        play_by_the_rules();
        _exit(0);
      }
      wait(NULL);
    }
  } else {
    return 2;
  }
  return 0;
}
