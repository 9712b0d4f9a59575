// SPDX-License-Identifier: MIT
// See uftrace_export.h.
#include "export/timeline/uftrace_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "base/printable.h"
#include "export/timeline/call_frames.h"
#include "model/events/summary.h"
#include "model/timeline/timeline.h"

namespace penna {
namespace {

constexpr uint64_t kModule = 0x400000, kFunctionBytes = 16;  // where the functions pretend to be
constexpr uint32_t kDeepest = 1024;                          // ten bits

// The first 40 bytes of the file info.
struct InfoHeader {
  char magic[8] = "Ftrace!";
  uint32_t version = 4;
  uint16_t header_bytes = 40;
  uint8_t little_endian = 1;
  uint8_t elf_class = 2;         // 64 bit
  uint64_t features = 1u << 1 |  // task.txt and sessions
                      1u << 5 |  // addresses of symbols are relative to their module
                      1u << 6;   // max_stack
  // Which lines follow the header; readers expect them in the order of these bits.
  uint64_t lines = 1u << 0 |  // exename
                   1u << 3 |  // cmdline
                   1u << 7;   // taskinfo
  uint16_t max_stack = kDeepest;
  uint16_t unused[3] = {};
};
static_assert(sizeof(InfoHeader) == 40);

// time, then from the lowest bit: type 2 (0 entry, 1 exit), more 1, magic 3, depth 10, address 48.
struct UftraceRecord {
  uint64_t time;
  uint64_t word;
};
static_assert(sizeof(UftraceRecord) == 16);
constexpr uint64_t kRecordMagic = 5;

UftraceRecord make_record(uint64_t time, bool is_exit, uint32_t depth, uint64_t address) {
  return {time, uint64_t{is_exit} | kRecordMagic << 3 | uint64_t{depth} << 6 | address << 16};
}

template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Fit for a line of uftrace's files, between quotes.
std::string line_part(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '"') c = '_';
  return printable(text);
}

// uftrace knows by name which functions do not return, and drops the thread's stack there: the exit that follows here
// would be that of a call which began at time 0. In replay, it appends the parentheses itself.
std::string symbol_name(const std::string& name) {
  static constexpr std::string_view kNoReturn[] = {"execl",  "execlp",  "execle",  "execv",      "execve",
                                                   "execvp", "execvpe", "longjmp", "siglongjmp", "__longjmp_chk"};
  const bool is_one = std::find(std::begin(kNoReturn), std::end(kNoReturn), name) != std::end(kNoReturn);
  return line_part(is_one ? name + "()" : name);
}

class UftraceExport {
 public:
  UftraceExport(const Recording& recording, Names& names, const WriteFile& write_file,
                const std::function<void()>& step)
      : recording_(recording),
        summary_(summarize(recording)),
        frames_(recording, names),
        write_file_(write_file),
        step_(step) {
    for (const ThreadSummary& thread : summary_.threads)
      if (thread.events[PENNA_CALLS] != 0) threads_[thread.tid].push_back(thread.thread);
    // A reused tid, as after exec: one file, in time order.
    for (auto& [tid, threads] : threads_)
      std::stable_sort(threads.begin(), threads.end(), [this](uint32_t a, uint32_t b) {
        return summary_.threads[a].first_time < summary_.threads[b].first_time;
      });
  }

  UftraceReport run() {
    bool go_on = true;
    for (auto thread = threads_.begin(); thread != threads_.end() && go_on; ++thread)
      go_on = write_file_(fmt::format("{}.dat", thread->first),
                          [&](const TextSink& sink) { return calls(thread->second, sink); });
    (void)(go_on && text_file("info", info()) && text_file("task.txt", tasks()) &&
           text_file(fmt::format("sid-{}.map", kSession), map()) && text_file(module_name() + ".sym", symbols()));
    return std::move(report_);
  }

 private:
  static constexpr const char* kSession = "0000000000000001";

  // The calls of a file, of its threads one after another.
  bool calls(const std::vector<uint32_t>& threads, const TextSink& sink) {
    TextBuffer out(sink);
    uint64_t last = 0;
    std::array<uint64_t, kDeepest> began{};  // by depth: when the open call there was entered
    const TimelineOptions options{.filter = {.classes = kCallEvents}, .fold_leaves = false};
    for (uint32_t thread : threads) {
      report_.walk.add(for_each_timeline_line(recording_, thread, options, [&](const TimelineLine& line) {
        step_();
        const bool is_exit = line.kind == LineKind::kLeave;
        if (!is_exit && line.kind != LineKind::kEnter) return out.ok();
        // An entry and its exit have the same depth, so both are dropped.
        if (line.depth >= kDeepest) {
          report_.too_deep += !is_exit;
          return out.ok();
        }
        // Never decreases: the next thread with this tid may have begun before the end of the last one was seen.
        // uftrace shows no time for a call of length 0, so each gets a nanosecond: an execve, for one.
        last = std::max({last, ns(line.time), is_exit ? began[line.depth] + 1 : 0});
        if (!is_exit) began[line.depth] = last;
        const uint64_t address = kModule + kFunctionBytes * (1 + uint64_t{frames_.number(line)});
        out.text(bytes_of(make_record(last, is_exit, line.depth, address)));
        return out.ok();
      }));
      if (report_.walk.stopped) break;
    }
    return out.flush();
  }

  bool text_file(const std::string& name, const std::string& text) {
    return write_file_(name, [&](const TextSink& sink) { return sink(text); });
  }

  std::string info() const {
    const InfoHeader header;
    std::vector<uint32_t> tids;
    for (const auto& [tid, threads] : threads_) tids.push_back(tid);
    std::string text(bytes_of(header));
    return text + fmt::format("exename:{}\ncmdline:{}\ntaskinfo:lines=2\ntaskinfo:nr_tid={}\ntaskinfo:tids={}\n",
                              program(), line_part(fmt::format("{}", fmt::join(recording_.session().command, " "))),
                              tids.size(), fmt::join(tids, ","));
  }

  // One session for all, whose first process is the parent of those without another.
  std::string tasks() const {
    std::string text;
    const auto stamp = [this](uint64_t ticks) {
      const uint64_t time = ns(ticks);
      return fmt::format("{}.{:09}", time / 1'000'000'000, time % 1'000'000'000);
    };
    for (const ProcessSummary& process : summary_.processes) {
      const std::string since = stamp(summary_.first_time);
      if (process.process == 0) {
        text +=
            fmt::format("SESS timestamp={} pid={} sid={} exename=\"{}\"\n", since, process.pid, kSession, program());
        text += fmt::format("TASK timestamp={} tid={} pid={}\n", since, process.pid, process.pid);
      } else if (!process.after_exec) {
        const uint32_t parent = process.parent == UINT32_MAX ? 0 : process.parent;
        text += fmt::format("FORK timestamp={} pid={} ppid={}\n", stamp(process.first_time), process.pid,
                            summary_.processes[parent].pid);
      }
    }
    for (const ThreadSummary& thread : summary_.threads)
      // The main thread came with its process, by TASK or FORK.
      if (const uint32_t pid = summary_.processes[thread.process].pid; thread.tid != pid)
        text += fmt::format("TASK timestamp={} tid={} pid={}\n", stamp(thread.first_time), thread.tid, pid);
    return text;
  }

  std::string map() const {
    const uint64_t end = kModule + kFunctionBytes * (frames_.size() + 2);
    // Above the stack, uftrace takes addresses for the kernel's.
    return fmt::format(
        "{:012x}-{:012x} r-xp 00000000 00:00 0 {}\n7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n", kModule,
        (end + 0xfff) & ~uint64_t{0xfff}, program());
  }

  std::string symbols() const {
    std::string text = fmt::format("# symbols: {}\n# path name: {}\n", frames_.size() + 1, program());
    for (uint32_t i = 0; i < frames_.size(); ++i)
      text += fmt::format("{:016x} T {}\n", kFunctionBytes * (1 + uint64_t{i}), symbol_name(frames_.at(i).name));
    // The size of a symbol is the distance to the next: the last one needs an end.
    return text + fmt::format("{:016x} ? __sym_end\n", kFunctionBytes * (1 + frames_.size()));
  }

  uint64_t ns(uint64_t ticks) const {
    return static_cast<uint64_t>(std::max<int64_t>(recording_.time().monotonic_ns(ticks), 0));
  }
  // As in the map, where a space ends the name.
  std::string program() const {
    const auto& processes = recording_.processes();
    if (processes.empty() || processes[0].process.executable.empty()) return "/unknown";
    std::string path = line_part(processes[0].process.executable);
    std::replace(path.begin(), path.end(), ' ', '_');
    return path;
  }
  std::string module_name() const {
    const std::string path = program();
    return path.substr(path.rfind('/') + 1);
  }

  const Recording& recording_;
  Summary summary_;
  CallFrames frames_;
  const WriteFile& write_file_;
  const std::function<void()>& step_;
  std::map<uint32_t, std::vector<uint32_t>> threads_;  // with calls, by tid
  UftraceReport report_;
};

}  // namespace

UftraceReport export_uftrace(const Recording& recording, Names& names, const WriteFile& write_file,
                             const std::function<void()>& step) {
  return UftraceExport(recording, names, write_file, step).run();
}

}  // namespace penna
