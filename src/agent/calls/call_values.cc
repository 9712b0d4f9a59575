// SPDX-License-Identifier: MIT
// See call_values.h. The steps: find the capture, load each value, reserve, copy.
#include "agent/calls/call_values.h"

#include <errno.h>
#include <sys/uio.h>

#include "agent/core/attachment.h"
#include "agent/core/call_filters.h"
#include "agent/core/channel_room.h"
#include "agent/core/pages.h"
#include "agent/core/return_trampolines.h"
#include "agent/core/sys.h"
#include "agent/core/writer.h"
#include "agent/patch/site_records.h"
#include "agent/stacks/stacks.h"

namespace penna::agent {
namespace {

// The captures of one plan, in memory that is never freed.
struct CaptureTable {
  penna_capture* captures;
  uint32_t count;
  const penna_value* values;
  const char* text;
};
CaptureTable tables[PENNA_PATCH_MAX_MODULES];
uint32_t table_count;  // release: a table is filled before it is counted
bool any_callers;      // any value is a stack

const CaptureTable* find(uintptr_t function, uint32_t kind, penna_capture** found) {
  const uint32_t known = __atomic_load_n(&table_count, __ATOMIC_ACQUIRE);
  for (const CaptureTable* table = tables; table != tables + known; ++table) {
    // Sorted by the recorder (PatchPlan::sort_captures()); in an unsorted plan, captures are merely not found.
    uint32_t begin = 0, end = table->count;
    while (begin < end) {
      const uint32_t middle = begin + (end - begin) / 2;
      const penna_capture& at = table->captures[middle];
      if (at.function < function || (at.function == function && at.kind < kind))
        begin = middle + 1;
      else
        end = middle;
    }
    if (begin == table->count || table->captures[begin].function != function || table->captures[begin].kind != kind)
      continue;
    *found = table->captures + begin;
    return table;
  }
  return nullptr;
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

// Whether the byte at `address` is readable. rt_sigprocmask with an invalid `how`: the kernel reads the set before it
// rejects the operation.
bool is_readable(uint64_t address) {
  constexpr long kNoSuchWay = -1;
  return sys(SYS_rt_sigprocmask, kNoSuchWay, static_cast<long>(address & ~uint64_t{7}), 0, 8) != -EFAULT;
}

// Copies up to `bytes` bytes, across two pages at most; returns how many were readable. If a seccomp filter forbids the
// copy, pages are probed instead; then memory that another thread unmaps at this moment faults.
uint32_t copy_memory(void* to, uint64_t from, uint32_t bytes) {
  const uint64_t rest = kPageBytes - from % kPageBytes;
  const uint32_t first = rest < bytes ? static_cast<uint32_t>(rest) : bytes;
  const iovec local{to, bytes};
  // One part per page: process_vm_readv(2) transfers whole parts only, so an unmapped page must not cost the other
  // page's bytes.
  const iovec remote[2] = {{reinterpret_cast<void*>(from), first},
                           {reinterpret_cast<void*>(from + first), bytes - first}};
  const long got = (call_refusals & kRefusesCopies) != 0
                       ? -EPERM
                       : sys(SYS_process_vm_readv, sys(SYS_getpid), reinterpret_cast<long>(&local), 1,
                             reinterpret_cast<long>(remote), first < bytes ? 2 : 1, 0);
  if (got >= 0) return static_cast<uint32_t>(got);
  if (got != -EPERM && got != -ENOSYS) return 0;
  if (!is_readable(from)) return 0;
  const uint32_t there = first < bytes && !is_readable(from + first) ? first : bytes;
  __builtin_memcpy(to, reinterpret_cast<const void*>(from), there);
  return there;
}

// ---- One value ------------------------------------------------------------------------------------------------------

// Where the values of a call are, at its entry or at its exit.
struct Passed {
  const CallRegisters& registers;
  uintptr_t stack;  // address of the first argument that is passed in memory
  uint32_t callers;
  bool ended;

  uint64_t integer(uint32_t number) const { return ended ? registers.result(number) : registers.integer(number); }
  uint64_t vector(uint32_t number) const { return registers.in_vector(number); }
};

// Up to two words, or as many as could be read.
struct Loaded {
  uint64_t words[2];
  bool bad;  // unreadable; the first word is the address
};

Loaded load(const penna_value& value, const Passed& passed, uint32_t bytes) {
  Loaded loaded{};
  uint64_t address;
  if (value.place == PENNA_VALUE_CALLERS) return {{passed.callers, 0}, false};
  if (value.place == PENNA_VALUE_STACK) {
    address = passed.stack + uint64_t{value.number} * 8;
  } else {
    const bool is_vector = value.place == PENNA_VALUE_VECTOR;
    for (uint32_t i = 0; i < 2; ++i)
      loaded.words[i] = is_vector ? passed.vector(value.number + i) : passed.integer(value.number + i);
    if (value.behind == 0) {
      // A field of a small struct that is passed in registers.
      loaded.words[0] >>= 8 * (value.offset & 7);
      return loaded;
    }
    address = loaded.words[0];
  }
  if (value.place == PENNA_VALUE_STACK && value.behind != 0) {
    uint64_t pointer = 0;
    if (copy_memory(&pointer, address, sizeof pointer) != sizeof pointer) return {{address, 0}, true};
    address = pointer;
  }
  loaded = {};
  const uint64_t from = address + value.offset;
  if (address == 0 || copy_memory(loaded.words, from, bytes) != bytes) return {{address == 0 ? 0 : from, 0}, true};
  return loaded;
}

// IEEE 754 single and x87 extended precision, as double precision; rounded to nearest, except subnormal numbers.
uint64_t widen_single(uint32_t bits) {
  float value;
  double wide;
  __builtin_memcpy(&value, &bits, sizeof value);
  wide = static_cast<double>(value);
  uint64_t word;
  __builtin_memcpy(&word, &wide, sizeof word);
  return word;
}
uint64_t narrow_extended(const uint64_t (&words)[2]) {
  long double value;
  __builtin_memcpy(&value, words, 10);
  const auto narrow = static_cast<double>(value);
  uint64_t word;
  __builtin_memcpy(&word, &narrow, sizeof word);
  return word;
}

uint64_t number_of(const penna_value& value, const Loaded& loaded) {
  const uint64_t word = loaded.words[0];
  if (value.type == PENNA_ARG_FLOAT) {
    if (value.bytes == 4) return widen_single(static_cast<uint32_t>(word));
    return value.bytes == 10 ? narrow_extended(loaded.words) : word;
  }
  if (value.bytes >= 8 || value.bytes == 0) return word;
  const unsigned unused = 64 - 8u * value.bytes;
  const bool is_signed = value.type == PENNA_ARG_INT || value.type == PENNA_ARG_CHAR;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(word << unused) >> unused) : word << unused >> unused;
}

// ---- A record -------------------------------------------------------------------------------------------------------

// The values of one record under construction.
class Values {
 public:
  void add_word(uint64_t word) { words_[used_++] = word; }
  void add_bad(uint32_t number, const penna_value& value, uint64_t address) {
    bad_ |= static_cast<uint16_t>(1u << number);
    if (value.type == PENNA_ARG_STRING) add_word(sizeof address);
    add_word(address);
  }
  // `left`: how many values follow; each may take two words.
  void add_text(uint32_t number, const penna_value& value, const Loaded& loaded, uint32_t left) {
    const bool length_first = value.text == PENNA_VALUE_LENGTH_FIRST;
    const uint64_t address = loaded.words[length_first];
    const uint64_t length = value.text == PENNA_VALUE_TO_ZERO ? kMost + 1 : loaded.words[!length_first];
    const uint32_t room = (kWords - used_ - 1 - 2 * left) * 8;
    const uint32_t most = room < kMost ? room : kMost;
    auto* text = reinterpret_cast<char*>(words_ + used_ + 1);
    const auto wanted = static_cast<uint32_t>(length < most ? length : most);
    const uint32_t got = wanted == 0 ? 0 : address == 0 ? UINT32_MAX : copy_memory(text, address, wanted);
    uint32_t bytes = got;
    if (got != UINT32_MAX && value.text == PENNA_VALUE_TO_ZERO) bytes = length_up_to_zero(text, got);
    const bool ended = bytes < got || value.text != PENNA_VALUE_TO_ZERO;
    if (got == UINT32_MAX || (got < wanted && !(ended && value.text == PENNA_VALUE_TO_ZERO)))
      return add_bad(number, value, address);
    const bool cut = value.text == PENNA_VALUE_TO_ZERO ? !ended : length > most;
    words_[used_] = bytes | uint64_t{cut} * PENNA_STRING_CUT << 32;
    for (uint32_t i = bytes; i % 8 != 0; ++i) text[i] = '\0';
    used_ += 1 + (bytes + 7) / 8;
  }
  void write(uint32_t site, bool is_result) const {
    Record record = begin_record(PENNA_KIND_VALUES, kHead + used_, kNoClass, penna_now());
    if (!record) {
      count(&penna_counters::values_lost);
      return;
    }
    const penna_values head{site, bad_, static_cast<uint16_t>(is_result)};
    __builtin_memcpy(record.words + 1, &head, sizeof head);
    __builtin_memcpy(record.words + kHead, words_, used_ * sizeof(uint64_t));
    record.commit();
  }

 private:
  static constexpr uint32_t kHead = 2, kWords = PENNA_MAX_RECORD_WORDS - kHead, kMost = PENNA_MAX_STRING;

  static uint32_t length_up_to_zero(const char* text, uint32_t most) {
    uint32_t length = 0;
    while (length < most && text[length] != '\0') ++length;
    return length;
  }

  uint64_t words_[kWords];
  uint32_t used_ = 0;
  uint16_t bad_ = 0;
};

// The site's id; describes it in a SITE record first if it has none. If two threads do that at once, one id stays.
uint32_t site_of(const CaptureTable& table, penna_capture& capture) {
  const uint32_t known = __atomic_load_n(&capture.site, __ATOMIC_ACQUIRE);
  if (known != 0) return known;
  penna_site_info info{};
  info.site = new_site_id();
  info.line = capture.line;
  info.address = capture.function;
  info.text_bytes = capture.text_bytes;
  info.arg_count = capture.values;
  info.kind = capture.kind;
  for (uint32_t i = 0; i < capture.values; ++i) info.arg_types[i] = table.values[capture.first + i].type;
  record_site(info, table.text + capture.text);
  uint32_t none = 0;
  const bool first =
      __atomic_compare_exchange_n(&capture.site, &none, info.site, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return first ? info.site : none;
}

void write_values(const CaptureTable* table, penna_capture* capture, const Passed& passed) {
  const uint32_t site = site_of(*table, *capture);
  Values values;
  for (uint32_t i = 0; i < capture->values; ++i) {
    const penna_value& value = table->values[capture->first + i];
    const bool is_text = value.type == PENNA_ARG_STRING;
    const uint32_t bytes = !is_text ? value.bytes : value.text == PENNA_VALUE_TO_ZERO ? 8 : 16;
    const Loaded loaded = load(value, passed, bytes == 0 || bytes > 16 ? 8 : bytes);
    if (loaded.bad)
      values.add_bad(i, value, loaded.words[0]);
    else if (is_text)
      values.add_text(i, value, loaded, capture->values - 1u - i);
    else
      values.add_word(number_of(value, loaded));
  }
  values.write(site, passed.ended);
}

bool asks_for_callers(const CaptureTable* table, const penna_capture& capture) {
  for (uint32_t i = 0; i < capture.values; ++i)
    if (table->values[capture.first + i].place == PENNA_VALUE_CALLERS) return true;
  return false;
}

// The part of the stack outside the frame at `pc`.
uint32_t stack_outside(uint32_t stack, uintptr_t pc) {
  constexpr uint64_t kPc = (uint64_t{1} << unwind::Arch::kPcBits) - 1;
  while (stack != 0 && stack < nodes_ready()) {
    const penna_stack_node& node = process.stack_nodes[stack];
    stack = node.parent;
    if ((node.pc_generation & kPc) == pc) return stack;
  }
  return 0;
}

// Whether the capture's values and text lie inside the plan.
bool is_sound(const penna_capture& capture, uint32_t value_count, uint32_t text_bytes) {
  return capture.values <= PENNA_MAX_ARGS && uint64_t{capture.first} + capture.values <= value_count &&
         uint64_t{capture.text} + capture.text_bytes <= text_bytes && capture.text_bytes <= kSiteTextRoom;
}

}  // namespace

void add_captures(const penna_capture* captures, uint32_t count, const penna_value* values, uint32_t value_count,
                  const char* text, uint32_t text_bytes) {
  if (count == 0 || table_count == PENNA_PATCH_MAX_MODULES) return;
  for (uint32_t i = 0; i < count; ++i)
    // Checked once, here: code that records a call trusts these numbers.
    if (!is_sound(captures[i], value_count, text_bytes)) return;
  const uint64_t captures_bytes = uint64_t{count} * sizeof *captures,
                 values_bytes = uint64_t{value_count} * sizeof *values;
  auto* const at = static_cast<uint8_t*>(map_kept(captures_bytes + values_bytes + text_bytes));
  if (at == nullptr) return;
  __builtin_memcpy(at, captures, captures_bytes);
  __builtin_memcpy(at + captures_bytes, values, values_bytes);
  __builtin_memcpy(at + captures_bytes + values_bytes, text, text_bytes);
  tables[table_count] = {reinterpret_cast<penna_capture*>(at), count,
                         reinterpret_cast<penna_value*>(at + captures_bytes),
                         reinterpret_cast<char*>(at + captures_bytes + values_bytes)};
  for (uint32_t i = 0; i < value_count; ++i) any_callers |= values[i].place == PENNA_VALUE_CALLERS;
  __atomic_store_n(&table_count, table_count + 1, __ATOMIC_RELEASE);  // pairs with find()
  mark_return_links_stale(0, UINTPTR_MAX);                            // for functions that were called before
}

void forget_captures(uintptr_t start, uintptr_t end) {
  for (uint32_t i = 0; i < table_count; ++i)
    for (uint32_t j = 0; j < tables[i].count; ++j)
      if (tables[i].captures[j].function - start < end - start)
        __atomic_store_n(&tables[i].captures[j].kind, uint8_t{0}, __ATOMIC_RELAXED);
}

void forget_recorded_captures() {
  for (uint32_t i = 0; i < table_count; ++i)
    for (uint32_t j = 0; j < tables[i].count; ++j) __atomic_store_n(&tables[i].captures[j].site, 0, __ATOMIC_RELAXED);
}

bool has_captures(uintptr_t function) {
  penna_capture* ignored;
  return find(function, PENNA_SITE_ARGUMENTS, &ignored) != nullptr ||
         find(function, PENNA_SITE_RESULT, &ignored) != nullptr;
}

bool wants_callers() { return any_callers; }

void write_arguments(uintptr_t function, const CallRegisters& registers, const unwind::Registers& caller) {
  penna_capture* capture;
  const CaptureTable* table = find(function, PENNA_SITE_ARGUMENTS, &capture);
  if (table == nullptr) return;
  const uint32_t callers = asks_for_callers(table, *capture) ? current_stack(caller) : 0;
  write_values(table, capture, {registers, caller.sp, callers, false});
}

void write_callers(uintptr_t function, uintptr_t resume, const unwind::HookFrame& hook) {
  penna_capture* capture;
  const CaptureTable* table = find(function, PENNA_SITE_ARGUMENTS, &capture);
  if (table == nullptr) return;
  const CallRegisters unknown{};
  write_values(table, capture, {unknown, 0, stack_outside(current_stack(hook.caller()), resume), false});
}

void write_result(uintptr_t function, const CallRegisters& registers) {
  penna_capture* capture;
  const CaptureTable* table = find(function, PENNA_SITE_RESULT, &capture);
  if (table != nullptr) write_values(table, capture, {registers, 0, 0, true});
}

}  // namespace penna::agent
