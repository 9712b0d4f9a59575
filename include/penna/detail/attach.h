/* SPDX-License-Identifier: MIT
 *
 * attach.h: what a recorder and the agent that it has injected into a running process share: memory of the process,
 * which the recorder creates, reads and writes.
 *
 * Why a journal: code that other threads may be running cannot be changed from inside while they run. So the agent
 * announces the changes, and the recorder makes them while every thread is stopped. Later changes (to a library that
 * was just loaded, and that no thread runs yet) the agent makes itself, and adds to the journal. On leaving, this
 * recorder or the next one restores what the journal lists.
 * Invariant: an entry's address is stored last, and before the change that it describes is made; 0: there is nothing to
 * restore.
 *
 *   0    +-----------+---------+----------+-----------+
 *        | magic     | version | state    |           |
 *   16   +-----------+---------+----------+-----------+
 *        | changes   | room    | refusals | stopped   |
 *   32   +-----------+---------+----------+-----------+
 *        | code_start          | code_end             |
 *   48   +---------------------+----------------------+
 *        | armed               | real                 |
 *   64   +---------------------+----------------------+
 *        | real_before         | real_bytes           |
 *   80   +---------------------+----------------------+
 *        | in_linker           | cursor               |
 *   96   +---------------------+----------------------+
 *        | thread_kept         | stop_entry           |
 *   112  +---------------------+----------------------+
 *        | stop_end            | stop_stack           |
 *   128  +---------------------+----------------------+
 *        | trampolines         | trampoline_bytes     |
 *   144  +---------------------+----------------------+
 *        | links               | link_count_at        |
 *   160  +---------------------+----------------------+
 *        | threads             | thread_slots         |
 *   176  +----------+----------+----------------------+
 *        | t._count | t._bytes | tid_at               |
 *   192  +----------+----------+----------+-----------+
 *        | unwinder            | lock_c.  | in_alloc. |
 *   208  +---------------------+----------+-----------+
 *        | penna_change[room] ...                     |
 *        +--------------------------------------------+
 */
#ifndef PENNA_DETAIL_ATTACH_H
#define PENNA_DETAIL_ATTACH_H

#include "penna/channel.h"

#define PENNA_ATTACH_MAGIC UINT64_C(0x31686361746e6e50) /* "Pnntach1" */

enum penna_attach_state {
  PENNA_ATTACH_NEW = 0,
  PENNA_ATTACH_HOLDS = 1, /* the agent has planned; its changes wait for the recorder */
  PENNA_ATTACH_RUNS = 2,  /* they are made; the agent makes further ones itself */
  PENNA_ATTACH_LEFT = 3   /* everything is restored */
};

/* In `refusals`: some thread has a filter. The other bits: CallRefusals (seccomp/own_calls.h) once the agent, which
 * itself is refused nothing, is in the process. */
#define PENNA_CALLS_FILTERED 0x80000000u

/* What the recorder writes when it leaves: to each thread's cursor, and to what `armed` points to. */
#define PENNA_NO_CHUNK (UINT64_C(0xffffffff) << 32 | PENNA_CHUNK_BYTES)
enum { PENNA_NOTHING_RECORDED = 1 << 8 };

enum penna_change_kind {
  PENNA_CHANGED_CODE = 0, /* up to 16 bytes */
  PENNA_CHANGED_POINTER = 1,
  PENNA_MAPPED = 2 /* the agent's memory: `mapped` bytes, kept until the agent is used again */
};

/* In the header of a module that may be unloaded, at PENNA_MODULE_MARK_AT from its start: shows that it is still the
 * mapping that the agent looked at. Until dlclose is hooked, unloading goes unnoticed, and another module may take its
 * place. */
enum { PENNA_MODULE_MARK = 0xa5, PENNA_MODULE_MARK_AT = 15 };

struct penna_change {
  uint64_t address;   /* run-time; 0: incomplete, or gone */
  uint8_t kind;       /* penna_change_kind */
  uint8_t bytes;      /* of before and after */
  uint8_t is_marked;  /* 1: counts only as long as its module has the mark */
  uint8_t goes_last;  /* 1: of a function that hides our return addresses from the program: undone with these */
  uint32_t in_module; /* address - the module's start */
  uint8_t before[16];
  union {
    uint8_t after[16];
    uint64_t mapped;
  };
};
PENNA_STATIC_ASSERT(sizeof(struct penna_change) == 48, "penna_change is 48 bytes");

struct penna_attachment {
  uint64_t magic;
  uint32_t version;              /* PENNA_ABI_VERSION */
  uint32_t state;                /* penna_attach_state */
  uint32_t changes;              /* so far */
  uint32_t room;                 /* for this many */
  uint32_t refusals;             /* by the process's seccomp filters: see below */
  uint32_t stopped;              /* by stop_entry: nothing is recorded any more, and points have their original bytes */
  uint64_t code_start, code_end; /* of the agent */
  uint64_t armed;                /* address of 4 bytes: what is recorded, or PENNA_NOTHING_RECORDED */
  /* The libc functions that the agent calls: `real_bytes` bytes, and their values before any was hooked. */
  uint64_t real, real_before, real_bytes;
  uint64_t in_linker; /* address of 8 bytes: not 0 while a thread is in dlopen or dlclose through the agent */
  /* For each thread, as distances from the thread pointer: where its records go; 4 bytes that only the thread may
   * change. */
  int64_t cursor, thread_kept;
  /* Code that a thread is made to run (penna/detail/remote.h). `stopped` then says whether it succeeded: it cannot
   * while that thread, or another one, is switching points. */
  uint64_t stop_entry, stop_end, stop_stack;
  /* Where recorded calls return to: PENNA_TRAMPOLINE_BYTES each, `trampoline_bytes` in all. For each there are
   * PENNA_LINK_BYTES at `links`, which begin with the call's real return address. They stay valid: idle stacks, such as
   * those of coroutines, may hold them after recording has ended. */
  uint64_t trampolines, trampoline_bytes, links;
  uint64_t link_count_at; /* address of 4 bytes: how many links are in use */
  /* Of a standalone agent; else 0, and `cursor` and `thread_kept` are distances from the thread pointer. It has
   * `thread_count` keys of PENNA_THREAD_KEY_BYTES, which begin with the thread pointer or 0, and as many slots, of
   * `thread_bytes` each, which contain these two. */
  uint64_t threads, thread_slots;
  uint32_t thread_count, thread_bytes;
  int64_t tid_at; /* penna_standalone::tid_at */
  /* The program's function that finds unwind information (_Unwind_Find_FDE), before which the agent offers its own; 0:
   * it has none. Restored last. In a slot: 8 and 4 bytes that are not 0 while a hooked function, of locks or of
   * allocators, runs on behalf of the agent, and may be left by an exception. */
  uint64_t unwinder;
  uint32_t lock_call, in_allocator;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_attachment) == 208, "penna_attachment is 208 bytes");
enum { PENNA_THREAD_KEY_BYTES = 16 };

/* What the recorder passes to a standalone agent, which the recorder loads instead of a dynamic linker, before the
 * agent's first instruction. Lies in the agent. */
struct penna_standalone {
  int64_t tid_at, errno_at; /* from the thread pointer: where libc has the thread's id, and errno; 4 bytes each */
  uint64_t program, program_end, bias;
  uint64_t phdrs, phdr_count;   /* of the program */
  uint64_t frames, frame_bytes; /* its .eh_frame_hdr, or one made for it, of `frame_bytes`; 0: none */
  uint64_t vdso;                /* 0: none */
  uint64_t stack_end;           /* the stack pointer of the program's first instruction */
  /* glibc's function that passes the blocks of an ended thread's cache to free once more; 0: none */
  uint64_t cache_end, cache_end_bytes;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_standalone) == 104, "penna_standalone is 104 bytes");
enum { PENNA_TRAMPOLINE_BYTES = 16, PENNA_TRAMPOLINE_RETURNS = 4, PENNA_LINK_BYTES = 32 };

static inline struct penna_change* penna_changes_of(struct penna_attachment* attachment) {
  return (struct penna_change*)(attachment + 1);
}

/* Defined by the agent; called by a thread that the recorder creates, once for each recording. `agent_path`: where
 * programs started by exec find the agent. If the agent was used before, its variables are as they were when it was
 * loaded, except `real`, in_linker, thread_kept and the links; the attachment still has the changes of that time. */
enum penna_attach_answer {
  PENNA_ATTACHED = 0,
  PENNA_ATTACH_AGAIN = 1,    /* this process is or was recorded by other means */
  PENNA_ATTACH_UNWINDER = 3, /* standalone: _Unwind_Find_FDE cannot be entered */
  PENNA_ATTACH_REFUSED = 2   /* the recorder does not answer, or there is no memory for a channel */
};

/* The program's functions that such an agent looks for: a list, ended by an empty name. */
struct penna_standalone_symbol {
  char name[32];
  uint64_t address; /* run-time; 0: the program has none */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_standalone_symbol) == 40, "penna_standalone_symbol is 40 bytes");

#ifdef __cplusplus
extern "C" {
#endif
enum penna_attach_answer penna_agent_attach(const char* socket_path, struct penna_attachment* attachment,
                                            const char* agent_path);
extern struct penna_attachment* penna_agent_attachment; /* the last one; null: none yet */
/* Only in the standalone agent. */
extern struct penna_standalone penna_agent_standalone;
extern struct penna_standalone_symbol penna_agent_symbols[];
#ifdef __cplusplus
}
#endif

#endif
