// SPDX-License-Identifier: MIT
// See socket_directory.h.
#include "collect/socket_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/file.h"
#include "base/socket_address.h"

namespace penna {
namespace {

constexpr std::string_view kDirectoryName = "penna-XXXXXX";  // the X's are for mkdtemp(3)
constexpr const char* kFiles[] = {"socket", "control"};      // all files that we create there
constexpr size_t kMaxParent = 64;                            // sun_path holds 108 bytes
constexpr int kMaxSwept = 32;
constexpr int kMaxEntries = 16 << 10;      // limit on the entries of the parent to check: it may have a million
constexpr time_t kSweptAfterSeconds = 60;  // a younger one may be about to listen

bool is_ours(const struct stat& found, mode_t type) {
  return (found.st_mode & S_IFMT) == type && found.st_uid == ::geteuid();
}

bool is_own_directory(const struct stat& found) {
  return is_ours(found, S_IFDIR) && (found.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

// Opens the directory of this name first, and then checks that it is one of ours.
Fd open_own(int parent, const char* name) {
  struct stat status {};
  if (::fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !is_own_directory(status)) return Fd();
  // Checked twice: by name, so that we do not open a device or a pipe by mistake, and by descriptor, because the name
  // may refer to something else by now.
  Fd directory(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  return directory && ::fstat(directory.get(), &status) == 0 && is_own_directory(status) ? std::move(directory) : Fd();
}

bool has_own_socket(const Fd& directory, const char* name, struct stat* status) {
  return ::fstatat(directory.get(), name, status, AT_SYMLINK_NOFOLLOW) == 0 && is_ours(*status, S_IFSOCK);
}

// Through /proc, to the object behind the descriptor: the path itself may have been swapped since it was checked.
bool nobody_listens(const Fd& directory, const char* name) {
  const auto address = SocketAddress::of_path(fmt::format("/proc/self/fd/{}/{}", directory.get(), name));
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return address.connect(probe.get()) != 0 && errno == ECONNREFUSED;
}

// Whether no recorder listens. A recorder may have been killed before it made its sockets, or after it removed them. To
// a live one, who connects to its first socket and leaves is a process that could not be recorded, so the other one is
// asked first: there, anybody may come and go.
bool is_deserted(const Fd& directory) {
  struct stat status {};
  const bool has_socket = has_own_socket(directory, kFiles[0], &status);
  if (!has_socket && ::fstat(directory.get(), &status) != 0) return false;
  if (status.st_mtime > ::time(nullptr) - kSweptAfterSeconds) return false;
  if (!has_socket) return true;
  if (struct stat other{}; has_own_socket(directory, kFiles[1], &other) && !nobody_listens(directory, kFiles[1]))
    return false;
  return nobody_listens(directory, kFiles[0]);
}

// Only rmdir() needs the name, which is looked up again: it could remove an empty directory at most.
void remove_with_sockets(int parent, const char* name, const Fd& directory) {
  struct stat status {
  }, by_name{};
  for (const char* file : kFiles)
    if (has_own_socket(directory, file, &status)) ::unlinkat(directory.get(), file, 0);
  if (::fstat(directory.get(), &status) == 0 && ::fstatat(parent, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
      status.st_dev == by_name.st_dev && status.st_ino == by_name.st_ino)
    ::unlinkat(parent, name, AT_REMOVEDIR);
}

// Removes what killed recorders left behind, a few at a time.
void remove_stale_directories(const Fd& parent) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      ::fdopendir(::openat(parent.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), ::closedir);
  if (!entries) return;
  int swept = 0;
  for (int seen = 0; seen < kMaxEntries && swept < kMaxSwept; ++seen) {
    const dirent* entry = ::readdir(entries.get());
    if (entry == nullptr) return;
    const std::string_view name = entry->d_name;
    if (name.size() != kDirectoryName.size() || name.substr(0, 6) != kDirectoryName.substr(0, 6)) continue;
    const Fd directory = open_own(parent.get(), entry->d_name);
    if (!directory || !is_deserted(directory)) continue;
    remove_with_sockets(parent.get(), entry->d_name, directory);
    ++swept;
  }
}

}  // namespace

bool is_control_path(std::string_view path) {
  const size_t file = path.rfind('/') + 1, directory = path.rfind('/', file - 2) + 1;
  if (file < 2 || path.substr(file) != kFiles[1]) return false;
  const std::string_view name = path.substr(directory, file - 1 - directory);
  return name.size() == kDirectoryName.size() && name.substr(0, 6) == kDirectoryName.substr(0, 6);
}

SocketDirectory::~SocketDirectory() {
  if (directory_) remove_with_sockets(parent_.get(), path_.c_str() + path_.rfind('/') + 1, directory_);
}

bool SocketDirectory::make_in(const std::string& parent) {
  parent_ = Fd(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent_) return false;
  remove_stale_directories(parent_);
  path_ = fmt::format("{}/{}", parent, kDirectoryName);
  if (::mkdtemp(path_.data()) == nullptr) return false;  // mode 0700
  directory_ = open_own(parent_.get(), path_.c_str() + parent.size() + 1);
  return static_cast<bool>(directory_);
}

Result<std::string> SocketDirectory::create() {
  const char* runtime = ::secure_getenv("XDG_RUNTIME_DIR");
  struct stat status {};
  // After su or sudo it may still be the other user's, who could replace what we create in it.
  const bool is_own_runtime = runtime != nullptr && *runtime == '/' && std::strlen(runtime) <= kMaxParent &&
                              ::stat(runtime, &status) == 0 && is_ours(status, S_IFDIR) &&
                              (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if ((is_own_runtime && make_in(runtime)) || make_in("/tmp")) return path_ + "/" + kFiles[0];
  return Error{
      fmt::format("cannot make a directory for the recorder's socket in $XDG_RUNTIME_DIR or /tmp: {}; make /tmp "
                  "writable, or set XDG_RUNTIME_DIR to a directory of yours",
                  errno_text(errno))};
}

}  // namespace penna
