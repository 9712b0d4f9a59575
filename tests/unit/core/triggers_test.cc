// SPDX-License-Identifier: MIT
// Triggers in a program without an agent: what is called, how often, with which values; and how they are switched.
#include "penna/trigger.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/triggers_in_c.h"

namespace {

std::vector<std::string> said;
void say(const std::string& what) { said.push_back(what); }
std::vector<std::string> heard() {
  auto all = said;
  said.clear();
  return all;
}
using Said = std::vector<std::string>;

class Triggers : public ::testing::Test {
 protected:
  void SetUp() override {
    penna::disable_all();
    said.clear();
  }
};

// ft: what the ancestor's own example does.
void two_events() {
  PENNA_TRIGGER_ID(25, say, "Event 25");
  PENNA_TRIGGER_ID(99, say, "Event 99");
}

TEST_F(Triggers, are_off_at_first_and_go_by_number) {
  two_events();
  EXPECT_EQ(heard(), Said{});
  EXPECT_EQ(penna::enable(25), 2);  // this one, and one in C
  EXPECT_EQ(penna::enable(99), 2);
  two_events();
  EXPECT_EQ(heard(), (Said{"Event 25", "Event 99"}));
  penna::disable(99);
  two_events();
  EXPECT_EQ(heard(), Said{"Event 25"});
  EXPECT_EQ(penna::enable(4711), 0);
}

TEST_F(Triggers, enables_nest_and_are_never_negative) {
  auto pass = [] { PENNA_TRIGGER(unit, nested, say, "nested"); };
  penna::enable("unit:nested");
  penna::enable("unit:nested");
  EXPECT_EQ(penna::disable("unit:nested"), 1);
  pass();
  EXPECT_EQ(heard(), Said{"nested"});
  penna::disable("unit:nested");
  penna::disable("unit:nested");  // one too many
  pass();
  EXPECT_EQ(heard(), Said{});
  penna::enable("unit:nested");
  pass();
  EXPECT_EQ(heard(), Said{"nested"});
  EXPECT_EQ(penna::is_enabled("unit:nested"), 1);
}

TEST_F(Triggers, globs_switch_what_they_match) {
  auto pass = [] {
    PENNA_TRIGGER(glob, send, say, "send");
    PENNA_TRIGGER(glob, receive, say, "receive");
    PENNA_TRIGGER(globe, send, say, "globe");
  };
  EXPECT_EQ(penna::enable("glob:*"), 2);
  pass();
  EXPECT_EQ(heard(), (Said{"send", "receive"}));
  EXPECT_EQ(penna::disable("*:send"), 2);
  pass();
  EXPECT_EQ(heard(), Said{"receive"});
  penna::enable("glob?:[rs]end");
  pass();
  EXPECT_EQ(heard(), (Said{"receive", "globe"}));
  penna::disable_all();
  pass();
  EXPECT_EQ(heard(), Said{});
  EXPECT_EQ(penna::is_enabled("*"), 0);
}

struct Functor {
  void operator()(int& value, std::unique_ptr<int> owned) const { value += *owned; }
};

TEST_F(Triggers, any_callable_with_any_arguments) {
  int value = 1, evaluated = 0;
  const std::string text = "by reference";
  void (*pointer)(const std::string&) = say;
  auto pass = [&] {
    PENNA_TRIGGER(
        call, lambda,
        [&value, &text](int a, int b) {
          int c = 1, d = 2;
          value += a + b + c + d;
          say(text);
        },
        ++evaluated, 10);
    PENNA_TRIGGER(call, functor, Functor{}, value, std::make_unique<int>(100));
    PENNA_TRIGGER(call, pointer, pointer, text + "!");
    PENNA_TRIGGER(call, result_is_dropped, [] { return 5; });
  };
  pass();
  EXPECT_EQ(evaluated, 0);
  EXPECT_EQ(penna::enable("call:*"), 4);
  pass();
  EXPECT_EQ(evaluated, 1);
  EXPECT_EQ(value, 1 + 1 + 10 + 3 + 100);
  EXPECT_EQ(heard(), (Said{"by reference", "by reference!"}));
}

TEST_F(Triggers, what_a_callback_throws_is_thrown) {
  auto pass = [] { PENNA_TRIGGER(unit, thrower, [] { throw std::runtime_error("thrown"); }); };
  EXPECT_NO_THROW(pass());
  penna::enable("unit:thrower");
  EXPECT_THROW(pass(), std::runtime_error);
}

TEST_F(Triggers, a_callback_may_switch_triggers) {
  int calls = 0;
  auto pass = [&] {
    PENNA_TRIGGER(unit, once, [&] {
      ++calls;
      penna::disable("unit:once");
      penna::enable("unit:other");
    });
    PENNA_TRIGGER(unit, other, say, "other");
  };
  penna::enable("unit:once");
  for (int i = 0; i < 3; ++i) pass();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(heard(), (Said{"other", "other", "other"}));
}

// A leaf function with values in its red zone and in vector registers, and a callback that uses all it may.
struct alignas(32) Vectors {
  float at[8];
};
__attribute__((noinline)) void busy_callback(double x) {
  char text[64];
  Vectors vectors{};
  for (float& f : vectors.at) f = static_cast<float>(x);
  std::snprintf(text, sizeof text, "%f %d", static_cast<double>(vectors.at[7]),
                static_cast<int>(reinterpret_cast<uintptr_t>(&vectors) % 32));
  say(text);
}
template <int kOdd>
__attribute__((noinline)) double leaf(const double* in) {
  double a = in[0] * 3, b = in[1] * 5, c = in[2] * 7, d = in[3] * 11;
  volatile char zone[120 + kOdd];
  for (int i = 0; i < 120 + kOdd; ++i) zone[i] = static_cast<char>(i);
  PENNA_TRIGGER(unit, leaf, busy_callback, in[0]);
  int sum = 0;
  for (int i = 0; i < 120 + kOdd; ++i) sum += zone[i];
  return a + b * 2 + c * 4 + d * 8 + sum;
}

TEST_F(Triggers, nothing_around_them_changes) {
  const std::array<double, 4> in = {1.25, -2.5, 1e10, 1e-10};
  const double off[] = {leaf<0>(in.data()), leaf<3>(in.data()), leaf<8>(in.data())};
  EXPECT_EQ(penna::enable("unit:leaf"), 1);  // three copies of one site
  const double on[] = {leaf<0>(in.data()), leaf<3>(in.data()), leaf<8>(in.data())};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(on[i], off[i]);
  EXPECT_EQ(heard(), (Said{"1.250000 0", "1.250000 0", "1.250000 0"}));
}

template <int kNumber>
void numbered() {
  PENNA_TRIGGER_ID(kNumber, say, std::to_string(kNumber));
}

TEST_F(Triggers, a_template_may_give_the_number) {
  penna::enable(1002);
  numbered<1001>();
  numbered<1002>();
  numbered<1003>();
  EXPECT_EQ(heard(), Said{"1002"});
}

__attribute__((always_inline)) inline void inlined(const char* text) { PENNA_TRIGGER(unit, inlined, say, text); }

TEST_F(Triggers, copies_of_a_site_count_once) {
  penna::enable("unit:inlined");
  inlined("one");
  inlined("two");
  auto more = [] { inlined("three"); };
  more();
  EXPECT_EQ(heard(), (Said{"one", "two", "three"}));
  EXPECT_EQ(penna::disable("unit:inlined"), 1);
  inlined("four");
  more();
  EXPECT_EQ(heard(), Said{});
}

TEST_F(Triggers, c_has_them_too) {
  c_pass(7);
  EXPECT_EQ(c_calls[0] + c_calls[1] + c_calls[2], 0);
  EXPECT_EQ(c_enable("in_c:*"), 1);
  EXPECT_EQ(c_enable_id(25), 2);
  EXPECT_EQ(c_enable_id(99), 2);
  c_pass(7);
  EXPECT_EQ(c_calls[0], 7);
  EXPECT_EQ(c_calls[1], 1);
  EXPECT_EQ(c_calls[2], 1 + 7 + 10);
  c_disable_id(25);
  c_pass(7);
  EXPECT_EQ(c_calls[1], 1);
}

TEST_F(Triggers, events_are_counted_though_nobody_records) {
  PENNA_EVENT(unit, event, 1);
  EXPECT_EQ(penna::enable("unit:event"), 1);
  EXPECT_EQ(penna::is_enabled("unit:event"), 1);
  PENNA_EVENT(unit, event_again, 1);  // and passed without harm
  EXPECT_EQ(penna::disable("unit:event*"), 2);
}

TEST_F(Triggers, can_be_listed) {
  penna::enable(1002);
  struct Found {
    std::string name, file;
    uint32_t line, number, kind, wanted;
  };
  std::vector<Found> found;
  const int count = penna::for_each_point("*", [&](const penna::PointStatus& point) {
    found.push_back({std::string(point.provider) + ":" + point.name, point.file, point.line, point.number, point.kind,
                     point.wanted});
  });
  EXPECT_EQ(static_cast<size_t>(count), found.size());
  int inlined_sites = 0, on = 0;
  for (const Found& site : found) {
    EXPECT_FALSE(site.name.empty());
    EXPECT_NE(site.line, 0u);
    inlined_sites += site.name == "unit:inlined";
    on += site.wanted != 0;
    if (site.number == 1002) {
      EXPECT_EQ(site.name, "trigger:kNumber");
      EXPECT_EQ(site.kind, static_cast<uint32_t>(PENNA_SITE_TRIGGER));
      EXPECT_EQ(site.wanted, 1u);
      EXPECT_TRUE(site.file.ends_with("triggers_test.cc"));
    }
    if (site.name == "unit:event") {
      EXPECT_EQ(site.kind, static_cast<uint32_t>(PENNA_SITE_EVENT));
    }
  }
  EXPECT_EQ(inlined_sites, 1);
  EXPECT_EQ(on, 1);
  EXPECT_EQ(penna::for_each_point("in_c:*", [](const penna::PointStatus&) {}), 1);
  // What is called may switch.
  penna::for_each_point("unit:once", [](const penna::PointStatus&) { penna::enable("unit:once"); });
  EXPECT_EQ(penna::is_enabled("unit:once"), 1);
  EXPECT_EQ(c_list_two(), 2);
}

TEST_F(Triggers, there_may_be_any_number_of_requests) {
  for (uint32_t id = 100000; id < 102000; ++id) ASSERT_EQ(penna::enable(id), 0) << id;
  for (int round = 0; round < 1000; ++round) {
    ASSERT_EQ(penna::enable("unit:*n*e*"), 3) << round;
    ASSERT_EQ(penna::disable("unit:nested"), 1) << round;
    ASSERT_EQ(penna::disable("unit:once"), 1) << round;
  }
  EXPECT_EQ(penna::is_enabled("unit:nested"), 0);
  EXPECT_EQ(penna::is_enabled("unit:*n*e*"), 1);
  EXPECT_EQ(penna::enable(25), 2);
  penna::disable_all();
  EXPECT_EQ(penna::enable("unit:nested"), 1);
}

TEST_F(Triggers, a_refusal_is_not_the_answer_for_unknown_names) {
  EXPECT_EQ(penna::enable("nobody:knows"), 0);
  EXPECT_GT(penna::enable(std::string(1000, '*')), 0);  // as long as one likes
  EXPECT_GT(penna::is_enabled(std::string(1000, '*')), 0);
  EXPECT_EQ(penna::enable(std::string(100000, '*')), -1);
  EXPECT_EQ(penna::disable(std::string(100000, '*')), -1);
}

TEST_F(Triggers, no_page_is_writable_and_executable_at_rest) {
  auto worst = [] {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.find(" rwx") != std::string::npos) return line;
    return std::string();
  };
  EXPECT_EQ(worst(), "");
  penna::enable("*");
  EXPECT_EQ(worst(), "");
  penna::disable_all();
  EXPECT_EQ(worst(), "");
}

}  // namespace
