/* SPDX-License-Identifier: MIT
 *
 * point_abi.h: what a point leaves in a binary, and the interface between its cold block and the recorder. This header
 * is the specification; point.h writes these structs, by assembler directives, and the agent reads them.
 *
 * Why PC-relative: the tables lie in read-only pages and need no relocation, in executables (PIE or not), shared
 * libraries, plugins and static programs alike. A field called `x_at` holds target - address of the field.
 * Invariant: only the agent writes a site's code, and only the penna_slot_unit at its slot.
 */
#ifndef PENNA_POINT_ABI_H
#define PENNA_POINT_ABI_H

#include "penna/event.h"

enum { PENNA_POINT_ABI_VERSION = 2 };

/* Section `penna_sites`: one record for each copy of a site in the machine code (inlined twice = two records). They
 * share the state, and with it the id.
 *
 *        +---------+---------+---------+---------+
 *   0    | slot_at | cold_at | text_at | state_at|
 *        +---------+---------+---------+---------+
 *   16   |layout_at| line    | number  |n |k |len|   n arg_count, k kind
 *        +---------+---------+---------+---------+
 *   32   |      types        |
 *        +-------------------+  */
struct penna_point_site {
  int32_t slot_at;   /* PENNA_SLOT_BYTES, an instruction without effect; target = 0: nothing to patch */
  int32_t cold_at;   /* where the armed slot jumps to */
  int32_t text_at;   /* provider, name, source file, text of each argument, PENNA_SOURCE_MARK; each ended by a zero */
  int32_t state_at;  /* penna_point_state */
  int32_t layout_at; /* only with PENNA_TYPES_HAVE_LAYOUT: see below */
  uint32_t line;
  uint32_t number;   /* of PENNA_TRIGGER_ID; else PENNA_NO_NUMBER */
  uint8_t arg_count; /* values in a record: arguments, with structs replaced by their fields */
  uint8_t kind;      /* penna_site_kind */
  uint16_t text_bytes;
  uint64_t types; /* penna_arg_type of value i in bits 4i..4i+3; PENNA_TYPES_HAVE_LAYOUT */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_point_site) == 40, "penna_point_site is 40 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_point_site, layout_at) == 16, "penna_point_site.layout_at");
PENNA_STATIC_ASSERT(offsetof(struct penna_point_site, line) == 20, "penna_point_site.line");
PENNA_STATIC_ASSERT(offsetof(struct penna_point_site, number) == 24, "penna_point_site.number");
PENNA_STATIC_ASSERT(offsetof(struct penna_point_site, arg_count) == 28, "penna_point_site.arg_count");
PENNA_STATIC_ASSERT(offsetof(struct penna_point_site, kind) == 29, "penna_point_site.kind");
PENNA_STATIC_ASSERT(offsetof(struct penna_point_site, text_bytes) == 30, "penna_point_site.text_bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_point_site, types) == 32, "penna_point_site.types");
#define PENNA_NO_NUMBER UINT32_MAX

/* Names of arguments. The text of an argument is its source, unless it contains PENNA_NAME_MARK: then the name follows
 * the mark, up to a quotation mark. If any argument is a struct, there is a layout: for each argument in order a byte,
 * 1 + the number of its fields, and for each field its zero-terminated name; a zero ends the list. The values of a
 * struct `order` are called "order.price" and so on. */
#define PENNA_TYPES_HAVE_LAYOUT (UINT64_C(1) << 52)
/* Marks the last string: provider, name and arguments as they were written, separated by commas. In the texts before
 * it, macros are expanded; if these expansions contain commas, the texts of the last string are the names. */
#define PENNA_SOURCE_MARK '\1'
#define PENNA_NAME_MARK "penna_arg:\" \"" /* two string literals, side by side */

/* In the module's zeroed data, one for each site, whatever number of copies it has. Written only under the control
 * switchboard's lock; `id` to `types` before its first slot is armed for recording, and never again.
 *
 *   63            48 47      40 39      32 31                  0
 *  +----------------+----------+----------+---------------------+
 *  |      head      |arg_count |  bytes   |         id          |
 *  +----------------+----------+----------+---------------------+
 *  |                          types                             |
 *  +---------------------------+--------------------------------+
 *  |           stamp           |            wanted              |
 *  +---------------------------+--------------------------------+
 *  |         outcome           |             first              |
 *  +---------------------------+--------------------------------+  */
struct penna_point_state {
  uint32_t id;   /* in records; 0 = never armed for recording */
  uint8_t bytes; /* of a record, when no argument is a string or array; the lower 3 bits belong to the recorder */
  uint8_t arg_count;
  uint16_t head;    /* of such a record: the low 16 bits of its header, busy */
  uint64_t types;   /* of its values, as in the site */
  uint32_t wanted;  /* enables minus disables */
  uint32_t stamp;   /* of the last request that changed it: copies of a site share the state */
  uint32_t first;   /* 1 + index of its first copy in the table; 0 = not searched yet */
  uint32_t outcome; /* of that request: penna_change_outcome */
};
enum penna_change_outcome { PENNA_UNCHANGED = 0, PENNA_CHANGED = 1, PENNA_REFUSED = 2 };
PENNA_STATIC_ASSERT(sizeof(struct penna_point_state) == 32, "penna_point_state is 32 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_point_state, bytes) == 4, "penna_point_state.bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_point_state, arg_count) == 5, "penna_point_state.arg_count");
PENNA_STATIC_ASSERT(offsetof(struct penna_point_state, head) == 6, "penna_point_state.head");
PENNA_STATIC_ASSERT(offsetof(struct penna_point_state, types) == 8, "penna_point_state.types");
PENNA_STATIC_ASSERT(offsetof(struct penna_point_state, wanted) == 16, "penna_point_state.wanted");

/* Where the cold blocks of a module enter the recorder; one for each module, hidden, filled by the agent.
 *
 * Both are entered by a jump, with the address to continue at in a scratch register, and preserve the vector state, the
 * red zone and all registers except three scratch ones: a site costs its function neither a frame nor a saved register.
 * On x86-64 (rax, r10, r11 and the flags are lost):
 *             in                                     out
 *   reserve   rax state, r11 return                  r10 record, or 0 when there was no room (counted)
 *   values    rax state, r11 return, r10 values
 * After reserve, the cold block stores a word for each argument from record[2] on, and then PENNA_POINT_COMMIT to the
 * first byte of the header (release): this ends "busy". Values: a word for each argument; for a string or an array two,
 * its address and a limit; the recorder may change them. */
struct penna_point_entries {
  uint64_t reserve;
  uint64_t values;
  uint64_t switchboard; /* penna_switchboard; 0 = it does not know this module yet */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_point_entries) == 24, "penna_point_entries is 24 bytes");
enum { PENNA_POINT_COMMIT = PENNA_KIND_POINT << 2 | PENNA_TAG_FULL };

/* The limit of a string: how many bytes may be read; with this bit, a zero byte ends it earlier. The limit of an array:
 * its bytes in the lower half; the upper half is copied into its word in a record. */
#define PENNA_TEXT_ENDS_AT_ZERO (UINT64_C(1) << 63)
#define PENNA_ELEMENTS(type, bytes) \
  (PENNA_CAST(uint64_t, (type) << PENNA_ELEMENT_TYPE_SHIFT | (bytes) << PENNA_ELEMENT_BYTES_SHIFT) << 32)

/* The description of an allocated ELF note, section `.note.penna`, owner "Penna", type PENNA_NOTE_MODULE: how the agent
 * finds the points of a module. A constructor in each module passes it to penna_agent_module_loaded if there is an
 * agent: so modules that are loaded later are found, too. */
enum { PENNA_NOTE_MODULE = 0x50 };
struct penna_point_module {
  uint32_t version;   /* PENNA_POINT_ABI_VERSION */
  int32_t sites_at;   /* first penna_point_site */
  int32_t end_at;     /* after the last one */
  int32_t entries_at; /* penna_point_entries */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_point_module) == 16, "penna_point_module is 16 bytes");

/* ---- Switching ------------------------------------------------------------------------------------------------------
 * A site is on while its count `wanted` is not 0: events and spans are then armed as long as anything records, triggers
 * always. A request changes counts: enable adds one, disable takes one, never below zero; on makes it 1 at least, off
 * makes it 0. All of these, and any sequence of them, have this form.
 */
struct penna_request {
  int32_t least, most; /* the count becomes (count + add), limited to [least, most]; 0 <= least <= most */
  int32_t add;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_request) == 12, "penna_request is 12 bytes");

/* Requests are remembered for modules that are loaded later, in the order in which they were made. If they do not fit
 * into the switchboard, they go to a separate mapping, which is this struct with more room. */
struct penna_request_record {
  struct penna_request request;
  uint16_t bytes; /* of this record, a multiple of 4 */
  uint8_t kinds;  /* bit 1 << penna_site_kind */
  uint8_t reserved;
  /* the pattern follows, ended by a zero: a glob of PROVIDER:NAME, or a number */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_request_record) == 16, "penna_request_record is 16 bytes");
struct penna_requests {
  uint32_t used; /* bytes */
  uint32_t room; /* bytes; 0 = as many as are declared here */
  uint8_t records[4080];
};
PENNA_STATIC_ASSERT(sizeof(struct penna_requests) == 4088, "penna_requests is 4088 bytes");

/* One per process, created by its first user: the agent, or penna/control.h in the program. Every module that it knows
 * points to it (penna_point_entries), which is how others find it. It is never freed.
 * Invariant: only the holder of the lock writes states, slots and the fields below it. */
enum { PENNA_SWITCHBOARD_VERSION = 1 };
struct penna_switchboard {
  uint32_t version;
  uint32_t lock; /* process id of its holder, 0 = free; a forked child takes it over if its parent held it */
  uint64_t
      change; /* penna_change_function of the agent, while it records; 0 = switch triggers, the rest is only counted */
  uint32_t stamp; /* of the last request */
  uint32_t
      window_protection; /* of the pages that are being written at the moment, to be restored; see detail/patch.h */
  uint64_t window_at;
  uint64_t window_bytes; /* 0 = none */
  uint64_t grown;        /* the penna_requests that are used instead of these; 0 = none */
  struct penna_requests requests;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_switchboard) == 4136, "penna_switchboard is 4136 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_switchboard, change) == 8, "penna_switchboard.change");
PENNA_STATIC_ASSERT(offsetof(struct penna_switchboard, requests) == 48, "penna_switchboard.requests");

/* The result of a request, in sites: a span counts once, and so do copies of a site. */
struct penna_change_counts {
  uint32_t matched, changed, refused; /* changed: counts that became 0 or left 0; refused: could not be patched */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_change_counts) == 12, "penna_change_counts is 12 bytes");
/* Returns 1; or 0 if there is no memory to remember the request: then nothing has changed. */
typedef int (*penna_change_function)(const char* pattern, uint32_t kinds, const struct penna_request* request,
                                     struct penna_change_counts* counts);

#endif
