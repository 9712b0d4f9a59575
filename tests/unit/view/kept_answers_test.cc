// SPDX-License-Identifier: MIT
// KeptAnswers: an answer is kept in a recording's index, and only given again where everything is as it was.
#include "view/tracks/kept_answers.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "view/tracks/index_file.h"

namespace penna::kept_answers_test {
namespace {

using testing::Optional;

class ToldTextsTest : public testing::Test {
 protected:
  ToldTextsTest() { std::filesystem::create_directories(directory_); }
  ~ToldTextsTest() override { std::filesystem::remove_all(directory_); }
  void make_index(uint64_t identity = 7) const {
    auto file = IndexFile::create(path_);
    ASSERT_TRUE(file);
    const std::vector<uint8_t> tables(100, 1);
    ASSERT_TRUE(file->finish(identity, tables));
  }
  KeptAnswers open(const std::string& key = "key", uint64_t identity = 7) const {
    return {{missing_, path_}, identity, key};
  }

  const std::string directory_ = testing::TempDir() + "/penna-told-" + std::to_string(::getpid());
  const std::string path_ = directory_ + "/a.view", missing_ = directory_ + "/none/b.view";
};

TEST_F(ToldTextsTest, WhatIsKeptComesBack) {
  const std::string long_text(100'000, 'x');
  {
    KeptAnswers texts = open();
    texts.keep("one", "{\"a\":1}");  // before there is an index
    EXPECT_FALSE(open().find("one"));
    make_index();
    texts.index_is_made();
    texts.keep("two", long_text);
  }
  const auto size = std::filesystem::file_size(path_);
  KeptAnswers again = open();
  EXPECT_THAT(again.find("one"), Optional(std::string("{\"a\":1}")));
  EXPECT_THAT(again.find("two"), Optional(long_text));
  EXPECT_FALSE(again.find("three"));
  std::vector<uint8_t> tables;
  EXPECT_TRUE(IndexFile::open(path_, 7, &tables)) << "the index is whole";
  EXPECT_EQ(tables.size(), 100u);
  again.index_is_made();
  EXPECT_EQ(std::filesystem::file_size(path_), size) << "nothing was new";
}

TEST_F(ToldTextsTest, OfAnotherRecordingOrOtherNamesItIsMadeAnew) {
  make_index();
  KeptAnswers texts = open();
  texts.index_is_made();
  texts.keep("one", "text");
  EXPECT_FALSE(open("other key").find("one"));
  EXPECT_FALSE(open("key", 8).find("one"));
  EXPECT_FALSE(open("").find("one"));
  KeptAnswers other = open("other key");
  other.index_is_made();
  other.keep("one", "another text");
  EXPECT_FALSE(open().find("one")) << "it was replaced";
  EXPECT_THAT(open("other key").find("one"), Optional(std::string("another text")));
  make_index();
  EXPECT_FALSE(open("other key").find("one")) << "a new index has none";
}

TEST_F(ToldTextsTest, DamageIsNoticed) {
  make_index();
  KeptAnswers texts = open();
  texts.index_is_made();
  texts.keep("one", std::string(1000, 'y'));
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  EXPECT_FALSE(open().find("one"));
}

}  // namespace
}  // namespace penna::kept_answers_test
