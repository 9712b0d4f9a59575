// SPDX-License-Identifier: MIT
// Beside points.cc: the same inline function, template and lambda in two translation units, and a function nobody calls.
#include "penna/point.h"

inline int inline_site(int a) {
  PENNA_EVENT(link, in_inline, a);
  auto lambda = [](int b) { PENNA_EVENT(link, in_lambda, b); };
  lambda(a);
  return a;
}
template <class T>
T template_site(T a) {
  PENNA_EVENT(link, in_template, a);
  return a;
}
int unit_two(int a);

#ifdef UNIT_TWO
int unit_two(int a) { return inline_site(a) + template_site(a) + static_cast<int>(template_site(2.0)); }
int never_called(int a) {
  PENNA_EVENT(link, never_called, a);
  return a;
}
#else
int main(int argc, char**) {
  PENNA_EVENT(link, in_main, argc);
  return inline_site(argc) + template_site(argc) + unit_two(argc) == 0;
}
#endif
