// SPDX-License-Identifier: MIT
// See writer.h.
//
// The only step that can fail is append(): it puts one whole block at the end of the file, or leaves the file as it
// was.
#include "recording/writer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>

#include "base/check.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/output_file.h"
#include "recording/block.h"
#include "recording/columns/codec.h"
#include "recording/description_store.h"
#include "recording/metadata.h"
#include "recording/names_block.h"

namespace penna {

using layout::BlockType;
using layout::ChunkHead;

namespace {

constexpr size_t kMaxPendingBytes = 16 << 20;
constexpr size_t kEntryBlockBytes = 256 << 10;  // entries are gathered into blocks of about this size
constexpr size_t kStackBlockNodes = 32 << 10;   // 512 KiB
constexpr size_t kIndexBlockEntries = 8 << 10;  // 768 KiB

template <typename T>
std::span<const uint8_t> bytes_of(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof value};
}

uint64_t realtime_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

layout::FileHeader file_header_of(const std::optional<RecordingOrigin>& origin) {
  layout::FileHeader header{};
  header.magic = layout::kFileMagic;
  header.version = layout::kVersion;
  header.size = layout::kBlocksAt;
  header.created = origin ? origin->created : realtime_now();
  // The identity distinguishes two recordings of the same name; without random bytes (early boot), the time does.
  if (origin)
    std::copy(origin->identity.begin(), origin->identity.end(), header.identity);
  else if (getrandom(header.identity, sizeof header.identity, GRND_NONBLOCK) < 0)
    std::memcpy(header.identity, &header.created, sizeof header.created);
  header.checksum = XXH3_64bits(&header, offsetof(layout::FileHeader, checksum));
  return header;
}

// Locks the file; true: another recorder has. The children of one that was killed hold its lock until they notice.
bool is_locked(int file) {
  constexpr int kTries = 50, kBetweenUs = 10'000;
  for (int i = 0; i < kTries; ++i, ::usleep(kBetweenUs))
    if (::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return false;
  return true;
}

// Opens an empty regular file for this process only: private (0600), because a recording reveals what a program did,
// and locked while it is written. An existing one is replaced only on request, and stays intact for any process that
// has it open. `later`: it is put in place by the caller.
Result<Replacement> open_new(const std::string& path, bool overwrite, bool later) {
  // O_NONBLOCK: opening a FIFO by mistake must not hang.
  Replacement file =
      PENNA_TRY(Replacement::open(path, {.links = OutputFile::Links::kRefuse,
                                         .must_be_new = !overwrite,
                                         .if_exists = "choose another name with -o, or pass --force to replace it",
                                         .flags = O_RDWR | O_NONBLOCK,
                                         .mode = 0600}));
  Fd& fd = file.file();
  const Fd& there = file.is_beside() ? file.old() : fd;
  struct stat status {};
  if (::fstat(there.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return Error{fmt::format("{} is not a regular file, and a recording must be one: choose another with -o", path)};
  // Readers rely on it too: a held lock means that the file is still being recorded.
  if (is_locked(there.get()))
    return Error{fmt::format("{} is being written by another recorder: choose another name with -o", path)};
  if (file.is_beside()) (void)!::flock(fd.get(), LOCK_EX | LOCK_NB);
  if (later && !file.is_beside() && status.st_size != 0)
    return Error{fmt::format("cannot write next to {}: is its directory writable?", path)};
  PENNA_TRY(empty_file(fd, path));
  if ((status.st_mode & 077) != 0 && ::fchmod(fd.get(), 0600) != 0)
    return Error{fmt::format("cannot make {} private: {}", path, errno_text(errno))};
  if (!later) PENNA_TRY(file.put_in_place());
  return file;
}

}  // namespace

struct RecordingWriter::State {
  struct Pending {
    BlockType type;
    uint32_t process;
    Bytes payload;
  };

  State(Replacement file, std::string name, const WriterOptions& options)
      : place(std::move(file)),
        fd(std::move(place.file())),
        path(std::move(name)),
        compressor(options.zstd_level, options.columns),
        packing(options.packing),
        seen(options.remembers_code ? std::make_unique<SeenCode>() : nullptr),
        do_pwrite(options.pwrite != nullptr ? options.pwrite : &::pwrite) {
    if (!options.keeps_old) place = {};  // descriptors may be scarce
    compressor.hurry(packing == Packing::kFast);
  }

  Replacement place;
  // Unset: nowhere() and into(), which count and write nothing.
  Fd fd;
  DescriptionStore* store = nullptr;
  std::string path;
  Compressor compressor;
  Packing packing;
  std::unique_ptr<SeenCode> seen;  // null: not asked for
  ssize_t (*do_pwrite)(int, const void*, size_t, off_t);

  uint64_t end = 0;       // of the last whole block
  uint64_t sequence = 0;  // of the next block
  uint64_t chunk_raw = 0, chunk_stored = 0;
  bool failed = false;  // the last write
  int first_error = 0;
  bool finished = false;
  layout::InPlace in_place{};
  std::array<uint64_t, PENNA_CLASS_COUNT> lost{};
  std::vector<layout::IndexEntry> index;
  std::deque<Pending> pending;
  size_t pending_bytes = 0;
  Bytes stored, frame;  // reused

  int write_at(std::span<const uint8_t> bytes, uint64_t offset);
  int append(BlockType type, uint32_t process, const ChunkHead* head, ByteSpan payload);
  int append_pending();
  int append_chunk(uint32_t process, std::span<const uint8_t> chunk, const ChunkSummary& summary, ChunkHead& head);
  void cut_to_end();
  int write_in_place();
  void count_lost(const ChunkHead* head, size_t raw_bytes);
  Result<> outcome(int error);
  Result<> metadata(BlockType type, uint32_t process, Bytes payload);
  template <typename T>
  Result<> entries(BlockType type, uint32_t process, std::span<const T> values);
  int append_index(uint64_t blocks);
};

// 0, or an errno. A short write is continued: the next one reports the reason. A write of 0 bytes would loop forever,
// and is treated as a full disk.
int RecordingWriter::State::write_at(std::span<const uint8_t> bytes, uint64_t offset) {
  if (!fd) return 0;  // nowhere()
  while (!bytes.empty()) {
    ssize_t got = do_pwrite(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return ENOSPC;
    bytes = bytes.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return 0;
}

// Puts one whole block at the end, or leaves the file as it was. 0, or an errno.
int RecordingWriter::State::append(BlockType type, uint32_t process, const ChunkHead* head, ByteSpan payload) {
  if (!fd) return 0;  // nowhere(): not even the index grows
  layout::BlockHeader header{};
  header.magic = layout::kBlockMagic;
  header.type = static_cast<uint8_t>(type);
  header.codec = static_cast<uint8_t>(compressor.compress(type, payload, stored));
  header.head_bytes = head != nullptr ? sizeof *head : 0;
  header.process = process;
  header.raw_bytes = static_cast<uint32_t>(payload.size());
  header.stored_bytes = static_cast<uint32_t>(stored.size());
  header.sequence = sequence;
  header.payload_sum = payload_sum(stored);
  header.head_sum = head_sum(header, head != nullptr ? bytes_of(*head) : ByteSpan{});
  // A block that our own reader would reject must never be written.
  PENNA_CHECK(within_limits(header));

  frame.clear();
  auto add = [this](ByteSpan bytes) { frame.insert(frame.end(), bytes.begin(), bytes.end()); };
  add(bytes_of(header));
  if (head != nullptr) add(bytes_of(*head));
  add(stored);
  // One write for the whole frame: a crash leaves at most a part of one block.
  if (int error = write_at(frame, end)) {
    cut_to_end();
    return error;
  }
  if (type != BlockType::kIndex)
    index.push_back({end, header.type, header.codec, header.head_bytes, process, header.raw_bytes, header.stored_bytes,
                     head != nullptr ? *head : ChunkHead{}});
  if (type == BlockType::kChunk) {
    chunk_raw += payload.size();
    chunk_stored += frame.size();
  }
  end += frame.size();
  ++sequence;
  return 0;
}

// Removes a partial block. If this fails too, the next block overwrites it, and a reader skips what is left.
void RecordingWriter::State::cut_to_end() {
  if (!fd) return;
  if (::ftruncate(fd.get(), static_cast<off_t>(end)) != 0) return;
}

// Metadata that could not be written waits, in order, ahead of everything else: events without their modules are worth
// little.
int RecordingWriter::State::append_pending() {
  while (!pending.empty()) {
    const Pending& block = pending.front();
    if (int error = append(block.type, block.process, nullptr, block.payload)) return error;
    pending_bytes -= block.payload.size();
    pending.pop_front();
  }
  return 0;
}

// The 128 bytes exist since create(), so this works even on a full disk. 0, or an errno.
int RecordingWriter::State::write_in_place() {
  in_place.checksum = XXH3_64bits(&in_place, offsetof(layout::InPlace, checksum));
  return write_at(bytes_of(in_place), layout::kInPlaceAt);
}

void RecordingWriter::State::count_lost(const ChunkHead* head, size_t raw_bytes) {
  if (head != nullptr)
    for (int i = 0; i < PENNA_CLASS_COUNT; ++i) lost[i] += head->events[i];
  std::copy(lost.begin(), lost.end(), in_place.lost);
  ++in_place.lost_blocks;
  in_place.lost_bytes += raw_bytes;
}

// Turns the errno of a write into the caller's result: an error when writing begins to fail, once, and then silence
// until it has worked again.
Result<> RecordingWriter::State::outcome(int error) {
  bool began = error != 0 && !failed;
  failed = error != 0;
  if (error == 0) return ok();
  if (first_error == 0) first_error = error;
  if (in_place.error == 0) in_place.error = static_cast<uint32_t>(error);
  (void)write_in_place();  // if even this fails, only the caller has a count
  if (!began) return ok();
  return Error{
      fmt::format("cannot write to {}: {}; events are dropped and counted until writing works again: free disk space, "
                  "or stop the recording",
                  path, errno_text(error))};
}

Result<> RecordingWriter::State::metadata(BlockType type, uint32_t process, Bytes payload) {
  PENNA_CHECK(!finished);
  int error = append_pending();
  if (error == 0) error = append(type, process, nullptr, payload);
  if (error != 0) {
    if (pending_bytes + payload.size() > kMaxPendingBytes) {
      count_lost(nullptr, payload.size());
    } else {
      pending_bytes += payload.size();
      pending.push_back({type, process, std::move(payload)});
    }
  }
  return outcome(error);
}

template <typename T>
Result<> RecordingWriter::State::entries(BlockType type, uint32_t process, std::span<const T> values) {
  Bytes payload;
  Result<> result = ok();
  auto flush = [&] {
    if (payload.empty()) return;
    auto written = metadata(type, process, std::move(payload));
    if (!written) result = std::move(written);
    payload.clear();
  };
  for (const T& value : values) {
    Bytes entry = encode_entry(value);
    if (payload.size() + entry.size() > kEntryBlockBytes) flush();
    payload.insert(payload.end(), entry.begin(), entry.end());
  }
  flush();
  return result;
}

Result<RecordingWriter> RecordingWriter::create(const std::string& path, const WriterOptions& options) {
  Replacement file = PENNA_TRY(open_new(path, options.overwrite, options.keeps_old));
  auto state = std::make_unique<State>(std::move(file), path, options);
  auto header = file_header_of(options.origin);
  int error = state->write_at(bytes_of(header), 0);
  if (error == 0) error = state->write_in_place();
  if (error != 0) return Error{fmt::format("cannot write to {}: {}", path, errno_text(error))};
  state->end = layout::kBlocksAt;
  return RecordingWriter(std::move(state));
}

RecordingWriter RecordingWriter::nowhere() {
  return RecordingWriter(std::make_unique<State>(Replacement(), "", WriterOptions{}));
}

RecordingWriter RecordingWriter::into(DescriptionStore& store) {
  RecordingWriter writer = nowhere();
  writer.state_->store = &store;
  return writer;
}

RecordingWriter::RecordingWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordingWriter::RecordingWriter(RecordingWriter&&) noexcept = default;
RecordingWriter& RecordingWriter::operator=(RecordingWriter&&) noexcept = default;
RecordingWriter::~RecordingWriter() = default;

Result<> RecordingWriter::write_session(const Session& session) {
  return state_->metadata(BlockType::kSession, 0, encode_session(session));
}
Result<> RecordingWriter::write_clock(const ClockTriplet& clock) {
  if (state_->store != nullptr) return state_->store->add_clock(clock), ok();
  return state_->metadata(BlockType::kClock, 0, encode_clock(clock));
}
Result<> RecordingWriter::write_process(const Process& process) {
  if (state_->store != nullptr) return state_->store->add_process(process), ok();
  return state_->metadata(BlockType::kProcess, process.number, encode_process(process));
}
Result<> RecordingWriter::write_process_end(const ProcessEnd& end) {
  if (state_->store != nullptr) return state_->store->add_end(end), ok();
  if (state_->seen) state_->seen->end(end.number);
  return state_->metadata(BlockType::kProcessEnd, end.number, encode_process_end(end));
}
Result<> RecordingWriter::write_threads(uint32_t process, std::span<const Thread> threads) {
  if (state_->store != nullptr) return state_->store->add_threads(process, threads), ok();
  return state_->entries(BlockType::kThread, process, threads);
}
Result<> RecordingWriter::write_modules(uint32_t process, std::span<const Module> modules) {
  if (state_->store != nullptr) return state_->store->add_modules(process, modules), ok();
  if (state_->seen) state_->seen->add_modules(process, modules);
  return state_->entries(BlockType::kModule, process, modules);
}
Result<> RecordingWriter::write_sites(uint32_t process, std::span<const Site> sites) {
  if (state_->store != nullptr) return state_->store->add_sites(process, sites), ok();
  if (state_->seen) state_->seen->add_sites(process, sites);
  return state_->entries(BlockType::kSite, process, sites);
}
Result<> RecordingWriter::write_health(uint32_t process, std::span<const Health> health) {
  return state_->entries(BlockType::kHealth, process, health);
}
Result<> RecordingWriter::write_collector(const CollectorHealth& health) {
  return state_->metadata(BlockType::kCollector, 0, encode_collector(health));
}

Result<> RecordingWriter::write_names(const FileNames& names) {
  Result<> result = ok();
  NamesBlock block(names);
  const auto flush = [&] {
    if (block.part().places.empty()) return;
    auto written = state_->metadata(BlockType::kNames, 0, encode_names(block.part()));
    if (!written) result = std::move(written);
    block.clear();
  };
  for (const FileNames::Place& place : names.places) {
    block.add(place);
    if (block.bytes() >= kEntryBlockBytes) flush();
  }
  flush();
  return result;
}

std::vector<SeenFile> RecordingWriter::seen_code() {
  return state_->seen ? state_->seen->files() : std::vector<SeenFile>{};
}

// Nodes that were reserved and never filled (pc_generation 0) are trimmed from both ends of a part; in the middle they
// stay, as ids are counted from the first.
Result<> RecordingWriter::write_stacks(uint32_t process, uint32_t first_id, std::span<const penna_stack_node> nodes) {
  Result<> result = ok();
  if (state_->store != nullptr) return state_->store->add_stacks(process, first_id, nodes), ok();
  if (state_->seen) state_->seen->add_stacks(process, nodes);
  while (!nodes.empty()) {
    auto part = nodes.first(std::min(nodes.size(), kStackBlockNodes));
    nodes = nodes.subspan(part.size());
    uint32_t next_id = first_id + static_cast<uint32_t>(part.size());
    for (; !part.empty() && part.back().pc_generation == 0; part = part.first(part.size() - 1)) {
    }
    for (; !part.empty() && part.front().pc_generation == 0; part = part.subspan(1)) ++first_id;
    if (!part.empty()) {
      Bytes payload(sizeof(uint64_t) + part.size_bytes());
      uint64_t first = first_id;
      std::memcpy(payload.data(), &first, sizeof first);
      std::memcpy(payload.data() + sizeof first, part.data(), part.size_bytes());
      auto written = state_->metadata(BlockType::kStacks, process, std::move(payload));
      if (!written) result = std::move(written);
    }
    first_id = next_id;
  }
  return result;
}

Result<> RecordingWriter::write_chunk(uint32_t process, std::span<const uint8_t> chunk, const ChunkSummary& summary) {
  ChunkHead head{};
  const int error = state_->append_chunk(process, chunk, summary, head);
  if (error != 0) state_->count_lost(&head, summary.content_bytes);
  return state_->outcome(error);
}

void RecordingWriter::chunks_wait(bool they_do) {
  if (state_->packing == Packing::kAuto) state_->compressor.hurry(they_do);
}

Result<> RecordingWriter::write_open_pieces(uint32_t process, std::span<const uint8_t> pieces) {
  PENNA_CHECK(!state_->finished);
  int error = state_->append_pending();
  if (error == 0) error = state_->append(BlockType::kOpen, process, nullptr, pieces);
  return state_->outcome(error);
}

// 0, or an errno. `head`: what a reader must know about the chunk without decompressing it; always filled in, to count
// what is lost.
int RecordingWriter::State::append_chunk(uint32_t process, std::span<const uint8_t> chunk, const ChunkSummary& summary,
                                         ChunkHead& head) {
  PENNA_CHECK(!finished);
  PENNA_CHECK(summary.content_bytes >= sizeof(penna_chunk) && summary.content_bytes <= chunk.size());
  auto content = chunk.first(summary.content_bytes);
  const penna_chunk header = header_of(content);
  head.thread_serial = header.thread_serial;
  head.tid = header.tid;
  head.chunk_sequence = header.sequence;
  head.time_begin = summary.time_begin;
  head.time_end = summary.time_end;
  std::copy(summary.events.begin(), summary.events.end(), head.events);
  head.torn = summary.torn + summary.holes;
  head.damaged = summary.damaged ? 1 : 0;

  int error = append_pending();
  if (error == 0) error = append(BlockType::kChunk, process, &head, content);
  if (error == 0 && seen) {
    seen->add_calls(process, compressor.encoder().call_pcs());
    seen->add_locks(process, compressor.encoder().lock_words());
  }
  return error;
}

// 0, or an errno. `blocks`: those before the index. The trailer comes last: only a complete index is found through it.
int RecordingWriter::State::append_index(uint64_t blocks) {
  uint64_t index_at = end;
  for (size_t i = 0; i < index.size(); i += kIndexBlockEntries) {
    auto part = std::span(index).subspan(i, std::min(kIndexBlockEntries, index.size() - i));
    if (int error =
            append(BlockType::kIndex, 0, nullptr, {reinterpret_cast<const uint8_t*>(part.data()), part.size_bytes()}))
      return error;
  }
  layout::Trailer trailer{layout::kTrailerMagic, index_at, blocks, 0};
  trailer.checksum = XXH3_64bits(&trailer, offsetof(layout::Trailer, checksum));
  if (int error = write_at(bytes_of(trailer), end)) return error;
  end += sizeof trailer;
  in_place.index_at = index_at;
  return 0;
}

Result<> RecordingWriter::finish() {
  State& state = *state_;
  PENNA_CHECK(!state.finished);
  state.finished = true;
  int error = state.append_pending();
  // What is still pending will never be written.
  for (const auto& block : state.pending) state.count_lost(nullptr, block.payload.size());
  uint64_t end_of_blocks = state.end;
  if (error == 0) error = state.append_index(state.sequence);
  // Half an index is worse than none: the file is cut after the last block of data.
  if (error != 0) state.end = end_of_blocks;
  state.cut_to_end();
  // "finished" is written last: it asserts that everything before it is in the file.
  if (error == 0) {
    state.in_place.finished = 1;
    state.in_place.end = state.end;
    error = state.write_in_place();
  }
  if (error == 0) return ok();
  (void)state.outcome(error);
  return Error{
      fmt::format("cannot finish {}: {}; it can be read, but opens more slowly", state.path, errno_text(error))};
}

Result<> RecordingWriter::put_in_place() { return state_->place.put_in_place(); }

// Written with what comes next, at the latest by finish().
void RecordingWriter::add_lost(std::span<const uint64_t, PENNA_CLASS_COUNT> events, uint32_t error) {
  State& state = *state_;
  for (size_t i = 0; i < events.size(); ++i) state.lost[i] = add_counts(state.lost[i], events[i]);
  std::copy(state.lost.begin(), state.lost.end(), state.in_place.lost);
  if (state.in_place.error == 0) state.in_place.error = error;
}

int RecordingWriter::error() const { return state_->first_error; }
const std::array<uint64_t, PENNA_CLASS_COUNT>& RecordingWriter::lost() const { return state_->lost; }
uint64_t RecordingWriter::file_bytes() const { return state_->end; }
uint64_t RecordingWriter::chunk_raw_bytes() const { return state_->chunk_raw; }
uint64_t RecordingWriter::chunk_stored_bytes() const { return state_->chunk_stored; }
const std::string& RecordingWriter::path() const { return state_->path; }

}  // namespace penna
