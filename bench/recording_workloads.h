// SPDX-License-Identifier: MIT
// Chunks as real code fills them: small programs that stamp their own calls and allocations with the real clock.
//
// Why not random numbers: what compresses are the patterns of programs (who calls whom, which block is reused), and
// what does not is the jitter of the clock; synthetic data has neither. Invariant: every chunk is complete and
// undamaged.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "penna/channel.h"
#include "penna/clock.h"

namespace penna::workload {

class Recorder {
 public:
  void record(const uint64_t* words, size_t count) {
    if (chunks_.empty() || used_ + count * 8 > PENNA_CHUNK_BYTES) open();
    std::memcpy(chunks_.back().data() + used_, words, count * 8);
    used_ += count * 8;
  }
  void call(uint32_t tag, uint64_t pc) {
    uint64_t word = penna_call_header(tag, pc, penna_now());
    record(&word, 1);
  }
  void alloc(void* block, size_t size, uint32_t stack) {
    uint64_t words[3] = {penna_full_header(PENNA_KIND_ALLOC, 3, penna_now()), reinterpret_cast<uint64_t>(block),
                         uint64_t{size} << 32 | stack};
    record(words, 3);
  }
  void free(void* block) {
    uint64_t words[2] = {penna_full_header(PENNA_KIND_FREE, 2, penna_now()), reinterpret_cast<uint64_t>(block)};
    record(words, 2);
  }
  std::vector<std::vector<uint8_t>> take() {
    close();
    return std::move(chunks_);
  }
  size_t count() const { return chunks_.size(); }

 private:
  void open() {
    if (!chunks_.empty()) close();
    penna_chunk header{};
    header.ctf_magic = PENNA_CTF_MAGIC;
    header.time_begin = penna_now();
    header.packet_bits = uint64_t{PENNA_CHUNK_BYTES} * 8;
    header.tid = 1234;
    header.thread_serial = 1;
    header.sequence = chunks_.size();
    header.pc_high = 0x5555;
    chunks_.emplace_back(PENNA_CHUNK_BYTES);
    std::memcpy(chunks_.back().data(), &header, sizeof header);
    used_ = sizeof header;
  }
  void close() {
    penna_chunk header;
    std::memcpy(&header, chunks_.back().data(), sizeof header);
    header.time_end = penna_now();
    header.content_bits = used_ * 8;
    std::memcpy(chunks_.back().data(), &header, sizeof header);
  }
  std::vector<std::vector<uint8_t>> chunks_;
  size_t used_ = 0;
};

inline Recorder* recorder;  // of the running workload
inline bool trace_calls;
inline uint32_t stack_now;  // node of the tree of call paths
inline std::map<std::pair<uint32_t, uint32_t>, uint32_t> stack_tree;

// First declaration of traced function number `id`.
struct Scope {
  explicit Scope(uint32_t id) : pc(0x5555'5556'0000 + uint64_t{id} * 2654435761 % 0x40000 / 16 * 16), outer(stack_now) {
    if (trace_calls) {
      recorder->call(PENNA_TAG_ENTRY, pc);
      return;
    }
    stack_now = stack_tree.emplace(std::pair(outer, id), static_cast<uint32_t>(stack_tree.size() + 1)).first->second;
  }
  ~Scope() {
    if (trace_calls) recorder->call(PENNA_TAG_EXIT, pc);
    stack_now = outer;
  }
  uint64_t pc;
  uint32_t outer;
};

inline void* get(size_t size) {
  void* block = std::malloc(size);
  if (!trace_calls) recorder->alloc(block, size, stack_now);
  return block;
}
inline void put(void* block) {
  if (!trace_calls) recorder->free(block);
  std::free(block);
}

// A small interpreter: parses random documents of nested lists, words and numbers into a tree, walks it, frees it.
// Calls: 20 functions, recursive, with leaves. Allocations: nodes, growing arrays and strings with mixed lifetimes.
struct Node {
  uint32_t kind = 0, count = 0, capacity = 0;
  Node** items = nullptr;
  char* text = nullptr;
};

class Interpreter {
 public:
  explicit Interpreter(uint32_t seed) : random_(seed) {}
  uint64_t run() {
    Node* tree = parse(0);
    uint64_t sum = walk(tree) + walk(tree);
    destroy(tree);
    return sum;
  }

 private:
  uint32_t peek() {
    Scope scope(1);
    return static_cast<uint32_t>(random_() % 8);
  }
  Node* parse(int depth) {
    Scope scope(2);
    uint32_t token = depth < 2 ? 0 : peek();
    if (token < 3 && depth < 7) return parse_list(depth);
    return token < 6 ? parse_word() : parse_number();
  }
  Node* new_node(uint32_t kind) {
    Scope scope(3);
    return new (get(sizeof(Node))) Node{kind, 0, 0, nullptr, nullptr};
  }
  void append(Node* list, Node* item) {
    Scope scope(4);
    if (list->count == list->capacity) grow(list);
    list->items[list->count++] = item;
  }
  void grow(Node* list) {
    Scope scope(5);
    uint32_t capacity = list->capacity != 0 ? list->capacity * 2 : 2;
    auto** items = static_cast<Node**>(get(capacity * sizeof(void*)));
    if (list->count != 0) std::memcpy(items, list->items, list->count * sizeof(void*));
    if (list->items != nullptr) put(list->items);
    list->items = items;
    list->capacity = capacity;
  }
  Node* parse_list(int depth) {
    Scope scope(6);
    Node* list = new_node(0);
    for (uint64_t n = 2 + random_() % 6; n > 0; --n) append(list, parse(depth + 1));
    return list;
  }
  Node* parse_word() {
    Scope scope(7);
    Node* node = new_node(1);
    char scratch[64];
    size_t length = 3 + random_() % 40;
    for (size_t i = 0; i < length; ++i) scratch[i] = static_cast<char>('a' + (i * 7 + length) % 26);
    node->text = static_cast<char*>(get(length + 1));
    std::memcpy(node->text, scratch, length);
    node->text[length] = 0;
    return node;
  }
  Node* parse_number() {
    Scope scope(8);
    Node* node = new_node(2);
    node->count = static_cast<uint32_t>(random_());
    return node;
  }
  uint64_t hash(const char* text) {
    Scope scope(9);
    uint64_t value = 14695981039346656037u;
    for (; *text != 0; ++text) value = (value ^ static_cast<uint8_t>(*text)) * 1099511628211u;
    return value;
  }
  uint64_t walk(const Node* node) {
    Scope scope(10 + node->kind);
    if (node->kind == 1) return hash(node->text);
    if (node->kind == 2) return number(node);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < node->count; ++i) sum += walk(node->items[i]);
    return sum;
  }
  uint64_t number(const Node* node) {
    Scope scope(13);
    return node->count % 97;
  }
  void destroy(Node* node) {
    Scope scope(14);
    if (node->kind == 0) {
      for (uint32_t i = 0; i < node->count; ++i) destroy(node->items[i]);
      if (node->items != nullptr) put(node->items);
    } else if (node->kind == 1) {
      put(node->text);
    }
    put(node);
  }
  std::mt19937 random_;
};

// The worst case for calls: nothing but calls, as fast as the clock can stamp them.
inline uint64_t fib(uint32_t n) {
  Scope scope(20);
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

enum class Kind { kCalls, kFib, kAllocs, kMallocLoop };

inline std::vector<std::vector<uint8_t>> chunks_of(Kind kind, size_t count) {
  Recorder own;
  recorder = &own;
  trace_calls = kind == Kind::kCalls || kind == Kind::kFib;
  stack_now = 0;
  volatile uint64_t sink = 0;
  for (uint32_t round = 0; own.count() < count; ++round) switch (kind) {
      case Kind::kCalls:
      case Kind::kAllocs: sink = sink + Interpreter(round).run(); break;
      case Kind::kFib: sink = sink + fib(18); break;
      case Kind::kMallocLoop:
        for (int i = 0; i < 10'000; ++i) {
          Scope scope(21);
          put(get(16 + i % 8 * 16));
        }
        break;
    }
  recorder = nullptr;
  auto chunks = own.take();
  chunks.pop_back();  // not full
  return chunks;
}

}  // namespace penna::workload
