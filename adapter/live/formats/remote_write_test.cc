#include "adapter/live/formats/remote_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <snappy.h>

#include <limits>
#include <string>

#include "absl/strings/str_join.h"
#include "adapter/live/formats/testing/write_request.h"
#include "promql/text.h"

namespace flyball::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What a request held, as lines of text: `name=value,… value@time …`.
struct RequestContent {
  absl::Status status;
  std::vector<std::string> series;
  std::vector<std::string> families;
};

std::string Describe(const WrittenSeries& series) {
  std::vector<LabelView> labels(series.labels.begin(), series.labels.end());
  absl::Status status = series.status;
  if (!series.key.empty()) status.Update(ReadKey(series.key, labels));
  status.Update(NormalizeLabels(labels));
  std::string line = absl::StrJoin(labels, ",", [](std::string* out, const LabelView& label) {
    absl::StrAppend(out, label.name, "=", label.value);
  });
  for (const WrittenSample& sample : series.samples) {
    absl::StrAppend(&line, " ", promql::FormatValue(sample.value), "@", sample.time_ms);
  }
  if (series.histograms > 0) absl::StrAppend(&line, " histograms:", series.histograms);
  if (series.exemplars > 0) absl::StrAppend(&line, " exemplars:", series.exemplars);
  if (!series.unit.empty()) absl::StrAppend(&line, " unit:", series.unit);
  if (!status.ok()) absl::StrAppend(&line, " ! ", status.message());
  return line;
}

RequestContent Read(WriteVersion version, const Message& request) {
  RequestContent told;
  told.status = ReadWriteRequest(
      version, request.bytes(),
      [&](const WrittenSeries& series) { told.series.push_back(Describe(series)); },
      [&](const FamilyMetadata& family) {
        told.families.push_back(absl::StrCat(family.name, " ", MetricTypeName(*family.type), " ",
                                             family.help.value_or(""), " ",
                                             family.unit.value_or("")));
      });
  return told;
}

TEST(RemoteWrite1, SeriesInTheirOrderAndFamilies) {
  const Message request =
      Message()
          .Add(1, SeriesMessage({{"__name__", "up"}, {"job", "a"}}, {{1000, 1}, {2000, -0.5}}))
          .Add(1, SeriesMessage({{"z", "1"}, {"__name__", "x"}, {"empty", ""}}, {{-5, 0}})
                      .Add(3, Message())
                      .Add(4, Message())
                      .Bytes(99, "later versions"))
          .Add(3, Message().Varint(1, 1).Bytes(2, "up_total").Bytes(4, "Help.").Bytes(5, "s"))
          .Varint(98, 7);
  const RequestContent told = Read(WriteVersion::k1, request);
  EXPECT_TRUE(told.status.ok()) << told.status;
  EXPECT_THAT(told.series, ElementsAre("__name__=up,job=a 1@1000 -0.5@2000",
                                       "__name__=x,z=1 0@-5 histograms:1 exemplars:1"));
  EXPECT_THAT(told.families, ElementsAre("up_total counter Help. s"));
}

TEST(RemoteWrite1, EqualLabelsHaveEqualKeys) {
  const Message one = SeriesMessage({{"__name__", "up"}, {"job", "a"}}, {{1, 1}});
  const Message same = SeriesMessage({{"__name__", "up"}, {"job", "a"}}, {{2, 5}, {3, 5}});
  const Message other = SeriesMessage({{"__name__", "up"}, {"job", "b"}}, {{1, 1}});
  std::vector<std::string> keys;
  const Message request = Message().Add(1, one).Add(1, same).Add(1, other);
  ASSERT_TRUE(ReadWriteRequest(
                  WriteVersion::k1, request.bytes(),
                  [&](const WrittenSeries& series) { keys.emplace_back(series.key); },
                  [](const FamilyMetadata&) {})
                  .ok());
  ASSERT_EQ(keys.size(), 3u);
  EXPECT_FALSE(keys[0].empty());
  EXPECT_EQ(keys[0], keys[1]);
  EXPECT_NE(keys[0], keys[2]);
}

TEST(RemoteWrite1, LabelsWithSamplesBetweenThemAreRead) {
  const Message series =
      SeriesMessage({{"__name__", "up"}}, {{1, 1}}).Add(1, Message().Bytes(1, "job").Bytes(2, "a"));
  EXPECT_THAT(Read(WriteVersion::k1, Message().Add(1, series)).series,
              ElementsAre("__name__=up,job=a 1@1"));
}

TEST(RemoteWrite1, RefusesSeriesWithoutProperLabels) {
  const auto refused = [](const TextLabels& labels) {
    return Read(WriteVersion::k1, Message().Add(1, SeriesMessage(labels, {{1, 1}}))).series.at(0);
  };
  EXPECT_THAT(refused({{"job", "a"}}), HasSubstr("! a series has no __name__"));
  EXPECT_THAT(refused({}), HasSubstr("! a series has no __name__"));
  EXPECT_THAT(refused({{"__name__", "x"}, {"a", "1"}, {"a", "1"}}),
              HasSubstr("! label \"a\" is there twice"));
  EXPECT_THAT(refused({{"__name__", "x"}, {"", "1"}}), HasSubstr("! a label has no name"));
  EXPECT_THAT(refused({{"__name__", "x"}, {"a", "\xff"}}), HasSubstr("is not UTF-8"));
}

TEST(NormalizeLabels, LooksAtLimitsBeforeTexts) {
  const auto normalize = [](std::vector<LabelView> labels) { return NormalizeLabels(labels); };
  const std::string name(257, 'n'), value(4097, '\xff');
  EXPECT_EQ(normalize({{"__name__", "x"}, {"a", value}}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(normalize({{"__name__", "x"}, {name, "1"}}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(normalize({{"__name__", "x"}, {"a", absl::string_view(value).substr(1)}}).code(),
            absl::StatusCode::kInvalidArgument);
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) names.push_back(absl::StrCat("a", i));
  std::vector<LabelView> labels(1000, {"empty", ""});
  labels.push_back({"__name__", "x"});
  for (int i = 0; i < 63; ++i) labels.push_back({names[i], "1"});
  EXPECT_TRUE(normalize(labels).ok());
  labels.push_back({names[63], "1"});
  EXPECT_EQ(normalize(labels).message(), "a series has more than 64 labels");
}

TEST(ReadWriteRequest, NoMemoryIsTakenOfMoreLabelsThanMayBeSent) {
  Message together, numbers;
  for (size_t i = 0; i <= kMaxSentLabels; ++i) {
    together.Bytes(1, "");
    numbers.Packed(1, {0, 0});
  }
  Message scattered = together;
  scattered.Add(2, Message()).Bytes(1, "");
  numbers.Add(2, Message());
  EXPECT_THAT(Read(WriteVersion::k1, Message().Add(1, together).Add(1, scattered)).series,
              testing::Each(HasSubstr("more than 1024 labels")));
  EXPECT_THAT(Read(WriteVersion::k2, Message().Bytes(4, "").Add(5, numbers)).series,
              testing::Each(HasSubstr("more than 1024 labels")));
}

TEST(RemoteWrite1, WhatIsNoMessageIsRefusedWholly) {
  const Message series = SeriesMessage({{"__name__", "up"}}, {{1, 1}});
  const std::string whole = Message().Add(1, series).bytes();
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(ReadWriteRequest(
                  WriteVersion::k1, absl::string_view(whole).substr(0, size),
                  [](const WrittenSeries&) { FAIL() << "of half a series"; },
                  [](const FamilyMetadata&) {})
                  .code(),
              absl::StatusCode::kInvalidArgument)
        << size;
  }
  EXPECT_FALSE(Read(WriteVersion::k1, Message().Varint(1, 5)).status.ok());
  EXPECT_FALSE(Read(WriteVersion::k1, Message().Add(1, Message().Bytes(2, "\x09"))).status.ok());
}

TEST(RemoteWrite2, SymbolsAreLookedUpWhereverTheyStand) {
  const Message request = Message()
                              .Add(5, Message()
                                          .Packed(1, {1, 2, 3, 4})
                                          .Add(2, Message().Double(1, 2).Varint(2, 1000))
                                          .Add(5, Message().Varint(1, 2).Varint(3, 5).Varint(4, 6)))
                              .Bytes(4, "")
                              .Bytes(4, "__name__")
                              .Bytes(4, "up")
                              .Bytes(4, "job")
                              .Bytes(4, "a")
                              .Bytes(4, "Help.")
                              .Bytes(4, "s")
                              .Add(5, Message().Varint(1, 1).Varint(1, 2).Add(3, Message()));
  const RequestContent told = Read(WriteVersion::k2, request);
  EXPECT_TRUE(told.status.ok()) << told.status;
  EXPECT_THAT(told.series,
              ElementsAre("__name__=up,job=a 2@1000 unit:s", "__name__=up histograms:1"));
}

TEST(RemoteWrite2, SeriesThatMustBeRefusedAreToldWithTheReason) {
  const Message sample = Message().Double(1, 1).Varint(2, 1);
  const Message request = Message()
                              .Bytes(4, "")
                              .Bytes(4, "__name__")
                              .Bytes(4, "up")
                              .Add(5, Message().Packed(1, {1, 2, 1}).Add(2, sample))
                              .Add(5, Message().Packed(1, {1, 7}).Add(2, sample))
                              .Add(5, Message().Packed(1, {1, 2}))
                              .Add(5, Message().Packed(1, {1, 2}).Add(2, sample));
  const RequestContent told = Read(WriteVersion::k2, request);
  ASSERT_TRUE(told.status.ok()) << told.status;
  EXPECT_THAT(
      told.series,
      ElementsAre(HasSubstr("! a series has a label without a value"),
                  HasSubstr("! a label refers to symbol 7, of which there are 3"),
                  HasSubstr("! a series has neither sample nor histogram"), "__name__=up 1@1"));
  EXPECT_THAT(Read(WriteVersion::k2, Message().Bytes(4, "x")).status.message(),
              HasSubstr("the first symbol of a request must be empty"));
}

// Symbols and samples without content take many times their bytes.
TEST(RemoteWrite2, OfSymbolsAndSamplesThereAreNotTooMany) {
  std::string symbols, samples;
  for (int i = 0; i < 250'001; ++i) {
    symbols.append("\x22\0", 2);
    samples.append("\x12\0", 2);
  }
  const auto ignore_series = [](const WrittenSeries&) {};
  const auto ignore_family = [](const FamilyMetadata&) {};
  EXPECT_THAT(ReadWriteRequest(WriteVersion::k2, symbols, ignore_series, ignore_family).message(),
              HasSubstr("more than 250000 symbols"));
  absl::Status refused;
  size_t taken = 0;
  const auto see = [&](const WrittenSeries& series) {
    refused = series.status;
    taken = series.samples.size();
  };
  const std::string request = Message().Bytes(4, "").Bytes(5, samples).bytes();
  EXPECT_TRUE(ReadWriteRequest(WriteVersion::k2, request, see, ignore_family).ok());
  EXPECT_THAT(refused.message(), HasSubstr("more than 250000 samples"));
  EXPECT_EQ(taken, 250'000u);
}

TEST(RemoteWrite1, AKeyIsThatOfItsOwnLabelsOnly) {
  const std::string long_value(300, 'v');
  const std::vector<promql::LabelSet> sets = {
      {{"__name__", "up"}},
      {{"__name__", "up"}, {"job", "a"}},
      {{"__name__", "up"}, {"job", "b"}},
      {{"__name__", "up"}, {"job", long_value}},
      {{"__name__", long_value}, {"job", std::string(120, 'v')}},
  };
  const auto key_of = [](const promql::LabelSet& labels) {
    std::string key;
    const Message request = Message().Add(1, SeriesMessage({labels.begin(), labels.end()}, {}));
    EXPECT_TRUE(ReadWriteRequest(
                    WriteVersion::k1, request.bytes(),
                    [&](const WrittenSeries& series) { key = std::string(series.key); },
                    [](const FamilyMetadata&) {})
                    .ok());
    return key;
  };
  for (size_t i = 0; i < sets.size(); ++i) {
    const std::string key = key_of(sets[i]);
    ASSERT_FALSE(key.empty());
    for (size_t j = 0; j < sets.size(); ++j) {
      EXPECT_EQ(IsKeyOf(key, promql::Labels(sets[j])), i == j) << i << " " << j;
    }
    EXPECT_FALSE(IsKeyOf(key.substr(0, key.size() - 1), promql::Labels(sets[i])));
    EXPECT_FALSE(IsKeyOf(key + "x", promql::Labels(sets[i])));
  }
  // In another order, or with a label without a value, the bytes name the series too; not so.
  EXPECT_FALSE(IsKeyOf(key_of({{"job", "a"}, {"__name__", "up"}}), promql::Labels(sets[1])));
}

TEST(RemoteWriteHeaders, SayTheVersion) {
  const auto version = [](absl::string_view type, absl::string_view encoding = "snappy") {
    const auto said = WriteVersionOf(type, encoding);
    return !said.ok()                  ? std::string(said.status().message())
           : *said == WriteVersion::k1 ? "1"
                                       : "2";
  };
  EXPECT_EQ(version("application/x-protobuf"), "1");
  EXPECT_EQ(version("Application/X-Protobuf; proto=prometheus.WriteRequest", "Snappy"), "1");
  EXPECT_EQ(version("application/x-protobuf;proto=io.prometheus.write.v2.Request"), "2");
  EXPECT_THAT(version("application/x-protobuf;proto=other"), HasSubstr("expected application/"));
  EXPECT_THAT(version("application/json"), HasSubstr("content type \"application/json\""));
  EXPECT_THAT(version("application/x-protobuf", "gzip"), HasSubstr("expected snappy"));
  EXPECT_EQ(version("application/x-protobuf;;a=b ; proto=io.prometheus.write.v2.Request"), "2");
  const std::string longer(100'000, '\x01');
  EXPECT_LT(version(longer).size(), 2200u);
  EXPECT_LT(version("application/x-protobuf", longer).size(), 2200u);
}

TEST(Snappy, IsHeldToTheLimitBeforeItTakesMemory) {
  const std::string text(5000, 'x');
  std::string packed;
  snappy::Compress(text.data(), text.size(), &packed);
  EXPECT_EQ(UncompressSnappy(packed, 5000).value(), text);
  EXPECT_EQ(UncompressSnappy(packed, 4999).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(UncompressSnappy(packed.substr(0, packed.size() - 1), 5000).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(UncompressSnappy("", 5000).status().code(), absl::StatusCode::kInvalidArgument);
  // Says 4 GiB in a few bytes.
  EXPECT_EQ(
      UncompressSnappy("\xff\xff\xff\xff\x0f", std::numeric_limits<size_t>::max()).status().code(),
      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace flyball::formats
