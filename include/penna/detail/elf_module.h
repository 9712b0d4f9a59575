/* SPDX-License-Identifier: MIT
 *
 * elf_module.h: reads a loaded module's program headers: where its code and its notes lie. Without <elf.h>, so that a
 * C11 program needs no feature macro.
 * Invariant: only memory of loaded segments is read.
 * Reference: System V ABI, chapter 5, "Program Header" and "Note Section".
 */
#ifndef PENNA_DETAIL_ELF_MODULE_H
#define PENNA_DETAIL_ELF_MODULE_H

#include "penna/arch/linux.h"
#include "penna/detail/site_table.h"

PENNA_C_CODE_BEGIN

#if defined(__LP64__)
struct penna_elf_segment {
  uint32_t type, flags;
  uint64_t offset, address, physical, file_bytes, bytes, align;
};
#else
struct penna_elf_segment {
  uint32_t type, offset, address, physical, file_bytes, bytes, flags, align;
};
#endif
struct penna_elf_note {
  uint32_t name_bytes, bytes, type;
};
enum { PENNA_ELF_LOAD = 1, PENNA_ELF_NOTE = 4, PENNA_ELF_RELRO = 0x6474e552 };
enum { PENNA_ELF_EXECUTE = 1, PENNA_ELF_WRITE = 2, PENNA_ELF_READ = 4 };

struct penna_elf_module {
  uintptr_t bias; /* run-time address - address in the file */
  const struct penna_elf_segment* segments;
  uint32_t count;
};

struct penna_elf_range {
  uintptr_t start, end;
  int protection; /* of mmap */
};

/* The whole mapping. */
static inline struct penna_elf_range penna_elf_extent(const struct penna_elf_module* module) {
  struct penna_elf_range all = {UINTPTR_MAX, 0, 0};
  for (uint32_t i = 0; i < module->count; ++i) {
    const struct penna_elf_segment* segment = module->segments + i;
    const uintptr_t at = module->bias + (uintptr_t)segment->address;
    if (segment->type != PENNA_ELF_LOAD) continue;
    if (at < all.start) all.start = at;
    if (at + segment->bytes > all.end) all.end = at + (uintptr_t)segment->bytes;
  }
  if (all.start > all.end) all.start = all.end;
  return all;
}

/* The range that became read-only after relocation (whole pages of it); empty if there is none. */
static inline struct penna_elf_range penna_elf_relro(const struct penna_elf_module* module) {
  struct penna_elf_range none = {0, 0, 0};
  for (uint32_t i = 0; i < module->count; ++i) {
    const struct penna_elf_segment* segment = module->segments + i;
    const uintptr_t at = module->bias + (uintptr_t)segment->address;
    struct penna_elf_range sealed = {at & ~(uintptr_t)4095, (at + (uintptr_t)segment->bytes) & ~(uintptr_t)4095, 1};
    if (segment->type == PENNA_ELF_RELRO) return sealed;
  }
  return none;
}

/* The code segment that contains `address`; empty if none does. */
static inline struct penna_elf_range penna_elf_code_at(const struct penna_elf_module* module, uintptr_t address) {
  struct penna_elf_range none = {0, 0, 0};
  for (uint32_t i = 0; i < module->count; ++i) {
    const struct penna_elf_segment* segment = module->segments + i;
    const uintptr_t at = module->bias + (uintptr_t)segment->address;
    if (segment->type != PENNA_ELF_LOAD || (segment->flags & PENNA_ELF_EXECUTE) == 0) continue;
    if (address < at || address - at >= segment->bytes) continue;
    {
      struct penna_elf_range code = {at, at + (uintptr_t)segment->bytes, 4}; /* PROT_EXEC */
      if (segment->flags & PENNA_ELF_READ) code.protection |= 1;
      if (segment->flags & PENNA_ELF_WRITE) code.protection |= 2;
      return code;
    }
  }
  return none;
}

/* The description in the next Penna note after `after` (null: the first one). Null if none is left. A module has one
 * for its sites, and one if it includes penna/control.h. */
static inline const struct penna_point_module* penna_next_note(const struct penna_elf_module* module,
                                                               const struct penna_point_module* after) {
  const struct penna_elf_range all = penna_elf_extent(module);
  for (uint32_t i = 0; i < module->count; ++i) {
    const struct penna_elf_segment* segment = module->segments + i;
    const uintptr_t at = module->bias + (uintptr_t)segment->address;
    const size_t size = (size_t)segment->bytes;
    if (segment->type != PENNA_ELF_NOTE || at < all.start || at > all.end || size > all.end - at) continue;
    for (size_t offset = 0; offset + sizeof(struct penna_elf_note) <= size;) {
      const struct penna_elf_note* note = (const struct penna_elf_note*)(at + offset);
      /* Sizes are 32-bit and untrusted; name and description are padded to 4 bytes each. */
      const size_t description = offset + sizeof *note + (((size_t)note->name_bytes + 3) & ~(size_t)3);
      const size_t end = description + (((size_t)note->bytes + 3) & ~(size_t)3);
      const struct penna_point_module* found = (const struct penna_point_module*)(at + description);
      /* The second: where size_t has 32 bits, the sum may wrap. */
      if (end > size || end <= offset) break;
      offset = end;
      if (note->type != PENNA_NOTE_MODULE || note->name_bytes != 6 || note->bytes < sizeof *found ||
          __builtin_memcmp(note + 1, "Penna", 6) != 0)
        continue;
      if (after == 0) return found;
      if (found == after) after = 0;
    }
  }
  return 0;
}

PENNA_C_CODE_END

#endif
