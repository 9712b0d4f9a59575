// SPDX-License-Identifier: MIT
// A shop with two tills and a bookkeeper: the smallest program in which all four kinds of event occur, and go wrong.
//
//   points  shop:order, shop:paid and others, left in the code by its author
//   calls   built with -finstrument-functions
//   alloc   the receipt of every tenth order is copied and never freed: the leak
//   locks   the bookkeeper holds the ledger for 50 ms while a till waits for it: the contention
// Usage: orders [ORDERS]. Prints the sum of the ledger, the same each time.
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "penna/point.h"

namespace shop {

constexpr int kTills = 2;
constexpr long kAuditMs = 50;

struct Order {
  int number;
  int items;
  double price;
  const char* customer;
};

struct Ledger {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  long cents = 0;
  int orders = 0;
};

Ledger ledger;
std::atomic<bool> audited{false}, waited_for{false};

Order next_order(int number) {
  static const char* const kCustomers[] = {"Ada", "Grace", "Barbara"};
  return {number, 1 + number % 4, 2.5 * (1 + number % 7), kCustomers[number % 3]};
}

char* print_receipt(const Order& order) {
  char* receipt = static_cast<char*>(malloc(256));
  snprintf(receipt, 256, "%d: %d at %.2f for %s", order.number, order.items, order.price, order.customer);
  return receipt;
}

// For every tenth order the customer asks for a copy, which is never freed.
char* copy_receipt(const char* receipt) {
  char* copy = static_cast<char*>(malloc(1000));  // the leak
  snprintf(copy, 1000, "%s (copy)", receipt);
  PENNA_EVENT(shop, copied, copy);
  return copy;
}

void pay(const Order& order) {
  if (audited && !waited_for.exchange(true)) PENNA_EVENT(shop, audit_in_the_way, order.number);
  pthread_mutex_lock(&ledger.mutex);
  ledger.cents += static_cast<long>(order.items * order.price * 100);
  ++ledger.orders;
  PENNA_EVENT(shop, paid, order.number, ledger.cents);
  pthread_mutex_unlock(&ledger.mutex);
}

void serve(int number) {
  const Order order = next_order(number);
  PENNA_EVENT(shop, order, order.number, order.items, order.price, order.customer);
  char* receipt = print_receipt(order);
  pay(order);
  if (number % 10 == 0) copy_receipt(receipt);
  free(receipt);
}

void pause_ms(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

// Takes the ledger, and releases it some time after a till has begun to wait for it.
void audit() {
  pthread_mutex_lock(&ledger.mutex);
  audited = true;
  while (!waited_for) pause_ms(1);
  pause_ms(kAuditMs);
  pthread_mutex_unlock(&ledger.mutex);
}

struct Till {
  pthread_t thread;
  int first, last;
};

void* run_till(void* argument) {
  const Till& till = *static_cast<Till*>(argument);
  for (int number = till.first; number <= till.last; ++number) serve(number);
  return nullptr;
}

void* run_audit(void*) {
  audit();
  return nullptr;
}

}  // namespace shop

int main(int argc, char** argv) {
  using namespace shop;
  const int orders = argc > 1 ? atoi(argv[1]) : 40;
  pthread_t bookkeeper;
  if (pthread_create(&bookkeeper, nullptr, run_audit, nullptr) != 0) return 1;
  while (!audited) pause_ms(1);
  Till tills[kTills];
  for (int i = 0; i < kTills; ++i) {
    tills[i] = {{}, orders * i / kTills + 1, orders * (i + 1) / kTills};
    if (pthread_create(&tills[i].thread, nullptr, run_till, &tills[i]) != 0) return 1;
  }
  for (const Till& till : tills) pthread_join(till.thread, nullptr);
  pthread_join(bookkeeper, nullptr);
  printf("%d orders, %ld.%02ld in the ledger\n", ledger.orders, ledger.cents / 100, ledger.cents % 100);
  return 0;
}
