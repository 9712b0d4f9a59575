// SPDX-License-Identifier: MIT
// See seen_code.h.
#include "recording/seen_code.h"

#include <algorithm>
#include <utility>

namespace penna {

void SeenCode::add_modules(uint32_t process, std::span<const Module> modules) {
  auto& known = processes_[process].modules;
  known.insert(known.end(), modules.begin(), modules.end());
}

void SeenCode::add_stacks(uint32_t process, std::span<const penna_stack_node> nodes) {
  constexpr uint64_t kPc = (uint64_t{1} << 48) - 1;  // the generation is above it
  Addresses& code = processes_[process].code;
  for (const penna_stack_node& node : nodes)
    if (const uint64_t pc = node.pc_generation & kPc; pc != 0 && code.size() < kMostAddresses) code.insert(pc - 1);
}

void SeenCode::add_sites(uint32_t process, std::span<const Site> sites) {
  Addresses& code = processes_[process].code;
  for (const Site& site : sites)
    if (site.address != 0 && code.size() < kMostAddresses) code.insert(site.address);
}

void SeenCode::add_calls(uint32_t process, std::span<const uint64_t> pcs) {
  Addresses& code = processes_[process].code;
  for (const uint64_t pc : pcs)
    if (code.size() < kMostAddresses) code.insert(pc);
}

void SeenCode::add_locks(uint32_t process, std::span<const uint64_t> words) {
  Addresses& data = processes_[process].data;
  for (const uint64_t word : words)
    if (data.size() < kMostAddresses) data.insert(word & PENNA_ADDRESS_MASK);
}

// In every module ever mapped there: readers determine which one it was at the time, and one place too many costs only
// an unused name.
void SeenCode::place(const OfProcess& process, Addresses OfProcess::*from, Addresses OfFile::*to) {
  std::vector<uint64_t> sorted((process.*from).begin(), (process.*from).end());
  std::sort(sorted.begin(), sorted.end());
  for (const Module& module : process.modules) {
    auto at = std::lower_bound(sorted.begin(), sorted.end(), module.start);
    if (at == sorted.end() || *at >= module.end) continue;
    Addresses& places = files_[{module.path, module.build_id}].*to;
    for (; at != sorted.end() && *at < module.end && places_ < kMostPlaces; ++at)
      places_ += places.insert(*at - module.bias).second;
  }
}

void SeenCode::place_all(const OfProcess& process) {
  place(process, &OfProcess::code, &OfFile::code);
  place(process, &OfProcess::data, &OfFile::data);
}

void SeenCode::end(uint32_t process) {
  const auto found = processes_.find(process);
  if (found == processes_.end()) return;
  place_all(found->second);
  found->second.code = found->second.data = {};
}

std::vector<SeenFile> SeenCode::files() {
  for (const auto& [number, process] : processes_) place_all(process);
  processes_.clear();
  std::vector<SeenFile> files;
  for (const auto& [key, places] : files_) {
    SeenFile& file = files.emplace_back();
    std::tie(file.path, file.build_id) = key;
    file.code.assign(places.code.begin(), places.code.end());
    file.data.assign(places.data.begin(), places.data.end());
    std::sort(file.code.begin(), file.code.end());
    std::sort(file.data.begin(), file.data.end());
  }
  return files;
}

}  // namespace penna
