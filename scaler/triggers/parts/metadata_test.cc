#include "scaler/triggers/parts/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "scaler/spec/scheduled_targets.h"

namespace flyball::scaler {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TriggerSpec Spec(std::map<std::string, std::string> metadata) {
  TriggerSpec spec;
  spec.metadata = std::move(metadata);
  return spec;
}

// Keys a to g of that kind.
class OfKind {
 public:
  explicit OfKind(MetadataKey key) {
    for (const absl::string_view name : {"a", "b", "c", "d", "e", "f", "g"}) {
      key.name = name;
      all_.push_back(key);
    }
    keys_ = {all_};
  }
  const MetadataKeys& keys() const { return keys_; }

 private:
  std::vector<MetadataKey> all_;
  MetadataKeys keys_;
};

MetadataKey Key(KeyKind kind, absl::string_view otherwise = "") {
  return {"", kind, otherwise, "", ""};
}

TEST(MetadataTest, WhiteSpaceAroundAValueDoesNotCount) {
  const TriggerSpec spec = Spec({{"a", " \t"}, {"b", " x y\n"}});
  const OfKind text(Key(KeyKind::kText));
  Metadata metadata(spec, 0, text.keys());
  EXPECT_FALSE(metadata.Has("a"));
  EXPECT_EQ(metadata.Text("a"), "");
  EXPECT_EQ(metadata.Text("b"), "x y");
  EXPECT_TRUE(metadata.status().ok());
}

TEST(MetadataTest, NumbersAreJsons) {
  const OfKind number(Key(KeyKind::kNumber, "99"));
  for (const char* good : {"0", "-1", "2.5", "1e3", "1E-3", " 7 "}) {
    const TriggerSpec spec = Spec({{"a", good}});
    Metadata metadata(spec, 0, number.keys());
    EXPECT_NE(metadata.Number("a"), 99) << good;
    EXPECT_TRUE(metadata.status().ok()) << good;
  }
  for (const char* bad : {"+5", "05", ".5", "5.", "0x10", "1_0", "NaN", "inf", "1e999", "5 5"}) {
    const TriggerSpec spec = Spec({{"a", bad}});
    Metadata metadata(spec, 0, number.keys());
    EXPECT_EQ(metadata.Number("a"), 99) << bad;
    EXPECT_FALSE(metadata.status().ok()) << bad;
  }
}

TEST(MetadataTest, IntegersHaveNoFraction) {
  const TriggerSpec spec = Spec({{"a", "10.0"}, {"b", "9223372036854775808"}, {"c", "-3"}});
  const OfKind integer(Key(KeyKind::kInteger));
  Metadata metadata(spec, 2, integer.keys());
  metadata.Integer("a");
  metadata.Integer("b");
  EXPECT_EQ(metadata.Integer("c"), -3);
  EXPECT_EQ(metadata.status().message(),
            R"(triggers[2].metadata.a: expected a whole number, got "10.0"; )"
            R"(triggers[2].metadata.b: expected a whole number, got "9223372036854775808")");
}

TEST(MetadataTest, BoolsAreGos) {
  const TriggerSpec spec = Spec({{"a", "T"}, {"b", "False"}, {"c", "yes"}, {"d", "tRUE"}});
  const OfKind truth(Key(KeyKind::kBool, "true"));
  Metadata metadata(spec, 0, truth.keys());
  EXPECT_TRUE(metadata.Bool("a"));
  EXPECT_FALSE(metadata.Bool("b"));
  EXPECT_TRUE(metadata.Bool("e"));
  EXPECT_TRUE(metadata.status().ok());
  EXPECT_TRUE(metadata.Bool("c"));
  EXPECT_TRUE(metadata.Bool("d"));
  EXPECT_THAT(
      std::string(metadata.status().message()),
      AllOf(HasSubstr("metadata.c: expected true"), HasSubstr("metadata.d: expected true")));
}

TEST(MetadataTest, DurationsAreTextOrMilliseconds) {
  const TriggerSpec spec =
      Spec({{"a", "1500"}, {"b", "1m30s"}, {"c", "-1s"}, {"d", "soon"}, {"e", "0"}, {"f", "inf"}});
  const OfKind duration(Key(KeyKind::kDuration, "3s"));
  Metadata metadata(spec, 0, duration.keys());
  EXPECT_EQ(metadata.Duration("a"), absl::Milliseconds(1500));
  EXPECT_EQ(metadata.Duration("b"), absl::Seconds(90));
  EXPECT_EQ(metadata.Duration("g"), absl::Seconds(3));
  EXPECT_TRUE(metadata.status().ok());
  for (const char* bad : {"c", "d", "e", "f"}) {
    Metadata again(spec, 0, duration.keys());
    again.Duration(bad);
    EXPECT_FALSE(again.status().ok()) << bad;
  }
}

TEST(MetadataTest, PairsHaveOneEqualsSignEach) {
  const TriggerSpec spec =
      Spec({{"a", "k=v, l = w"}, {"e", "k=v,l=w,k=x"}, {"b", "k=v=w"}, {"c", "k"}, {"d", "=v"}});
  const OfKind pairs(Key(KeyKind::kPairs));
  Metadata metadata(spec, 0, pairs.keys());
  EXPECT_THAT(metadata.Pairs("a"), ElementsAre(Pair("k", "v"), Pair("l", "w")));
  EXPECT_THAT(metadata.Pairs("e"), ElementsAre(Pair("l", "w"), Pair("k", "x")));
  EXPECT_TRUE(metadata.status().ok());
  for (const char* bad : {"b", "c", "d"}) {
    Metadata again(spec, 0, pairs.keys());
    EXPECT_THAT(again.Pairs(bad), IsEmpty());
    EXPECT_FALSE(again.status().ok());
    // The value may be a credential.
    EXPECT_THAT(std::string(again.status().message()), testing::Not(HasSubstr("v=w")));
  }
}

TEST(MetadataTest, TargetsAreAboveZero) {
  const TriggerSpec spec = Spec({{"a", "2.5"}, {"b", "0"}, {"c", "x"}});
  const OfKind target(Key(KeyKind::kTarget, kRequired));
  Metadata metadata(spec, 0, target.keys());
  EXPECT_EQ(metadata.Target("a"), 2500);
  metadata.Target("b");
  metadata.Target("c");
  metadata.Target("d");
  EXPECT_EQ(metadata.status().message(), R"(triggers[0].metadata.b: must be greater than 0; )"
                                         R"(triggers[0].metadata.c: expected a number, got "x"; )"
                                         R"(triggers[0].metadata.d: is required)");
}

// A schedule's target that the trigger would refuse would make it unknown while that is open.
TEST(MetadataTest, TargetsAreThoseThatASchedulesMayBe) {
  const OfKind target(Key(KeyKind::kTarget, kRequired));
  std::vector<TriggerSpec> triggers(1);
  triggers[0].type = "prometheus";
  triggers[0].name = "t";
  for (const char* text :
       {"2.5", " 7 ", "1e3", "0.001", "0.0006", "0.0004", "0",    "-1",     "",      " ",
        "x",   ".5",  "5.",  "05",    "+5",     "inf",    "9e15", "9.1e15", "1e300", "1e999"}) {
    const TriggerSpec spec = Spec({{"a", text}});
    Metadata metadata(spec, 0, target.keys());
    metadata.Target("a");
    EXPECT_EQ(metadata.status().ok(),
              TargetProblem({.name = "t", .amount = text}, {}, triggers).empty())
        << text;
  }
}

TEST(MetadataTest, OneOfTheWordsOrWhatCountsWithoutOne) {
  const TriggerSpec spec = Spec({{"a", " yaml "}, {"b", "toml"}, {"c", "json, yaml"}});
  const OfKind words({"", KeyKind::kOneOf, "json", "", "json, yaml"});
  Metadata metadata(spec, 0, words.keys());
  EXPECT_EQ(metadata.OneOf("a"), "yaml");
  EXPECT_EQ(metadata.OneOf("d"), "json");
  EXPECT_TRUE(metadata.status().ok());
  EXPECT_EQ(metadata.OneOf("b"), "json");
  EXPECT_EQ(metadata.OneOf("c"), "json");
  EXPECT_EQ(metadata.status().message(),
            R"(triggers[0].metadata.b: expected one of json, yaml, got "toml"; )"
            R"(triggers[0].metadata.c: expected one of json, yaml, got "json, yaml")");
}

TEST(MetadataTest, WhatIsRefusedSaysWhy) {
  const TriggerSpec spec = Spec({{"a", "x"}, {"b", " "}});
  const OfKind refused({"", KeyKind::kRefused, "", "ask another"});
  Metadata metadata(spec, 1, refused.keys());
  metadata.Refuse();
  EXPECT_EQ(metadata.status().message(), "triggers[1].metadata.a: ask another");
}

TEST(MetadataTest, ASecretForWhatIsReadElsewhereIsRefused) {
  TriggerSpec spec = Spec({});
  for (const char* parameter : {"a", "b"}) spec.secrets[parameter] = {"s", "k"};
  const OfKind text(Key(KeyKind::kText)), secret(Key(KeyKind::kSecret));
  Metadata of_texts(spec, 1, text.keys()), of_secrets(spec, 1, secret.keys());
  of_texts.Refuse();
  EXPECT_EQ(of_texts.status().message(),
            R"(triggers[1].authenticationSecretRefs: "a" is read from the metadata alone; )"
            R"(triggers[1].authenticationSecretRefs: "b" is read from the metadata alone)");
  of_secrets.Refuse();
  EXPECT_TRUE(of_secrets.status().ok()) << of_secrets.status();
  spec.secrets = {{"unheard of", {"s", "k"}}};
  Metadata of_nothing(spec, 0, secret.keys());
  of_nothing.Refuse();
  EXPECT_EQ(of_nothing.status().message(),
            R"(triggers[0].authenticationSecretRefs: "unheard of" is no parameter of this type)");
}

TEST(MetadataTest, AKeyIsReadAsTheTableHasIt) {
  const TriggerSpec spec = Spec({{"a", "1"}});
  const OfKind number(Key(KeyKind::kNumber));
  Metadata metadata(spec, 0, number.keys());
  metadata.Bool("a");
  metadata.Number("unheard of");
  EXPECT_THAT(std::string(metadata.status().message()),
              AllOf(HasSubstr("metadata.a: is read otherwise"),
                    HasSubstr("metadata.unheard of: is read otherwise")));
}

}  // namespace
}  // namespace flyball::scaler
