// SPDX-License-Identifier: MIT
// See index_file.h.
#include "view/tracks/index_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/user_directories.h"

namespace penna {
namespace {

constexpr uint64_t kMagic = 0x0a0d776569'5650ab;  // AB "PView" 0D 0A
// Bump it when an older index would be misread, or lacks something.
constexpr uint32_t kVersion = 2;  // 1: no kept answers

constexpr uint64_t kMostAnswers = 16 << 20;

struct Header {
  uint64_t magic = kMagic;
  uint32_t version = kVersion, reserved = 0;
  uint64_t identity = 0, tables_at = 0, tables_bytes = 0, answers_at = 0, answers_bytes = 0, checksum = 0;
};
static_assert(sizeof(Header) == 64 && offsetof(Header, checksum) == 56);

uint64_t checksum_of(const Header& header) { return XXH3_64bits(&header, offsetof(Header, checksum)); }

bool read_all(const Fd& file, uint64_t offset, void* to, size_t size) {
  auto* at = static_cast<uint8_t*>(to);
  while (size != 0) {
    const ssize_t got = ::pread(file.get(), at, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got, offset += static_cast<uint64_t>(got), size -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all_at(const Fd& file, uint64_t offset, const void* from, size_t size) {
  const auto* at = static_cast<const uint8_t*>(from);
  while (size != 0) {
    const ssize_t put = ::pwrite(file.get(), at, size, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put, offset += static_cast<uint64_t>(put), size -= static_cast<size_t>(put);
  }
  return true;
}

// An index made by Penna and owned by this user.
bool is_own_index(const Fd& file, Header* header) {
  struct stat status {};
  return ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         read_all(file, 0, header, sizeof *header) && header->magic == kMagic;
}

Fd open_existing(const std::string& path, int access = O_RDONLY) {
  return Fd(::open(path.c_str(), access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
}

// A whole index of this recording.
bool is_index_of(const Fd& file, uint64_t identity, Header* header) {
  return file && is_own_index(file, header) && header->checksum == checksum_of(*header) &&
         header->version == kVersion && header->identity == identity && header->tables_bytes <= UINT32_MAX;
}

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

uint64_t identity_of(const Recording& recording) {
  std::vector<uint64_t> facts{recording.file_bytes(), recording.created_ns(), recording.is_finished()};
  const std::array<uint8_t, 16> own = recording.identity();
  facts.resize(facts.size() + 2);
  std::memcpy(facts.data() + 3, own.data(), own.size());
  for (const ChunkRef& chunk : recording.chunks())
    facts.insert(facts.end(), {uint64_t{chunk.thread} << 32 | chunk.raw_bytes, chunk.sequence, chunk.time_begin,
                               chunk.time_end, chunk.offset, uint64_t{chunk.piece_at} << 32 | chunk.piece_bytes});
  return XXH3_64bits(facts.data(), facts.size() * sizeof facts[0]);
}

IndexFile::IndexFile(IndexFile&& other) noexcept
    : file_(std::move(other.file_)),
      path_(std::move(other.path_)),
      end_(other.end_.load()),
      failed_(other.failed_.load()) {}

std::optional<IndexFile> IndexFile::open(const std::string& path, uint64_t identity, std::vector<uint8_t>* tables) {
  IndexFile file(open_existing(path), {});
  Header header;
  if (!is_index_of(file.file_, identity, &header)) return {};
  struct stat status {};
  if (::fstat(file.file_.get(), &status) != 0) return {};
  file.end_ = static_cast<uint64_t>(status.st_size);
  if (!file.read(header.tables_at, static_cast<uint32_t>(header.tables_bytes), tables)) return {};
  return file;
}

std::vector<uint8_t> IndexFile::read_answers(const std::string& path, uint64_t identity) {
  const Fd file = open_existing(path);
  Header header;
  if (!is_index_of(file, identity, &header) || header.answers_bytes > kMostAnswers) return {};
  std::vector<uint8_t> bytes(header.answers_bytes);
  if (!read_all(file, header.answers_at, bytes.data(), bytes.size())) return {};
  return bytes;
}

bool IndexFile::write_answers(const std::string& path, uint64_t identity, std::span<const uint8_t> bytes) {
  const Fd file = open_existing(path, O_RDWR);
  if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 || bytes.size() > kMostAnswers) return false;
  Header header;
  struct stat status {};
  if (!is_index_of(file, identity, &header) || ::fstat(file.get(), &status) != 0) return false;
  const auto end = static_cast<uint64_t>(status.st_size);
  // Those that are replaced are the last in the file.
  const bool replaces = header.answers_bytes != 0 && header.answers_at + header.answers_bytes == end;
  header.answers_at = replaces ? header.answers_at : end;
  header.answers_bytes = bytes.size();
  header.checksum = checksum_of(header);
  return write_all_at(file, header.answers_at, bytes.data(), bytes.size()) &&
         ::ftruncate(file.get(), static_cast<off_t>(header.answers_at + bytes.size())) == 0 &&
         write_all_at(file, 0, &header, sizeof header);
}

Result<IndexFile> IndexFile::create(const std::string& path) {
  if (path.empty()) {
    const char* const directory = std::getenv("TMPDIR");
    Fd file(
        ::open(directory != nullptr && *directory != 0 ? directory : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file) file = Fd(::memfd_create("penna view", MFD_CLOEXEC));
    if (!file) return Error{fmt::format("cannot make a file for the index: {}", errno_text(errno))};
    return IndexFile(std::move(file), {});
  }
  Header header;
  if (const Fd there = open_existing(path); there ? !is_own_index(there, &header) : errno != ENOENT)
    return Error{fmt::format("{} is there, and no index of yours", path)};
  const std::string directory = directory_of(path);
  // The cache's may be missing; the recording's exists. If it cannot be created, writing in it fails, too.
  if (::access(directory.c_str(), F_OK) != 0) (void)make_private_directories(directory);
  Fd file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) return Error{fmt::format("cannot write {}: {}", path, errno_text(errno))};
  return IndexFile(std::move(file), path);
}

uint64_t IndexFile::append(std::span<const uint8_t> bytes) {
  const uint64_t at = end_.fetch_add(bytes.size());
  if (!failed_ && !write_all_at(file_, at, bytes.data(), bytes.size())) failed_ = true;
  return failed_ ? 0 : at;
}

bool IndexFile::read(uint64_t offset, uint32_t bytes, std::vector<uint8_t>* out) const {
  if (offset > end_ || bytes > end_ - offset) return false;
  out->resize(bytes);
  return read_all(file_, offset, out->data(), bytes);
}

bool IndexFile::finish(uint64_t identity, std::span<const uint8_t> tables) {
  Header header;
  header.identity = identity;
  header.tables_at = append(tables);
  header.tables_bytes = tables.size();
  header.checksum = checksum_of(header);
  if (failed_ || !write_all_at(file_, 0, &header, sizeof header)) return false;
  return !path_.empty() && take_name();
}

// linkat() does not replace existing files: the file first gets a temporary name.
bool IndexFile::take_name() {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) return false;
  const std::string beside = fmt::format("{}.{:016x}", path_, number),
                    open = fmt::format("/proc/self/fd/{}", file_.get());
  if (::linkat(AT_FDCWD, open.c_str(), AT_FDCWD, beside.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
  if (::rename(beside.c_str(), path_.c_str()) == 0) return true;
  ::unlink(beside.c_str());
  return false;
}

std::vector<std::string> index_paths(const Recording& recording) {
  struct stat status {};
  // The contents of a pipe cannot be read again.
  if (::stat(recording.path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::vector<std::string> paths{recording.path() + ".view"};
  if (const auto cache = user_directory("XDG_CACHE_HOME", ".cache"))
    paths.push_back(fmt::format("{}/penna/{:016x}.view", *cache, identity_of(recording)));
  return paths;
}

}  // namespace penna
