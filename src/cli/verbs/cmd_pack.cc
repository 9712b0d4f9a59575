// SPDX-License-Identifier: MIT
// See cmd_pack.h. A recorder has no time for the best compression: it shares the machine with its program.
//
// Invariant: a recording stays as it is until the packed one is complete on the disk, and keeps its identity: whoever
// has it already, such as a server that it was pushed to, takes both for the same.
#include "cli/verbs/cmd_pack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/say.h"
#include "cli/input.h"
#include "cli/output/new_recording.h"
#include "cli/output/output.h"
#include "cli/verbs.h"
#include "collect/recording_copy.h"
#include "options/standard_input.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr int kLevel = 19;  // of zstd
constexpr char kWouldNotShow[] = ", which a packed one would not show: it stays as it is";

// A recorder holds its file locked.
bool is_being_recorded(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

// Why it stays as it is, as text to follow its name; empty: it can be packed. A copy does not show that something is
// missing in the recording.
std::string why_not_packed(const Recording& recording) {
  if (is_being_recorded(recording.path())) return "is still being recorded: pack it later";
  const std::string why = why_incomplete(recording);
  return why.empty() ? why : why + kWouldNotShow;
}

Result<> copy_to(const Recording& recording, RecordingWriter& writer) {
  PENNA_TRY(writer.write_session(recording.session()));
  RecordingCopy copy(writer);
  PENNA_TRY(copy.add(recording));
  if (!copy.missing().empty()) return Error{recording.path() + " is damaged" + kWouldNotShow};
  PENNA_TRY(writer.write_collector(recording.collector()));
  return writer.finish();
}

// The newest recording of a directory is the one that was made last, not the one that was packed last.
void keep_time(const std::string& path, const struct stat& status) {
  const timespec times[] = {status.st_atim, status.st_mtim};
  (void)::utimensat(AT_FDCWD, path.c_str(), times, 0);
}

// Returns what it did, as a sentence.
Result<std::string> pack(const std::string& input, const PackOptions& options) {
  const Recording recording = PENNA_TRY(open_recording(input));
  if (const std::string why = why_not_packed(recording); !why.empty())
    return Error{fmt::format("{} {}", recording.path(), why)};
  const bool in_place = options.output.empty();
  struct stat status {};
  if (::stat(recording.path().c_str(), &status) != 0)
    return Error{fmt::format("cannot read {}: {}", recording.path(), errno_text(errno))};
  const std::string output = in_place ? recording.path() : options.output;
  const WriterOptions how{.overwrite = in_place || options.force,
                          .origin = RecordingOrigin{recording.identity(), recording.created_ns()},
                          .zstd_level = kLevel,
                          .packing = Packing::kSmall};
  const auto write = [&](RecordingWriter& writer) -> Result<bool> {
    PENNA_TRY(copy_to(recording, writer));
    return !in_place || writer.file_bytes() < recording.file_bytes();
  };
  const auto is = static_cast<int64_t>(PENNA_TRY(make_recording(output, how, write)));
  const auto was = static_cast<int64_t>(recording.file_bytes());
  if (in_place && is >= was) return fmt::format("{}: {}, and gets no smaller", output, bytes_text(was));
  keep_time(output, status);
  return fmt::format("{}: {} of {}", output, bytes_text(is), bytes_text(was));
}

}  // namespace

Result<Parsed<PackOptions>> parse_pack(const Arguments& arguments) {
  Parsed<PackOptions> parsed;
  PackOptions& options = parsed.options;
  OptionParser parser(
      "Makes recordings smaller, by compressing them better than there is time for while a program runs. Nothing in "
      "them changes.",
      "penna pack");
  parser.words("REC...", options.inputs, "the recordings; default the newest *.penna here");
  parser.text("-o,--output", options.output, "FILE", "where the packed one goes; default in the recording's place");
  parser.flag("-f,--force", options.force, "overwrite FILE if it exists");
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.help.empty()) return parsed;
  if (options.output == "-") return Error{kNoRecordingToOutput};
  if (!options.output.empty() && options.inputs.size() > 1)
    return Error{"-o names one file: pack several recordings in their places, without -o"};
  return parsed;
}

int cmd_pack(const PackOptions& options) {
  std::vector<std::string> inputs = options.inputs;
  if (inputs.empty()) {
    Result<std::string> newest = newest_recording(".");
    if (!newest) return fail("pack", newest.error().text);
    inputs.push_back(std::move(*newest));
  }
  int status = 0;
  for (const std::string& input : inputs) {
    const Result<std::string> packed = !options.output.empty() && is_same_file(input, options.output)
                                           ? Error{"-o names the recording itself: leave it out to pack in place"}
                                           : pack(input, options);
    if (packed)
      say(*packed);
    else
      status = fail("pack", packed.error().text);
  }
  return status;
}

int pack_verb(const Arguments& arguments) { return run_parsed("pack", parse_pack(arguments), cmd_pack); }

}  // namespace penna
