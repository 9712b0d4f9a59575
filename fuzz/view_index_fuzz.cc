// SPDX-License-Identifier: MIT
// Arbitrary index nodes, even with a valid checksum: anything accepted as one can be written again and reads back the
// same.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "view/tracks/span_tree.h"

using namespace penna;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> input(data, size);
  (void)decode_node(input);
  NumberReader in(input);
  const std::optional<SpanNode> node = read_node(in);
  if (!node) return 0;
  const std::vector<uint8_t> bytes = encode_node(*node);
  const std::optional<SpanNode> again = decode_node(bytes);
  if (!again || encode_node(*again) != bytes || again->kept != node->kept || again->own != node->own) std::abort();
  return 0;
}
