#include "adapter/live/formats/protobuf_exposition.h"

#include <malloc.h>

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapter/live/formats/series_labels.h"
#include "adapter/live/formats/testing/write_request.h"
#include "promql/engine/series.h"
#include "promql/text.h"

namespace flyball::formats {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class SampleLines : public ScrapeSink {
 public:
  void OnSample(const ScrapedSample& sample) override {
    std::string line =
        absl::StrCat(sample.series, " ",
                     promql::IsStale(sample.value) ? "stale" : promql::FormatValue(sample.value));
    if (sample.time_ms) absl::StrAppend(&line, " @", *sample.time_ms);
    lines.push_back(line);
    SeriesLabels labels;
    EXPECT_TRUE(labels.Read(sample.series, sample.type, true).ok()) << sample.series;
  }
  void OnMetadata(const FamilyMetadata& metadata) override {
    lines.push_back(absl::StrCat("# ", metadata.name, " ", MetricTypeName(*metadata.type), " ",
                                 metadata.help.value_or(""), " ", metadata.unit.value_or("")));
  }
  std::vector<std::string> lines;
};

std::string Family(const Message& family) { return Message().Add(1, family).bytes().substr(1); }

std::vector<std::string> Parse(const std::string& page) {
  SampleLines sink;
  const absl::Status status = ParseProtobufExposition(page, sink);
  if (!status.ok()) sink.lines.push_back(absl::StrCat("! ", status.message()));
  return sink.lines;
}

Message Label(const std::string& name, const std::string& value) {
  return Message().Bytes(1, name).Bytes(2, value);
}

TEST(ParseProtobufExposition, ValuesWithLabelsAndStamps) {
  const Message value = Message().Double(1, 1.5);
  const std::string page =
      Family(
          Message()
              .Bytes(1, "requests_total")
              .Bytes(2, "help")
              .Bytes(5, "requests")
              .Add(4, Message().Add(3, value).Add(1, Label("a", "x\"\\\ny")).Varint(6, 17))
              .Add(4, Message().Add(3, value).Add(1, Label("a.b", "")).Add(1, Label("c", "d")))) +
      Family(Message()
                 .Bytes(1, "dotted.name")
                 .Varint(3, 1)
                 .Add(4, Message().Add(2, Message().Bits(1, promql::kStaleBits)))) +
      Family(Message().Bytes(1, "empty").Varint(3, 9)) +
      Family(Message().Bytes(1, "u").Varint(3, 3).Add(4, Message().Add(5, value)));
  EXPECT_THAT(Parse(page),
              ElementsAre("# requests_total counter help requests",
                          R"(requests_total{a="x\"\\\ny"} 1.5 @17)",
                          R"(requests_total{"a.b"="",c="d"} 1.5)", "# dotted.name gauge  ",
                          R"({"dotted.name"} stale)", "# u unknown  ", "u{} 1.5"));
}

TEST(ParseProtobufExposition, SummariesAndHistogramsSampleBySample) {
  const Message summary =
      Message().Varint(1, 3).Double(2, 9).Add(3, Message().Double(1, 0.5).Double(2, 2));
  const Message histogram = Message()
                                .Varint(1, 5)
                                .Double(2, 9)
                                .Add(3, Message().Varint(1, 2).Double(2, 1))
                                .Add(3, Message().Varint(1, 2).Double(4, 2.5).Double(2, 10));
  const Message with_end =
      Message().Double(4, 7.5).Varint(1, 7).Add(3, Message().Varint(1, 7).Double(2, HUGE_VAL));
  EXPECT_THAT(
      Parse(Family(Message().Bytes(1, "s").Varint(3, 2).Add(
                4, Message().Add(4, summary).Add(1, Label("a", "b")))) +
            Family(Message()
                       .Bytes(1, "h")
                       .Varint(3, 4)
                       .Add(4, Message().Add(7, histogram))
                       .Add(4, Message().Add(7, with_end)))),
      ElementsAre("# s summary  ", "s_count{a=\"b\"} 3", "s_sum{a=\"b\"} 9",
                  "s{a=\"b\",quantile=\"0.5\"} 2", "# h histogram  ", "h_count{} 5", "h_sum{} 9",
                  "h_bucket{le=\"1.0\"} 2", "h_bucket{le=\"10.0\"} 2.5", "h_bucket{le=\"+Inf\"} 5",
                  "h_count{} 7.5", "h_sum{} 0", "h_bucket{le=\"+Inf\"} 7"));
}

TEST(ParseProtobufExposition, WhatIsRepeatedForEachSampleIsBounded) {
  const Message metric = Message().Add(2, Message());
  const auto family = [&](size_t name_bytes) {
    return Family(Message().Bytes(1, std::string(name_bytes, 'n')).Varint(3, 1).Add(4, metric));
  };
  EXPECT_EQ(Parse(family(4096)).size(), 2u);
  EXPECT_THAT(Parse(family(4097)), ElementsAre(HasSubstr("! byte 0: ")));

  const auto histogram = [](size_t label_bytes, int buckets) {
    Message value;
    for (int i = 0; i < buckets; ++i) value.Add(3, Message().Double(2, i));
    return Family(Message().Bytes(1, "h").Varint(3, 4).Add(
        4, Message().Add(7, value).Add(1, Label("a", std::string(label_bytes, 'x')))));
  };
  EXPECT_EQ(Parse(histogram(10'000, 100)).size(), 104u);
  EXPECT_THAT(Parse(histogram(10'000, 1000)).back(), HasSubstr("more than 64 times as long"));
  Message empty;
  for (int i = 0; i <= 65'536; ++i) empty.Add(3, Message());
  EXPECT_THAT(Parse(Family(Message().Bytes(1, "h").Varint(3, 4).Add(4, Message().Add(7, empty)))),
              Contains(HasSubstr("! byte 0: ")));
}

// Keeps none of the samples, whose labels may be long.
class Nobody : public ScrapeSink {
 public:
  void OnSample(const ScrapedSample&) override {}
  void OnMetadata(const FamilyMetadata&) override {}
};

size_t HeapBytes() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

// The heap when a sample is handed over, with the copies of its labels.
class HeapAtSample : public Nobody {
 public:
  void OnSample(const ScrapedSample&) override { most = std::max(most, HeapBytes()); }
  size_t most = 0;
};

TEST(ParseProtobufExposition, LabelsThatNoSeriesMayHaveAreNotCopied) {
  const auto page = [](const Message& labels) {
    const std::string metric = Message().Add(2, Message()).bytes() + labels.bytes();
    return Family(Message().Bytes(1, "g").Varint(3, 1).Bytes(4, metric));
  };
  Message many;
  for (int i = 0; i < 100; ++i) {
    many.Add(1, Label(absl::StrCat("l", i), std::string(80'000, '\\')));
  }
  for (const std::string& text :
       {page(Message().Add(1, Label("l", std::string(8'000'000, '\\')))),
        page(Message().Add(1, Label(std::string(8'000'000, '"'), "v"))), page(many)}) {
    HeapAtSample sink;
    const size_t before = HeapBytes();
    const absl::Status status = ParseProtobufExposition(text, sink);
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_EQ(status.message(), "the name and labels of a series take more than 557568 bytes");
    EXPECT_LE(sink.most, before + 4'000'000);
  }
  // As much as the labels of a series may take.
  Message most;
  for (int i = 0; i < 60; ++i) {
    most.Add(1, Label(absl::StrCat("l", i), std::string(kMaxLabelValueBytes, '\\')));
  }
  Nobody nobody;
  EXPECT_TRUE(ParseProtobufExposition(page(most), nobody).ok());
}

TEST(ParseProtobufExposition, WhatIsNoPageIsRefused) {
  const std::string good =
      Family(Message().Bytes(1, "a").Varint(3, 1).Add(4, Message().Add(2, Message())));
  EXPECT_THAT(Parse(good), ElementsAre("# a gauge  ", "a{} 0"));
  EXPECT_THAT(Parse(good + good.substr(0, good.size() - 1)),
              ElementsAre("# a gauge  ", "a{} 0", HasSubstr("! byte 10: ")));
  const Message metric = Message().Add(2, Message());
  for (const Message& family :
       {Message().Add(4, metric), Message().Bytes(1, "\xff").Add(4, metric),
        Message().Bytes(1, "a").Varint(3, 6).Add(4, metric),
        Message().Bytes(1, "a").Add(4, Message().Add(1, Message().Bytes(2, "no name"))),
        Message().Bytes(1, "a").Varint(4, 1)}) {
    EXPECT_THAT(Parse(Family(family)), Contains(HasSubstr("! byte 0: ")));
  }
  EXPECT_THAT(Parse("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
              ElementsAre(HasSubstr("! byte 0: ")));
  EXPECT_THAT(Parse(""), ElementsAre());
}

}  // namespace
}  // namespace flyball::formats
