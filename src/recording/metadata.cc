// SPDX-License-Identifier: MIT
// See metadata.h.
//
// Each payload is one list of fields, walked by a Putter to encode and by a Getter to decode.
#include "recording/metadata.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "base/bytes.h"
#include "base/count_text.h"

namespace penna {
namespace {

penna_counters widened_counters(const layout::CountersOfFour& old) {
  penna_counters value{};
  std::copy(std::begin(old.lost), std::end(old.lost), value.lost);
  value.blocked_ticks = old.blocked_ticks;
  value.threads = old.threads;
  std::copy(std::begin(old.stacks_truncated), std::end(old.stacks_truncated), value.stacks_truncated);
  static_assert(offsetof(penna_counters, unfollowed) - offsetof(penna_counters, stack_tree_full) ==
                    sizeof old.from_stack_tree_full_to_unfollowed - sizeof(uint64_t),
                "their order is the same");
  std::memcpy(reinterpret_cast<uint8_t*>(&value) + offsetof(penna_counters, stack_tree_full),
              old.from_stack_tree_full_to_unfollowed, sizeof old.from_stack_tree_full_to_unfollowed);
  std::copy(std::begin(old.lost_for), std::end(old.lost_for), value.lost_for);
  value.allocators_refused = old.allocators_refused;
  value.ended_at_once = old.ended_at_once;
  return value;
}

// Writes fields one after the other. Texts and lists are cut to their limits here, so that a reader may reject longer
// ones.
class Putter {
 public:
  template <typename T>
  void number(const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    out_.put(value);
  }
  void flag(bool value) { out_.put(static_cast<uint32_t>(value)); }
  void text(std::string_view text) { out_.string(text.substr(0, kMaxTextBytes)); }
  void bytes(const Bytes& value) { text({reinterpret_cast<const char*>(value.data()), value.size()}); }

  // u32 count, strings, u32 number left out.
  void list(const std::vector<std::string>& list, uint32_t cut) {
    size_t size = 0, count = 0;
    for (; count < list.size(); ++count) {
      size += sizeof(uint32_t) + std::min(list[count].size(), kMaxTextBytes);
      if (size > kMaxListBytes) break;
    }
    number(static_cast<uint32_t>(count));
    for (size_t i = 0; i < count; ++i) text(list[i]);
    number(static_cast<uint32_t>(cut + list.size() - count));
  }
  // u32 count, u64 each: a reader that knows fewer or more classes still finds the next field.
  void classes(const std::array<uint64_t, PENNA_CLASS_COUNT>& values) {
    number(uint32_t{PENNA_CLASS_COUNT});
    for (uint64_t value : values) number(value);
  }
  // u32 size, then the struct.
  void counters(const penna_counters& value) {
    number(static_cast<uint32_t>(sizeof value));
    out_.put(value);
  }
  void later_classes(const std::array<uint64_t, PENNA_CLASS_COUNT>& values) { classes(values); }
  void later_costs(const std::array<EventCost, PENNA_CLASS_COUNT>& costs) {
    number(uint32_t{PENNA_CLASS_COUNT});
    for (const EventCost& cost : costs) {
      number(cost.events);
      number(cost.ps);
    }
  }
  void arguments(const std::vector<SiteArgument>& arguments) {
    size_t count = std::min<size_t>(arguments.size(), PENNA_MAX_ARGS);
    number(static_cast<uint32_t>(count));
    for (size_t i = 0; i < count; ++i) {
      number(arguments[i].type);
      text(arguments[i].name);
    }
  }
  void formats(const Site& site) {
    if (site.is_of_call())
      for (const SiteArgument& argument : site.arguments) text(argument.format);
  }
  void frames(const std::vector<FileNames::Frame>& frames) {
    number(static_cast<uint32_t>(frames.size()));
    for (const FileNames::Frame& frame : frames) out_.put(frame);
  }
  template <typename T>
  void later_number(T value) {
    number(value);
  }
  void later_text(std::string_view value) { text(value); }
  void later_numbers(const std::vector<uint32_t>& values) {
    const size_t count = std::min(values.size(), kMaxListBytes / sizeof(uint32_t));
    number(static_cast<uint32_t>(count));
    for (size_t i = 0; i < count; ++i) number(values[i]);
  }
  Bytes release() { return out_.release(); }

 private:
  ByteWriter out_;
};

// Reads what Putter wrote, by the same calls. If the payload is too short the cursor fails for good; every further
// field is 0 or empty, and decoding reports the failure at its end.
class Getter {
 public:
  explicit Getter(ByteSpan bytes, uint32_t version = layout::kVersion)
      : in_(bytes), of_four_(version <= layout::kLastVersionOfFourClasses) {}

  template <typename T>
  void number(T& value) {
    value = in_.get<T>();
  }
  void flag(bool& value) { value = in_.u32() != 0; }
  void text(std::string& text) { text = in_.string(); }
  void bytes(Bytes& value) {
    auto from = in_.take(in_.u32());
    value.assign(from.begin(), from.end());
  }
  void list(std::vector<std::string>& list, uint32_t& cut) {
    // Ends with the bytes, whatever the count.
    for (uint32_t count = in_.u32(); count > 0 && in_.ok(); --count) list.emplace_back(in_.string());
    cut = in_.u32();
  }
  void classes(std::array<uint64_t, PENNA_CLASS_COUNT>& values) {
    uint32_t count = in_.u32();
    for (uint32_t i = 0; i < count && in_.ok(); ++i) {
      uint64_t value = in_.u64();
      if (i < values.size()) values[i] = value;
    }
  }
  void counters(penna_counters& value) {
    auto from = in_.take(in_.u32());
    if (from.empty()) return;
    if (!of_four_) {
      std::memcpy(&value, from.data(), std::min(from.size(), sizeof value));
      return;
    }
    layout::CountersOfFour old{};
    std::memcpy(&old, from.data(), std::min(from.size(), sizeof old));
    value = widened_counters(old);
  }
  // Fields that older files lack. In versions 1 and 2 four values without a count.
  void later_classes(std::array<uint64_t, PENNA_CLASS_COUNT>& values) {
    for (uint32_t i = 0, count = later_count(); i < count && in_.remaining() >= sizeof(uint64_t); ++i) {
      const uint64_t value = in_.u64();
      if (i < values.size()) values[i] = value;
    }
  }
  void later_costs(std::array<EventCost, PENNA_CLASS_COUNT>& costs) {
    for (uint32_t i = 0, count = later_count(); i < count && in_.remaining() >= 2 * sizeof(uint64_t); ++i) {
      const EventCost cost{in_.u64(), in_.u64()};
      if (i < costs.size()) costs[i] = cost;
    }
  }
  void arguments(std::vector<SiteArgument>& arguments) {
    for (uint32_t count = in_.u32(); count > 0 && in_.ok(); --count) {
      uint8_t type = in_.u8();
      arguments.push_back({type, std::string(in_.string())});
    }
  }
  void formats(Site& site) {
    if (site.is_of_call())
      for (SiteArgument& argument : site.arguments) argument.format = in_.string();
  }
  void frames(std::vector<FileNames::Frame>& frames) {
    for (uint32_t count = in_.u32(); count > 0 && in_.ok(); --count) frames.push_back(in_.get<FileNames::Frame>());
  }
  size_t remaining() const { return in_.remaining(); }
  // A field that older files lack: the value stays unchanged.
  template <typename T>
  void later_number(T& value) {
    if (in_.remaining() >= sizeof(T)) value = in_.get<T>();
  }
  void later_text(std::string& text) {
    if (in_.remaining() >= sizeof(uint32_t)) text = in_.string();
  }
  void later_numbers(std::vector<uint32_t>& values) {
    if (in_.remaining() < sizeof(uint32_t)) return;
    for (uint32_t count = in_.u32(); count > 0 && in_.remaining() >= sizeof(uint32_t); --count)
      values.push_back(in_.u32());
  }
  bool ok() const { return in_.ok(); }

 private:
  uint32_t later_count() {
    if (of_four_) return layout::kFourClasses;
    return in_.remaining() >= sizeof(uint32_t) ? in_.u32() : 0;
  }

  ByteCursor in_;
  bool of_four_;
};

// ---- The fields, in file order. V is the struct, const for the Putter. docs/format.md repeats them.

template <typename A, typename V>
void clock_fields(A& a, V& clock) {
  a.number(clock.ticks);
  a.number(clock.monotonic_ns);
  a.number(clock.realtime_ns);
}

template <typename A, typename V>
void session_fields(A& a, V& session) {
  a.text(session.penna_version);
  a.list(session.command, session.command_cut);
  a.text(session.cwd);
  a.text(session.host);
  a.text(session.kernel);
  a.text(session.machine);
  a.text(session.cpu);
  a.list(session.options, session.options_cut);
  a.number(session.cpu_count);
  a.number(session.page_size);
  a.number(session.recorder_pid);
  a.number(session.classes);
  a.number(session.ticks_per_second);
  a.number(session.clock_flags);
  clock_fields(a, session.start);
  a.later_number(session.time_shift);
}

template <typename A, typename V>
void process_fields(A& a, V& process) {
  a.number(process.pid);
  a.number(process.parent_pid);
  a.flag(process.after_exec);
  a.number(process.start_ticks);
  a.text(process.executable);
  a.list(process.command, process.command_cut);
  a.later_number(process.forked_by);
  a.later_number(process.fork_ticks);
}

template <typename A, typename V>
void process_end_fields(A& a, V& end) {
  a.number(end.end_ticks);
  a.number(end.how);
  a.number(end.code);
  a.counters(end.counters);
  a.later_number(end.cpu_ns);
  a.later_costs(end.costs);
}

template <typename A, typename V>
void collector_fields(A& a, V& health) {
  a.number(health.chunks);
  a.number(health.raw_bytes);
  a.number(health.processes);
  a.number(health.refused_channels);
  a.number(health.max_backlog);
  a.number(health.cpu_ns);
  a.classes(health.event_cost_ps);
  a.list(health.notes, health.notes_cut);
  a.later_number(health.points_left_out);
  a.later_number(health.calls_left_out);
  a.later_number(health.events_left_out);
  a.later_number(health.snapshots);
  a.later_classes(health.thrown_away);
  a.later_numbers(health.missed_by_notes);
  a.later_number(health.finish_ticks);
  a.later_number(health.finish_process);
  a.later_number(health.finish_pc);
  a.later_number(health.others_left_out);
  a.later_number(health.late_threads);
  a.later_text(health.snapshot_cause);
  a.later_number(health.snapshot_ticks);
  a.later_number(health.snapshots_suppressed);
}

// Counters up to `unknown` are as old as the format; later ones are appended.
enum class HealthPlace {
#define PENNA_HEALTH_RECORDER(rank, field, ...) field,
#include "penna/health.inc"
};

template <typename A, typename V>
void entry_fields(A& a, V& entry) {
  using T = std::remove_const_t<V>;
  if constexpr (std::is_same_v<T, Thread>) {
    a.number(entry.serial);
    a.number(entry.tid);
    a.number(entry.ticks);
    a.text(entry.name);
  } else if constexpr (std::is_same_v<T, Module>) {
    a.number(entry.bias);
    a.number(entry.start);
    a.number(entry.end);
    a.number(entry.ticks);
    a.number(entry.generation);
    a.bytes(entry.build_id);
    a.text(entry.path);
  } else if constexpr (std::is_same_v<T, Site>) {
    a.number(entry.id);
    a.number(entry.line);
    a.number(entry.address);
    a.text(entry.provider);
    a.text(entry.name);
    a.text(entry.file);
    a.arguments(entry.arguments);
    a.later_number(entry.kind);
    a.formats(entry);
  } else {
    static_assert(std::is_same_v<T, Health>);
    a.number(entry.thread_serial);
    a.classes(entry.stored);
    a.classes(entry.lost);
    a.number(entry.chunks);
#define PENNA_HEALTH_RECORDER(rank, field, ...) \
  if constexpr (HealthPlace::field <= HealthPlace::unknown) a.number(entry.field);
#include "penna/health.inc"
    a.number(entry.blocked_ticks);
    a.later_number(entry.skipped);
    a.later_number(entry.call_entries);
#define PENNA_HEALTH_RECORDER(rank, field, ...) \
  if constexpr (HealthPlace::field > HealthPlace::unknown) a.later_number(entry.field);
#include "penna/health.inc"
  }
}

template <typename A, typename V>
void place_fields(A& a, V& place) {
  a.number(place.address);
  a.number(place.start);
  a.number(place.flags);
  a.frames(place.frames);
}

template <typename T>
Bytes encode_one(const T& value) {
  Putter fields;
  entry_fields(fields, value);
  Bytes body = fields.release();
  ByteWriter out;
  out.put(static_cast<uint32_t>(body.size()));
  out.bytes(body);
  return out.release();
}

template <typename T>
bool decode_all(ByteSpan payload, std::vector<T>& values) {
  ByteCursor in(payload);
  while (in.remaining() > 0) {
    auto entry = in.take(in.u32());
    Getter fields(entry);
    T value;
    entry_fields(fields, value);
    if (!in.ok() || !fields.ok()) return false;
    values.push_back(std::move(value));
  }
  return true;
}

}  // namespace

// The functions from here on are alike and know nothing of the format: the fields of each block are listed above, once
// for both directions.
Bytes encode_session(const Session& session) {
  Putter fields;
  session_fields(fields, session);
  return fields.release();
}
Bytes encode_clock(const ClockTriplet& clock) {
  Putter fields;
  clock_fields(fields, clock);
  return fields.release();
}
Bytes encode_process(const Process& process) {
  Putter fields;
  process_fields(fields, process);
  return fields.release();
}
Bytes encode_process_end(const ProcessEnd& end) {
  Putter fields;
  process_end_fields(fields, end);
  return fields.release();
}
Bytes encode_collector(const CollectorHealth& health) {
  Putter fields;
  collector_fields(fields, health);
  return fields.release();
}
Bytes encode_names(const FileNames& names) {
  Putter fields;
  fields.bytes(names.build_id);
  fields.text(names.path);
  fields.number(static_cast<uint32_t>(names.texts.size()));
  for (const std::string& text : names.texts) fields.text(text);
  for (const FileNames::Place& place : names.places) place_fields(fields, place);
  return fields.release();
}
Bytes encode_entry(const Thread& thread) { return encode_one(thread); }
Bytes encode_entry(const Module& module) { return encode_one(module); }
Bytes encode_entry(const Site& site) { return encode_one(site); }
Bytes encode_entry(const Health& health) { return encode_one(health); }

std::optional<Session> decode_session(ByteSpan payload) {
  Getter fields(payload);
  Session session;
  session_fields(fields, session);
  return fields.ok() && session.time_shift < PENNA_FULL_TIME_BITS ? std::optional(std::move(session)) : std::nullopt;
}
std::optional<ClockTriplet> decode_clock(ByteSpan payload) {
  Getter fields(payload);
  ClockTriplet clock;
  clock_fields(fields, clock);
  return fields.ok() ? std::optional(clock) : std::nullopt;
}
std::optional<Process> decode_process(ByteSpan payload, uint32_t number) {
  Getter fields(payload);
  Process process;
  process_fields(fields, process);
  process.number = number;
  return fields.ok() ? std::optional(std::move(process)) : std::nullopt;
}
std::optional<StackRun> decode_stacks(ByteSpan payload) {
  uint64_t first = 0;
  if (payload.size() < sizeof first) return {};
  std::memcpy(&first, payload.data(), sizeof first);
  payload = payload.subspan(sizeof first);
  if (first > UINT32_MAX || payload.size() % sizeof(penna_stack_node) != 0) return {};
  StackRun run{static_cast<uint32_t>(first), std::vector<penna_stack_node>(payload.size() / sizeof(penna_stack_node))};
  if (!run.nodes.empty()) std::memcpy(run.nodes.data(), payload.data(), payload.size());
  return run;
}
std::optional<ProcessEnd> decode_process_end(ByteSpan payload, uint32_t number, uint32_t version) {
  Getter fields(payload, version);
  ProcessEnd end;
  process_end_fields(fields, end);
  end.number = number;
  bound_counts(end.counters);
  if (end.how > EndKind::kStopped) end.how = EndKind::kUnknown;
  return fields.ok() ? std::optional(end) : std::nullopt;
}
std::optional<CollectorHealth> decode_collector(ByteSpan payload, uint32_t version) {
  Getter fields(payload, version);
  CollectorHealth health;
  collector_fields(fields, health);
  return fields.ok() ? std::optional(std::move(health)) : std::nullopt;
}

std::optional<FileNames> decode_names(ByteSpan payload) {
  Getter fields(payload);
  FileNames names;
  fields.bytes(names.build_id);
  fields.text(names.path);
  uint32_t texts = 0;
  fields.number(texts);
  for (; texts > 0 && fields.ok(); --texts) fields.text(names.texts.emplace_back());
  while (fields.ok() && fields.remaining() > 0) {
    FileNames::Place& place = names.places.emplace_back();
    place_fields(fields, place);
    for (const FileNames::Frame& frame : place.frames)
      if (std::max(frame.function, frame.file) >= names.texts.size()) return std::nullopt;
  }
  return fields.ok() ? std::optional(std::move(names)) : std::nullopt;
}

bool decode_entries(ByteSpan payload, std::vector<Thread>& threads) { return decode_all(payload, threads); }
bool decode_entries(ByteSpan payload, std::vector<Module>& modules) { return decode_all(payload, modules); }
bool decode_entries(ByteSpan payload, std::vector<Site>& sites) { return decode_all(payload, sites); }
bool decode_entries(ByteSpan payload, std::vector<Health>& health) {
  const bool good = decode_all(payload, health);
  for (Health& one : health) {
    bound_counts(one.stored);
    bound_counts(one.lost);
    for (uint64_t* count : {&one.chunks, &one.blocked_ticks, &one.skipped}) *count = bounded_count(*count);
    if (one.call_entries > one.stored[PENNA_CALLS]) one.call_entries = Health::kNotCounted;
#define PENNA_HEALTH_RECORDER(rank, field, ...) one.field = bounded_count(one.field);
#include "penna/health.inc"
  }
  return good;
}

}  // namespace penna
