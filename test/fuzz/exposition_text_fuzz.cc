// links: formats
//
// A page in each of the two texts: whatever is handed over names a series that reads, and a page of
// the series and values that were found is read in the same way.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/formats/series_labels.h"
#include "adapter/live/formats/text.h"
#include "promql/text.h"

namespace {

using flyball::formats::FamilyMetadata;
using flyball::formats::ScrapedSample;

void Require(bool holds) {
  if (!holds) std::abort();
}

class CheckedPage : public flyball::formats::ScrapeSink {
 public:
  void OnSample(const ScrapedSample& sample) override {
    const absl::Status status = labels_.Read(sample.series, sample.type, true);
    Require(status.ok() || absl::StrContains(status.message(), "is there twice") ||
            status.message() == "a label has no name");
    absl::StrAppend(&text, sample.series, " ", flyball::promql::FormatValue(sample.value), "\n");
    ++samples;
  }
  void OnMetadata(const FamilyMetadata& metadata) override {
    Require(metadata.type.has_value() || metadata.help.has_value() || metadata.unit.has_value());
  }

  std::string text;
  int samples = 0;

 private:
  flyball::formats::SeriesLabels labels_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view page(reinterpret_cast<const char*>(data), size);
  CheckedPage found;
  (void)flyball::formats::ParseText(page, found);
  CheckedPage again;
  Require(flyball::formats::ParseText(found.text, again).ok());
  Require(again.text == found.text);

  CheckedPage open;
  (void)flyball::formats::ParseOpenMetrics(page, open);
  CheckedPage open_again;
  Require(flyball::formats::ParseOpenMetrics(absl::StrCat(open.text, "# EOF\n"), open_again).ok());
  Require(open_again.text == open.text && open_again.samples == open.samples);
  return 0;
}
