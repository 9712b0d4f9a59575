// SPDX-License-Identifier: MIT
// See fleet_ids.h.
#include "sql/clickhouse/fleet_ids.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>

namespace penna {
namespace {

uint64_t big_endian(const uint8_t* bytes) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | bytes[i];
  return value;
}

void add_number(std::string& text, uint64_t number) {
  for (int i = 0; i < 8; ++i) text += static_cast<char>(number >> (8 * i));
}
void add_text(std::string& text, std::string_view more) {
  add_number(text, more.size());
  text += more;
}

// Everything in a stack's rows that is not in its parent's.
std::string contents_of(Names& names, uint32_t process, const StackNode& node, const FleetId& parent) {
  std::string text;
  add_number(text, parent.high);
  add_number(text, parent.low);
  const CodePlace place = names.map().locate_return(process, node.pc, node.generation);
  add_number(text, place.address);
  if (place.known()) {
    add_text(text, names.map().file_name(place.module));
    const std::span<const uint8_t> build = names.map().build_id(place.module);
    add_text(text, {reinterpret_cast<const char*>(build.data()), build.size()});
  }
  for (const NameFrame& frame : names.at(place)) {
    add_text(text, frame.full_name());
    add_text(text, frame.file);
    add_number(text, frame.line);
  }
  return text;
}

}  // namespace

std::string fleet_id_text(const FleetId& id) {
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", id.high >> 32, id.high >> 16 & 0xffff, id.high & 0xffff,
                     id.low >> 48, id.low & 0xffff'ffff'ffff);
}

FleetIds::FleetIds(SqlSource& source) {
  const std::array<uint8_t, 16> identity = source.recording().identity();
  recording_ = {big_endian(identity.data()), big_endian(identity.data() + 8)};
  high_ = XXH3_64bits(identity.data(), identity.size());
  const Recording& recording = source.recording();
  const auto processes = static_cast<uint32_t>(recording.processes().size());
  std::vector<uint32_t> path;  // from a stack outwards, to one that is known
  source.with_names([&](Names& names) {
    for (uint32_t process = 0; process < processes; ++process)
      for (uint64_t from = 1; from <= UINT32_MAX;) {
        const std::optional<uint32_t> next = recording.next_stack_node(process, static_cast<uint32_t>(from));
        if (!next) break;
        from = uint64_t{*next} + 1;
        path.clear();
        for (uint32_t at = *next; at != 0 && !stacks_.contains(static_cast<uint64_t>(source.stack_id(process, at)));) {
          path.push_back(at);
          const std::optional<StackNode> node = recording.stack_node(process, at);
          at = node ? node->parent : 0;
        }
        for (; !path.empty(); path.pop_back()) {
          const std::optional<StackNode> node = recording.stack_node(process, path.back());
          if (!node) continue;
          const FleetId* const parent = node->parent == 0 ? nullptr : stack(source.stack_id(process, node->parent));
          const std::string contents = contents_of(names, process, *node, parent == nullptr ? FleetId{} : *parent);
          const XXH128_hash_t hash = XXH3_128bits(contents.data(), contents.size());
          stacks_[static_cast<uint64_t>(source.stack_id(process, path.back()))] = {hash.high64, hash.low64};
        }
      }
  });
}

const FleetId* FleetIds::stack(int64_t number) const {
  const auto found = stacks_.find(static_cast<uint64_t>(number));
  return found == stacks_.end() ? nullptr : &found->second;
}

std::vector<FleetId> FleetIds::stacks() const {
  std::vector<FleetId> all;
  all.reserve(stacks_.size());
  for (const auto& [number, id] : stacks_) all.push_back(id);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace penna
