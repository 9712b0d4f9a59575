// SPDX-License-Identifier: MIT
// See new_recording.h.
#include "cli/output/new_recording.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/output_file.h"

namespace penna {
namespace {

// The errors of the writer are about a recording that goes on without what it could not write.
Result<bool> written(RecordingWriter& writer, const std::function<Result<bool>(RecordingWriter&)>& write, bool is_new) {
  Result<bool> wanted = write(writer);
  if (writer.error() == 0) return wanted;
  return Error{fmt::format("cannot write {}: {}; {}", writer.path(), errno_text(writer.error()),
                           is_new ? "nothing is left of it" : "what was there is as it was")};
}

}  // namespace

Result<uint64_t> make_recording(const std::string& path, WriterOptions how,
                                const std::function<Result<bool>(RecordingWriter&)>& write) {
  const bool is_new = !is_taken(path);
  how.keeps_old = true;
  RecordingWriter writer = PENNA_TRY(RecordingWriter::create(path, how));
  const Result<bool> wanted = written(writer, write, is_new);
  if (wanted && *wanted) {
    PENNA_TRY(writer.put_in_place());
  } else if (is_new) {
    remove_own_file(path);
  }
  if (!wanted) return wanted.error();
  return writer.file_bytes();
}

}  // namespace penna
