// SPDX-License-Identifier: MIT
// In C++, besides: classes as arguments, templates, lambdas, described structs, and the namespace.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "all.h"

namespace user {

struct Order {
  uint32_t id = 1;
  double price = 2;
  std::string_view name = "order";
};
enum class Colour : unsigned char { kRed };

}  // namespace user

PENNA_STRUCT(user::Order, id, price, name);

namespace user {

template <class T>
int in_template(const T& value) {
  PENNA_EVENT(user, in_template, value);
  PENNA_EVENT_LAZY(user, lazy_in_template, value);
  PENNA_SPAN(user, span_in_template, value);
  PENNA_TRIGGER(
      user, trigger_in_template, [](const T&) {}, value);
  auto lambda = [&](auto again) {
    PENNA_EVENT(user, in_lambda, again, value);
    return 1;
  };
  return lambda(1.5f);
}

int classes() {
  const std::string text = "text";
  const std::vector<int> numbers = {1, 2};
  const std::array<double, 2> doubles = {1, 2};
  const Order order;
  const bool flag = true;
  PENNA_EVENT(user, classes, text, std::string_view(text), numbers, doubles, order, flag, nullptr, Colour::kRed);
  PENNA_EVENT(user, functions, &classes, classes, PENNA_ARG(answer, 42));
  PENNA_EVENT_LAZY(user, lazy_classes, text, numbers, order, Colour::kRed);
  PENNA_SPAN(user, span_of_classes, text, order);
  PENNA_SDT(user, probe_classes, text, numbers, flag, Colour::kRed, nullptr);
  return in_template(order) + in_template(text) + in_template(1) + in_template(1.5);
}

int switches() {
  int seen = penna::enable("user:*") + penna::disable("user:*") + penna::is_enabled("user:*") + penna::enable(25u) +
             penna::disable(25u) + penna::is_enabled(25u) + penna::disable_all();
  penna::for_each_point("*", [&](const penna::PointStatus& point) { seen += point.wanted != 0; });
  return seen;
}

int recorder(const char* file) {
  penna::RecorderOptions options;
  options.file = file;
  penna::Recorder recorder(options);
  const penna::Recorder plain;
  if (!penna::allow_attach()) return 0;
#if __cplusplus >= 202002L
  penna::Recorder designated({.file = "user.penna", .events = "user:*"});
#endif
  if (!plain) return static_cast<int>(sizeof(plain.error()));
  return recorder && recorder.stop();
}

}  // namespace user

int main(int count, char** arguments) {
  return count > 1 ? user_all(arguments[1]) + user::classes() + user::switches() + user::recorder(arguments[1]) : 0;
}
