// SPDX-License-Identifier: MIT
// See text_trace.h.
#include "text_trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "collect/import/chunk_assembler.h"
#include "recording/writer.h"

namespace penna {
namespace {

constexpr size_t kMaxTraceBytes = size_t{1} << 30;
constexpr std::string_view kReference = "REFERENCE: ", kEnter = "enter ", kExit = "exit ", kEnd = "EXIT ";

// Removes `word` from the beginning of `line`.
bool begins(std::string_view& line, std::string_view word) {
  if (line.substr(0, word.size()) != word) return false;
  line.remove_prefix(word.size());
  return true;
}

bool number(std::string_view text, int base, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}
// User space only: 48 bits.
bool address(std::string_view text, uint64_t& value) {
  return begins(text, "0x") && number(text, 16, value) && value >> 48 == 0;
}

// For the recording that the text becomes. It is removed as soon as the recording is open, which keeps the file's
// content.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::error_code unknown;
    path_ = (std::filesystem::temp_directory_path(unknown) / "etrace.XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~TemporaryDirectory() {
    if (path_.empty()) return;
    ::unlink(file().c_str());
    ::rmdir(path_.c_str());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  bool is_there() const { return !path_.empty(); }
  std::string file() const { return path_ + "/TRACE.penna"; }

 private:
  std::string path_;
};

// The lines of a text, read twice: once for what must be known before the first call (pid, lowest and highest address),
// once for the calls. Nothing of the text is kept.
struct Lines {
  std::string reference;      // its name; empty: none
  uint64_t reference_at = 0;  // where it was loaded
  uint64_t pid = 0;           // 0: no EXIT
  uint64_t lowest = UINT64_MAX, highest = 0;
  uint64_t other = 0, calls = 0;

  // visit(kind, address) for each entry and exit.
  template <typename Visit>
  void read(std::string_view text, Visit&& visit) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      line(text.substr(0, end), visit);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

 private:
  template <typename Visit>
  void line(std::string_view text, Visit& visit) {
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    uint64_t value = 0;
    if (text.empty()) return;
    const bool enters = begins(text, kEnter);
    if (enters || begins(text, kExit)) {
      if (!address(text, value)) return void(++other);
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
      ++calls;
      return visit(enters ? PENNA_KIND_CALL_ENTRY : PENNA_KIND_CALL_EXIT, value);
    }
    if (begins(text, kReference)) {
      const size_t space = text.rfind(' ');
      if (space == std::string_view::npos || !address(text.substr(space + 1), value)) return void(++other);
      reference = text.substr(0, space);
      reference_at = value;
    } else if (!begins(text, kEnd) || !number(text, 10, value) || value == 0 || value > INT32_MAX) {
      ++other;
    } else {
      pid = value;
    }
  }
};

// One module for all addresses. A reference gives its bias, and so the names in a position-independent program.
Result<Module> module_of(const Lines& lines, const std::string& program, const AddressOfName& reference) {
  Module module;
  module.path = program;
  module.start = lines.lowest;
  module.end = lines.highest + 1;
  if (lines.reference.empty()) return module;
  const auto at = reference(lines.reference);
  if (!at)
    return Error{fmt::format("TRACE says where {} lay, and {} has no such function: name the program that was traced",
                             lines.reference, program)};
  module.bias = lines.reference_at - *at;
  return module;
}

}  // namespace

// By the first word: each of its lines begins with one of four.
bool is_text_trace(const std::string& path) {
  const auto start = read_file(path, kReference.size());
  if (!start) return false;
  for (const std::string_view word : {kReference, kEnter, kExit, kEnd})
    if (std::string_view(*start).substr(0, word.size()) == word) return true;
  return false;
}

// The text becomes a recording in a temporary file, through the same writer as any other.
Result<TextTrace> read_text_trace(const std::string& path, const std::string& program, const AddressOfName& reference) {
  const std::string text = PENNA_TRY(read_file(path, kMaxTraceBytes));
  if (text.size() == kMaxTraceBytes) return Error{"TRACE is too large: of such texts up to 1 GiB is read"};
  const TemporaryDirectory directory;
  if (!directory.is_there()) return Error{"cannot make a directory for temporary files: is TMPDIR writable?"};
  RecordingWriter writer = PENNA_TRY(RecordingWriter::create(directory.file(), {.overwrite = false}));
  Session session;
  session.command.push_back(program);
  session.ticks_per_second = 1'000'000'000;
  session.classes = 1u << PENNA_CALLS;
  session.options.push_back(kImportedFromStream);
  (void)writer.write_session(session);
  (void)writer.write_clock(session.start);

  Lines lines;
  lines.read(text, [](uint32_t, uint64_t) {});
  Process process;
  process.pid = static_cast<uint32_t>(std::max<uint64_t>(lines.pid, 1));
  process.executable = program;
  process.command.push_back(program);
  (void)writer.write_process(process);
  if (lines.calls != 0 && !program.empty()) {
    const Module module = PENNA_TRY(module_of(lines, program, reference));
    (void)writer.write_modules(0, {&module, 1});
  }
  ChunkSink sink(0);
  ChunkAssembler chunks(sink);
  uint64_t tick = 0;
  Lines().read(text, [&](uint32_t kind, uint64_t pc) { chunks.add(writer, 1, kind, ++tick, penna_call{pc}); });
  chunks.finish(writer);
  sink.write_health(writer);
  ProcessEnd end;
  end.end_ticks = lines.calls;
  end.how = lines.pid != 0 ? EndKind::kExited : EndKind::kStopped;
  (void)writer.write_process_end(end);
  CollectorHealth collector;
  collector.processes = 1;
  (void)writer.write_collector(collector);
  PENNA_TRY(writer.finish());
  Recording recording = PENNA_TRY(Recording::open(directory.file()));
  return TextTrace{std::move(recording), lines.other};
}

}  // namespace penna
