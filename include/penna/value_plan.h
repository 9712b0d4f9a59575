/* SPDX-License-Identifier: MIT
 *
 * value_plan.h: which arguments and return values the target copies into its records, and where to find them. Part of
 * a patch plan (patch_plan.h).
 *
 * Why so small a language: the recorder, which has the debug information, deals with types, names and calling
 * conventions; the target loads, dereferences at most one address, and copies.
 * Invariant: every address from a register or from memory is read by a system call that fails instead of faulting.
 */
#ifndef PENNA_VALUE_PLAN_H
#define PENNA_VALUE_PLAN_H

#include "penna/event.h"

/* Where a value, or the address that leads to it, is passed (psABI 3.2.3). */
enum penna_value_place {
  PENNA_VALUE_INTEGER = 1, /* number 0 to 5: rdi, rsi, rdx, rcx, r8, r9; of results 0, 1: rax, rdx */
  PENNA_VALUE_VECTOR = 2,  /* xmm0 to xmm7; of results 0, 1 */
  PENNA_VALUE_STACK =
      3, /* `number` words above the return address, 0 = the first argument in memory; not for return values */
  PENNA_VALUE_CALLERS =
      4 /* not passed: the calling stack, as a node of the stack tree (channel.h); not for return values */
};

/* How two words describe the text of a PENNA_ARG_STRING; the second follows the first in its place or in memory. */
enum penna_value_text {
  PENNA_VALUE_TO_ZERO = 1,       /* address; up to the first zero byte */
  PENNA_VALUE_ADDRESS_FIRST = 2, /* address, length: as std::string in memory */
  PENNA_VALUE_LENGTH_FIRST = 3   /* length, address: as std::string_view */
};

/*   0         +-------+--------+-------+------+
 *             | place | number | type  | text |     type: penna_arg_type, no array
 *   4         +-------+--------+-------+------+
 *             | bytes | behind | offset       |
 *   8         +-------+--------+--------------+  */
struct penna_value {
  uint8_t place;   /* penna_value_place */
  uint8_t number;  /* of the register or word */
  uint8_t type;    /* penna_arg_type; no array */
  uint8_t text;    /* of a string: penna_value_text; else 0 */
  uint8_t bytes;   /* of a number: 1, 2, 4 or 8; of a float: 4, 8 or 10 (x87, in memory) */
  uint8_t behind;  /* 0: `offset` bytes into the place itself; 1: into the memory that the word there points to */
  uint16_t offset; /* in a register, offset + bytes <= 8 */
};
PENNA_STATIC_ASSERT(sizeof(struct penna_value) == 8, "penna_value is 8 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_value, bytes) == 4, "penna_value.bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_value, offset) == 6, "penna_value.offset");

/* What to copy at a function's entry or exit, as a VALUES record with its own site.
 *
 *   0         +----------------------------+---------------+---------------+
 *             | function                   | first         | text          |
 *   16        +------------+--------+------+---------------+---------------+
 *             | text_bytes | values | kind | line          | site          |
 *   32        +------------+--------+------+---------------+---------------+  (and 4 bytes reserved)  */
struct penna_capture {
  uint64_t function;   /* run-time address */
  uint32_t first;      /* of its values, among those of the plan */
  uint32_t text;       /* where its text begins, as after penna_site_info */
  uint16_t text_bytes; /* of it */
  uint8_t values;      /* at most PENNA_MAX_ARGS */
  uint8_t kind;        /* PENNA_SITE_ARGUMENTS or PENNA_SITE_RESULT */
  uint32_t line;       /* of the function's source; 0 = unknown */
  uint32_t site;       /* 0; the target puts its id here */
  uint32_t reserved;
};
PENNA_STATIC_ASSERT(sizeof(struct penna_capture) == 32, "penna_capture is 32 bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_capture, text_bytes) == 16, "penna_capture.text_bytes");
PENNA_STATIC_ASSERT(offsetof(struct penna_capture, site) == 24, "penna_capture.site");

#endif
