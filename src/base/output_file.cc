// SPDX-License-Identifier: MIT
// See output_file.h. A path is walked component by component, each held by a descriptor while it is checked: if a name
// is replaced meanwhile, the check sees the replacement.
#include "base/output_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <climits>
#include <memory>
#include <utility>

#include "base/file.h"

namespace penna {
namespace {

constexpr int kMaxLinks = 40;  // like the kernel

// The last component of a path, in its directory: a link only if it leads to an open file in /proc.
struct Place {
  Fd directory;
  std::string name;
  bool is_magic = false;
};

Error cannot_write(const std::string& path, int error) {
  return Error{fmt::format("cannot write {}: {}", path, errno_text(error))};
}

// Whether others may add entries next to Penna's, but not remove Penna's, as in /tmp.
bool is_shared_directory(const struct stat& directory) {
  constexpr mode_t kOfAll = S_ISVTX | S_IWOTH;
  return (directory.st_mode & kOfAll) == kOfAll;
}

bool is_foreign(const struct stat& directory, const struct stat& found) {
  return is_shared_directory(directory) && found.st_uid != ::geteuid() && found.st_uid != directory.st_uid;
}

class Walk {
 public:
  Walk(const std::string& path, OutputFile::Links links) : path_(path), links_(links), rest_(path) {}

  Result<Place> to_end() {
    if (rest_.empty()) return cannot_write(path_, ENOENT);
    start();
    while (directory_) {
      const size_t begin = std::min(rest_.find_first_not_of('/'), rest_.size());
      rest_.erase(0, begin);
      const size_t end = std::min(rest_.find('/'), rest_.size());
      const std::string name = rest_.substr(0, end);
      if (name.empty()) return cannot_write(path_, EISDIR);
      rest_.erase(0, end);
      const Fd found = look_at(name);
      if (!rest_.empty() && found && !is_link_) {
        directory_ = Fd(::fcntl(found.get(), F_DUPFD_CLOEXEC, 0));
        continue;
      }
      if (!found && (errno != ENOENT || !rest_.empty())) return cannot_write(path_, errno);
      if (!found || !is_link_) return Place{std::move(directory_), name};
      struct statfs system {};
      PENNA_TRY(judge_link(found));
      if (::fstatfs(found.get(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC) {
        if (rest_.empty()) return Place{std::move(directory_), name, true};
        directory_ = Fd(::openat(directory_.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        continue;
      }
      PENNA_TRY(follow(found));
    }
    return cannot_write(path_, errno);
  }

 private:
  void start() { directory_ = Fd(::open(rest_[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

  // O_DIRECTORY if there must be one: it is what triggers an automounter.
  Fd look_at(const std::string& name) {
    is_link_ = false;
    Fd found(
        ::openat(directory_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC | (rest_.empty() ? 0 : O_DIRECTORY)));
    if (!found && (errno != ENOTDIR || rest_.empty())) return found;
    if (!found) found = Fd(::openat(directory_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!found || ::fstat(found.get(), &status) != 0) return Fd();
    is_link_ = S_ISLNK(status.st_mode);
    if (is_link_ || rest_.empty() || S_ISDIR(status.st_mode)) return found;
    errno = ENOTDIR;
    return Fd();
  }

  Result<> judge_link(const Fd& link) {
    struct stat directory {
    }, status{};
    if (::fstat(directory_.get(), &directory) != 0 || ::fstat(link.get(), &status) != 0)
      return cannot_write(path_, errno);
    if (is_foreign(directory, status))
      return Error{fmt::format("{} goes through a link that another user (uid {}) created: choose another name", path_,
                               status.st_uid)};
    if (rest_.empty() && links_ == OutputFile::Links::kRefuse)
      return Error{fmt::format(
          "{} is a link, and the target of a link is never replaced: name the file itself, or remove the link", path_)};
    if (++links_followed_ > kMaxLinks) return cannot_write(path_, ELOOP);
    return ok();
  }

  Result<> follow(const Fd& link) {
    char text[PATH_MAX];
    const ssize_t length = ::readlinkat(link.get(), "", text, sizeof text);
    if (length <= 0 || static_cast<size_t>(length) >= sizeof text)
      return cannot_write(path_, length < 0 ? errno : ELOOP);
    rest_.insert(0, text, static_cast<size_t>(length));
    if (rest_[0] == '/') start();
    return ok();
  }

  const std::string& path_;
  OutputFile::Links links_;
  std::string rest_;
  Fd directory_;
  bool is_link_ = false;
  int links_followed_ = 0;
};

// Checks an existing file before it is opened: opening a pipe waits, and a device may act.
Result<> judge_file(const struct stat& directory, const struct stat& found, const std::string& path) {
  if (is_foreign(directory, found) && !S_ISCHR(found.st_mode))
    return Error{fmt::format("{} belongs to another user (uid {}), in a world-writable directory: choose another name",
                             path, found.st_uid)};
  if (is_shared_directory(directory) && S_ISREG(found.st_mode) && found.st_nlink > 1)
    return Error{fmt::format(
        "{} has another hard link, which anybody may have created: remove it, or choose another name", path)};
  return ok();
}

Result<Fd> open_at(const Place& place, const std::string& path, const OutputFile& request) {
  struct stat directory {
  }, found{};
  if (::fstat(place.directory.get(), &directory) != 0) return cannot_write(path, errno);
  if (!place.is_magic && ::fstatat(place.directory.get(), place.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) {
    if (request.must_be_new) return Error{fmt::format("{} exists already: {}", path, request.if_exists)};
    PENNA_TRY(judge_file(directory, found, path));
  }
  const int access = (request.flags & O_RDWR) != 0 ? 0 : O_WRONLY;
  const int flags = O_CREAT | O_CLOEXEC | O_NOCTTY | access | request.flags | (request.must_be_new ? O_EXCL : 0);
  Fd file(::openat(place.directory.get(), place.name.c_str(), flags | (place.is_magic ? 0 : O_NOFOLLOW), request.mode));
  if (!file && errno == EEXIST) return Error{fmt::format("{} exists already: {}", path, request.if_exists)};
  if (!file || ::fstat(file.get(), &found) != 0) return cannot_write(path, errno);
  if (!place.is_magic) PENNA_TRY(judge_file(directory, found, path));  // it may have been replaced
  return file;
}

bool is_empty_directory(const Fd& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      ::fdopendir(::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), ::closedir);
  int count = 0;
  while (entries && count <= 2 && ::readdir(entries.get()) != nullptr) ++count;
  return entries && count <= 2;  // "." and ".."
}

}  // namespace

Result<Fd> open_output(const std::string& path, const OutputFile& request) {
  return open_at(PENNA_TRY(Walk(path, request.links).to_end()), path, request);
}

Result<Replacement> Replacement::open(const std::string& path, const OutputFile& request) {
  Place place = PENNA_TRY(Walk(path, request.links).to_end());
  Replacement made;
  made.path_ = path;
  made.file_ = PENNA_TRY(open_at(place, path, request));
  made.directory_ = std::move(place.directory);
  made.name_ = place.name;
  struct stat status {};
  const bool is_kept =
      !place.is_magic && ::fstat(made.file_.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size != 0;
  if (!is_kept || !made.create_temporary(request)) return made;
  // Not every owner can be set, and the mode comes last: chown clears bits of it.
  (void)!::fchown(made.file_.get(), status.st_uid, status.st_gid);
  (void)!::fchmod(made.file_.get(), status.st_mode & 0777);
  return made;
}

bool Replacement::create_temporary(const OutputFile& request) {
  constexpr size_t kMostOfName = 200;  // below NAME_MAX
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    uint64_t random = 0;
    if (::getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
      random = static_cast<uint64_t>(::getpid()) << 8 | static_cast<uint64_t>(i);
    const std::string name = fmt::format(".{}.{:x}", name_.substr(0, kMostOfName), random & 0xffffffff);
    const int access = (request.flags & O_RDWR) != 0 ? O_RDWR : O_WRONLY;
    Fd beside(::openat(directory_.get(), name.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | access, 0600));
    if (!beside && errno != EEXIST) return false;
    if (!beside) continue;
    old_ = std::move(file_);
    file_ = std::move(beside);
    temporary_ = name;
    return true;
  }
  return false;
}

Result<> Replacement::put_in_place() {
  if (temporary_.empty()) return ok();
  if (::renameat(directory_.get(), temporary_.c_str(), directory_.get(), name_.c_str()) != 0)
    return Error{fmt::format("cannot replace {}: {}", path_, errno_text(errno))};
  temporary_.clear();
  return ok();
}

Replacement::Replacement(Replacement&& other) noexcept { *this = std::move(other); }

Replacement& Replacement::operator=(Replacement&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(directory_, other.directory_);
  std::swap(old_, other.old_);
  std::swap(file_, other.file_);
  std::swap(name_, other.name_);
  std::swap(temporary_, other.temporary_);
  return *this;
}

Replacement::~Replacement() {
  if (!temporary_.empty()) ::unlinkat(directory_.get(), temporary_.c_str(), 0);
}

Result<Fd> open_output_directory(const std::string& path) {
  std::string without_slash = path;
  while (without_slash.size() > 1 && without_slash.back() == '/') without_slash.pop_back();
  const Place place = PENNA_TRY(Walk(without_slash, OutputFile::Links::kFollow).to_end());
  struct stat parent {
  }, found{};
  const char* const name = place.name.c_str();
  if (::mkdirat(place.directory.get(), name, 0777) != 0 && errno != EEXIST)
    return Error{fmt::format("cannot make directory {}: {}", path, errno_text(errno))};
  Fd directory(
      ::openat(place.directory.get(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (place.is_magic ? 0 : O_NOFOLLOW)));
  if (!directory || ::fstat(place.directory.get(), &parent) != 0 || ::fstat(directory.get(), &found) != 0)
    return Error{fmt::format("cannot make directory {}: {}", path, errno_text(errno))};
  if (!place.is_magic) PENNA_TRY(judge_file(parent, found, path));
  if (!is_empty_directory(directory))
    return Error{fmt::format("{} exists and is not empty: choose another directory", path)};
  return directory;
}

Result<Fd> open_new_in(const Fd& directory, const std::string& name, const std::string& path_of_directory) {
  Fd file(::openat(directory.get(), name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file) return file;
  return cannot_write(path_of_directory + "/" + name, errno);
}

std::optional<unsigned> left_by_another(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  struct stat directory {
  }, found{};
  if (::stat(folder.c_str(), &directory) != 0 || ::lstat(path.c_str(), &found) != 0 || !is_foreign(directory, found))
    return std::nullopt;
  return found.st_uid;
}

Result<> empty_file(const Fd& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return cannot_write(path, errno);
  if (S_ISREG(status.st_mode) && status.st_size != 0 && ::ftruncate(file.get(), 0) != 0)
    return Error{fmt::format("cannot replace {}: {}", path, errno_text(errno))};
  return ok();
}

void remove_own_file(const std::string& path) {
  const Result<Place> place = Walk(path, OutputFile::Links::kRefuse).to_end();
  struct stat found {};
  if (!place || place->is_magic ||
      ::fstatat(place->directory.get(), place->name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0)
    return;
  if (S_ISREG(found.st_mode) && found.st_uid == ::geteuid()) ::unlinkat(place->directory.get(), place->name.c_str(), 0);
}

bool is_taken(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0;
}

}  // namespace penna
