// SPDX-License-Identifier: MIT
// See ctf_export.h.
#include "export/timeline/ctf_export.h"

#include <algorithm>
#include <array>

#include "export/text/event_words.h"
#include "export/timeline/csv_export.h"
#include "export/timeline/ctf_writer.h"
#include "model/events/summary.h"

namespace penna {
namespace {

class CtfExport {
 public:
  CtfExport(const Recording& recording, Names& names, const TextSink& stream)
      : recording_(recording), words_(recording, names), writer_(stream, trace_of(recording, words_)) {}

  bool line(const TimelineLine& line) {
    // A damaged recording may contain any time; the caller ensures time order, and 0 is the lowest that CTF can
    // express.
    const int64_t time = recording_.time().monotonic_ns(line.time);
    last_ = std::max(last_, static_cast<uint64_t>(std::max<int64_t>(time, 0)));
    writer_.begin(last_, recording_.processes()[line.process].process.pid, recording_.threads()[line.thread].tid);
    switch (line.kind) {
      case LineKind::kPoint: return point(line, "");
      case LineKind::kSpanBegin: return point(line, ":begin");
      case LineKind::kSpanEnd: return writer_.end(words_.name(line) + ":end");
      case LineKind::kStrayExit:
        if (line.site != 0) return writer_.end(words_.name(line) + ":end");
        break;
      default: break;
    }
    fields(line);
    return writer_.end(line_kind_name(line));
  }
  // What a thread lost after its last event is in no event, only in its process's sums; what the file had no room for,
  // only in the file's.
  bool finish() {
    const uint64_t sum = all_lost(recording_, summarize(recording_));
    writer_.lost(sum - std::min(sum, attributed_));
    return writer_.finish();
  }
  std::string metadata() const { return writer_.metadata(); }

 private:
  static CtfTrace trace_of(const Recording& recording, const EventWords& words) {
    CtfTrace trace;
    trace.host = recording.session().host;
    const std::array<uint8_t, 16> identity = recording.identity();
    std::copy(identity.begin(), identity.end(), trace.uuid);
    const int64_t begin = recording.time().monotonic_ns(words.begin());
    trace.clock_offset_ns =
        static_cast<uint64_t>(std::max<int64_t>(recording.time().realtime_ns(words.begin()) - begin, 0));
    trace.numbers = {{"first_event_ns", begin}};
    trace.texts = {{"penna_version", recording.session().penna_version}};
    return trace;
  }

  void name_and_address(const TimelineLine& line) {
    writer_.text("name", words_.name(line));
    writer_.address("address", words_.address(line));
  }

  void wait(const TimelineLine& line) {
    name_and_address(line);
    writer_.number("duration_ns", words_.duration_ns(line));
    if (const std::string sync = wait_sync_name(line); !sync.empty()) writer_.text("sync", sync);
    writer_.number("holder_tid", uint64_t{line.owner});
    writer_.text("end", wait_end_name(line.wait_end));
    writer_.text("stack", words_.folded_stack(line));
  }
  // Operations on locks, besides waiting.
  void lock(const TimelineLine& line) {
    name_and_address(line);
    if (line.kind == LineKind::kUnlock)
      writer_.number("duration_ns", has_wait_or_hold(line) ? words_.duration_ns(line) : int64_t{-1});
    if (line.kind == LineKind::kWake) writer_.number("size", line.size);
    if (line.stack != 0) writer_.text("stack", words_.folded_stack(line));
  }

  void fields(const TimelineLine& line) {
    switch (line.kind) {
      case LineKind::kAllocation:
      case LineKind::kMap:
      case LineKind::kPoolAllocation:
        name_and_address(line);
        writer_.number("size", line.size);
        writer_.text("stack", words_.folded_stack(line));
        return;
      case LineKind::kUnmap: name_and_address(line); return writer_.number("size", line.size);
      case LineKind::kLockWait:
      case LineKind::kOpenWait:
      case LineKind::kConditionWait: return wait(line);
      case LineKind::kLock:
      case LineKind::kLockRequest:
      case LineKind::kUnlock:
      case LineKind::kWake:
      case LineKind::kLockMade: return lock(line);
      case LineKind::kThreadName: return writer_.text("name", words_.name(line));
      case LineKind::kBlocked: return writer_.number("duration_ns", words_.duration_ns(line));
      case LineKind::kLost:
        writer_.lost(lost_events(line));
        attributed_ += lost_events(line);
        return writer_.number("size", lost_events(line));
      default: return name_and_address(line);
    }
  }

  bool point(const TimelineLine& line, const char* behind_name) {
    const Site* site = recording_.site(line.process, line.site);
    decode_arguments(site, *line.record, decoded_);
    if (site == nullptr || decoded_.malformed || writer_.is_full()) {
      writer_.text("name", words_.name(line));
      writer_.text("arguments", csv_arguments(line, words_));
      return writer_.end(line_kind_name(line));
    }
    words_.each_argument(line, [&](const std::string& name, const ArgumentValue& value, const std::string& text) {
      argument(name, value, text);
    });
    if (line.stack != 0) writer_.text("stack", words_.folded_stack(line));
    return writer_.end(words_.name(line) + behind_name);
  }

  void argument(const std::string& name, const ArgumentValue& value, const std::string& text) {
    switch (value.type) {
      case PENNA_ARG_INT: return writer_.number(name, value.as_int());
      case PENNA_ARG_UINT: return writer_.number(name, value.as_uint());
      case PENNA_ARG_FLOAT: return writer_.real(name, value.as_float());
      case PENNA_ARG_BOOL: return writer_.truth(name, value.bits != 0);
      case PENNA_ARG_CHAR: return writer_.byte(name, static_cast<uint8_t>(value.bits));
      case 0:  // a number that EventWords has named
      case PENNA_ARG_STRING: return writer_.text(name, text);
      case PENNA_ARG_ARRAY:
        if (writer_.array(name, value.element_type, value.element_bytes, value.text, value.cut)) return;
        return writer_.text(name, text);
      default: return writer_.address(name, value.bits);
    }
  }

  const Recording& recording_;
  EventWords words_;
  CtfWriter writer_;
  DecodedPoint decoded_;
  uint64_t last_ = 0;        // time
  uint64_t attributed_ = 0;  // events lost
};

}  // namespace

bool export_ctf(const Recording& recording, Names& names, const TextSink& stream, std::string* metadata,
                const std::function<void()>& step, WalkReport* walk) {
  CtfExport out(recording, names, stream);
  *walk = for_each_event_line(recording, step, [&](const TimelineLine& line) { return out.line(line); });
  const bool whole = out.finish();
  *metadata = out.metadata();
  return whole;
}

}  // namespace penna
