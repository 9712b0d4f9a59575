/* SPDX-License-Identifier: MIT
 *
 * channel.h: the shared memory between a traced process and the collector. This header is the specification.
 *
 * Why shared: the recorder keeps the memory when the process dies, at any instruction, so no committed record is lost.
 * A process creates one channel, a memfd; a fork or exec creates a new one.
 * Invariant: one thread at a time writes a chunk, and the collector reads it only after that thread has handed it over
 * or died.
 *
 *   0        +-----------------------------+
 *            | penna_channel, penna_starts |  identity, geometry, counters; what it starts       one page
 *   free_at  +-----------------------------+
 *            | u64 bitmap[chunks / 64]     |  bit set = chunk is free
 *   full_at  +-----------------------------+
 *            | penna_ring of u32           |  numbers of full chunks, many writers, the collector reads
 *   hash_at  +-----------------------------+
 *            | u32 hash[hash_slots]        |  node id, 0 = empty                                 sparse
 *   nodes_at +-----------------------------+
 *            | penna_stack_node[max_nodes] |  the stack tree; node 0 is the root                 sparse
 *   chunks_at+-----------------------------+  aligned to 64 KiB
 *            | chunks, 64 KiB each         |                                                     sparse
 *            +-----------------------------+
 *
 * Life of a chunk, and the actor of each step:
 *
 *   free --[thread: clears its bit, acquire]--> written --[thread: number into the ring, release]--> full
 *   full --[collector: copies, zeroes, sets the bit, release]--> free
 *   written --[thread is gone; collector]--> free
 *
 * A thread reserves room for a record by adding to its cursor, so a signal handler that interrupts it gets the next
 * place. If a record is still uncommitted when its chunk is full, the collector comes back to that chunk later.
 */
#ifndef PENNA_CHANNEL_H
#define PENNA_CHANNEL_H

#include "penna/event.h"

enum { PENNA_ABI_VERSION = 15 };
#define PENNA_CHANNEL_MAGIC UINT64_C(0x316e6e6168436e50) /* "PnChann1" */

enum {
  PENNA_CHUNK_BITS = 16,
  PENNA_CHUNK_BYTES = 1 << PENNA_CHUNK_BITS,
  PENNA_CHUNK_HEADER_BYTES = 128,
  PENNA_MAX_CHUNKS = 1 << 16,
  PENNA_MAX_STACK_DEPTH = 256
};

/* The start of a chunk; its records follow. Laid out as a CTF packet: header (magic, stream), context (rest). */
struct penna_chunk {
  uint32_t ctf_magic; /* 0xC1FC1FC1; 0 = never opened. Written last when a chunk is opened, release */
  uint32_t stream;    /* 0 */
  uint64_t time_begin;
  uint64_t time_end;         /* 0 until it is handed over */
  uint64_t content_bits;     /* header and records; 0 until it is handed over */
  uint64_t packet_bits;      /* PENNA_CHUNK_BYTES * 8 */
  uint64_t events_discarded; /* by this thread so far */
  uint32_t tid;
  uint32_t thread_serial; /* number of the thread in this process, from 1; never reused, unlike tids */
  uint64_t sequence;      /* of this chunk among the thread's chunks, from 0 */
  uint32_t pc_high;       /* upper half of the pc in every call record of this chunk */
  uint32_t generation;    /* of the module map when it was opened */
  uint8_t reserved[56];
};
PENNA_STATIC_ASSERT(sizeof(struct penna_chunk) == PENNA_CHUNK_HEADER_BYTES, "penna_chunk is 128 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_chunk, time_begin) == 8, "penna_chunk.time_begin");
PENNA_STATIC_ASSERT(offsetof(struct penna_chunk, events_discarded) == 40, "penna_chunk.events_discarded");
PENNA_STATIC_ASSERT(offsetof(struct penna_chunk, tid) == 48, "penna_chunk.tid");
PENNA_STATIC_ASSERT(offsetof(struct penna_chunk, sequence) == 56, "penna_chunk.sequence");
PENNA_STATIC_ASSERT(offsetof(struct penna_chunk, pc_high) == 64, "penna_chunk.pc_high");
#define PENNA_CTF_MAGIC UINT32_C(0xC1FC1FC1)

/* A frame of a stack: the path from a node to the root lists the return addresses from the innermost to the outermost.
 * `pc` is written last (release): zero means that the node is not there yet.
 *
 *   63        48 47                                    0
 *  +------------+---------------------------------------+
 *  | generation |        return address                 |  pc_generation
 *  +------------+-----------------+---------------------+
 *  |  depth              |         parent               |
 *  +---------------------+------------------------------+  */
struct penna_stack_node {
  uint64_t pc_generation;
  uint32_t parent;
  uint32_t depth_flags; /* bits 0..15 depth from the root, 16..23 for a node of depth 1: penna_stack_end */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_stack_node) == 16, "penna_stack_node is 16 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_stack_node, parent) == 8, "penna_stack_node.parent");

/* How the walk of a stack ended; part of the outermost frame's node. */
enum penna_stack_end {
  PENNA_STACK_COMPLETE = 0,
  PENNA_STACK_DEPTH_LIMIT = 1,
  PENNA_STACK_NO_RULE = 2,   /* code without usable unwind information */
  PENNA_STACK_BAD_MEMORY = 3 /* a frame outside the thread's stack */
};

/* Why an event was lost, other than for lack of a chunk: losses.inc. */
enum { PENNA_LOSS_SLOTS = 8 };
enum penna_loss {
#define PENNA_LOSS(number, name, ...) PENNA_LOSS_##name = number,
#include "penna/losses.inc"
#undef PENNA_LOSS
  PENNA_LOSS_COUNT
};

/* Counters that only the target increments. All relaxed: they are sums, and order nothing.
 *
 *   0    +--------------------------------------------+
 *        | lost[8]: a slot for each class             |
 *   64   +--------------------------------------------+
 *        | lost_for[8]: a slot for each cause         |
 *   128  +--------------------------------------------+
 *        | blocked_ticks, threads, stacks_truncated   |
 *   176  +--------------------------------------------+
 *        | stack_tree_full, ...; new ones come last   |
 *   280  +--------------------------------------------+  */
struct penna_counters {
  uint64_t lost[PENNA_CLASS_SLOTS]; /* events that could not be recorded; for lack of a chunk, unless counted below */
  uint64_t lost_for[PENNA_LOSS_SLOTS]; /* of `lost`, by penna_loss */
  uint64_t blocked_ticks;              /* time that threads waited for room */
  uint64_t threads;                    /* thread serials given so far */
  uint64_t stacks_truncated[4];        /* walks that ended so, by penna_stack_end */
/* One for each PENNA_HEALTH_TARGET of health.inc, which says what they count. */
#define PENNA_HEALTH_TARGET(rank, field, ...) uint64_t field;
#include "penna/health.inc"
};
PENNA_STATIC_ASSERT(sizeof(struct penna_counters) == 280, "penna_counters is 280 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_counters, lost_for) == 64, "penna_counters.lost_for");
PENNA_STATIC_ASSERT(offsetof(struct penna_counters, stack_tree_full) == 176, "penna_counters.stack_tree_full");
PENNA_STATIC_ASSERT(offsetof(struct penna_counters, blocked_ticks) == 128, "penna_counters.blocked_ticks");

/* A request of the recorder to a running process, and the answer. The recorder fills it, makes a thread of the process
 * run the code at penna_channel.control_entry, and reads the answer; one request at a time.
 *
 *   0    +-----------------------------------------------+
 *        | operation, status, matched, changed, refused  |
 *   24   +-----------------------------------------------+
 *        | pattern, ended by a zero                      |
 *        | or functions, ended by a zero                 |
 *   256  +-----------------------------------------------+  */
enum penna_control_operation {
  PENNA_CONTROL_POINTS_ON = 1,
  PENNA_CONTROL_POINTS_OFF = 2,
  PENNA_CONTROL_SILENCE = 3 /* stop recording calls of `functions` */
};
enum { PENNA_CONTROL_FUNCTIONS = 28 };
enum penna_control_status {
  PENNA_CONTROL_UNANSWERED = 0,
  PENNA_CONTROL_DONE = 1,
  PENNA_CONTROL_BUSY = 2,        /* a thread is loading or unloading a module: try again */
  PENNA_CONTROL_FULL = 3,        /* no room for another pattern */
  PENNA_CONTROL_NOT_RECORDED = 4 /* points are not being recorded */
};
struct penna_control {
  uint32_t operation; /* penna_control_operation */
  uint32_t status;    /* penna_control_status */
  uint32_t matched;   /* sites whose names match; functions that call a hook */
  uint32_t changed;   /* of these, sites that were switched; hook calls that were rewritten */
  uint32_t refused;   /* could not be patched */
  uint32_t reserved;
  union {
    char pattern[232];
    /* Run-time addresses, as records of calls have them, up to the first 0. The last is the answer: bit i says that
     * calls of functions[i] are not recorded any more. */
    uint64_t functions[PENNA_CONTROL_FUNCTIONS + 1];
  };
};
PENNA_STATIC_ASSERT(sizeof(struct penna_control) == 256, "penna_control is 256 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_control, pattern) == 24, "penna_control.pattern");

/* The first page of a channel. Written by the target before it hands over the memfd, then constant except for the parts
 * marked as shared. The collector copies it once and checks the copy. */
enum { PENNA_COST_RECORDS = 64 };
struct penna_channel {
  uint64_t magic;
  uint32_t version; /* PENNA_ABI_VERSION */
  uint32_t pid;
  uint64_t total_bytes;
  uint32_t chunk_count;   /* multiple of 64 */
  uint32_t backlog_limit; /* full chunks that may be pending before threads wait or drop */
  uint64_t free_at, full_at, hash_at, nodes_at, chunks_at;
  uint32_t hash_slots; /* power of two */
  uint32_t max_nodes;
  uint64_t time_begin;
  uint64_t start_cost_ticks;  /* time the agent took to start */
  uint64_t record_cost_ticks; /* time for PENNA_COST_RECORDS lock records in a row; 0: not measured */
  uint64_t control_entry;     /* code that serves `control`; async-signal-safe */
  uint64_t control_end;       /* the loop in which that code ends */
  uint64_t control_stack;     /* top of the stack it runs on */

  /* Shared, each on its own cache line. */
  uint32_t node_count __attribute__((aligned(64)));       /* target adds; nodes below it may be there */
  uint32_t freed_generation __attribute__((aligned(64))); /* futex: collector increments it after freeing chunks */
  uint32_t free_waiters;                                  /* target: threads waiting for it */
  uint32_t backlog __attribute__((aligned(64))); /* full chunks on their way: target adds, collector subtracts */
  struct penna_counters counters __attribute__((aligned(64)));
  struct penna_control control __attribute__((aligned(64)));

  /* Only in a forked child; constant. Calls open in thread forked_by at fork_ticks are open in the child. */
  uint64_t fork_ticks
      __attribute__((aligned(64))); /* later events of the parent's thread came after the fork; 0: unknown */
  uint32_t
      forked_by; /* serial of the forking thread in the parent; 0: not forked, or the thread had recorded nothing */

  uint64_t start_cpu_ns
      __attribute__((aligned(8))); /* CPU time of the process once its agent had started; 0: unknown */
  /* Shared. 1: all calls so far came from the -finstrument-functions hooks and nothing more was requested for them, so
   * each took the same short path. */
  uint32_t calls_at_once;
  /* Shared. The target increments this after each record that describes a module or a site. Threads use a module or
   * site only after that, so a reader that takes a chunk and then loads this counter knows whether another chunk
   * describes what this one mentions. */
  uint32_t descriptions;
};
PENNA_STATIC_ASSERT(offsetof(struct penna_channel, free_at) == 32, "penna_channel.free_at");
PENNA_STATIC_ASSERT(offsetof(struct penna_channel, node_count) == 128, "penna_channel.node_count");
PENNA_STATIC_ASSERT(offsetof(struct penna_channel, freed_generation) == 192, "penna_channel.freed_generation");
PENNA_STATIC_ASSERT(offsetof(struct penna_channel, backlog) == 256, "penna_channel.backlog");
PENNA_STATIC_ASSERT(offsetof(struct penna_channel, counters) == 320, "penna_channel.counters");
PENNA_STATIC_ASSERT(offsetof(struct penna_channel, control) == 640, "penna_channel.control");
PENNA_STATIC_ASSERT(offsetof(struct penna_channel, fork_ticks) == 896, "penna_channel.fork_ticks");
PENNA_STATIC_ASSERT(sizeof(struct penna_channel) <= 4096, "penna_channel fits a page");

/* Programs that a process starts, each reported at its start: at PENNA_STARTS_AT of the first page. The target takes
 * slot `written` if that is less than PENNA_STARTS beyond `read`, fills it and stores its number + 1 into `ready`
 * (release); the collector copies it, and then increments `read`. */
enum penna_start_why {
  PENNA_START_EXPECTED = 0, /* it has the agent preloaded, and will connect to the recorder */
  PENNA_START_FAILED = 1,   /* the last program reported for this pid was not started after all */
  /* It is not recorded: */
  PENNA_START_STATIC = 2,     /* nothing can be preloaded */
  PENNA_START_BITS = 3,       /* it is a 32-bit program */
  PENNA_START_MACHINE = 4,    /* it is for another processor */
  PENNA_START_MUSL = 5,       /* its libc is musl */
  PENNA_START_LOADER = 6,     /* its dynamic linker is neither glibc's nor musl's */
  PENNA_START_PRIVILEGED = 7, /* it gains privileges on exec: the dynamic linker preloads nothing */
  PENNA_START_NO_AGENT = 8,   /* the agent's file does not exist there: another root, a sandbox */
  PENNA_START_FORBIDDEN = 9,  /* its user may not read the agent's file */
  PENNA_START_NO_ROOM = 10,   /* its limits leave no room for a channel; without a path: a forked child */
  PENNA_START_VALGRIND = 11,  /* the agent would run as part of the program that Valgrind examines */
  PENNA_START_TOO_MUCH = 12,  /* its environment is too large to copy it on the stack */
  PENNA_START_SECCOMP = 13,   /* it has a seccomp filter that forbids what recording needs */
  PENNA_START_UNREACHED = 14, /* not a program, but a forked child that could not reach the recorder */
  PENNA_START_WHYS = 15
};
enum { PENNA_STARTS = 12, PENNA_STARTS_AT = 1024, PENNA_START_PATH = 232 };
struct penna_start {
  uint64_t ticks; /* before the start */
  uint32_t pid;   /* 0: unknown */
  uint32_t ready;
  uint16_t why;        /* penna_start_why */
  uint16_t path_bytes; /* of the end of its path, if the path is longer than PENNA_START_PATH */
  char path[PENNA_START_PATH];
  uint32_t reserved;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_start) == 256, "penna_start is 256 bytes");
struct penna_starts {
  struct penna_start places[PENNA_STARTS];
};
/* Precedes the slots. */
enum { PENNA_START_COUNTS_AT = 960 };
struct penna_start_counts {
  uint32_t written;     /* target */
  uint32_t read;        /* collector */
  uint32_t unannounced; /* target: starts that found no free slot */
  uint32_t reserved[13];
};
PENNA_STATIC_ASSERT(sizeof(struct penna_start_counts) == 64, "penna_start_counts is 64 bytes");
PENNA_STATIC_ASSERT(sizeof(struct penna_channel) <= PENNA_START_COUNTS_AT,
                    "penna_channel leaves room for what is started");
PENNA_STATIC_ASSERT(PENNA_STARTS_AT + sizeof(struct penna_starts) == 4096, "penna_starts ends with the page");

/* A page made by the recorder and mapped by every process of the recording. `bell`: a futex on which the collector
 * sleeps; a thread that hands over a chunk increments it, and wakes the collector if `collector_sleeps` is set.
 * `expected`: processes and programs that were started and have not connected yet; targets add before a fork or exec,
 * the recorder subtracts when one connects. */
struct penna_doorbell {
  uint32_t bell __attribute__((aligned(64)));
  uint32_t collector_sleeps;
  uint32_t expected;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_doorbell) == 64, "penna_doorbell is 64 bytes");

/* How long a process waits for its recorder's answer before it continues unrecorded. A dead recorder needs no timeout:
 * its sockets are closed. This covers one that is stopped or starved: with hundreds of runnable processes an answer may
 * take seconds. A longer wait would look like a hang. */
enum { PENNA_ANSWER_SECONDS = 10, PENNA_PLAN_SECONDS = 600 };

/* Another page made by the recorder. It is sealed read-only for targets, so that no target can make others believe that
 * the recorder is alive or dead. `recorder`: a robust futex that the recorder holds while it lives, with its thread id;
 * no thread waits on it. When the recorder dies, in whatever way, the kernel sets PENNA_RECORDER_GONE in it; a recorder
 * that exits normally sets it itself. */
enum { PENNA_RECORDER_GONE = 1 << 30 }; /* FUTEX_OWNER_DIED */
struct penna_life {
  uint32_t recorder __attribute__((aligned(64)));
};
PENNA_STATIC_ASSERT(sizeof(struct penna_life) == 64, "penna_life is 64 bytes");

/* ---- Rendezvous ----------------------------------------------------------------------------------------------------
 * A Unix stream socket, named in the environment by PENNA_SOCKET, and of the same name in the abstract namespace for
 * processes that cannot reach the path. The target connects; the recorder sends penna_config with the descriptors of
 * the doorbell and the life page; the target answers penna_hello with the descriptor of its channel; the recorder looks
 * at the process and sends one byte; both close.
 */
#define PENNA_SOCKET_VARIABLE "PENNA_SOCKET"
#define PENNA_SOCKET_MET 'p' /* its first letter in /proc/PID/environ after the process has connected */

enum penna_on_full {
  PENNA_ON_FULL_BLOCK = 0,
  PENNA_ON_FULL_DROP = 1,
};

enum penna_option { PENNA_OPTION_FREE_STACKS = 1 /* frees record their stack, too */ };

struct penna_config {
  uint64_t magic; /* PENNA_CHANNEL_MAGIC */
  uint32_t version;
  uint32_t classes;       /* bit mask of penna_event_class */
  uint32_t on_full;       /* penna_on_full */
  uint32_t backlog_limit; /* chunks */
  uint32_t chunk_count;
  uint32_t max_nodes;
  uint32_t stack_depth;  /* 1..PENNA_MAX_STACK_DEPTH */
  uint32_t plans;        /* penna_plans */
  uint32_t options;      /* penna_option */
  uint32_t lock_sample;  /* more than 1: one uncontended acquisition in this many is recorded, at random */
  uint64_t sample_bytes; /* not 0: one allocation in this many bytes is recorded, at random (agent/core/sampling.h) */
  uint64_t min_wait;     /* ticks: shorter waits for a lock count as uncontended */
  uint64_t long_hold;    /* ticks: holds of at least this length record where they end; 0: none */
  uint64_t timed_wait;   /* ticks: a lock function that cannot be tried and takes this long has waited (patch_plan.h) */
  /* "+PROVIDER:NAME" or "-PROVIDER:NAME" with * and ?, each zero-terminated; an empty one ends the list. The last
   * pattern that matches a point decides; if none does, the point is recorded unless the list begins with a "+". Points
   * that match "@PROVIDER:NAME" are recorded with their stacks. */
  char point_patterns[472];
};
PENNA_STATIC_ASSERT(sizeof(struct penna_config) == 552, "penna_config is 552 bytes");

struct penna_hello {
  uint64_t magic;
  uint32_t version;
  uint32_t pid;
  uint32_t parent;
  uint32_t after_exec; /* 1: a new program; 0: a fork of a traced one; PENNA_HELLO_ASKS: see patch_plan.h */
  uint64_t channel_bytes;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_hello) == 32, "penna_hello is 32 bytes");

#endif
