/* SPDX-License-Identifier: MIT
 *
 * patch_plan.h: how a target learns which places in its code and data to redirect to the recorder's hooks.
 *
 * Why the recorder plans: finding functions takes ELF files, debug files and a disassembler, and none of these may be
 * in the target. What the target does is compare bytes and write bytes.
 * Invariant: a plan applies only to the files that the question names (by build ID); the bytes at a place are compared
 * before they are overwritten. Both are untrusted input to the other side.
 *
 * The target connects as in "Rendezvous" (channel.h) and answers penna_hello with after_exec = PENNA_HELLO_ASKS and,
 * instead of a channel, a memfd of penna_patch_question, one per module. The recorder sends one byte, and with it a
 * memfd:
 *
 *   +------------------+---------------------+----------------------+-------------------------+---------------------+
 *   | penna_patch_plan | penna_near[modules] | penna_patch[patches] | penna_capture[captures] | penna_value[values] |
 *   +------------------+---------------------+----------------------+-------------------------+---------------------+
 *   | bytes of the nears | names, zero-ended | text of the captures |
 *   +--------------------+-------------------+----------------------+
 */
#ifndef PENNA_PATCH_PLAN_H
#define PENNA_PATCH_PLAN_H

#include "penna/channel.h"
#include "penna/point_abi.h"
#include "penna/value_plan.h"

enum { PENNA_HELLO_ASKS = 2, PENNA_PATCH_PATH = 1024, PENNA_PATCH_MAX_MODULES = 512 };
#define PENNA_PATCH_MAGIC UINT64_C(0x316e616c506e6e50) /* "PnnPlan1" */

/* What a target asks about: penna_config.plans. */
enum penna_plans {
  PENNA_PLANS_MODULES = 1, /* each module, once it is mapped: what to patch for calls */
  PENNA_PLANS_POINTERS =
      2, /* the same for each function that dlsym returns; the question has one module, the plan at most one patch */
  PENNA_PLANS_ALLOCATORS = 4, /* modules with their own allocator: one question per function of it */
  PENNA_PLANS_LOCKS = 8,      /* each module, once it is mapped: its own lock functions */
  PENNA_PLANS_PROBES = 16     /* each module, once it is mapped: probes of other headers (sys/sdt.h) */
};

/* Why a target cannot patch the functions that it asks about. */
enum penna_unless {
  PENNA_UNLESS_NOTHING = 0, /* it can */
  PENNA_UNLESS_RUNNING = 1, /* other threads may be running them */
  PENNA_UNLESS_FULL = 2,    /* it has patched as many allocators as it can distinguish */
  PENNA_UNLESS_FOUND =
      3, /* it first asks whether the module has any of them: the plan then has one of their names, and no patch */
  PENNA_UNLESS_READ = 4 /* about calls: something in the process reads return addresses from the stack */
};

/* A module, and memory within 2 GiB of all of its code that may become code. */
struct penna_patch_question {
  uint64_t bias; /* run-time address - address in the file */
  uint64_t start, end;
  uint64_t near, near_bytes; /* 0: none */
  uint64_t enter;    /* what a patched place is to call: penna_call_enter; for a probe: penna_point_entries.reserve */
  uint64_t values;   /* not 0: only about the module's probes (PENNA_PATCH_PROBE): penna_point_entries.values */
  uint64_t function; /* not 0: only about the function that begins here, which dlsym returned */
  uint64_t instead;  /* not 0: only about the function called `symbol`, whose calls go there then (PENNA_PATCH_INSTEAD).
                        If `function` is its address, it is patched alone, else as part of an allocator. Without a
                        symbol, about all lock functions (PENNA_PATCH_LOCK); `function` is then 1 for a library, 0 for
                        the program */
  char symbol[64];
  uint32_t
      unless; /* penna_unless; then there is no patch for `symbol`, locks or calls, and the recording says so where the
                 module has it */
  uint16_t first_number, numbers; /* about lock functions: the numbers they may get, shared by all questions */
  uint32_t path_bytes, build_id_bytes;
  uint8_t build_id[32];
  char path[PENNA_PATCH_PATH];
};
PENNA_STATIC_ASSERT(sizeof(struct penna_patch_question) == 184 + PENNA_PATCH_PATH, "penna_patch_question");
PENNA_STATIC_ASSERT(offsetof(struct penna_patch_question, build_id) == 152, "penna_patch_question.build_id");

struct penna_patch_plan {
  uint64_t magic;
  uint32_t version; /* PENNA_ABI_VERSION */
  uint32_t modules; /* as many as in the request */
  uint32_t patches;
  uint32_t near_bytes;
  uint32_t name_bytes;
  uint32_t captures; /* sorted by function, then kind */
  uint32_t values;
  uint32_t text_bytes;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_patch_plan) == 40, "penna_patch_plan");

/* What to do with a module's near memory: its first `bytes`; and the module's patches, `first` and `patches` - 1 more.
 */
struct penna_near {
  uint32_t bytes, offset; /* of its bytes, within those of all nears */
  uint32_t first, patches;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_near) == 16, "penna_near");

enum penna_patch_kind {
  /* Code: `before` becomes `after`. First the bytes after `head`, which no thread runs at that time; then the head, in
   * one store. */
  PENNA_PATCH_CODE = 1,
  /* A pointer to a function of another module, the one called `name`: its value goes into the stub, and the stub's
   * address into the pointer. */
  PENNA_PATCH_IMPORT = 2,
  /* Like PENNA_PATCH_CODE; calls of the function then go to question.instead, and calls of `stub` do what the function
     did. */
  PENNA_PATCH_INSTEAD = 3,
  /* The same, and the function's number, one of those that the question offers, is pushed onto the stack. */
  PENNA_PATCH_LOCK = 4,
  /* Like PENNA_PATCH_CODE, next to the nop of a probe; `stub` is a penna_probe. */
  PENNA_PATCH_PROBE = 5
};

/* What a function does with its lock, the object that penna_lock_subject finds. */
enum penna_lock_role {
  PENNA_LOCK_TAKES = 1,
  PENNA_LOCK_TRIES = 2,
  PENNA_LOCK_GIVES = 3,
  PENNA_LOCK_TAKES_WHEN = 4, /* acquires it once a condition holds */
  PENNA_LOCK_AWAITS = 5,     /* releases it and reacquires it once a condition holds */
  PENNA_LOCK_WAITS_ON = 6,   /* the same; the first argument is a condition variable, the second the lock */
  PENNA_LOCK_WAKES_ONE = 7,  /* of those waiting for a condition variable */
  PENNA_LOCK_WAKES_ALL = 8,
  PENNA_LOCK_MAKES = 9,
  PENNA_LOCK_ENDS = 10,
  PENNA_LOCK_TAKES_WHEN_AS = 11, /* like TAKES_WHEN; the fourth argument, a bool, chooses write or read */
  PENNA_LOCK_ROLES = 12
};
/* How it reports that it has the lock; for AWAITS, that the condition holds; for WAITS_ON, that it was woken. */
enum penna_lock_answer {
  PENNA_ANSWER_NONE = 0,  /* by returning */
  PENNA_ANSWER_TRUE = 1,  /* by a bool */
  PENNA_ANSWER_ZERO = 2,  /* by the int 0; other values are error numbers */
  PENNA_ANSWER_FALSE = 3, /* by false */
  PENNA_ANSWERS = 4
};
/* Where a function gets the lock from. A library's only lock, which is internal to it, is represented by the beginning
 * of its module. */
enum penna_lock_subject {
  PENNA_SUBJECT_FIRST = 0,
  PENNA_SUBJECT_THIRD = 2,
  PENNA_SUBJECT_MODULE = 3,
  PENNA_SUBJECTS = 4
};
enum { PENNA_MOST_LOCK_FUNCTIONS = 256 };

/*   0         +---------+------+-------+------+------+------+--------+----------+
 *             | address | kind | bytes | head | role | sync | answer | subject, reserved |
 *   16        +---------+------+-------+------+------+------+--------+----------+
 *             | before[16]               | after[16]                            |
 *   48        +--------------------------+--------------------------------------+
 *             | stub                     | name | version                       |
 *   64        +--------------------------+--------------------------------------+  */
struct penna_patch {
  uint64_t address; /* run-time */
  uint8_t kind;     /* penna_patch_kind */
  uint8_t bytes;    /* of before and after, up to 16 */
  uint8_t head;     /* up to 8 */
  uint8_t role;     /* PENNA_PATCH_LOCK: penna_lock_role; else 0, like everything up to `before` */
  uint8_t sync;     /* penna_sync */
  uint8_t answer;   /* penna_lock_answer */
  uint8_t subject;  /* penna_lock_subject */
  uint8_t reserved;
  uint8_t before[16];
  uint8_t after[16];
  uint64_t stub; /* not 0: run-time address of a penna_stub's code, whose words the target is to fill; or see above */
  uint32_t name,
      version; /* then: of the function, among the names; UINT32_MAX: no version. PENNA_PATCH_LOCK: its number,
                             and that of the function that tries the same; UINT32_MAX: there is none */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_patch) == 64, "penna_patch is 64 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_patch, before) == 16, "penna_patch.before");
PENNA_STATIC_ASSERT(offsetof(struct penna_patch, stub) == 48, "penna_patch.stub");

/* Two words precede each stub in near memory; then comes its code, which begins with a call of the hook,
 * PENNA_STUB_CALL bytes long. */
struct penna_stub {
  uint64_t target;   /* imports: where it jumps to */
  uint64_t function; /* whose entry is recorded */
};
enum { PENNA_STUB_CALL = 6 };
PENNA_STATIC_ASSERT(sizeof(struct penna_stub) == 16, "penna_stub is 16 bytes");

/* A probe made by another header, in near memory before the code that records it.
 *
 *   0    +------------------------------------------------+
 *        | state                                          |
 *   32   +------------------------+-----------------------+
 *        | nop                    | semaphore             |
 *   48   +-----------+------------+-----------------------+
 *        | text_bytes| frame      | text ...              |
 *        +-----------+------------+-----------------------+  */
struct penna_probe {
  struct penna_point_state state; /* arg_count and types; the target fills the rest of what its code needs */
  uint64_t nop;                   /* run-time address */
  uint64_t semaphore;             /* address of a 16-bit counter of attached tracers; 0: none */
  uint32_t text_bytes;            /* as in a penna_site_info; the text follows */
  uint32_t frame;                 /* bytes of stack that its code uses while the target's code runs */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_probe) == 56, "penna_probe is 56 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_probe, nop) == 32, "penna_probe.nop");
PENNA_STATIC_ASSERT(offsetof(struct penna_probe, text_bytes) == 48, "penna_probe.text_bytes");

#endif
