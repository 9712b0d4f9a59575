// SPDX-License-Identifier: MIT
// See reader.h.
//
// open(): check the file header, find the blocks, read the metadata, number processes and threads, sort the chunks.
#include "recording/reader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>

#include "base/file.h"
#include "base/free_memory.h"
#include "recording/block.h"
#include "recording/columns/codec.h"
#include "recording/metadata.h"
#include "recording/reader_state.h"

namespace penna {

using layout::BlockType;

// ---- Opening

Result<Recording> Recording::open(const std::string& path) {
  // Opening a FIFO must not block, and a terminal must not become our controlling terminal.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return Error{fmt::format("cannot open {}: {}", path, errno_text(errno))};
  return open(std::move(fd), path);
}

Result<Recording> Recording::open(Fd fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return Error{fmt::format("cannot stat {}: {}", path, errno_text(errno))};
  if (!S_ISREG(status.st_mode)) return Error{fmt::format("{} is not a regular file, so it is not a recording", path)};

  auto state = std::make_unique<State>();
  state->path = path;
  state->file = BlockFile(std::move(fd), static_cast<uint64_t>(status.st_size));
  if (auto header = state->read_header(); !header) return header.error();
  // The blocks are located; from here on damage is counted, and no longer an error.
  FoundBlocks found = state->find_blocks();
  state->read_blocks(found.blocks);
  state->number_all();
  state->add_chunks();
  state->time = TimeMap(state->clocks, state->session.ticks_per_second);
  return Recording(std::move(state));
}

// A header with a wrong checksum is damage, not fatal: blocks have their own checksums. But an unknown version means
// another format.
Result<> Recording::State::read_header() {
  auto header_read = file.read_struct<layout::FileHeader>(0);
  if (header_read && header_read->magic != layout::kFileMagic)
    return Error{fmt::format("{} is not a recording made by penna record", path)};
  if (!header_read || file.size() < layout::kBlocksAt)
    return Error{fmt::format("{} has {} bytes, too few for a recording: it was truncated right at its start", path,
                             file.size())};
  header = *header_read;
  bool valid = XXH3_64bits(&header, offsetof(layout::FileHeader, checksum)) == header.checksum;
  const bool known = header.version >= layout::kOldestVersion && header.version <= layout::kVersion;
  if (valid && !known)
    return Error{fmt::format(
        "{} has format {} and this penna reads formats {} to {}: use the penna that recorded it, or a newer one", path,
        header.version, layout::kOldestVersion, layout::kVersion)};
  if (known) file.set_version(header.version);
  in_place = file.read_struct<layout::InPlace>(layout::kInPlaceAt);
  if (in_place && XXH3_64bits(&*in_place, offsetof(layout::InPlace, checksum)) != in_place->checksum) in_place.reset();
  if (in_place && file.version() <= layout::kLastVersionOfFourClasses)
    in_place = widened(std::bit_cast<layout::InPlaceOfFour>(*in_place));
  damage.header = !valid || !in_place;
  return ok();
}

// The index says where everything is: fast, as no block is touched. Without a usable index the file is walked, block by
// block, as is any recording that lacks its end.
FoundBlocks Recording::State::find_blocks() {
  std::optional<layout::Trailer> trailer;
  uint64_t index_at = in_place ? in_place->index_at : 0;
  if (index_at == 0 && (trailer = read_trailer(file, file.size()))) index_at = trailer->index_at;
  finished = in_place ? in_place->finished == 1 : trailer.has_value();
  const bool cut = in_place && file.size() < in_place->end;
  if (index_at != 0) {
    if (auto found = blocks_by_index(file, layout::kBlocksAt, index_at)) {
      damage.bytes = found->bytes_skipped;
      damage.cut = cut;
      return std::move(*found);
    }
    damage.index = true;
  }
  FoundBlocks found = blocks_by_walk(file, layout::kBlocksAt);
  damage.blocks = found.blocks_missing;
  damage.bytes = found.bytes_skipped;
  damage.cut = cut || found.cut;
  return found;
}

// Chunks are only noted here: opening a recording does not read its events. Everything else is metadata and read now;
// damaged blocks are counted and left out.
void Recording::State::read_blocks(const std::vector<BlockRef>& blocks) {
  Bytes stored, payload;
  for (const BlockRef& block : blocks) {
    if (block.type() == BlockType::kChunk) {
      chunk_blocks.push_back(block);
      gathered[block.header.process].tids.emplace(block.head.thread_serial, block.head.tid);
      continue;
    }
    if (block.header.type == 0 || block.type() > BlockType::kNames) {
      ++damage.unknown_blocks;
      continue;
    }
    // Pieces of open chunks: in an undamaged finished file, all chunks are present as a whole.
    if (block.type() == BlockType::kOpen && finished && !damage.any()) continue;
    // The frame is read again: via the index, only the entry's copy of it has been seen.
    auto frame = file.block_at(block.offset);
    bool good = frame && frame->end() == block.end() && frame->header.type == block.header.type &&
                file.read_payload(*frame, stored, payload) && take_in(*frame, payload);
    if (!good) {
      ++damage.blocks;
      damage.bytes += block.end() - block.offset;
    }
  }
}

// Adds one block's contents to what is gathered by process number. False if it cannot be decoded.
bool Recording::State::take_in(const BlockRef& block, ByteSpan payload) {
  uint32_t number = block.header.process;
  auto assign = [](auto& field, auto&& decoded) {
    if (!decoded) return false;
    field = std::move(*decoded);
    return true;
  };
  switch (block.type()) {
    case BlockType::kSession: return assign(session, decode_session(payload));
    case BlockType::kCollector: return assign(collector, decode_collector(payload, file.version()));
    case BlockType::kClock: return assign(clocks.emplace_back(), decode_clock(payload)) || (clocks.pop_back(), false);
    case BlockType::kProcess:
      return gathered[number].process.announced |=
             assign(gathered[number].process.process, decode_process(payload, number));
    case BlockType::kProcessEnd:
      if (auto end = decode_process_end(payload, number, file.version()))
        return gathered[number].process.end = *end, true;
      return false;
    case BlockType::kThread: return decode_entries(payload, gathered[number].names);
    case BlockType::kModule: return decode_entries(payload, gathered[number].process.modules);
    case BlockType::kSite: return decode_entries(payload, gathered[number].process.sites);
    case BlockType::kHealth: return decode_entries(payload, gathered[number].health);
    case BlockType::kStacks: return take_in_stacks(number, payload);
    case BlockType::kOpen: return take_in_pieces(block, payload);
    case BlockType::kNames: return assign(names.emplace_back(), decode_names(payload)) || (names.pop_back(), false);
    case BlockType::kChunk:
    case BlockType::kIndex: break;
  }
  return true;
}

bool Recording::State::take_in_stacks(uint32_t process, ByteSpan payload) {
  const std::optional<StackRun> run = decode_stacks(payload);
  if (run) gathered[process].stacks.add(run->first, run->nodes);
  return run.has_value();
}

// The pieces of chunks that threads were still filling, one after the other. False if something that is not a piece
// follows.
bool Recording::State::take_in_pieces(const BlockRef& block, ByteSpan payload) {
  while (payload.size() >= sizeof(penna_chunk)) {
    const ByteSpan bytes = first_piece(payload);
    if (bytes.empty()) return false;
    const penna_chunk piece = header_of(bytes);
    const ChunkSummary summary = scan_chunk(bytes);
    ChunkRef chunk;
    chunk.sequence = piece.sequence;
    chunk.time_begin = summary.time_begin;
    chunk.time_end = summary.time_end;
    chunk.events = summary.events;
    chunk.torn = summary.torn + summary.holes;
    chunk.damaged = summary.damaged;
    chunk.offset = block.offset;
    chunk.raw_bytes = block.header.raw_bytes;
    chunk.stored_bytes = block.header.stored_bytes;
    chunk.piece_at = block.header.raw_bytes - static_cast<uint32_t>(payload.size());
    chunk.piece_bytes = static_cast<uint32_t>(bytes.size());
    gathered[block.header.process].tids.emplace(piece.thread_serial, piece.tid);
    pieces.push_back({block.header.process, piece.thread_serial, chunk});
    payload = payload.subspan(bytes.size());
  }
  return payload.empty();
}

// Assigns indices to processes and threads. From here on, the file's own numbers are no longer used.
void Recording::State::number_all() {
  for (auto& [number, one] : gathered) {
    auto& sites = one.process.sites;
    std::reverse(sites.begin(), sites.end());  // the last description of an id wins
    std::stable_sort(sites.begin(), sites.end(), [](const Site& a, const Site& b) { return a.id < b.id; });
    sites.erase(std::unique(sites.begin(), sites.end(), [](const Site& a, const Site& b) { return a.id == b.id; }),
                sites.end());
    for (const Site& site : sites)
      if (site.kind == PENNA_SITE_ARGUMENTS) one.process.with_arguments.push_back(site.address);
    std::sort(one.process.with_arguments.begin(), one.process.with_arguments.end());
    std::stable_sort(one.process.modules.begin(), one.process.modules.end(),
                     [](const Module& a, const Module& b) { return a.ticks < b.ticks; });
    one.process.process.number = number;
    module_maps.emplace_back(one.process.modules);
    stacks.push_back(std::move(one.stacks));
    processes.push_back(std::move(one.process));
    add_threads(static_cast<uint32_t>(processes.size() - 1), one);
  }
}

// Threads are known from their chunks, their names, their health, or all of these.
void Recording::State::add_threads(uint32_t process, Gathered& one) {
  std::map<uint32_t, RecordedThread> by_serial;
  for (auto [serial, tid] : one.tids) by_serial[serial].tid = tid;
  std::stable_sort(one.names.begin(), one.names.end(),
                   [](const Thread& a, const Thread& b) { return a.ticks < b.ticks; });
  for (Thread& name : one.names) {
    RecordedThread& thread = by_serial[name.serial];
    thread.tid = name.tid;
    if (!name.name.empty()) thread.name = name.name;
    thread.names.push_back(std::move(name));
  }
  for (const Health& health : one.health) {
    if (health.thread_serial == 0) {
      processes[process].health = health;
      continue;
    }
    by_serial[health.thread_serial].health = health;
    by_serial[health.thread_serial].has_health = true;
  }
  for (auto& [serial, thread] : by_serial) {
    thread.process = process;
    thread.serial = serial;
    processes[process].threads.push_back(static_cast<uint32_t>(threads.size()));
    threads.push_back(std::move(thread));
  }
}

// Sorts chunks by thread and sequence, and builds the table of where each thread's chunks begin.
void Recording::State::add_chunks() {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> thread_index;  // by process number and serial
  for (uint32_t i = 0; i < threads.size(); ++i)
    thread_index[{processes[threads[i].process].process.number, threads[i].serial}] = i;
  for (const BlockRef& block : chunk_blocks) {
    ChunkRef chunk;
    chunk.thread = thread_index.at({block.header.process, block.head.thread_serial});
    chunk.process = threads[chunk.thread].process;
    chunk.sequence = block.head.chunk_sequence;
    chunk.time_begin = block.head.time_begin;
    chunk.time_end = block.head.time_end;
    std::copy_n(std::begin(block.head.events), chunk.events.size(), chunk.events.begin());
    chunk.unknown_events =
        std::accumulate(std::begin(block.head.events) + PENNA_CLASS_COUNT, std::end(block.head.events), uint64_t{0});
    chunk.torn = block.head.torn;
    chunk.damaged = block.head.damaged != 0;
    chunk.offset = block.offset;
    chunk.raw_bytes = block.header.raw_bytes;
    chunk.stored_bytes = block.header.stored_bytes;
    chunks.push_back(chunk);
  }
  std::sort(chunks.begin(), chunks.end(), [](const ChunkRef& a, const ChunkRef& b) {
    return std::tie(a.thread, a.sequence, b.offset) < std::tie(b.thread, b.sequence, a.offset);
  });
  // Among those with the same sequence the last written comes first, and wins.
  chunks.erase(std::unique(chunks.begin(), chunks.end(),
                           [](const ChunkRef& a, const ChunkRef& b) {
                             return a.thread == b.thread && a.sequence == b.sequence;
                           }),
               chunks.end());
  add_pieces(thread_index);
  find_first_chunks();
  gathered.clear();
  free_memory(chunk_blocks);
}

void Recording::State::find_first_chunks() {
  first_chunk.assign(threads.size() + 1, chunks.size());
  for (size_t i = chunks.size(); i-- > 0;) first_chunk[chunks[i].thread] = i;
  for (size_t thread = threads.size(); thread-- > 0;)
    first_chunk[thread] = std::min(first_chunk[thread], first_chunk[thread + 1]);
}

void Recording::number_threads(std::span<const std::pair<uint32_t, uint32_t>> order) {
  State& state = *state_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> wanted;
  for (const auto& key : order) wanted.emplace(key, static_cast<uint32_t>(wanted.size()));
  const auto place = [&](uint32_t thread) {
    const RecordedThread& one = state.threads[thread];
    const auto found = wanted.find({state.processes[one.process].process.number, one.serial});
    return found != wanted.end() ? found->second : UINT32_MAX;
  };
  std::vector<uint32_t> old(state.threads.size()), fresh(old.size());  // indices: old by new one, and new by old one
  std::iota(old.begin(), old.end(), 0);
  std::stable_sort(old.begin(), old.end(), [&](uint32_t one, uint32_t other) { return place(one) < place(other); });
  for (uint32_t i = 0; i < old.size(); ++i) fresh[old[i]] = i;
  std::vector<RecordedThread> threads;
  threads.reserve(old.size());
  for (const uint32_t thread : old) threads.push_back(std::move(state.threads[thread]));
  state.threads = std::move(threads);
  for (RecordedProcess& process : state.processes)
    for (uint32_t& thread : process.threads) thread = fresh[thread];
  for (ChunkRef& chunk : state.chunks) chunk.thread = fresh[chunk.thread];
  std::stable_sort(state.chunks.begin(), state.chunks.end(),
                   [](const ChunkRef& one, const ChunkRef& other) { return one.thread < other.thread; });
  state.find_first_chunks();
}

// Pieces count only if their chunk is not in the file as a whole: its thread was filling it when the recorder died, or
// the file was cut.
void Recording::State::add_pieces(const std::map<std::pair<uint32_t, uint32_t>, uint32_t>& thread_index) {
  const auto before = [](const ChunkRef& a, const ChunkRef& b) {
    return std::tie(a.thread, a.sequence, a.offset, a.piece_at) < std::tie(b.thread, b.sequence, b.offset, b.piece_at);
  };
  const size_t whole = chunks.size();
  for (Piece& piece : pieces) {
    ChunkRef& chunk = piece.chunk;
    chunk.thread = thread_index.at({piece.process, piece.serial});
    chunk.process = threads[chunk.thread].process;
    const auto end = chunks.begin() + static_cast<std::ptrdiff_t>(whole);
    const auto same = std::lower_bound(chunks.begin(), end, chunk, [](const ChunkRef& a, const ChunkRef& b) {
      return std::tie(a.thread, a.sequence) < std::tie(b.thread, b.sequence);
    });
    if (same == end || same->thread != chunk.thread || same->sequence != chunk.sequence) chunks.push_back(chunk);
  }
  std::sort(chunks.begin(), chunks.end(), before);
  free_memory(pieces);
}

// ---- Reading

Result<> Recording::read_chunk(const ChunkRef& chunk, std::vector<uint8_t>& out) const {
  // Threads may read concurrently; each keeps its buffer.
  thread_local Bytes stored;
  auto block = state_->file.block_at(chunk.offset);
  const bool is_piece = chunk.piece_bytes != 0;
  // The file may change while it is read, or its index may be wrong: what is there now must match what was found on
  // opening.
  if (!block || block->type() != (is_piece ? BlockType::kOpen : BlockType::kChunk) ||
      block->header.raw_bytes != chunk.raw_bytes || block->header.stored_bytes != chunk.stored_bytes ||
      (!is_piece && block->head.chunk_sequence != chunk.sequence))
    return Error{
        fmt::format("{}: the block at offset {} is damaged: its header does not agree with its checksum or the index",
                    state_->path, chunk.offset)};
  if (!state_->file.read_payload(*block, stored, out))
    return Error{fmt::format("{}: the block at offset {} is damaged: {} bytes of records cannot be shown", state_->path,
                             chunk.offset, chunk.raw_bytes)};
  if (is_piece) {  // part of a payload whose size was checked when the file was opened
    out.erase(out.begin(), out.begin() + chunk.piece_at);
    out.resize(chunk.piece_bytes);
  }
  return ok();
}

std::optional<StackNode> Recording::stack_node(uint32_t process, uint32_t id) const {
  const StackStore& store = state_->stacks[process];
  const penna_stack_node* node = store.find(id);
  if (node == nullptr) return std::nullopt;
  StackNode result;
  result.pc = node->pc_generation & ((uint64_t{1} << 48) - 1);
  result.generation = static_cast<uint16_t>(node->pc_generation >> 48);
  result.depth = static_cast<uint16_t>(node->depth_flags);
  result.parent = node->parent;
  result.end = static_cast<uint8_t>(node->depth_flags >> 16);
  if (node->parent == 0) return result;
  const penna_stack_node* parent = store.find(node->parent);
  // A parent must be less deep than its child, so every walk outwards ends, whatever the file says.
  if (parent == nullptr || (parent->depth_flags & 0xffff) >= result.depth) {
    result.parent = 0;
    result.cut = true;
  }
  return result;
}

Recording::Recording(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

const std::string& Recording::path() const { return state_->path; }
uint64_t Recording::file_bytes() const { return state_->file.size(); }
uint64_t Recording::created_ns() const { return state_->header.created; }
std::array<uint8_t, 16> Recording::identity() const { return std::to_array(state_->header.identity); }
bool Recording::is_finished() const { return state_->finished; }
const Damage& Recording::damage() const { return state_->damage; }
std::optional<layout::InPlace> Recording::write_failures() const { return state_->in_place; }
const Session& Recording::session() const { return state_->session; }
std::span<const ClockTriplet> Recording::clocks() const { return state_->clocks; }
const TimeMap& Recording::time() const { return state_->time; }
std::span<const RecordedProcess> Recording::processes() const { return state_->processes; }
std::span<const RecordedThread> Recording::threads() const { return state_->threads; }
const ModuleMap& Recording::module_map(uint32_t process) const { return state_->module_maps[process]; }
const CollectorHealth& Recording::collector() const { return state_->collector; }
std::span<const FileNames> Recording::names() const { return state_->names; }
void Recording::select(std::shared_ptr<const Selection> selection) { selection_ = std::move(selection); }
const InheritedCalls& Recording::inherited_calls() const {
  std::call_once(state_->inherited_known, [this] { state_->inherited_calls.emplace(*this); });
  return *state_->inherited_calls;
}
uint64_t Recording::stack_node_count(uint32_t process) const { return state_->stacks[process].count(); }
std::optional<uint32_t> Recording::next_stack_node(uint32_t process, uint32_t id) const {
  return state_->stacks[process].next(id);
}
std::span<const ChunkRef> Recording::chunks() const { return state_->chunks; }

std::span<const ChunkRef> Recording::chunks(uint32_t thread) const {
  size_t first = state_->first_chunk[thread];
  return chunks().subspan(first, state_->first_chunk[thread + 1] - first);
}

const Site* Recording::site(uint32_t process, uint32_t id) const {
  const auto& sites = state_->processes[process].sites;
  auto found = std::lower_bound(sites.begin(), sites.end(), id,
                                [](const Site& site, uint32_t value) { return site.id < value; });
  return found != sites.end() && found->id == id ? &*found : nullptr;
}

std::string Damage::text() const {
  if (!any()) return "";
  std::string what;
  auto add = [&what](std::string part) { what += (what.empty() ? "" : ", ") + part; };
  if (blocks != 0) add(fmt::format("{} block{} lost", blocks, blocks == 1 ? "" : "s"));
  if (bytes != 0) add(fmt::format("{} bytes skipped", bytes));
  if (cut) add("its end is cut off");
  if (header) add("its header is damaged");
  if (index) add("its index is damaged");
  return fmt::format("The recording is damaged: {}; everything else in it is shown.", what);
}

}  // namespace penna
