// For tests: what a parser found on a page, as lines of text.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapter/live/formats/samples.h"
#include "promql/text.h"

namespace flyball::formats {

// `name{…} 1.5 @1000` for a sample (`@` only with a stamp), and `name TYPE gauge`, `name HELP "…"`,
// `name UNIT s` for metadata.
class RecordedPage : public ScrapeSink {
 public:
  void OnSample(const ScrapedSample& sample) override {
    std::string line = absl::StrCat(sample.series, " ", promql::FormatValue(sample.value));
    if (sample.time_ms.has_value()) absl::StrAppend(&line, " @", *sample.time_ms);
    lines.push_back(line);
    types.push_back(sample.type);
  }

  void OnMetadata(const FamilyMetadata& metadata) override {
    std::string line(metadata.name);
    if (metadata.type.has_value()) absl::StrAppend(&line, " TYPE ", MetricTypeName(*metadata.type));
    if (metadata.help.has_value()) absl::StrAppend(&line, " HELP ", promql::Quote(*metadata.help));
    if (metadata.unit.has_value()) absl::StrAppend(&line, " UNIT ", *metadata.unit);
    lines.push_back(line);
  }

  std::string Text() const { return absl::StrJoin(lines, "\n"); }

  std::vector<std::string> lines;
  std::vector<MetricType> types;  // of the samples alone
};

}  // namespace flyball::formats
