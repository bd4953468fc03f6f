// Replays test/data/formats/text.jsonl.gz: what Prometheus 3.15.0 takes of pages that were changed
// at random, and what it reads in them.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "adapter/live/formats/series_labels.h"
#include "adapter/live/formats/text.h"
#include "base/test_gzip.h"

namespace flyball::formats {
namespace {

using nlohmann::json;

// Samples as the file has them: stamp, bits of the value, then names and values in base64.
class ReplayedPage : public ScrapeSink {
 public:
  void OnSample(const ScrapedSample& sample) override {
    json fields =
        json::array({nullptr, absl::StrFormat("%016x", std::bit_cast<uint64_t>(sample.value))});
    if (sample.time_ms.has_value()) fields[0] = *sample.time_ms;
    const absl::Status status = labels_.Read(sample.series, sample.type, true);
    if (!status.ok()) refused = true;
    for (const LabelView& label : labels_.labels()) {
      fields.push_back(absl::Base64Escape(label.name));
      fields.push_back(absl::Base64Escape(label.value));
    }
    samples.push_back(fields);
  }
  void OnMetadata(const FamilyMetadata&) override {}

  json samples = json::array();
  bool refused = false;

 private:
  SeriesLabels labels_;
};

TEST(TextReplay, IsReadAsPrometheusReadsIt) {
  const std::string text = ReadGzip(FLYBALL_SOURCE_DIR "/test/data/formats/text.jsonl.gz");
  int pages = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const json expected = json::parse(line);
    std::string page;
    ASSERT_TRUE(absl::Base64Unescape(expected["in"].get<std::string>(), &page));
    ReplayedPage found;
    const absl::Status status =
        expected["om"].get<bool>() ? ParseOpenMetrics(page, found) : ParseText(page, found);
    EXPECT_EQ(status.ok(), expected["ok"].get<bool>()) << page << "\n" << status;
    ++pages;
    if (!status.ok() || !expected["ok"].get<bool>()) continue;
    EXPECT_EQ(found.refused, expected["refused"].get<bool>()) << page;
    if (found.refused) continue;
    EXPECT_EQ(found.samples, expected["out"]) << page;
  }
  EXPECT_EQ(pages, 8000);
}

}  // namespace
}  // namespace flyball::formats
