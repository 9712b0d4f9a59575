// SPDX-License-Identifier: MIT
// The names stored in a recording: what is taken from the files at its end, and what a reader gets once these are gone.
#include "model/names/recorded_names.h"

#include <gmock/gmock.h>

#include "recording_builder.h"

namespace penna::recorded_names_test {
namespace {

using testing::IsEmpty;

// A program that is there, or was rebuilt: then nothing is known of it.
class Program : public SymbolSource {
 public:
  std::vector<SourceFrame> code(const NamedFile&, uint64_t address) override {
    ++asked;
    if (is_gone || address >= 0x2000) return {};
    if (is_stripped) return {{"pay(int)", "", 0, false}};
    if (address >= 0x1800) return {{"add(int)", "cart.h", 5, true}, {"pay(int)", "shop.cc", 7, false}};
    return {{"pay(int)", "shop.cc", 9, false}};
  }
  std::optional<uint64_t> function_start(const NamedFile&, uint64_t address) override {
    return is_gone || address >= 0x2000 ? std::nullopt : std::optional<uint64_t>(0x1000);
  }
  std::optional<uint64_t> unnamed_start(const NamedFile&, uint64_t address) override {
    return is_gone || address < 0x2000 ? std::nullopt : std::optional<uint64_t>(0x2000);
  }
  std::optional<DataSymbol> data(const NamedFile&, uint64_t address) override {
    if (is_gone || address < 0x4000) return std::nullopt;
    return DataSymbol{"shop", address - 0x4000, address == 0x4008 ? ".lock" : ""};
  }
  bool is_entry(const NamedFile&, uint64_t address) override { return !is_gone && address == 0x1010; }
  std::string problem(const NamedFile&) override { return is_gone ? "It was rebuilt" : ""; }

  bool is_gone = false, is_stripped = false;
  int asked = 0;
};

constexpr uint8_t kId[] = {1, 2, 3}, kOtherId[] = {1, 2, 4};
const std::string kPath = "/bin/program";

class RecordedNames : public testing::Test {
 protected:
  void SetUp() override { record(false); }
  void record(bool is_stripped) {
    Program program;
    program.is_stripped = is_stripped;
    const SeenFile seen{kPath, {1, 2, 3}, {0x1010, 0x1900, 0x2080, 0x3000}, {0x100, 0x4008, 0x4010}};
    RecordingBuilder build;
    for (const FileNames& names : names_of({seen}, program, program, [] { return true; })) build.names(names);
    recording_.emplace(build.open());
    auto gone = std::make_unique<Program>();
    program_ = gone.get();
    program_->is_gone = true;
    symbols_ = with_recorded_names(std::move(gone), *recording_, Demangle::kFull);
  }

  const NamedFile file_{kPath, kId}, rebuilt_{kPath, kOtherId};
  std::optional<Recording> recording_;
  std::unique_ptr<SymbolSource> symbols_;
  Program* program_ = nullptr;
};

TEST_F(RecordedNames, ServeOnceTheFileIsGone) {
  const auto frames = symbols_->code(file_, 0x1900);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].function, "add(int)");
  EXPECT_EQ(frames[0].file, "cart.h");
  EXPECT_EQ(frames[0].line, 5u);
  EXPECT_TRUE(frames[0].inlined);
  EXPECT_EQ(frames[1].function, "pay(int)");
  EXPECT_FALSE(frames[1].inlined);
  EXPECT_EQ(symbols_->function_start(file_, 0x1900), 0x1000u);
  EXPECT_EQ(symbols_->unnamed_start(file_, 0x1900), std::nullopt);
  EXPECT_TRUE(symbols_->is_entry(file_, 0x1010));
  EXPECT_FALSE(symbols_->is_entry(file_, 0x1900));
  const auto lock = symbols_->data(file_, 0x4008);
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->name + lock->member, "shop.lock");
  EXPECT_EQ(lock->offset, 8u);
}

TEST_F(RecordedNames, SayWhereFunctionsWithoutNameBegin) {
  EXPECT_THAT(symbols_->code(file_, 0x2080), IsEmpty());
  EXPECT_EQ(symbols_->unnamed_start(file_, 0x2080), 0x2000u);
  EXPECT_EQ(symbols_->function_start(file_, 0x2080), std::nullopt);
}

TEST_F(RecordedNames, AreOfThatBuildAndThosePlacesOnly) {
  EXPECT_THAT(symbols_->code(rebuilt_, 0x1900), IsEmpty());
  EXPECT_FALSE(symbols_->data(rebuilt_, 0x4008));
  EXPECT_THAT(symbols_->code(file_, 0x1901), IsEmpty());
  EXPECT_FALSE(symbols_->data(file_, 0x100));
  EXPECT_THAT(symbols_->code({"/bin/other", kId}, 0x1900), IsEmpty());
}

TEST_F(RecordedNames, WithALineSaveTheLookInTheFile) {
  program_->is_gone = false;
  EXPECT_EQ(symbols_->code(file_, 0x1900).at(0).line, 5u);
  EXPECT_EQ(program_->asked, 0);
}

TEST_F(RecordedNames, WithoutALineGiveWayToTheFile) {
  record(true);
  program_->is_gone = false;
  EXPECT_EQ(symbols_->code(file_, 0x1010).at(0).line, 9u) << "debug information came since";
  program_->is_gone = true;
  EXPECT_EQ(symbols_->code(file_, 0x1010).at(0).function, "pay(int)");
}

TEST_F(RecordedNames, LeaveTheRestToTheFile) {
  program_->is_gone = false;
  EXPECT_EQ(symbols_->code(file_, 0x1010).at(0).line, 9u);
  EXPECT_EQ(symbols_->code(file_, 0x1701).at(0).function, "pay(int)") << "a place that did not occur";
  program_->is_stripped = true;
  EXPECT_EQ(symbols_->code(file_, 0x1900).at(0).function, "add(int)") << "the recording knows lines, the file none";
  EXPECT_EQ(symbols_->code(file_, 0x1701).at(0).line, 0u);
}

TEST(NamesOf, StopsWhenItIsToldTo) {
  Program program, libc;
  const SeenFile library{"/lib/x86_64-linux-gnu/libc.so.6", {1}, {0x1010, 0x1020}, {}};
  const SeenFile own{"/home/me/app", {1}, {0x1010, 0x1020}, {}};
  int left = 3;
  const auto names = names_of({library, own}, program, libc, [&] { return left-- > 0; });
  EXPECT_EQ(program.asked, 2);
  EXPECT_EQ(libc.asked, 1) << "of another source";
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0].path, "/home/me/app") << "the program's own files first";
  EXPECT_EQ(names[0].places.size(), 2u);
  EXPECT_EQ(names[1].places.size(), 1u);
}

// A recording that keeps none is read as ever.
TEST(NamesOf, NothingChangesNothing) {
  RecordingBuilder build;
  const Recording recording = build.open();
  auto program = std::make_unique<Program>();
  const SymbolSource* const same = program.get();
  EXPECT_EQ(with_recorded_names(std::move(program), recording, Demangle::kFull).get(), same);
}

}  // namespace
}  // namespace penna::recorded_names_test
