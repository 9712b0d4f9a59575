// SPDX-License-Identifier: MIT
#include <stdio.h>

enum { CUSTOMERS = 1000, ORDERS = 10000 };
struct customer {
  char name[16];
  long cents;
} customers[CUSTOMERS]; /* sorted by name */

static inline int lower(int letter) { return letter >= 'A' && letter <= 'Z' ? letter + 32 : letter; }

static inline int compare(const char* a, const char* b) {
  for (; *a && lower(*a) == lower(*b); a++) b++;
  return lower(*a) - lower(*b);
}

struct customer* find_customer(const char* name) {
  int low = 0;
#ifdef FIXED
  for (int high = CUSTOMERS - 1; low < high;) {
    int middle = (low + high) / 2;
    if (compare(customers[middle].name, name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
#else
  while (compare(customers[low].name, name) != 0) low++;
#endif
  return &customers[low];
}

void take_order(int number) {
  char name[16];
  snprintf(name, sizeof name, "CUSTOMER %04d", number * 7 % CUSTOMERS);
  find_customer(name)->cents += number;
}

long total(void) {
  long sum = 0;
  for (int i = 0; i < CUSTOMERS; i++) sum += customers[i].cents;
  return sum;
}

int main(void) {
  for (int i = 0; i < CUSTOMERS; i++) snprintf(customers[i].name, sizeof customers[i].name, "Customer %04d", i);
  for (int number = 0; number < ORDERS; number++) take_order(number);
  printf("%ld cents\n", total());
}
