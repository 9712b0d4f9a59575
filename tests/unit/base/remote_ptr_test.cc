// SPDX-License-Identifier: MIT
#include "base/remote_ptr.h"

#include <gtest/gtest.h>

#include <concepts>

namespace penna {
namespace {

struct Node {
  uint32_t kind, length;
  Node* next;
  const char* name;
  uint16_t sizes[4];
};
static_assert(sizeof(RemotePtr<Node>) == sizeof(uintptr_t));

TEST(RemotePtr, CountsInItsOwnUnitsAndWrapsAround) {
  constexpr RemotePtr<Node> node(0x1000);
  EXPECT_EQ((node + 2).number(), 0x1000 + 2 * sizeof(Node));
  EXPECT_EQ((node - 1).number(), 0x1000 - sizeof(Node));
  EXPECT_EQ((RemotePtr<uint64_t>(UINT64_MAX - 7) + 1), RemotePtr<uint64_t>());
  EXPECT_EQ(bytes_between(node, node + 1), sizeof(Node));
  EXPECT_EQ(aligned_down(RemoteBytes(0x1237), 16).number(), 0x1230u);
}

TEST(RemotePtr, LeadsToMembers) {
  constexpr RemotePtr<Node> node(0x1000);
  EXPECT_EQ(field(node, &Node::kind).number(), 0x1000u);
  EXPECT_EQ(field(node, &Node::length).number(), 0x1004u);
  static_assert(std::same_as<decltype(field(node, &Node::length)), RemotePtr<uint32_t>>);
}

TEST(RemotePtr, TakesPointersThereForAddresses) {
  constexpr RemotePtr<Node> node(0x1000);
  EXPECT_EQ(field(node, &Node::next).number(), 0x1000 + offsetof(Node, next));
  static_assert(std::same_as<decltype(field(node, &Node::next)), RemotePtr<RemotePtr<Node>>>);
  static_assert(std::same_as<decltype(field(node, &Node::name)), RemotePtr<RemotePtr<const char>>>);
  EXPECT_EQ(field(node, &Node::sizes).number(), 0x1000 + offsetof(Node, sizes));
  static_assert(std::same_as<decltype(field(node, &Node::sizes)), RemotePtr<uint16_t>>);
}

}  // namespace
}  // namespace penna
