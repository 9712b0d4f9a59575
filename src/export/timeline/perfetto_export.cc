// SPDX-License-Identifier: MIT
// See perfetto_export.h. Thread by thread: the reader sorts by time.
#include "export/timeline/perfetto_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>

#include "export/text/event_words.h"
#include "export/text/utf8.h"
#include "export/timeline/call_frames.h"
#include "export/timeline/perfetto_heap.h"
#include "model/events/summary.h"

namespace penna {
namespace {

// Field numbers of perfetto_trace.proto (perfetto.dev/docs/reference/trace-packet-proto), by message.
enum Trace : uint32_t { kPacket = 1 };
enum TracePacket : uint32_t {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kProfilePacket = 37,
  kTrackDescriptor = 60,
};
enum ClockSnapshot : uint32_t { kClocks = 1, kPrimaryClock = 2 };
enum Clock : uint32_t { kClockId = 1, kClockTime = 2 };
enum TrackDescriptor : uint32_t { kTrackUuid = 1, kTrackProcess = 3, kTrackThread = 4, kTrackParent = 5 };
enum ProcessDescriptor : uint32_t { kProcessPid = 1, kProcessName = 6 };
enum ThreadDescriptor : uint32_t { kThreadPid = 1, kThreadTid = 2, kThreadName = 5 };
enum InternedData : uint32_t { kCategories = 1, kEventNames = 2 };
enum Interned : uint32_t { kIid = 1, kInternedName = 2 };
enum TrackEvent : uint32_t {
  kCategoryIids = 3,
  kAnnotations = 4,
  kEventType = 9,
  kNameIid = 10,
  kEventTrack = 11,
  kEventName = 23,
};
enum DebugAnnotation : uint32_t { kBool = 2, kUint = 3, kInt = 4, kDouble = 5, kString = 6, kAnnotationName = 10 };

// Values.
enum EventType : int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3 };
// SEQ_INCREMENTAL_STATE_CLEARED, SEQ_NEEDS_INCREMENTAL_STATE.
constexpr uint32_t kStateCleared = 1, kNeedsState = 2;  // sequence flags
// BuiltinClock: fixed numbers below 64, which a reader knows without a definition.
constexpr uint32_t kRealtimeClock = 1, kMonotonicClock = 3, kCoarseClock = 4;
// Any number but 0: packets of sequence 0 may not refer to interned data.
constexpr uint32_t kOnlySequence = 1;

// In the order of their iids, from 1.
constexpr const char* kCategoryNames[] = {"call", "span", "wait", "point", "penna"};
enum Category : uint64_t { kCall = 1, kSpan, kWait, kPoint, kPenna };

// One sequence of packets. Recurring names are interned: written once with a number (iid), and referred to by it. A
// reader needs all preceding packets, so the first one clears its state, and all others declare that they need it.
class PerfettoExport {
 public:
  PerfettoExport(const Recording& recording, Names& names, const TextSink& sink)
      : recording_(recording),
        summary_(summarize(recording)),
        names_of_code_(names),
        words_(recording, names),
        frames_(recording, names),
        out_(sink) {}

  void begin() {
    clocks();
    categories();
    for (const ProcessSummary& process : summary_.processes) process_track(process);
    for (const ThreadSummary& thread : summary_.threads) thread_track(thread);
  }

  bool line(const TimelineLine& line) {
    switch (line.kind) {
      case LineKind::kEnter: event(line, line.time, kSliceBegin, kCall, frame_iid(line)); break;
      case LineKind::kSpanBegin: event(line, line.time, kSliceBegin, kSpan, frame_iid(line), Say::kArguments); break;
      case LineKind::kLeave:
      case LineKind::kSpanEnd: event(line, line.time, kSliceEnd, Category{}, 0, Say::kEnd); break;
      case LineKind::kPoint:
        event(line, line.time, kInstant, kPoint, name_iid(words_.name(line)), Say::kArguments);
        break;
      case LineKind::kLockWait:
      case LineKind::kOpenWait:
      case LineKind::kConditionWait: wait(line, "wait " + words_.name(line)); break;
      case LineKind::kBlocked: wait(line, "penna: waited for room"); break;
      case LineKind::kStrayExit: instant(line, "exit without entry: " + words_.name(line)); break;
      case LineKind::kLost: instant(line, fmt::format("{} events lost", lost_events(line))); break;
      default: break;
    }
    return out_.ok();
  }
  void heaps(const Allocations& heap) {
    write_perfetto_heaps(recording_, summary_, names_of_code_, heap,
                         [&](uint64_t time, const std::string& interned, const std::string& profile) {
                           packet([&](Message& packet) {
                             packet.add_uint64(kTimestamp, monotonic(time));
                             packet.add_message(kInternedData, interned);
                             packet.add_message(kProfilePacket, profile);
                           });
                           return out_.ok();
                         });
  }
  bool finish() { return out_.flush(); }

 private:
  using Message = protozero::pbf_writer;
  uint64_t monotonic(uint64_t ticks) const {
    return static_cast<uint64_t>(std::max<int64_t>(recording_.time().monotonic_ns(ticks), 0));
  }
  enum class Say { kNothing, kArguments, kEnd };

  // Tracks are numbered: 1 for the first process, then the other processes, then the threads.
  uint64_t process_uuid(uint32_t process) const { return 1 + process; }
  uint64_t thread_uuid(uint32_t thread) const { return 1 + summary_.processes.size() + thread; }

  // A packet of the sequence, filled by `fill(Message&)`.
  template <typename Fill>
  void packet(Fill&& fill) {
    packet_.clear();
    Message packet(packet_);
    packet.add_uint32(kSequenceId, kOnlySequence);
    packet.add_uint32(kSequenceFlags, std::exchange(flags_, kNeedsState));
    fill(packet);
    framed_.clear();
    Message(framed_).add_message(kPacket, packet_);
    out_.text(framed_);
  }

  // How the trace's clocks relate, at one moment. Without it, heap profiles would not be on the same timeline.
  void clocks() {
    packet([&](Message& packet) {
      const uint64_t at = summary_.first_time;
      // uint64 nanoseconds; a damaged recording may have negative ones.
      const auto add = [](Message& snapshot, uint32_t id, int64_t ns) {
        Message clock(snapshot, kClocks);
        clock.add_uint32(kClockId, id);
        clock.add_uint64(kClockTime, static_cast<uint64_t>(std::max<int64_t>(ns, 0)));
      };
      Message snapshot(packet, kClockSnapshot);
      add(snapshot, kMonotonicClock, recording_.time().monotonic_ns(at));
      add(snapshot, kCoarseClock, recording_.time().monotonic_ns(at));  // the clock of heap profiles
      add(snapshot, kRealtimeClock, recording_.time().realtime_ns(at));
      snapshot.add_uint32(kPrimaryClock, kMonotonicClock);
    });
  }
  void categories() {
    for (size_t i = 0; i < std::size(kCategoryNames); ++i) intern(kCategories, i + 1, kCategoryNames[i]);
  }
  void process_track(const ProcessSummary& process) {
    packet([&](Message& packet) {
      Message track(packet, kTrackDescriptor);
      track.add_uint64(kTrackUuid, process_uuid(process.process));
      Message descriptor(track, kTrackProcess);
      descriptor.add_int32(kProcessPid, static_cast<int32_t>(process.pid));
      descriptor.add_string(kProcessName, process.name.empty() ? "unknown" : valid_utf8(process.name));
    });
  }
  void thread_track(const ThreadSummary& thread) {
    packet([&](Message& packet) {
      Message track(packet, kTrackDescriptor);
      track.add_uint64(kTrackUuid, thread_uuid(thread.thread));
      track.add_uint64(kTrackParent, process_uuid(thread.process));
      Message descriptor(track, kTrackThread);
      descriptor.add_int32(kThreadPid, static_cast<int32_t>(summary_.processes[thread.process].pid));
      descriptor.add_int32(kThreadTid, static_cast<int32_t>(thread.tid));
      if (!thread.name.empty()) descriptor.add_string(kThreadName, valid_utf8(thread.name));
    });
  }

  void intern(InternedData list, uint64_t iid, std::string_view name) {
    packet([&](Message& packet) {
      Message data(packet, kInternedData);
      Message entry(data, list);
      entry.add_uint64(kIid, iid);
      entry.add_string(kInternedName, valid_utf8(name));
    });
  }
  uint64_t name_iid(const std::string& name) {
    const auto [found, added] = names_.try_emplace(name, names_.size() + 1);
    if (added) intern(kEventNames, found->second, name);
    return found->second;
  }
  // By the function's number: its name is looked up and interned once.
  uint64_t frame_iid(const TimelineLine& line) {
    const uint32_t frame = frames_.number(line);
    if (frame >= frame_iids_.size()) frame_iids_.resize(frame + 1);
    if (frame_iids_[frame] == 0) frame_iids_[frame] = name_iid(frames_.at(frame).name);
    return frame_iids_[frame];
  }

  // `name`: an iid, or a text that is too rare to be interned.
  template <typename Name>
  void event(const TimelineLine& line, uint64_t time, EventType type, Category category, const Name& name,
             Say say = Say::kNothing) {
    packet([&](Message& packet) {
      packet.add_uint64(kTimestamp, monotonic(time));
      Message event(packet, kTrackEvent);
      event.add_enum(kEventType, type);
      event.add_uint64(kEventTrack, thread_uuid(line.thread));
      if (type == kSliceEnd) {
        if (line.arguments != nullptr || line.result != nullptr || line.stack != 0) arguments(event, line);
        return say == Say::kEnd ? end_annotation(event, line) : void();
      }
      event.add_uint64(kCategoryIids, category);
      if constexpr (std::is_same_v<Name, std::string>) {
        event.add_string(kEventName, valid_utf8(name));
      } else {
        event.add_uint64(kNameIid, name);
      }
      if (say == Say::kArguments) arguments(event, line);
    });
  }
  void wait(const TimelineLine& line, const std::string& name) {
    event(line, line.begin, kSliceBegin, kWait, name, Say::kArguments);
    event(line, line.time, kSliceEnd, kWait, 0);
  }
  void instant(const TimelineLine& line, const std::string& name) { event(line, line.time, kInstant, kPenna, name); }

  void end_annotation(Message& event, const TimelineLine& line) {
    if (line.end == CallEnd::kExit) return;
    Message annotation(event, kAnnotations);
    annotation.add_string(kAnnotationName, "end");
    annotation.add_string(kString, line.end == CallEnd::kJump      ? "left by longjmp"
                                   : line.end == CallEnd::kUnwound ? "left by an outer one's end"
                                                                   : "not left at the end");
  }
  void arguments(Message& event, const TimelineLine& line) {
    words_.each_argument(line, [&](const std::string& name, const ArgumentValue& value, const std::string& text) {
      Message annotation(event, kAnnotations);
      annotation.add_string(kAnnotationName, valid_utf8(name));
      if (!value.present) return;
      switch (value.type) {
        case PENNA_ARG_INT: return annotation.add_int64(kInt, value.as_int());
        case PENNA_ARG_UINT: return annotation.add_uint64(kUint, value.as_uint());
        case PENNA_ARG_FLOAT: return annotation.add_double(kDouble, value.as_float());
        case PENNA_ARG_BOOL: return annotation.add_bool(kBool, value.bits != 0);
        default: return annotation.add_string(kString, valid_utf8(text));
      }
    });
    if (line.stack == 0) return;
    Message annotation(event, kAnnotations);
    annotation.add_string(kAnnotationName, "stack");
    annotation.add_string(kString, valid_utf8(words_.folded_stack(line)));
  }

  const Recording& recording_;
  Summary summary_;
  Names& names_of_code_;
  EventWords words_;
  CallFrames frames_;
  TextBuffer out_;
  TextMap<uint64_t> names_;           // iids of event names
  std::vector<uint64_t> frame_iids_;  // by CallFrames number; 0: not yet
  std::string packet_, framed_;       // members to reuse their memory
  uint32_t flags_ = kStateCleared;    // of the next packet
};

}  // namespace

bool export_perfetto(const Recording& recording, Names& names, const TextSink& sink, const std::function<void()>& step,
                     WalkReport* walk) {
  PerfettoExport out(recording, names, sink);
  out.begin();
  for_each_line_by_thread(recording, TimelineOptions{.fold_leaves = false}, step, walk,
                          [&](const TimelineLine& line) { return out.line(line); });
  if (summarize(recording).events[PENNA_ALLOC] != 0 && !walk->stopped) {
    Allocations heap(recording);
    // The same chunks again: `walk` has what could not be read of them.
    for_each_event(recording, {.classes = kAllocEvents, .all_threads = true}, heap);
    out.heaps(heap);
  }
  return out.finish();
}

}  // namespace penna
