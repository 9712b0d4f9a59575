// SPDX-License-Identifier: MIT
// See followed_recording.h.
#include "recording/followed_recording.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "recording/metadata.h"

namespace penna {

using layout::BlockType;

Result<FollowedRecording> FollowedRecording::open(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return Error{fmt::format("cannot open {}: {}", path, errno_text(errno))};
  FollowedRecording followed(path);
  followed.file_ = BlockFile(std::move(fd), 0);
  followed.file_.look_again();
  const auto header = followed.file_.read_struct<layout::FileHeader>(0);
  if (!header || header->magic != layout::kFileMagic || header->version != layout::kVersion)
    return Error{fmt::format("{} is written by another version of penna: look at it when it is finished", path)};
  return followed;
}

bool FollowedRecording::is_finished() const {
  const auto in_place = file_.read_struct<layout::InPlace>(layout::kInPlaceAt);
  return in_place && XXH3_64bits(&*in_place, offsetof(layout::InPlace, checksum)) == in_place->checksum &&
         in_place->finished == 1;
}

// An incomplete block may yet become complete. One that never does is waited for: once the recording has ended, all of
// it is read by code that handles damage.
bool FollowedRecording::read(uint64_t most_bytes) {
  file_.look_again();
  for (uint64_t bytes = 0; bytes < most_bytes;) {
    const auto ref = file_.block_at(at_);
    if (!ref || ref->end() > file_.size() || ref->type() == BlockType::kIndex) return false;
    Block block{*ref, {}};
    const bool is_known = ref->header.type != 0 && ref->type() < BlockType::kNames;
    if (is_known && !file_.read_payload(*ref, stored_, block.payload)) return false;
    at_ = ref->end();
    bytes += block.payload.size();
    if (!is_known) continue;
    if (ref->type() == BlockType::kChunk || ref->type() == BlockType::kOpen)
      split(block);
    else
      described_.push_back(std::move(block));
  }
  return true;
}

// Splits a block into chunks: it has one, or pieces of several, one after the other.
void FollowedRecording::split(const Block& block) {
  const bool whole = block.ref.type() == BlockType::kChunk;
  for (ByteSpan rest = block.payload; rest.size() >= sizeof(penna_chunk);) {
    const ByteSpan bytes = whole ? rest : first_piece(rest);
    if (bytes.empty() || bytes.size() > PENNA_CHUNK_BYTES) return;
    const penna_chunk header = header_of(bytes);
    fresh_.push_back({block.ref.header.process,
                      header.thread_serial,
                      header.tid,
                      header.sequence,
                      whole,
                      {bytes.begin(), bytes.end()}});
    rest = rest.subspan(bytes.size());
  }
}

uint32_t FollowedRecording::process_of(uint32_t number) {
  const auto [found, is_new] = processes_.try_emplace(number, 0);
  if (is_new) {
    Process process;
    process.number = number;
    found->second = live_.add_process(process);
  }
  return found->second;
}

FollowedRecording::Place& FollowedRecording::place_of(const Key& key, uint32_t tid) {
  const auto [found, is_new] = places_.try_emplace(key);
  if (is_new) found->second.thread = live_.add_thread(process_of(key.first), key.second, tid);
  return found->second;
}

void FollowedRecording::describe_threads(uint32_t number, const std::vector<Thread>& threads) {
  for (const Thread& thread : threads)
    live_.name_thread(place_of({number, thread.serial}, thread.tid).thread, thread.name);
}

void FollowedRecording::take_in(const Block& block) {
  const uint32_t number = block.ref.header.process;
  const ByteSpan payload = block.payload;
  switch (block.ref.type()) {
    case BlockType::kSession:
      if (const auto session = decode_session(payload)) live_.describe(path_, *session);
      break;
    case BlockType::kClock:
      if (const auto clock = decode_clock(payload)) clocks_.push_back(*clock);
      break;
    case BlockType::kProcess:
      if (const auto process = decode_process(payload, number); process && processes_.count(number) == 0)
        processes_[number] = live_.add_process(*process);
      break;
    case BlockType::kProcessEnd:
      if (const auto end = decode_process_end(payload, number)) live_.end_process(process_of(number), *end);
      break;
    case BlockType::kThread:
      if (std::vector<Thread> threads; decode_entries(payload, threads)) describe_threads(number, threads);
      break;
    case BlockType::kModule: {
      std::vector<Module> modules;
      (void)decode_entries(payload, modules);
      for (Module& module : modules) live_.add_module(process_of(number), std::move(module));
      break;
    }
    case BlockType::kSite: {
      std::vector<Site> sites;
      (void)decode_entries(payload, sites);
      for (Site& site : sites) live_.add_site(process_of(number), std::move(site));
      break;
    }
    case BlockType::kStacks:
      if (const auto run = decode_stacks(payload)) live_.add_stacks(process_of(number), run->first, run->nodes);
      break;
    default: break;
  }
}

bool FollowedRecording::describe(const ClockTriplet& now) {
  const size_t processes = processes_.size();
  for (const Block& block : std::exchange(described_, {})) take_in(block);
  for (const Part& part : fresh_) (void)place_of({part.process, part.serial}, part.tid);
  std::vector<ClockTriplet> clocks = clocks_;
  clocks.push_back(now);
  live_.set_clocks(std::move(clocks));
  const bool new_modules = live_.prepare();
  return new_modules || processes_.size() != processes;
}

bool FollowedRecording::deliver(const Use& use) {
  const std::vector<Part> parts = std::exchange(waiting_, std::exchange(fresh_, {}));
  for (const Part& part : parts) handle(part, use);
  wait_no_longer(use);
  return !parts.empty();
}

// A thread's chunks may be written out of order: a piece of the next one before the whole of the previous one.
void FollowedRecording::handle(Part part, const Use& use) {
  Place& place = place_of({part.process, part.serial}, part.tid);
  const bool is_old =
      place.begun && (part.sequence < place.sequence || (part.sequence == place.sequence && place.whole));
  if (is_old) return;
  const bool is_next =
      !place.begun || part.sequence == place.sequence || (place.whole && part.sequence == place.sequence + 1);
  if (!is_next && !part.whole) return place.early.push_back(std::move(part));
  hand_over(place, part, place.begun && !is_next, use);
  while (!place.early.empty() && place.early.front().sequence <= place.sequence + (place.whole ? 1 : 0)) {
    Part early = std::move(place.early.front());
    place.early.pop_front();
    handle(std::move(early), use);
  }
}

// Chunks that were thrown away never come.
void FollowedRecording::wait_no_longer(const Use& use) {
  constexpr uint32_t kPatience = 3;
  for (auto& [key, place] : places_) {
    if (place.early.empty()) {
      place.waited = 0;
    } else if (++place.waited > kPatience) {
      for (Part& part : std::exchange(place.early, {})) hand_over(place, part, place.sequence != part.sequence, use);
    }
  }
}

// Removes from a whole chunk what was in its pieces. If a filter has changed them, they do not end where a record does:
// then the records up to the time of the last one count as known.
void FollowedRecording::cut_known(const Place& place, Bytes* chunk) {
  RecordCursor cursor(*chunk);
  Record record;
  size_t exact = 0, by_time = sizeof(penna_chunk);
  while (cursor.next(record)) {
    if (cursor.position() == place.bytes && record.time == place.time) exact = cursor.position();
    if (record.time <= place.time) by_time = cursor.position();
    if (exact != 0 || record.time > place.time) break;
  }
  const size_t known = exact != 0 ? exact : by_time;
  chunk->erase(chunk->begin() + sizeof(penna_chunk), chunk->begin() + static_cast<ptrdiff_t>(known));
}

void FollowedRecording::hand_over(Place& place, Part& part, bool gap, const Use& use) {
  const bool goes_on = place.begun && part.sequence == place.sequence;
  const size_t bytes = part.bytes.size();
  if (goes_on && part.whole) cut_known(place, &part.bytes);
  const uint64_t bits = part.bytes.size() * 8;
  std::memcpy(part.bytes.data() + offsetof(penna_chunk, content_bits), &bits, sizeof bits);
  place.bytes = goes_on && !part.whole ? place.bytes + bytes - sizeof(penna_chunk) : bytes;
  RecordCursor cursor(part.bytes);
  for (Record record; cursor.next(record);) place.time = std::max(place.time, record.time);
  place.sequence = part.sequence;
  place.begun = true;
  place.whole = part.whole;
  use({place.thread, gap, std::move(part.bytes)});
}

}  // namespace penna
