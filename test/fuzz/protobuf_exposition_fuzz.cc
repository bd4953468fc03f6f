// links: formats
//
// Scraped pages of protobuf of any bytes: what names a series can be taken apart, unless a label is
// there twice.
#include <cstdint>
#include <cstdlib>

#include "absl/strings/match.h"
#include "adapter/live/formats/protobuf_exposition.h"
#include "adapter/live/formats/series_labels.h"

namespace {

namespace formats = flyball::formats;

class Checker : public formats::ScrapeSink {
 public:
  void OnSample(const formats::ScrapedSample& sample) override {
    const absl::Status status = labels_.Read(sample.series, sample.type, true);
    if (!status.ok() && !absl::StrContains(status.message(), "twice")) std::abort();
  }
  void OnMetadata(const formats::FamilyMetadata& metadata) override {
    if (metadata.name.empty() || !metadata.type.has_value()) std::abort();
  }

 private:
  formats::SeriesLabels labels_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Checker checker;
  (void)formats::ParseProtobufExposition(
      absl::string_view(reinterpret_cast<const char*>(data), size), checker);
  return 0;
}
