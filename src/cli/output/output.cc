// SPDX-License-Identifier: MIT
// See output.h.
#include "cli/output/output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "options/arguments.h"

namespace penna {

Output Output::standard_error() {
  Output output;
  output.standard_ = 2;
  return output;
}

Output Output::paged(bool wanted) {
  Output output;
  std::string command = wanted ? pager_command(output.standard_) : std::string();
  if (!command.empty()) output.pager_.emplace(std::move(command));
  return output;
}

Result<Output> Output::create(const std::string& path) {
  Output output;
  output.replacement_ = PENNA_TRY(Replacement::open(path, {}));
  output.file_ = std::move(output.replacement_.file());
  PENNA_TRY(empty_file(output.file_, path));
  output.path_ = path;
  return output;
}

// O_EXCL: an attacker who predicts the name cannot make us write through a link.
Result<Output> Output::create_new(const std::string& path) {
  Output output;
  output.file_ = PENNA_TRY(open_output(path, {.must_be_new = true}));
  output.path_ = path;
  return output;
}

Result<Output> Output::create_new_in(const Fd& directory, const std::string& name,
                                     const std::string& path_of_directory) {
  Output output;
  output.file_ = PENNA_TRY(open_new_in(directory, name, path_of_directory));
  output.path_ = path_of_directory + "/" + name;
  return output;
}

// Text larger than the buffer bypasses it, after the buffered text.
bool Output::write(std::string_view text) {
  if (stopped_) return false;
  if (buffer_.size() + text.size() > kBuffer && !flush()) return false;
  if (text.size() > kBuffer) return write_now(text);
  buffer_.append(text);
  return true;
}

bool Output::flush() {
  const bool written = write_now(buffer_);
  buffer_.clear();
  return written;
}

// Writes all of it, or stops for good: a file with a gap would be worse than a short one. EPIPE is not an error: the
// reader has seen enough (| head). Needs SIGPIPE to be ignored or blocked, else it ends us first, which is just as
// well.
bool Output::write_now(std::string_view text) {
  if (pager_ && !text.empty() && !stopped_ && pager_->write(text)) return true;
  if (pager_ && !text.empty() && !stopped_) return end_pager();
  if (!stopped_ && !write_all(fd(), text)) {
    stopped_ = true;
    if (errno != EPIPE) error_ = errno;
  }
  return !stopped_;
}

// Text for a pager that could not run goes to the terminal, and so does all that follows; otherwise its reader has seen
// enough.
bool Output::end_pager() {
  pager_->finish();
  const std::string unread = pager_->unread();
  pager_.reset();
  if (unread.empty()) stopped_ = true;
  return write_now(unread);
}

Result<> Output::finish() {
  flush();
  if (pager_) {
    const bool stopped = stopped_;
    end_pager();
    stopped_ = stopped;
  }
  // Some file systems report a full disk only here.
  if (file_ && ::close(file_.release()) != 0 && error_ == 0 && errno != EINTR) error_ = errno;
  if (error_ == 0) return replacement_.put_in_place();
  return Error{fmt::format("cannot write {}: {}; {}", path_.empty() ? "to standard output" : path_, errno_text(error_),
                           replacement_.is_beside() ? "what was there is as it was" : "what is there is incomplete")};
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

int finish_output(Output& output) {
  const Result<> finished = output.finish();
  return finished ? 0 : fail(finished.error().text);
}

}  // namespace penna
