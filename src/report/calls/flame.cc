// SPDX-License-Identifier: MIT
// See flame.h.
#include "report/calls/flame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "report/text.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr size_t kNarrow = 4;  // columns: a narrower frame has no room for a word

// Colours from xterm's 256: warm ones with dark text; grey for frames that stand for several.
constexpr uint8_t kWarm[] = {172, 178, 179, 208, 209, 214, 215, 216, 220, 221};
constexpr uint8_t kGrey = 250;

// Weights are sums from an untrusted file.
uint64_t saturating(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

std::string padded(std::string text, size_t width) {
  const size_t is = display_width(text);
  return is < width ? text.append(width - is, ' ') : text;
}

}  // namespace

// Only the innermost frame gets the weight; sum_up() passes it on to the callers.
void Flame::add(std::span<const std::string_view> frames, uint64_t weight) {
  uint32_t node = 0;
  for (const std::string_view frame : frames) node = child(node, frame);
  nodes_[node].total = saturating(nodes_[node].total, weight);
}

// Names are numbered, so that two numbers identify a node.
uint32_t Flame::child(uint32_t parent, std::string_view name) {
  auto number = numbers_.find(name);
  if (number == numbers_.end()) {
    number = numbers_.emplace(std::string(name), static_cast<uint32_t>(names_.size())).first;
    names_.push_back(printable(name));
  }
  const auto [found, added] =
      children_.try_emplace(pair_key(parent, number->second), static_cast<uint32_t>(nodes_.size()));
  if (added) {
    nodes_[parent].children.push_back(found->second);
    nodes_.push_back({parent, number->second, 0, {}});
  }
  return found->second;
}

// Parents have smaller numbers than their children, so one pass from the end sums up everything. Equal totals are
// ordered by name: the drawing does not depend on the order of the stacks.
void Flame::sum_up() {
  for (size_t i = nodes_.size(); i-- > 1;)
    nodes_[nodes_[i].parent].total = saturating(nodes_[nodes_[i].parent].total, nodes_[i].total);
  for (Node& node : nodes_)
    std::sort(node.children.begin(), node.children.end(), [this](uint32_t a, uint32_t b) {
      return nodes_[a].total != nodes_[b].total ? nodes_[a].total > nodes_[b].total
                                                : names_[nodes_[a].name] < names_[nodes_[b].name];
    });
}

// The frames below one. Columns are rounded from the running sum, not individually: errors do not add up, and the last
// frame ends no later than its caller.
std::vector<Flame::Frame> Flame::below(const Frame& frame) const {
  std::vector<Frame> frames;
  if (frame.merged != 0 || frame.total == 0) return frames;
  const std::vector<uint32_t>& children = nodes_[frame.node].children;
  const double scale = static_cast<double>(frame.end - frame.begin) / static_cast<double>(frame.total);
  double sum = 0;
  const auto column = [&] { return std::min(frame.end, frame.begin + static_cast<size_t>(std::llround(sum * scale))); };
  for (size_t i = 0; i < children.size(); ++i) {
    Frame next{children[i], 0, column(), 0, nodes_[children[i]].total};
    const size_t left = children.size() - i;
    sum += static_cast<double>(next.total);
    if (column() - next.begin < kNarrow && left > 1) {  // and all that follow are narrower
      next.merged = left;
      for (size_t j = i + 1; j < children.size(); ++j) {
        next.total = saturating(next.total, nodes_[children[j]].total);
        sum += static_cast<double>(nodes_[children[j]].total);
      }
    }
    next.end = column();
    if (next.end > next.begin) frames.push_back(next);
    if (next.merged != 0) break;
  }
  return frames;
}

// What fits: name and share, else the name, cut in the middle.
std::string Flame::label(const Frame& frame, size_t room, const FlameStyle& style, const std::string& all) const {
  const char* dots = style.ascii ? "..." : "…";
  if (frame.merged != 0) {
    const std::string text = fmt::format("{}({})", dots, frame.merged);
    return display_width(text) <= room ? text : cut_middle(dots, room);
  }
  const std::string& name = names_[nodes_[frame.node].name];
  const double share = 100 * static_cast<double>(frame.total) / static_cast<double>(nodes_[0].total);
  const std::string text = name + " " + (frame.node == 0 ? all : percent_text(share));
  return display_width(text) <= room ? text : cut_middle(name, room);
}

// Blanks between frames keep each below its caller. A one-column frame is a bar: brackets would need two.
std::string Flame::row(const std::vector<Frame>& frames, const FlameStyle& style, const std::string& all) const {
  std::string line;
  size_t at = 0;
  for (const Frame& frame : frames) {
    line.append(frame.begin - at, ' ');
    at = frame.end;
    const size_t width = frame.end - frame.begin;
    if (!style.color) {
      line += width == 1 ? "|" : "[" + padded(label(frame, width - 2, style, all), width - 2) + "]";
      continue;
    }
    // The last column stays blank to separate neighbours of the same colour.
    const size_t field = width > 1 ? width - 1 : width;
    const std::string& name = names_[nodes_[frame.node].name];
    const uint8_t color = frame.merged != 0 ? kGrey : kWarm[TextHash{}(name) % std::size(kWarm)];
    line += fmt::format("\033[38;5;16;48;5;{}m{}\033[0m", color, padded(label(frame, field, style, all), field));
    if (width > field) line += ' ';
  }
  return line + "\n";
}

// Row by row, breadth first: only two rows of frames are in memory.
bool Flame::print(const FlameStyle& style, const FlameUnit& unit, const TextSink& sink) {
  sum_up();
  const uint64_t total = nodes_[0].total;
  if (total == 0) return sink(fmt::format("There is nothing to draw: no weight {} was recorded.\n", unit.noun));
  const std::string all = fmt::format("{} {}", cell_text(number(total), unit.kind), unit.noun);
  std::vector<Frame> frames = {{0, 0, 0, style.width, total}};
  for (size_t rows = 0; !frames.empty(); ++rows) {
    if (rows == kMaxRows) return sink(fmt::format("Calls deeper than {} levels are not drawn.\n", kMaxRows));
    if (!sink(row(frames, style, all))) return false;
    std::vector<Frame> next;
    for (const Frame& frame : frames) {
      const std::vector<Frame> its = below(frame);
      next.insert(next.end(), its.begin(), its.end());
    }
    frames = std::move(next);
  }
  return true;
}

}  // namespace penna
