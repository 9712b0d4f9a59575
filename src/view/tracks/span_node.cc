// SPDX-License-Identifier: MIT
// See span_tree.h. Here: the file format of a node.
#include <algorithm>

#include "view/tracks/packed_numbers.h"
#include "view/tracks/span_tree.h"

namespace penna {
namespace {

void write(NumberWriter& out, const std::vector<Span>& spans) {
  out.number(spans.size());
  int64_t before = 0;
  for (const Span& one : spans) out.difference(one.start - before), before = one.start;
  for (const Span& one : spans) out.number(static_cast<uint64_t>(one.duration));
  for (const Span& one : spans) out.number(one.row);
  for (const Span& one : spans) out.number(one.name);
  for (const Span& one : spans) out.number(one.flags);
}

void read(NumberReader& in, std::vector<Span>& spans) {
  spans.resize(in.count(5));
  int64_t before = 0;
  for (Span& one : spans) before = one.start = in.time(before, in.difference());
  for (Span& one : spans) one.duration = in.length();
  for (Span& one : spans) one.row = in.small();
  for (Span& one : spans) one.name = in.small();
  for (Span& one : spans) one.flags = static_cast<uint8_t>(in.small());
}

// A name's time is stored as a fraction of the sum's, rounded down: a lower bound.
constexpr int64_t kShares = 250;
uint64_t share_of(const SpanSum& sum) {
  const int64_t part = sum.time / kShares;
  return part == 0 ? 0 : static_cast<uint64_t>(std::min(kShares, sum.name_time / part));
}

void write(NumberWriter& out, const std::vector<SpanSum>& sums) {
  out.number(sums.size());
  int64_t before = 0;
  for (const SpanSum& one : sums) out.difference(one.first - before), before = one.first;
  for (const SpanSum& one : sums) out.difference(one.last_end - one.first);
  for (const SpanSum& one : sums) out.number(one.row);
  for (const SpanSum& one : sums) out.number(one.count);
  for (const SpanSum& one : sums) out.number(static_cast<uint64_t>(one.time));
  for (const SpanSum& one : sums) out.number(one.name);
  for (const SpanSum& one : sums) out.number(share_of(one));
}

void read(NumberReader& in, std::vector<SpanSum>& sums) {
  sums.resize(in.count(7));
  int64_t before = 0;
  for (SpanSum& one : sums) before = one.first = one.last = in.time(before, in.difference());
  for (SpanSum& one : sums) one.last_end = in.time(one.first, in.difference());
  for (SpanSum& one : sums) one.row = in.small();
  for (SpanSum& one : sums) one.count = in.number();
  for (SpanSum& one : sums) one.time = in.length();
  for (SpanSum& one : sums) one.name = in.small();
  for (SpanSum& one : sums) one.name_time = one.time / kShares * static_cast<int64_t>(in.small() % (kShares + 1));
}

void write(NumberWriter& out, const std::vector<uint32_t>& rising) {
  out.number(rising.size());
  uint32_t before = 0;
  for (const uint32_t one : rising) out.number(one - before), before = one;
}

void read(NumberReader& in, std::vector<uint32_t>& rising) {
  rising.resize(in.count());
  uint32_t before = 0;
  for (uint32_t& one : rising) before = one = before + in.small();
}

}  // namespace

void write_ref(NumberWriter& out, const NodeRef& ref) {
  out.number(ref.offset);
  out.number(ref.bytes);
  out.difference(ref.begin);
  out.difference(ref.last_start - ref.begin);
  out.difference(ref.last_end - ref.last_start);
  out.difference(ref.longest_summed);
  out.number(static_cast<uint64_t>(ref.spread));
}

NodeRef read_ref(NumberReader& in) {
  NodeRef ref;
  ref.offset = in.number();
  ref.bytes = in.small();
  ref.begin = in.time(0, in.difference());
  ref.last_start = in.time(ref.begin, in.difference());
  ref.last_end = in.time(ref.last_start, in.difference());
  ref.longest_summed = in.time(0, in.difference());
  ref.spread = in.length();
  return ref;
}

std::vector<uint8_t> encode_node(const SpanNode& node) {
  NumberWriter out;
  write(out, node.kept);
  write(out, node.sums);
  write(out, node.own);
  write(out, node.names);
  out.number(node.children.size());
  for (const NodeRef& child : node.children) write_ref(out, child);
  out.number(node.chunks.first);
  out.number(node.chunks.end - node.chunks.first);
  out.number(node.chunks.floor);
  out.number(node.chunks.open.size());
  for (const uint32_t name : node.chunks.open) out.number(name);
  return pack(out);
}

std::optional<SpanNode> decode_node(std::span<const uint8_t> bytes) {
  const std::optional<std::vector<uint8_t>> plain = unpack(bytes);
  if (!plain) return {};
  NumberReader in(*plain);
  return read_node(in);
}

std::optional<SpanNode> read_node(NumberReader& in) {
  SpanNode node;
  read(in, node.kept);
  read(in, node.sums);
  read(in, node.own);
  read(in, node.names);
  node.children.resize(in.count(7));
  for (NodeRef& child : node.children) child = read_ref(in);
  node.chunks.first = in.small();
  node.chunks.end = node.chunks.first + in.small();
  node.chunks.floor = in.number();
  node.chunks.open.resize(in.count());
  for (uint32_t& name : node.chunks.open) name = in.small();
  if (!in.ok() || !in.at_end() || node.chunks.end < node.chunks.first) return {};
  return node;
}

}  // namespace penna
