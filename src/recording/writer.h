// SPDX-License-Identifier: MIT
// RecordingWriter: writes a recording block by block.
//
// Why: everything written so far is readable after a crash at any instruction. Invariant: the file ends at the end of a
// whole block after every call; a block that could not be written whole is removed again, and its events are counted as
// lost in the file itself.
// Not thread-safe: one thread at a time. The caller ignores SIGXFSZ (else a file size limit kills it).
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "recording/records.h"
#include "recording/seen_code.h"
#include "recording/types.h"

namespace penna {

class DescriptionStore;

enum class Packing : uint8_t {
  kAuto,   // small, except while chunks wait to be written
  kSmall,  // always
  kFast,   // always in half the time, and up to a half larger
};

// Of a recording that is written anew, in another form: it stays the same recording.
struct RecordingOrigin {
  std::array<uint8_t, 16> identity;
  uint64_t created;  // CLOCK_REALTIME, ns
};

struct WriterOptions {
  bool overwrite = false;  // else an existing file is an error
  // With `overwrite`: an existing file stays until put_in_place(), and it is an error if there is no room next to it.
  bool keeps_old = false;
  std::optional<RecordingOrigin> origin = {};
  int zstd_level = 1;
  bool remembers_code = false;  // for seen_code()
  Packing packing = Packing::kAuto;
  bool columns = true;  // chunks as columns (layout::Codec::kColumns): smaller, and no slower
  // Test seam: pwrite(2).
  ssize_t (*pwrite)(int fd, const void* data, size_t size, off_t offset) = nullptr;
};

class RecordingWriter {
 public:
  // A new file, readable by its owner only. The error says what prevents it.
  static Result<RecordingWriter> create(const std::string& path, const WriterOptions& options = {});
  // Accepts everything and stores nothing: for callers that only observe.
  static RecordingWriter nowhere();
  // The same, but `store`, which must outlive it, gets the clocks and what describes processes.
  static RecordingWriter into(DescriptionStore& store);
  RecordingWriter(RecordingWriter&&) noexcept;
  RecordingWriter& operator=(RecordingWriter&&) noexcept;
  ~RecordingWriter();  // without finish(): the file stays as after a crash

  // Each returns an error once when writing begins to fail, and again if it fails after having recovered; in between a
  // failed write counts silently (error(), lost()). Metadata that failed is kept (at most 16 MiB) and written before
  // the next block that works: a recording that lost chunks to a full disk still has its names.
  // Text over 32 KiB and lists over 256 KiB are cut; `command_cut` says how many arguments are missing.
  Result<> write_session(const Session& session);
  Result<> write_clock(const ClockTriplet& clock);
  Result<> write_process(const Process& process);
  Result<> write_process_end(const ProcessEnd& end);
  Result<> write_threads(uint32_t process, std::span<const Thread> threads);
  Result<> write_modules(uint32_t process, std::span<const Module> modules);
  Result<> write_sites(uint32_t process, std::span<const Site> sites);
  // Nodes first_id, first_id + 1, ...: any number. Those with pc_generation 0 are not filled yet and may be written
  // again later.
  Result<> write_stacks(uint32_t process, uint32_t first_id, std::span<const penna_stack_node> nodes);
  // `chunk`: a copy, as passed to scan_chunk, whose result is `summary`. Only its content is stored, unchanged.
  Result<> write_chunk(uint32_t process, std::span<const uint8_t> chunk, const ChunkSummary& summary);
  // Whether other chunks wait for the next one to be written: see Packing::kAuto.
  void chunks_wait(bool they_do);
  // Pieces of chunks that are still being filled, as layout.h says. Superseded when the chunks come, and so not kept if
  // the write fails.
  Result<> write_open_pieces(uint32_t process, std::span<const uint8_t> pieces);
  Result<> write_health(uint32_t process, std::span<const Health> health);
  Result<> write_collector(const CollectorHealth& health);
  Result<> write_names(const FileNames& names);

  // The places in files that everything written so far refers to; none unless requested (WriterOptions). Forgets its
  // per-process state.
  std::vector<SeenFile> seen_code();

  // What another writer could not write of the same recording (Recording::write_failures()).
  void add_lost(std::span<const uint64_t, PENNA_CLASS_COUNT> events, uint32_t error);

  // Writes the index and marks the file as finished cleanly. Nothing can be written afterwards. On an error the
  // recording is as after a crash: readable, without index.
  Result<> finish();
  // With `keeps_old`: after finish(). Without, the file is in its place from the beginning.
  Result<> put_in_place();

  int error() const;  // errno of the first write that failed; 0: none has
  // Events passed to write_chunk() that are not in the file.
  const std::array<uint64_t, PENNA_CLASS_COUNT>& lost() const;
  uint64_t file_bytes() const;
  uint64_t chunk_raw_bytes() const;     // before compression, of chunks in the file
  uint64_t chunk_stored_bytes() const;  // after, with block headers
  const std::string& path() const;

 private:
  struct State;
  explicit RecordingWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace penna
