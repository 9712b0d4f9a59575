// SPDX-License-Identifier: MIT
// See event_words.h.
#include "export/text/event_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/kind_words.h"
#include "base/printable.h"
#include "model/events/summary.h"
#include "model/locks/lock_stats.h"

namespace penna {

// The words of CSV and JSON: part of the format. Those of records come from kinds.inc; lines that are no records have
// their own.
const char* line_kind_name(const TimelineLine& line) {
  switch (line.kind) {
    case LineKind::kEnter: return kind_word(PENNA_KIND_CALL_ENTRY);
    case LineKind::kLeave: return kind_word(PENNA_KIND_CALL_EXIT);
    case LineKind::kStrayExit: return line.site != 0 ? "span_end" : "exit";
    case LineKind::kSpanBegin: return "span_begin";
    case LineKind::kSpanEnd: return "span_end";
    case LineKind::kLeaf: return "call";
    case LineKind::kAllocation: return kind_word(PENNA_KIND_ALLOC);
    case LineKind::kFree: return kind_word(PENNA_KIND_FREE);
    case LineKind::kReallocFailed: return kind_word(PENNA_KIND_REALLOC_FAILED);
    case LineKind::kMap: return kind_word(PENNA_KIND_MAP);
    case LineKind::kUnmap: return kind_word(PENNA_KIND_UNMAP);
    case LineKind::kPoolAllocation: return kind_word(PENNA_KIND_POOL_ALLOC);
    case LineKind::kPoolFree: return kind_word(PENNA_KIND_POOL_FREE);
    case LineKind::kLock: return kind_word(PENNA_KIND_LOCK);
    case LineKind::kLockRequest: return kind_word(PENNA_KIND_LOCK_REQUEST);
    case LineKind::kLockWait: return kind_word(PENNA_KIND_LOCK_WAIT);
    case LineKind::kOpenWait: return "open_wait";
    case LineKind::kLockBusy: return kind_word(PENNA_KIND_LOCK_BUSY);
    case LineKind::kUnlock: return kind_word(PENNA_KIND_UNLOCK);
    case LineKind::kConditionWait: return kind_word(PENNA_KIND_COND_WAIT);
    case LineKind::kWake: return kind_word(PENNA_KIND_WAKE);
    case LineKind::kLockMade: return kind_word(PENNA_KIND_LOCK_MADE);
    case LineKind::kLockGone: return kind_word(PENNA_KIND_LOCK_GONE);
    case LineKind::kPoint: return kind_word(PENNA_KIND_POINT);
    case LineKind::kThreadName: return kind_word(PENNA_KIND_THREAD);
    case LineKind::kLost: return kind_word(PENNA_KIND_LOST);
    case LineKind::kBlocked: return kind_word(PENNA_KIND_BLOCKED);
  }
  return "";
}

bool has_wait_or_hold(const TimelineLine& line) {
  return line.kind == LineKind::kLockWait || line.kind == LineKind::kOpenWait ||
         line.kind == LineKind::kConditionWait || line.kind == LineKind::kBlocked ||
         (line.kind == LineKind::kUnlock && line.duration != 0);
}

std::string wait_end_name(uint32_t end) {
  switch (end) {
    case PENNA_WAIT_GOT: return "got";
    case PENNA_WAIT_TIMEOUT: return "timeout";
    case PENNA_WAIT_OWNER_DIED: return "owner_died";
    default: return "error";
  }
}

// Empty for locks and conditions, whose line kind says it.
std::string wait_sync_name(const TimelineLine& line) {
  const LockKind kind = lock_kind(line.sync);
  return has_holder(kind) || kind == LockKind::kCondition ? "" : lock_kind_name(kind);
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return printable(text);
}

std::string allocation_function(uint32_t family, bool is_free) {
  switch (family) {
    case PENNA_FAMILY_REALLOC: return "realloc";
    case PENNA_FAMILY_MALLOC: return is_free ? "free" : "malloc";
    case PENNA_FAMILY_CALLOC: return is_free ? "free" : "calloc";
    case PENNA_FAMILY_ALIGNED: return is_free ? "free" : "aligned_alloc";
    default: return is_free ? "free" : "unknown";
  }
}

uint64_t lost_events(const TimelineLine& line) {
  uint64_t sum = 0;
  const auto lost = line.record->as<penna_lost>();
  // One per class of events (PENNA_CALLS and so on); readers of a table want one number.
  for (uint32_t count : lost.count) sum += count;
  return sum;
}

EventWords::EventWords(const Recording& recording, Names& names)
    : recording_(recording), names_(names), begin_(summarize(recording).first_time) {}

// What the line is about: a function, a point, a lock; for allocations the function called.
std::string EventWords::name(const TimelineLine& line) {
  static constexpr const char* kMaps[] = {"mmap", "mremap", "brk"};
  switch (line.kind) {
    case LineKind::kEnter:
    case LineKind::kLeave:
    case LineKind::kLeaf: return names_.function_name(line.process, line.pc, line.time);
    case LineKind::kStrayExit:
      return line.site != 0 ? site_name(recording_.site(line.process, line.site), line.site)
                            : names_.function_name(line.process, line.pc, line.time);
    case LineKind::kAllocation: return allocation_function(line.family, false);
    case LineKind::kFree: return allocation_function(line.family, true);
    case LineKind::kReallocFailed: return "realloc";
    case LineKind::kMap: return line.family < std::size(kMaps) ? kMaps[line.family] : "unknown";
    case LineKind::kUnmap: return "munmap";
    case LineKind::kPoolAllocation:
    case LineKind::kPoolFree:
    case LineKind::kPoint:
    case LineKind::kSpanBegin:
    case LineKind::kSpanEnd: return site_name(recording_.site(line.process, line.site), line.site);
    case LineKind::kThreadName: {
      const NamedThread other = decode_named_thread(*line.record);
      const std::string name = decode_thread_name(*line.record);
      return other.serial == 0 ? name : fmt::format("{} (tid {})", name, other.tid);
    }
    case LineKind::kLost:
    case LineKind::kBlocked: return "";
    default:
      if (line.sync == PENNA_SYNC_JOIN && line.owner != 0) return fmt::format("tid {}", line.owner);
      return names_.data(line.process, line.address, line.time);
  }
}

uint64_t EventWords::address(const TimelineLine& line) const { return line.pc != 0 ? line.pc : line.address; }

// Outermost first. ';' separates frames, so it cannot be part of one.
std::vector<std::string> EventWords::folded_frames(uint32_t process, uint32_t id) {
  std::vector<std::string> frames;
  if (id == 0) return frames;
  const NamedStack stack = names_.shown(process, id);
  for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) {
    std::string& name = frames.emplace_back(names_.line_name(**frame));
    std::replace(name.begin(), name.end(), ';', ':');
  }
  return frames;
}

std::string EventWords::folded_stack(uint32_t process, uint32_t id) {
  std::string text;
  for (const std::string& frame : folded_frames(process, id)) text += (text.empty() ? "" : ";") + frame;
  return text;
}

ArgumentValue EventWords::number_value(uint64_t number) {
  ArgumentValue value;
  value.type = PENNA_ARG_UINT;
  value.present = true;
  value.bits = number;
  return value;
}

ArgumentValue EventWords::text_value(std::string_view text) {
  ArgumentValue value;
  value.type = PENNA_ARG_STRING;
  value.present = true;
  value.text = text;
  return value;
}

}  // namespace penna
