// SPDX-License-Identifier: MIT
// See module_mark.h. The mark is the last byte of e_ident, which is padding: zero in every file, and never read.
#include "agent/modules/module_mark.h"

#include <sys/mman.h>

#include "agent/core/pages.h"
#include "agent/core/sys.h"
#include "penna/detail/attach.h"
#include "unwind/program_headers.h"

namespace penna::agent {
namespace {

volatile uint8_t* mark_of(uintptr_t module_start) {
  static_assert(PENNA_MODULE_MARK_AT == EI_NIDENT - 1);
  return reinterpret_cast<volatile uint8_t*>(module_start + PENNA_MODULE_MARK_AT);
}

int protection_of(const ElfW(Phdr) & segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

// The protection of the page that starts with the module's header; 0: it is not mapped from a file.
int protection_of_header(uintptr_t module_start, uintptr_t bias) {
  for (const ElfW(Phdr) & segment : unwind::program_headers_at(module_start))
    if (segment.p_type == PT_LOAD && segment.p_offset == 0 && bias + segment.p_vaddr == module_start)
      return protection_of(segment);
  return 0;
}

}  // namespace

bool set_mark(uintptr_t module_start, uintptr_t bias) {
  const int protection = protection_of_header(module_start, bias);
  const auto page = static_cast<long>(module_start);
  if ((protection & PROT_READ) == 0) return false;
  if (*mark_of(module_start) != 0) return has_mark(module_start);  // from an earlier recording
  if (sys_failed(sys(SYS_mprotect, page, kPageBytes, protection | PROT_WRITE))) return false;
  *mark_of(module_start) = PENNA_MODULE_MARK;
  sys(SYS_mprotect, page, kPageBytes, protection);
  return true;
}

bool has_mark(uintptr_t module_start) { return *mark_of(module_start) == PENNA_MODULE_MARK; }

}  // namespace penna::agent
