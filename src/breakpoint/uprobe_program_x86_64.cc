// SPDX-License-Identifier: MIT
// See uprobe_program.h. References: linux/bpf.h; Documentation/bpf/standardization/instruction-set.rst; bpf-helpers(7).
#include "breakpoint/uprobe_program.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/user.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace penna {
namespace {

// Registers of the BPF machine: 0 is a helper's result, 1 to 5 its arguments, 6 to 9 survive it, 10 is the frame.
enum : uint8_t { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };
constexpr uint8_t kContext = R6, kRecord = R7;
constexpr int16_t kIds = -8;                              // on the frame
static_assert(offsetof(user_regs_struct, ss) == 20 * 8);  // the kernel's pt_regs are its first 21 words

class Assembler {
 public:
  void add(uint8_t code, uint8_t to, uint8_t from, int16_t offset, int32_t number) {
    bpf_insn one{};
    one.code = code;
    one.dst_reg = to & 15;
    one.src_reg = from & 15;
    one.off = offset;
    one.imm = number;
    code_.push_back(one);
  }
  void move(uint8_t to, uint8_t from) { add(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0); }
  void set(uint8_t to, int32_t number) { add(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, number); }
  // NOLINTNEXTLINE(misc-redundant-expression): two of the parts are 0
  void plus(uint8_t to, int32_t number) { add(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, number); }
  // Offsets into the frame are negative: two's complement.
  void load(uint8_t to, uint8_t base, size_t offset) {
    add(BPF_LDX | BPF_MEM | BPF_DW, to, base, static_cast<int16_t>(offset), 0);
  }
  void store(uint8_t base, size_t offset, uint8_t from) {
    add(BPF_STX | BPF_MEM | BPF_DW, base, from, static_cast<int16_t>(offset), 0);
  }
  void store_number(uint8_t base, size_t offset, int32_t number) {
    add(BPF_ST | BPF_MEM | BPF_DW, base, 0, static_cast<int16_t>(offset), number);
  }
  void plus_register(uint8_t to, uint8_t from) { add(BPF_ALU64 | BPF_ADD | BPF_X, to, from, 0, 0); }
  void load_wide(uint8_t to, uint64_t number, uint8_t kind = 0) {
    // NOLINTNEXTLINE(misc-redundant-expression): two of the parts are 0
    add(BPF_LD | BPF_DW | BPF_IMM, to, kind, 0, static_cast<int32_t>(number));
    add(0, 0, 0, 0, static_cast<int32_t>(number >> 32));
  }
  void load_map(uint8_t to, int descriptor) { load_wide(to, static_cast<uint32_t>(descriptor), BPF_PSEUDO_MAP_FD); }
  void call(int helper) { add(BPF_JMP | BPF_CALL, 0, 0, 0, helper); }
  void end() { set(R0, 0), add(BPF_JMP | BPF_EXIT, 0, 0, 0, 0); }

  // A branch forwards, and where it leads.
  size_t branch(uint8_t condition, uint8_t on, int32_t number) {
    add(static_cast<uint8_t>(BPF_JMP | condition | BPF_K), on, 0, 0, number);
    return code_.size() - 1;
  }
  void land(size_t branch) { code_[branch].off = static_cast<int16_t>(code_.size() - branch - 1); }
  std::vector<bpf_insn> take() { return std::move(code_); }

 private:
  std::vector<bpf_insn> code_;
};

// The ids in our PID namespace: a bpf_pidns_info on the frame. The helper for a namespace fails for threads in those
// below it; so in the initial one, the plain helper's ids are used.
void write_ids(Assembler& code) {
  constexpr ino_t kInitialNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO of the kernel
  struct stat space {};
  (void)::stat("/proc/self/ns/pid", &space);
  if (space.st_ino == kInitialNamespace) {
    code.call(BPF_FUNC_get_current_pid_tgid);  // the process in the upper half
    code.store(kRecord, offsetof(UprobeHead, thread), R0);
    return;
  }
  code.store_number(R10, kIds, 0);
  code.load_wide(R1, space.st_dev);
  code.load_wide(R2, space.st_ino);
  code.move(R3, R10);
  code.plus(R3, kIds);
  code.set(R4, sizeof(bpf_pidns_info));
  code.call(BPF_FUNC_get_ns_current_pid_tgid);
  code.load(R1, R10, kIds);  // pid, then tgid
  code.store(kRecord, offsetof(UprobeHead, thread), R1);
}

// Reserves `bytes`, as kRecord, and fills in its head. Returns the branch that is taken if there is no room.
size_t begin_record(Assembler& code, const UprobeMaps& maps, size_t bytes, UprobeKind kind) {
  code.call(BPF_FUNC_ktime_get_ns);
  code.move(R8, R0);  // before anything that takes time
  code.load_map(R1, maps.ring);
  code.set(R2, static_cast<int32_t>(bytes));
  code.set(R3, 0);
  code.call(BPF_FUNC_ringbuf_reserve);
  const size_t no_room = code.branch(BPF_JEQ, R0, 0);
  code.move(kRecord, R0);
  code.store(kRecord, offsetof(UprobeHead, ns), R8);
  code.store_number(kRecord, offsetof(UprobeHead, kind), static_cast<int32_t>(kind));
  write_ids(code);
  return no_room;
}

// The reader is woken when a batch is there; else it looks by itself after some milliseconds.
void submit_record(Assembler& code, const UprobeMaps& maps) {
  constexpr int32_t kBatchBytes = 1 << 20;
  code.load_map(R1, maps.ring);
  code.set(R2, BPF_RB_AVAIL_DATA);
  code.call(BPF_FUNC_ringbuf_query);
  code.set(R2, BPF_RB_FORCE_WAKEUP);
  const size_t is_batch = code.branch(BPF_JGT, R0, kBatchBytes);
  code.set(R2, BPF_RB_NO_WAKEUP);
  code.land(is_batch);
  code.move(R1, kRecord);
  code.call(BPF_FUNC_ringbuf_submit);
}

void write_registers(Assembler& code) {
  for (size_t i = 0; i < std::size(UprobeRecord{}.registers); ++i) {
    code.load(R1, kContext, 8 * i);
    code.store(kRecord, offsetof(UprobeRecord, registers) + 8 * i, R1);
  }
}

// What the first argument points to.
void write_argument(Assembler& code) {
  code.move(R1, kRecord);
  code.plus(R1, offsetof(UprobeRecord, argument));
  code.set(R2, kUprobeArgumentBytes);
  code.load(R3, kContext, offsetof(user_regs_struct, rdi));
  code.call(BPF_FUNC_probe_read_user);
  code.set(R8, kUprobeArgumentBytes);
  const size_t is_mapped = code.branch(BPF_JEQ, R0, 0);
  code.set(R8, 0);
  code.land(is_mapped);
  code.store(kRecord, offsetof(UprobeRecord, argument_bytes), R8);
}

// Page by page, because a read that meets unmapped memory reads nothing. A page that is not in memory leaves a hole of
// zeros.
void write_stack(Assembler& code) {
  constexpr int32_t kPageBytes = 4096, kRedZone = 128;
  code.set(R8, 0);
  code.load(R1, kContext, offsetof(user_regs_struct, rsp));
  code.plus(R1, -kRedZone);
  code.store(kRecord, offsetof(UprobeRecord, stack_at), R1);
  code.add(BPF_ALU64 | BPF_AND | BPF_K, R1, 0, 0, kPageBytes - 1);
  code.set(R9, kPageBytes);
  code.add(BPF_ALU64 | BPF_SUB | BPF_X, R9, R1, 0, 0);  // 1 to 4096 bytes
  for (int32_t page = 0; page < 3; ++page) {
    code.move(R1, kRecord);
    code.plus(R1, static_cast<int32_t>(offsetof(UprobeRecord, stack)) + std::max(page - 1, 0) * kPageBytes);
    code.load(R3, kRecord, offsetof(UprobeRecord, stack_at));
    if (page == 0) {
      code.move(R2, R9);
    } else {
      code.plus_register(R1, R9);
      code.set(R2, kPageBytes);
      code.plus(R3, (page - 1) * kPageBytes);
      code.plus_register(R3, R9);
    }
    code.call(BPF_FUNC_probe_read_user);
    const size_t failed = code.branch(BPF_JNE, R0, 0);
    code.move(R8, R9);
    code.plus(R8, page * kPageBytes);
    code.land(failed);
  }
  code.store(kRecord, offsetof(UprobeRecord, stack_bytes), R8);
}

void write_word(Assembler& code) {
  code.move(R1, kRecord);
  code.plus(R1, offsetof(UprobeRecord, stack));
  code.set(R2, kUprobeWordBytes);
  code.load(R3, kContext, offsetof(user_regs_struct, rsp));
  code.store(kRecord, offsetof(UprobeRecord, stack_at), R3);
  code.call(BPF_FUNC_probe_read_user);
  code.store_number(kRecord, offsetof(UprobeRecord, stack_bytes), kUprobeWordBytes);
}

void count_lost(Assembler& code, int lost) {
  code.move(R1, kContext);
  code.call(BPF_FUNC_get_attach_cookie);
  code.add(BPF_STX | BPF_MEM | BPF_W, R10, R0, kIds, 0);
  code.load_map(R1, lost);
  code.move(R2, R10);
  code.plus(R2, kIds);
  code.call(BPF_FUNC_map_lookup_elem);
  const size_t none = code.branch(BPF_JEQ, R0, 0);
  code.set(R1, 1);
  code.add(BPF_STX | BPF_ATOMIC | BPF_DW, R0, R1, 0, BPF_ADD);
  code.land(none);
}

}  // namespace

std::vector<bpf_insn> make_uprobe_program(const UprobeMaps& maps, UprobeCopies copies) {
  const bool with_stack = copies == UprobeCopies::kStack || copies == UprobeCopies::kStackAndArgument;
  const bool with_argument = copies == UprobeCopies::kArgument || copies == UprobeCopies::kStackAndArgument;
  Assembler code;
  code.move(kContext, R1);
  const size_t bytes = sizeof(UprobeRecord) + (with_stack ? kUprobeStackBytes : kUprobeWordBytes);
  const size_t no_room =
      begin_record(code, maps, bytes, copies == UprobeCopies::kReturned ? UprobeKind::kReturned : UprobeKind::kHit);
  write_registers(code);
  if (with_argument)
    write_argument(code);
  else
    code.store_number(kRecord, offsetof(UprobeRecord, argument_bytes), 0);
  if (with_stack)
    write_stack(code);
  else
    write_word(code);
  submit_record(code, maps);
  code.end();
  code.land(no_room);
  count_lost(code, maps.lost);
  code.end();
  return code.take();
}

std::vector<bpf_insn> make_process_program(const UprobeMaps& maps, UprobeKind kind) {
  Assembler code;
  if (kind == UprobeKind::kFork) {
    code.load(R1, R1, 8);  // the flags of clone(2), after the task
    code.add(BPF_ALU64 | BPF_AND | BPF_K, R1, 0, 0, CLONE_THREAD);
    const size_t is_process = code.branch(BPF_JEQ, R1, 0);
    code.end();
    code.land(is_process);
  }
  const size_t no_room = begin_record(code, maps, sizeof(UprobeHead), kind);
  code.add(BPF_LDX | BPF_MEM | BPF_W, R1, kRecord, offsetof(UprobeHead, process), 0);
  code.add(BPF_STX | BPF_MEM | BPF_W, R10, R1, kIds, 0);
  code.load_map(R1, maps.processes);
  code.move(R2, R10);
  code.plus(R2, kIds);
  code.call(BPF_FUNC_map_lookup_elem);
  code.move(R1, kRecord);
  const size_t is_other = code.branch(BPF_JEQ, R0, 0);
  code.set(R2, BPF_RB_FORCE_WAKEUP);
  code.call(BPF_FUNC_ringbuf_submit);
  code.end();
  code.land(is_other);
  code.set(R2, BPF_RB_NO_WAKEUP);
  code.call(BPF_FUNC_ringbuf_discard);
  code.land(no_room);
  code.end();
  return code.take();
}

}  // namespace penna
