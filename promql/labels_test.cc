#include "promql/labels.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/container/flat_hash_set.h"

namespace flyball::promql {
namespace {

const LabelSet kPlain = {{"__name__", "x"}, {"a", "1"}, {"long", std::string(300, 'v')}};

TEST(Labels, GivesBackWhatItWasMadeOf) {
  const Labels labels(kPlain);
  EXPECT_EQ(labels.ToLabelSet(), kPlain);
  EXPECT_EQ(labels.Get("a"), "1");
  EXPECT_EQ(labels.Get("long").size(), 300u);
  EXPECT_EQ(labels.Get("b"), "");
  EXPECT_EQ(Labels::FromEncoded(labels.encoded()), labels);
  EXPECT_EQ(sizeof(Labels), sizeof(void*));
}

// The text is not there: it is refused by its length alone, before it is read.
TEST(Labels, RefuseATextWhoseLengthTheyCannotKeep) {
  std::string encoded;
  const absl::string_view long_text("x", size_t{1} << 32);
  EXPECT_THROW(AppendLabel("a", long_text, &encoded), std::length_error);
  EXPECT_THROW(Labels::FromEncoded(long_text), std::length_error);
}

TEST(Labels, WithoutAnyLabelTakeNoMemory) {
  EXPECT_TRUE(Labels().empty());
  EXPECT_TRUE(Labels(LabelSet()).empty());
  EXPECT_TRUE(Labels().begin() == Labels().end());
  EXPECT_EQ(Labels().hash(), Labels::HashOfEncoded(""));
}

TEST(Labels, AreEqualByTheirText) {
  absl::flat_hash_set<Labels> set;
  EXPECT_TRUE(set.insert(Labels(kPlain)).second);
  EXPECT_FALSE(set.insert(Labels(kPlain)).second);
  EXPECT_TRUE(set.insert(Labels()).second);
  // The same bytes in a row, cut differently.
  EXPECT_NE(Labels(LabelSet{{"a", "bc"}}), Labels(LabelSet{{"ab", "c"}}));
}

TEST(Labels, OutliveWhatTheyWereCopiedFrom) {
  Labels copy;
  {
    const Labels labels(kPlain);
    copy = labels;
    EXPECT_EQ(copy.encoded().data(), labels.encoded().data()) << "copies share their texts";
  }
  EXPECT_EQ(copy.ToLabelSet(), kPlain);
  Labels moved = std::move(copy);
  moved = Labels(moved);
  EXPECT_EQ(moved.ToLabelSet(), kPlain);
}

TEST(Labels, HaveTheOrderOfPlainOnes) {
  const LabelSet sets[] = {{},
                           {{"A", "1"}},
                           {{"a", "1"}},
                           {{"a", "1"}, {"b", "1"}},
                           {{"a", "1"}, {"c", "1"}},
                           {{"a", "2"}},
                           {{"ab", "1"}},
                           {{"b", "1"}},
                           kPlain,
                           {{"a", std::string(254, 'v')}},
                           {{"a", std::string(255, 'v')}},
                           {{"a", std::string(256, 'v')}},
                           {{"a", std::string(255, 'v') + "a"}, {"b", "1"}},
                           {{"a", "12345678"}, {"b", "12345678"}},
                           {{"a", "12345678"}, {"b", "12345679"}},
                           {{"a", "\xff"}},
                           {{"a", "123"}}};
  for (const LabelSet& a : sets) {
    for (const LabelSet& b : sets) {
      EXPECT_EQ(Labels(a) <=> Labels(b), a <=> b);
      EXPECT_EQ(Labels(a) == Labels(b), a == b);
    }
  }
}

TEST(LabelsBuilder, SortsAndLeavesOutEmptyValues) {
  LabelsBuilder builder;
  builder.Add("b", "2");
  builder.Add("gone", "");
  builder.Add("a", "1");
  EXPECT_EQ(builder.Build(), Labels(LabelSet{{"a", "1"}, {"b", "2"}}));
}

TEST(LabelsBuilder, ChangesLabels) {
  const Labels base(kPlain);
  LabelsBuilder builder(base);
  builder.Set("long", "");
  builder.Set("a", "3");
  builder.Set("new", "4");
  EXPECT_EQ(builder.Build(), Labels(LabelSet{{"__name__", "x"}, {"a", "3"}, {"new", "4"}}));
}

TEST(LabelsBuilder, TellsANameThatIsThereTwice) {
  LabelsBuilder builder;
  builder.Add("b", "1");
  builder.Add("a", "1");
  builder.Add("b", "2");
  Labels labels;
  absl::string_view twice;
  EXPECT_FALSE(builder.Build(&labels, &twice));
  EXPECT_EQ(twice, "b");
  builder.Clear();
  builder.Add("b", "1");
  builder.Add("b", "");
  EXPECT_TRUE(builder.Build(&labels, &twice)) << "an empty value is no label";
  EXPECT_EQ(labels, Labels(LabelSet{{"b", "1"}}));
}

}  // namespace
}  // namespace flyball::promql
