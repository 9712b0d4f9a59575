// SPDX-License-Identifier: MIT
// Output: standard output or a file, buffered, with errors that cannot be overlooked.
//
// Invariant: finish() says whether every byte arrived. A reader that left (| head) is not an error: writing stops,
// quietly. The interface for the sinks in report and export: sink()(text) is false if further output is useless.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/output_file.h"
#include "base/result.h"
#include "cli/output/pager.h"

namespace penna {

// Owns the file, not standard output. Movable, so that it can be returned; the destructor writes nothing, because it
// could not report an error.
class Output {
 public:
  // Standard output.
  Output() = default;
  static Output standard_error();
  // Standard output, through a pager if it is a terminal. fd() remains the terminal.
  static Output paged(bool wanted);
  // A file. finish() replaces an existing one: its readers keep the old one intact. The error says why it cannot be
  // written.
  static Result<Output> create(const std::string& path);
  // A file that must not exist, nor a link of this name: others may predict names that we choose.
  static Result<Output> create_new(const std::string& path);
  static Result<Output> create_new_in(const Fd& directory, const std::string& name,
                                      const std::string& path_of_directory);
  Output(Output&&) = default;
  Output& operator=(Output&&) = default;

  bool write(std::string_view text);
  std::function<bool(std::string_view)> sink() {
    return [this](std::string_view text) { return write(text); };
  }
  // Writes what is buffered and closes. The error says what could not be written, and where.
  Result<> finish();

  int fd() const { return file_ ? file_.get() : standard_; }

 private:
  static constexpr size_t kBuffer = 64 << 10;
  bool flush();
  bool write_now(std::string_view text);
  bool end_pager();

  int standard_ = 1;  // descriptor to write to, without a file
  std::optional<Pager> pager_;
  Fd file_;
  Replacement replacement_;  // that the file belongs to
  std::string path_;         // of the file
  std::string buffer_;
  int error_ = 0;         // errno of the first failure
  bool stopped_ = false;  // failed, or the reader has left
};

// Whether two paths lead to one existing file.
bool is_same_file(const std::string& a, const std::string& b);

// Ends a verb: 0, or 125 with a sentence if not all of its output arrived.
int finish_output(Output& output);

}  // namespace penna
