// SPDX-License-Identifier: MIT
// See point_list.h.
#include "symbols/points/point_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "symbols/points/point_sites.h"

namespace penna {
namespace {

// The notes of each name that no site has taken, by address: {pc, index}.
using NotePlaces = std::set<std::pair<uint64_t, size_t>>;
using NotesByName = std::map<std::pair<std::string, std::string>, NotePlaces>;

// A site's nop comes after its slot, unless it is in cold code: then any remaining one is as good.
std::optional<size_t> take_note(NotesByName& named, const Site& site) {
  const auto found = named.find({site.provider, site.name});
  if (found == named.end() || found->second.empty()) return std::nullopt;
  NotePlaces& places = found->second;
  auto place = places.lower_bound({site.address, 0});
  if (place == places.end()) place = places.begin();
  const size_t index = place->second;
  places.erase(place);
  return index;
}

// Identifies a point: strings that cannot contain a zero, joined by zeros.
std::string key_of(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (std::string_view part : parts) (key += part) += '\0';
  return key;
}

}  // namespace

// The words used by penna list, also in JSON. 0 is not one of Penna's sites: a probe made by another header.
const char* point_kind_name(uint8_t kind) {
  switch (kind) {
    case 0: return "probe";
    case PENNA_SITE_SPAN: return "span";
    case PENNA_SITE_TRIGGER: return "trigger";
    case PENNA_SITE_POOL: return "pool";
    default: return "event";
  }
}

// Finds or makes the point with this key, and adds a place to it, for the caller to fill. The reference is valid until
// the next point is made.
ListedPoint& PointList::with_place(const std::string& key, ListedPoint&& point) {
  const auto [at, is_new] = index_.emplace(key, points_.size());
  if (is_new) {
    if (point.kind != 0) sites_[{point.provider, point.name}].push_back(points_.size());
    points_.push_back(std::move(point));
  }
  points_[at->second].places.emplace_back();
  return points_[at->second];
}

// Copies of one site (templates, inlining) are one point if they are on one line and have the same arguments.
ListedPoint& PointList::add(const Site& site) {
  std::string arguments;
  for (const SiteArgument& argument : site.arguments)
    (arguments += argument.name) += static_cast<char>(argument.type + 'A');
  const std::string line = std::to_string(site.line);
  ListedPoint point;
  point.provider = site.provider;
  point.name = site.name;
  point.arguments = site.arguments;
  point.kind = site.kind == 0 ? uint8_t{PENNA_SITE_EVENT} : site.kind;
  point.file = site.file;
  point.line = site.line;
  ListedPoint& listed = with_place(
      key_of({point_kind_name(site.kind), site.provider, site.name, site.file, line, arguments}), std::move(point));
  listed.places.back().slot = site.address;
  return listed;
}

// Compilers may give the code after a cold block its own copy of the nop: a point then has more notes than slots.
ListedPoint* PointList::site_of(const SdtNote& note, const std::string& file, uint32_t line) {
  const auto found = sites_.find({note.provider, note.name});
  if (found == sites_.end() || line == 0) return nullptr;
  const auto same = std::find_if(found->second.begin(), found->second.end(), [&](size_t index) {
    const ListedPoint& point = points_[index];
    return point.line == line && file.size() >= point.file.size() &&
           file.compare(file.size() - point.file.size(), point.file.size(), point.file) == 0;
  });
  return same == found->second.end() ? nullptr : &points_[*same];
}

// A note that no site has taken: a copy of one of Penna's, or a probe of another header. Without debug information only
// its function identifies it.
void PointList::add_note(const SdtNote& note, SymbolFile* symbols) {
  ListedPoint point;
  point.provider = note.provider;
  point.name = note.name;
  point.semaphore = note.semaphore;
  if (symbols != nullptr) {
    if (const std::vector<FrameName> frames = symbols->frames(note.pc, false); !frames.empty()) {
      point.file = frames[0].file;
      point.line = frames[0].line;
      point.function = frames[0].function;
    }
  }
  PointPlace place;
  place.probe = note.pc;
  place.operands = parse_sdt_args(note.args);
  if (ListedPoint* site = site_of(note, point.file, point.line)) {
    site->places.push_back(std::move(place));
    return;
  }
  const std::string source = point.file.empty() ? point.function : fmt::format("{}:{}", point.file, point.line);
  const std::string semaphore = std::to_string(note.semaphore);
  const std::string key =
      key_of({point_kind_name(0), note.provider, note.name, sdt_types_text(place.operands), source, semaphore});
  with_place(key, std::move(point)).places.back() = std::move(place);
}

// Sites first, in address order, each taking the note that follows it; the remaining notes are probes.
void PointList::add(const ElfFile& file, SymbolFile* symbols) {
  const std::vector<SdtNote> notes = read_sdt_notes(file);
  NotesByName named;
  for (size_t i = 0; i < notes.size(); ++i) named[{notes[i].provider, notes[i].name}].insert({notes[i].pc, i});
  std::vector<bool> taken(notes.size());
  std::vector<Site> sites = read_point_sites(file);
  std::stable_sort(sites.begin(), sites.end(), [](const Site& a, const Site& b) { return a.address < b.address; });
  for (const Site& site : sites) {
    ListedPoint& point = add(site);
    const std::optional<size_t> index = take_note(named, site);
    if (!index) continue;
    taken[*index] = true;
    point.semaphore = notes[*index].semaphore;
    point.places.back().probe = notes[*index].pc;
    point.places.back().operands = parse_sdt_args(notes[*index].args);
  }
  for (size_t i = 0; i < notes.size(); ++i)
    if (!taken[i]) add_note(notes[i], symbols);
}

}  // namespace penna
