// SPDX-License-Identifier: MIT
// See patch.h.
#include "agent/patch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>

#include "agent/sys.h"

namespace penna::agent {
namespace {

constexpr uintptr_t kPageBytes = 4096;

// Every core that runs a thread of this process executes a serialising instruction.
void synchronise_cores() {
  long result = sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
  if (result != -EPERM) return;  // EPERM: not yet asked for, or lost by exec
  prepare_patching();
  sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}

uint64_t with_slot(uint64_t word, unsigned offset, const SlotCode& code) {
  __builtin_memcpy(reinterpret_cast<uint8_t*>(&word) + offset, code.bytes, PENNA_SLOT_BYTES);
  return word;
}

// Compare-and-swap, because the kernel may be writing a uprobe's breakpoint into the byte behind the slot.
bool swap_slot(uintptr_t slot, const SlotCode& from, const SlotCode& to) {
  auto* word = reinterpret_cast<uint64_t*>(slot & ~uintptr_t{7});
  unsigned offset = slot & 7;
  uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  do {
    if (with_slot(seen, offset, from) != seen) return false;
    // Sequentially consistent for want of a reader to pair with: what orders it for other cores is the barrier after.
  } while (!__atomic_compare_exchange_n(word, &seen, with_slot(seen, offset, to), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED));
  return true;
}

}  // namespace

// clang-format off
SlotCode disabled_slot() { return {{0x0f, 0x1f, 0x44, 0x00, 0x50}}; }  // nopl 0x50(%rax,%rax,1), as in x86_64_point.h

SlotCode armed_slot(uintptr_t slot, uintptr_t target) {
  auto distance = static_cast<uint32_t>(target - (slot + PENNA_SLOT_BYTES));
  SlotCode code = {{0xe9, 0, 0, 0, 0}};                                // jmp rel32
  __builtin_memcpy(code.bytes + 1, &distance, sizeof distance);
  return code;
}
// clang-format on

bool slot_holds(uintptr_t slot, const SlotCode& code) {
  const auto* at = reinterpret_cast<const uint8_t*>(slot);
  for (int i = 0; i < PENNA_SLOT_BYTES; ++i)
    if (at[i] != code.bytes[i]) return false;
  return true;
}

void prepare_patching() { sys(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE); }

bool Patcher::replace(uintptr_t slot, const SlotCode& from, const SlotCode& to, int protection) {
  if (!slot_fits_word(slot) || !slot_holds(slot, from)) return false;
  if (mode_ == PatchMode::kQuiet && write_through_memory_file(slot, to)) return true;
  if (!open_page(slot, protection) || !swap_slot(slot, from, to)) return false;
  dirty_ = true;
  return true;
}

bool Patcher::write_through_memory_file(uintptr_t slot, const SlotCode& code) {
  if (memory_file_ == -1) {
    long file = sys(SYS_open, reinterpret_cast<long>("/proc/self/mem"), O_RDWR | O_CLOEXEC);
    memory_file_ = sys_failed(file) ? -2 : static_cast<int>(file);
  }
  if (memory_file_ < 0) return false;
  long written =
      sys(SYS_pwrite64, memory_file_, reinterpret_cast<long>(code.bytes), PENNA_SLOT_BYTES, static_cast<long>(slot));
  if (written != PENNA_SLOT_BYTES) return false;
  dirty_ = true;
  return true;
}

bool Patcher::open_page(uintptr_t slot, int protection) {
  uintptr_t page = slot & ~(kPageBytes - 1);
  if (page == page_) return true;
  close_page();
  // Writable and executable at once, for other threads may be running in this page.
  if ((protection & PROT_WRITE) == 0 &&
      sys_failed(sys(SYS_mprotect, static_cast<long>(page), kPageBytes, PROT_READ | PROT_WRITE | PROT_EXEC)))
    return false;
  page_ = page;
  protection_ = protection;
  return true;
}

void Patcher::close_page() {
  if (page_ != 0 && (protection_ & PROT_WRITE) == 0)
    sys(SYS_mprotect, static_cast<long>(page_), kPageBytes, protection_);
  page_ = 0;
}

void Patcher::finish() {
  close_page();
  if (memory_file_ >= 0) sys(SYS_close, memory_file_);
  memory_file_ = -1;
  if (dirty_) synchronise_cores();
  dirty_ = false;
}

}  // namespace penna::agent
