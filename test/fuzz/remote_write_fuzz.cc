// links: formats
//
// Bodies of remote write of any bytes, packed and not: labels that are taken are in order and
// whole, and equal keys have equal labels.
#include <cstdint>
#include <cstdlib>

#include "adapter/live/formats/remote_write.h"

namespace {

namespace formats = flyball::formats;

constexpr size_t kLimit = 1 << 20;

void Require(bool holds) {
  if (!holds) std::abort();
}

void Read(formats::WriteVersion version, absl::string_view message) {
  std::vector<formats::LabelView> labels;
  (void)formats::ReadWriteRequest(
      version, message,
      [&](const formats::WrittenSeries& series) {
        Require(series.samples.size() <= message.size());
        labels.assign(series.labels.begin(), series.labels.end());
        if (!series.key.empty() && !formats::ReadKey(series.key, labels).ok()) return;
        if (!formats::NormalizeLabels(labels).ok()) return;
        for (size_t i = 0; i < labels.size(); ++i) {
          Require(!labels[i].value.empty());
          Require(i == 0 || labels[i - 1].name < labels[i].name);
        }
      },
      [](const formats::FamilyMetadata&) {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view body(reinterpret_cast<const char*>(data), size);
  for (const auto version : {formats::WriteVersion::k1, formats::WriteVersion::k2}) {
    Read(version, body);
    const auto message = formats::UncompressSnappy(body, kLimit);
    if (message.ok()) Read(version, *message);
  }
  return 0;
}
