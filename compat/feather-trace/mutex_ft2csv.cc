// SPDX-License-Identifier: MIT
// mutex_ft2csv [-d] FILE: the critical sections of a program, from a recording of Penna or a file of Feather-Trace's
// own mutex_trace; distinguished by their first bytes.
//
// Invariant: what can be read is printed, whatever is wrong with the rest; that is reported in a sentence, and the
// status is 1.
#include <fcntl.h>
#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "base/count_text.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/output/output.h"
#include "ft_file.h"
#include "model/events/sampling.h"
#include "model/verdict/health.h"
#include "mutex_csv.h"
#include "options/arguments.h"
#include "recorded_sections.h"
#include "recording/layout.h"

namespace penna {
namespace {

struct CsvOptions {
  std::string file;
  bool events = false;  // each event, instead of sections
  bool cycles = std::getenv("FT_USE_CYCLE_COUNTER") != nullptr;
};

constexpr int kIncomplete = 1;  // the status that it has always had for errors

void inform(const std::string& text) { std::fputs((text + "\n").c_str(), stderr); }
int fail_with(const std::string& text) {
  inform("mutex_ft2csv: " + printable(text));
  return kIncomplete;
}

Result<Parsed<CsvOptions>> parse(const Arguments& arguments) {
  Parsed<CsvOptions> parsed;
  OptionParser parser(
      "Prints the critical sections in FILE, one a line: start, stop, length, nesting, thread. FILE is a recording of "
      "penna or mutex_trace, or what mutex_trace of Feather-Trace wrote. Times are microseconds since 1970.",
      "mutex_ft2csv");
  parser.word("FILE", parsed.options.file, "a recording, or a file mutex-PID.ft", OptionParser::Need::kRequired);
  parser.flag("-d,--dump", parsed.options.events,
              "each event: 1000 taken or 1001 given back, lock, thread, nesting, time");
  parser.flag("-c,--cycles", parsed.options.cycles,
              "times of a recording in cycles; also when FT_USE_CYCLE_COUNTER is set");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  return parsed;
}

// What was found in a file.
struct Found {
  CriticalSections sections;
  uint64_t filtered = 0;
  std::vector<std::string> trouble;  // sentences
  bool is_damaged = false;           // one of them is about the file
};

// What is wrong with the recording is collected, not printed: standard output gets what can be read first.
Found read_recording_file(const CsvOptions& options) {
  Found found;
  const Result<Recording> recording = Recording::open(options.file);
  if (!recording) {
    found.trouble.push_back(recording.error().text);
    found.is_damaged = true;
    return found;
  }
  const SectionClock clock = options.cycles ? SectionClock::kCycles : SectionClock::kMicroseconds;
  const RecordedSections read = read_sections(*recording, clock, found.sections);
  found.filtered = read.filtered;
  HealthInputs inputs;
  inputs.walk = &read.walk;
  for (const HealthSentence& sentence : examine(*recording, summarize(*recording), inputs).sentences)
    if (sentence.severity != Severity::kNote) found.trouble.push_back(sentence.text);
  if (read.left_out != 0)
    found.trouble.push_back(
        fmt::format("{} are left out: there are too many", plural_text(static_cast<int64_t>(read.left_out), "event")));
  if (const uint64_t count = lock_sample(*recording); count > 1)
    found.trouble.push_back(fmt::format(
        "this is a sample: of {} sections that began without waiting, one is here; nesting counts these alone", count));
  if ((recording->session().classes & 1u << PENNA_LOCKS) == 0)
    found.trouble.push_back("locks were not recorded: use mutex_trace, or penna record -k locks");
  found.is_damaged = recording->damage().any() || read.left_out != 0;
  return found;
}

Result<size_t> read_some(const Fd& fd, std::span<uint8_t> bytes) {
  for (;;) {
    const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) return Error{fmt::format("it cannot be read: {}", errno_text(errno))};
  }
}

Found read_file_of_records(const CsvOptions& options, const Fd& fd, std::span<const uint8_t> begin) {
  Found found;
  const ReadBytes read = [&](std::span<uint8_t> bytes) -> Result<size_t> {
    if (begin.empty()) return read_some(fd, bytes);
    const size_t count = std::min(begin.size(), bytes.size());
    std::memcpy(bytes.data(), begin.data(), count);
    begin = begin.subspan(count);
    return count;
  };
  if (const Result<> done = read_ft(read, found.sections); !done) {
    found.trouble.push_back(options.file + ": " + done.error().text);
    found.is_damaged = true;
  }
  found.sections.finish();
  return found;
}

// By its first eight bytes.
Result<Found> read(const CsvOptions& options) {
  const Fd fd(::open(options.file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return Error{fmt::format("cannot open {}: {}", options.file, errno_text(errno))};
  std::array<uint8_t, sizeof layout::kFileMagic> begin{};
  size_t length = 0;
  while (length < begin.size()) {
    const Result<size_t> got = read_some(fd, std::span(begin).subspan(length));
    if (!got) return Error{fmt::format("{}: {}", options.file, got.error().text)};
    if (*got == 0) break;
    length += *got;
  }
  if (std::memcmp(begin.data(), &layout::kFileMagic, begin.size()) == 0) return read_recording_file(options);
  return read_file_of_records(options, fd, std::span(begin).first(length));
}

int run(const CsvOptions& options) {
  inform(fmt::format("# Extracting from {}...", printable(options.file)));
  const Result<Found> found = read(options);
  if (!found) return fail_with(found.error().text);
  Output out, missing = Output::standard_error();
  SectionCounts counts;
  if (options.events)
    print_events(found->sections, out.sink());
  else
    counts = print_sections(found->sections, out.sink(), missing.sink());
  const Result<> written = out.finish();
  (void)missing.finish();
  if (!options.events) {
    inform(fmt::format("# Complete  : {}\n# Incomplete: {}\n# Filtered  : {}", counts.complete, counts.incomplete,
                       found->filtered));
    if (counts.backwards != 0)
      (void)fail_with(fmt::format("{} before they begin, by their times: they are shown with length 0",
                                  plural_text(static_cast<int64_t>(counts.backwards), "section ends", "sections end")));
  }
  for (const std::string& sentence : found->trouble) (void)fail_with(sentence);
  if (found->sections.events() == 0 && found->trouble.empty())
    (void)fail_with(options.file + " has no critical section: no lock was taken");
  if (!written) return fail_with(written.error().text);
  return found->is_damaged ? kIncomplete : 0;
}

}  // namespace
}  // namespace penna

int main(int argc, char** argv) {
  const auto parsed = penna::parse({argv + (argc > 0 ? 1 : 0), argv + argc});
  if (!parsed) return penna::fail_with(parsed.error().text + "; 'mutex_ft2csv --help' shows what is possible");
  if (parsed->help.empty()) return penna::run(parsed->options);
  std::fputs(parsed->help.c_str(), stdout);
  return 0;
}
