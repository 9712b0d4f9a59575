// SPDX-License-Identifier: MIT
#include <functional>
#include <map>
#include <memory>
#include <vector>

struct Order {
  int number;
  double price;
  char customer[24];
};

std::map<int, std::shared_ptr<Order>>* open_orders = new std::map<int, std::shared_ptr<Order>>;

void keep(const Order& order) { (*open_orders)[order.number] = std::make_shared<Order>(order); }

void each(const std::vector<Order>& orders, const std::function<void(const Order&)>& visit) {
  for (const Order& order : orders) visit(order);
}

void serve() {
  std::vector<Order> orders;
  for (int number = 0; number < 200; number++) orders.push_back({number, 2.5, "Ada"});
  each(orders, keep);
}

int main() {
  serve();
  open_orders = nullptr;
}
