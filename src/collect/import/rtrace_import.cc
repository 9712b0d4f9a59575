// SPDX-License-Identifier: MIT
// See rtrace_import.h.
#include "collect/import/rtrace_import.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <map>
#include <vector>

#include "base/hash.h"

namespace penna {
namespace {

constexpr uint64_t kDayMs = 24 * 3600 * 1000;
// A damaged trace may list frames endlessly: beyond this many, the outermost are dropped.
constexpr size_t kMaxFrames = 256;
constexpr uint64_t kPcMask = (uint64_t{1} << 48) - 1;
// The format does not say whether a file was relocated. Programs that are not position-independent are loaded below
// this address on every processor, everything else above it.
constexpr uint64_t kLowestMoved = 0x10000000;

// Parses text from its beginning; each function says whether it found what it expects, and then skips it.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}
  bool word(std::string_view wanted) {
    if (text_.substr(0, wanted.size()) != wanted) return false;
    text_.remove_prefix(wanted.size());
    return true;
  }
  bool number(uint64_t& value, int base = 10) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value, base);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return true;
  }
  bool address(uint64_t& value) { return word("0x") && number(value, 16); }
  // Takes everything up to one of these characters.
  bool until(std::string_view stops, std::string_view& found) {
    const size_t end = text_.find_first_of(stops);
    if (end == std::string_view::npos) return false;
    found = text_.substr(0, end);
    text_.remove_prefix(end);
    return true;
  }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

// Names are views of the trace, which outlives the import.
struct RtraceEvent {
  std::optional<uint64_t> ms;  // since midnight
  std::string_view function, resource;
  bool is_free = false;
  uint64_t size = 0, address = 0;
};

std::optional<uint64_t> parse_time(Words& words) {
  uint64_t hours = 0, minutes = 0, seconds = 0, ms = 0;
  if (!words.number(hours) || !words.word(":") || !words.number(minutes) || !words.word(":") ||
      !words.number(seconds) || !words.word(".") || !words.number(ms))
    return std::nullopt;
  // 60: a leap second.
  if (hours > 23 || minutes > 59 || seconds > 60 || ms > 999) return std::nullopt;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
}

std::optional<RtraceEvent> parse_event(std::string_view line) {
  Words words(line);
  RtraceEvent event;
  uint64_t number = 0;
  if (!words.number(number) || !words.word(". ")) return std::nullopt;
  if (words.word("@") && !(words.number(number, 16) && words.word(" "))) return std::nullopt;
  if (words.word("[")) {
    event.ms = parse_time(words);
    if (!event.ms || !words.word("] ")) return std::nullopt;
  }
  if (!words.until("<(", event.function)) return std::nullopt;
  // "<memory>" after the name, in traces of more than one kind of resource.
  if (words.word("<") && !(words.until(">", event.resource) && words.word(">"))) return std::nullopt;
  if (!words.word("(")) return std::nullopt;
  if (words.address(event.address)) {
    event.is_free = true;
    return words.word(")") ? std::optional(event) : std::nullopt;
  }
  if (!words.number(event.size) || !words.word(") = ") || !words.address(event.address)) return std::nullopt;
  return event;
}

uint64_t family_of(std::string_view function) {
  const auto has = [&](std::string_view part) { return function.find(part) != std::string_view::npos; };
  return has("calloc")                   ? PENNA_FAMILY_CALLOC
         : has("realloc")                ? PENNA_FAMILY_REALLOC
         : has("align") || has("valloc") ? PENNA_FAMILY_ALIGNED
                                         : PENNA_FAMILY_MALLOC;
}

// "key=VALUE," of the first line. Keys may contain spaces ("backtrace depth"), values no commas. Empty if there is no
// such key.
std::string_view value_of(std::string_view header, std::string_view key) {
  for (size_t at = 0; at < header.size();) {
    const size_t end = std::min(header.find(',', at), header.size());
    std::string_view part = header.substr(at, end - at);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    if (part.size() > key.size() && part.substr(0, key.size()) == key && part[key.size()] == '=')
      return part.substr(key.size() + 1);
    at = end + 1;
  }
  return {};
}

// "16.6.2011 15:49:48", taken as UTC. 0: not a time.
uint64_t realtime_of(std::string_view text) {
  std::tm time{};
  uint64_t day = 0, month = 0, year = 0, hour = 0, minute = 0, second = 0;
  Words words(text);
  // Bounds keep timegm(3) within 64 bits, and a nonsensical header from becoming a time in the far future.
  const bool good = words.number(day) && words.word(".") && words.number(month) && words.word(".") &&
                    words.number(year) && words.word(" ") && words.number(hour) && words.word(":") &&
                    words.number(minute) && words.word(":") && words.number(second);
  if (!good || day > 31 || month < 1 || month > 12 || year < 1970 || year > 2200 || hour > 23 || minute > 59 ||
      second > 60)
    return 0;
  time.tm_mday = static_cast<int>(day);
  time.tm_mon = static_cast<int>(month - 1);
  time.tm_year = static_cast<int>(year - 1900);
  time.tm_hour = static_cast<int>(hour);
  time.tm_min = static_cast<int>(minute);
  time.tm_sec = static_cast<int>(second);
  return static_cast<uint64_t>(std::max<std::time_t>(::timegm(&time), 0)) * 1'000'000'000;
}

struct RtraceEnd {
  uint64_t pid = 0;
  EndKind how = EndKind::kUnknown;
  int32_t code = 0;
};

// "Process/Thread 1597 (./prog) has exited with code 0" of functracer; "# process 1597 exited with 0" of penna export.
std::optional<RtraceEnd> parse_end(std::string_view line) {
  Words words(line);
  RtraceEnd end;
  uint64_t code = 0;
  const bool of_functracer = words.word("Process/Thread ");
  if ((!of_functracer && !words.word("# process ")) || !words.number(end.pid) || !words.word(" ")) return std::nullopt;
  if (of_functracer) {  // the name may contain spaces and parentheses
    const size_t behind = words.rest().rfind(") ");
    if (behind == std::string_view::npos) return std::nullopt;
    words = Words(words.rest().substr(behind + 2));
  }
  if (words.word("has exited with code ") || words.word("exited with ")) {
    if (!words.number(code) || code > 255) return std::nullopt;
    end.how = EndKind::kExited;
  } else if (words.word("was killed by signal ") || words.word("killed by signal ")) {
    if (!words.number(code) || code > 64) return std::nullopt;
    end.how = EndKind::kSignaled;
  } else if (words.word("killed by SIG")) {
    for (int signal = 1; signal < NSIG && code == 0; ++signal)
      if (const char* name = sigabbrev_np(signal); name != nullptr && words.rest() == name) code = signal;
    if (code == 0) return std::nullopt;
    end.how = EndKind::kSignaled;
  } else {
    return std::nullopt;
  }
  end.code = static_cast<int32_t>(code);
  return end;
}

bool next_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const size_t end = std::min(text.find('\n'), text.size());
  line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

// The stacks, as a tree of frames.
class StackTree {
 public:
  explicit StackTree(uint32_t limit) : limit_(limit) {}
  // `frames`: innermost first.
  uint32_t id(const std::vector<uint64_t>& frames) {
    uint32_t parent = 0;
    const bool cut = limit_ != 0 && frames.size() >= limit_;
    for (auto pc = frames.rbegin(); pc != frames.rend(); ++pc) {
      // Frames come innermost first and are walked from the other end: stacks share their outer frames.
      const auto [found, added] = children_[parent].try_emplace(*pc, static_cast<uint32_t>(nodes_.size() + 1));
      const uint32_t number = found->second;
      if (added) {
        const uint32_t depth = static_cast<uint32_t>(pc - frames.rbegin()) + 1;
        // The flag for how a stack ends belongs to its outermost frame. A stack of exactly the limit may have been
        // longer.
        const uint32_t end = depth == 1 && cut ? PENNA_STACK_DEPTH_LIMIT : PENNA_STACK_COMPLETE;
        nodes_.push_back({*pc, parent, depth | end << 16});
      }
      parent = number;
    }
    return parent;
  }
  void write(RecordingWriter& writer) const {
    if (!nodes_.empty()) (void)writer.write_stacks(0, 1, nodes_);
  }

 private:
  uint32_t limit_;
  std::vector<penna_stack_node> nodes_;      // number 1, 2, ...
  NumberMap<NumberMap<uint32_t>> children_;  // by parent, by return address
};

}  // namespace

// The state of one pass over the lines. A line is classified by its first character only; if it is incomplete it counts
// as damage, and the next line is read.
struct RtraceImport::Reader {
  Reader(const RtraceImport& of, RecordingWriter& to)
      : import(of), writer(to), sink(0), chunks(sink), stacks(of.depth_) {}

  void line(std::string_view text) {
    if (text.empty()) return flush();
    const char first = text.front();
    // Frames and arguments follow their event: it is complete once another line begins.
    if (first == '\t') return detail(text.substr(1));
    flush();
    if (first >= '0' && first <= '9') return begin(text);
    if (first == ':') return module(text);
    if (first == '<') return resource(text);
    ++summary.comments;
    if (const auto found = parse_end(text); found && found->pid == import.pid_) how_it_ended = *found;
  }

  void resource(std::string_view text) {
    Words words(text);
    uint64_t number = 0;
    std::string_view name;
    if (!words.word("<") || !words.number(number, 16) || !words.word("> : ")) return void(++summary.damaged_lines);
    if (!words.until(" (", name)) name = words.rest();
    if (only_resource.empty()) only_resource = name;
  }

  void begin(std::string_view text) {
    const std::optional<RtraceEvent> parsed = parse_event(text);
    if (!parsed) return void(++summary.damaged_lines);
    const std::string_view kind = parsed->resource.empty() ? only_resource : parsed->resource;
    if (!kind.empty() && kind != "memory") return void(++summary.other_resources);
    // The function's family takes the upper bits of a record's address (event.h).
    if ((parsed->address & ~PENNA_ADDRESS_MASK) != 0 || parsed->address == 0) return void(++summary.damaged_lines);
    event = parsed;
    tid = import.pid_;
    frames.clear();
  }

  void detail(std::string_view text) {
    if (!event) return;
    Words words(text);
    uint64_t value = 0;
    if (words.word("$tid = ")) {
      if (words.number(value) && value != 0 && value <= INT32_MAX) tid = static_cast<uint32_t>(value);
    } else if (!words.word("$")) {
      if (!words.address(value)) return void(++summary.damaged_lines);
      if ((value & ~kPcMask) != 0 || value == 0) return void(++summary.damaged_lines);
      if (frames.size() < kMaxFrames) frames.push_back(value);
    }
  }

  void flush() {
    if (!event) return;
    const uint64_t time = next_time();
    const uint64_t address_family = event->address | family_of(event->function) << 56;
    const uint32_t stack = frames.empty() ? 0 : stacks.id(frames);
    if (event->is_free && stack != 0) {
      chunks.add(writer, tid, PENNA_KIND_FREE_STACK, time, penna_free_stack{address_family, stack, 0});
    } else if (event->is_free) {
      chunks.add(writer, tid, PENNA_KIND_FREE, time, penna_free{address_family});
    } else if (event->size <= UINT32_MAX) {
      chunks.add(writer, tid, PENNA_KIND_ALLOC, time,
                 penna_alloc{address_family, stack, static_cast<uint32_t>(event->size)});
    } else {
      chunks.add(writer, tid, PENNA_KIND_ALLOC_LARGE, time, penna_alloc_large{address_family, stack, 0, event->size});
    }
    event.reset();
  }

  // In file order, whatever the times say: midnight passes, or the clock was set back a little.
  uint64_t next_time() {
    if (event->ms) {
      // More than half a day back means midnight; less means that the clock was set.
      if (last_ms && *event->ms + kDayMs / 2 < *last_ms) day += kDayMs;
      last_ms = event->ms;
      // Strictly rising, so that events of the same millisecond keep their order.
      now = std::max(now + 1, (day + *event->ms) * 1'000'000);
    } else {
      ++now;
    }
    return now;
  }

  void module(std::string_view text) {
    Words words(text);
    Module module;
    const size_t arrow = text.rfind(" => ");
    if (!words.word(": ") || arrow == std::string_view::npos || arrow < 2) return void(++summary.damaged_lines);
    const std::string path(text.substr(2, arrow - 2));
    Words range(text.substr(arrow + 4));
    uint64_t start = 0, end = 0;
    if (!range.address(start) || !range.word("-") || !range.address(end) || start >= end)
      return void(++summary.damaged_lines);
    auto [found, added] = modules.try_emplace(path);
    Module& of = found->second;
    of.path = path;
    // One line for each mapping: together they span the module.
    of.start = added ? start : std::min(of.start, start);
    of.end = std::max(of.end, end);
  }

  void write_modules() {
    std::vector<Module> all;
    for (auto& [path, module] : modules) {
      module.bias = module.start < kLowestMoved ? 0 : module.start;
      all.push_back(module);
    }
    // Readers expect modules sorted by address; bias: offset from the file's own addresses.
    std::stable_sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.start < b.start; });
    if (!all.empty()) (void)writer.write_modules(0, all);
  }

  const RtraceImport& import;
  RecordingWriter& writer;
  ChunkSink sink;
  ChunkAssembler chunks;
  StackTree stacks;
  std::map<std::string, Module> modules;  // by path
  std::string_view only_resource;         // for events that do not name theirs
  std::optional<RtraceEvent> event;       // its frames and arguments are still to come
  uint32_t tid = 0;
  std::vector<uint64_t> frames;
  RtraceEnd how_it_ended{0, EndKind::kStopped, 0};  // unless a line says otherwise
  std::optional<uint64_t> last_ms;
  uint64_t day = 0, now = 0;
  RtraceSummary summary;
};

Result<RtraceImport> RtraceImport::open(std::string_view text) {
  std::string_view rest = text, header;
  // Lines before the header are comments.
  while (next_line(rest, header) && (header.empty() || header.front() == '#')) {
  }
  if (header.substr(0, 8) != "version=")
    return Error{"it does not begin with version=, as traces of functracer and sp-rtrace do"};
  RtraceImport result(text);
  const std::string_view version = value_of(header, "version");
  if (version.substr(0, 2) != "2." && version.substr(0, 2) != "1.")
    return Error{"it is of version " + std::string(version.substr(0, 20)) + ", and versions 1 and 2 are known"};
  result.process_ = value_of(header, "process");
  result.origin_ = value_of(header, "origin");
  result.machine_ = value_of(header, "arch");
  // A value that does not parse counts as absent.
  const auto small = [&](const char* key) {
    uint64_t number = 0;
    return Words(value_of(header, key)).number(number) && number <= INT32_MAX ? static_cast<uint32_t>(number) : 0;
  };
  result.pid_ = std::max<uint32_t>(small("pid"), 1);
  result.depth_ = small("backtrace depth");
  result.realtime_ns_ = realtime_of(value_of(header, "timestamp"));
  return result;
}

Session RtraceImport::session() const {
  Session session;
  session.kernel = origin_.empty() ? "rtrace" : origin_;
  session.machine = machine_;
  session.command.push_back(process_);
  // The text has milliseconds; finer ticks let events of the same millisecond keep their order.
  session.ticks_per_second = 1'000'000'000;
  session.classes = 1u << PENNA_ALLOC;
  // Ticks are nanoseconds since the midnight before the first event.
  std::string_view rest = text_, line;
  uint64_t ms = 0;
  while (next_line(rest, line)) {
    if (line.empty() || line.front() < '0' || line.front() > '9') continue;
    if (const auto event = parse_event(line); event && event->ms) {
      ms = *event->ms;
      break;
    }
  }
  session.start = {ms * 1'000'000, ms * 1'000'000, realtime_ns_};
  return session;
}

RtraceSummary RtraceImport::write(RecordingWriter& writer, const Session& session) {
  (void)writer.write_session(session);
  (void)writer.write_clock(session.start);
  Process process;
  process.pid = pid_;
  process.executable = process_;
  process.command.push_back(process_);
  process.start_ticks = session.start.ticks;
  (void)writer.write_process(process);

  // One pass: events go into chunks at once, modules and stacks are collected, because their lines may come last.
  Reader reader(*this, writer);
  reader.now = session.start.ticks;
  std::string_view rest = text_, line;
  bool header = true;
  while (next_line(rest, line)) {
    if (header && line.substr(0, 8) == "version=") {
      header = false;
    } else {
      reader.line(line);
    }
  }
  reader.flush();
  reader.write_modules();
  reader.stacks.write(writer);
  reader.chunks.finish(writer);
  reader.sink.write_health(writer);
  ProcessEnd end;
  end.end_ticks = reader.now;
  end.how = reader.how_it_ended.how;
  end.code = reader.how_it_ended.code;
  (void)writer.write_process_end(end);
  CollectorHealth collector;
  collector.chunks = reader.sink.counts().chunks;
  collector.raw_bytes = reader.sink.counts().raw_bytes;
  collector.processes = 1;
  (void)writer.write_collector(collector);
  reader.summary.threads = reader.chunks.threads();
  reader.summary.events = reader.sink.counts().stored;
  return reader.summary;
}

}  // namespace penna
