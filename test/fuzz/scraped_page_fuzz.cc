// links: formats
//
// Pages of the text formats of any bytes: a series that a parser hands over can be taken apart, or
// has a label twice; a page that OpenMetrics takes has its samples in the bytes of the page.
#include <cstdint>
#include <cstdlib>

#include "adapter/live/formats/series_labels.h"
#include "adapter/live/formats/text.h"

namespace {

namespace formats = flyball::formats;

void Require(bool holds) {
  if (!holds) std::abort();
}

class Checked : public formats::ScrapeSink {
 public:
  explicit Checked(absl::string_view page) : page_(page) {}

  void OnSample(const formats::ScrapedSample& sample) override {
    Require(sample.series.data() >= page_.data() &&
            sample.series.data() + sample.series.size() <= page_.data() + page_.size());
    for (const bool canonical : {false, true}) {
      const absl::Status status = labels_.Read(sample.series, sample.type, canonical);
      if (!status.ok()) {
        Require(status.message().find("there twice") != absl::string_view::npos);
        continue;
      }
      for (size_t i = 0; i < labels_.labels().size(); ++i) {
        const formats::LabelView& label = labels_.labels()[i];
        Require(!label.value.empty());
        Require(i == 0 || labels_.labels()[i - 1].name < label.name);
      }
    }
  }
  void OnMetadata(const formats::FamilyMetadata& metadata) override {
    Require(metadata.type.has_value() || metadata.help.has_value() || metadata.unit.has_value());
  }

 private:
  const absl::string_view page_;
  formats::SeriesLabels labels_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view page(reinterpret_cast<const char*>(data), size);
  Checked sink(page);
  (void)formats::ParseText(page, sink);
  (void)formats::ParseOpenMetrics(page, sink);
  return 0;
}
