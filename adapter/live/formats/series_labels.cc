#include "adapter/live/formats/series_labels.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "adapter/live/formats/text_escapes.h"
#include "adapter/live/formats/text_scanner.h"
#include "adapter/live/formats/text_value.h"
#include "base/one_line.h"
#include "promql/text.h"

namespace flyball::formats {
namespace {

constexpr absl::string_view kName = "__name__";

// More than the longest text that FormatBound writes.
constexpr size_t kBoundBytes = 32;

// The label that holds a bound in metrics of the type; "" where there is none.
absl::string_view BoundLabel(MetricType type) {
  if (type == MetricType::kHistogram) return "le";
  if (type == MetricType::kSummary) return "quantile";
  return "";
}

}  // namespace

absl::Status SeriesTextTooLong() {
  return absl::OutOfRangeError(
      absl::StrCat("the name and labels of a series take more than ", kMaxSeriesText, " bytes"));
}

class SeriesLabelsVisitor {
 public:
  SeriesLabelsVisitor(SeriesLabels& out, absl::string_view bound_label, size_t most)
      : out_(out), bound_label_(bound_label), most_(most) {}

  // A text has one at most, so there is always room for it.
  void OnName(absl::string_view name) { Add(kName, Unescape(name, true, out_.scratch_)); }

  void OnLabel(absl::string_view name, absl::string_view value) {
    if (TooMany()) return;
    if (value.empty() && out_.empty_names_.size() == kMaxSentLabels) return;
    const absl::string_view plain_name = Unescape(name, true, out_.scratch_);
    if (value.empty()) return out_.empty_names_.push_back(plain_name);
    Add(plain_name, Value(plain_name, Unescape(value, true, out_.scratch_)));
  }

  bool TooMany() const { return out_.labels_.size() > most_; }

 private:
  void Add(absl::string_view name, absl::string_view value) {
    if (!value.empty()) out_.labels_.push_back({name, value});
  }

  absl::string_view Value(absl::string_view name, absl::string_view value) {
    if (bound_label_.empty() || name != bound_label_) return value;
    const auto bound = promql::ParseBound(value);
    return bound.has_value() ? out_.Own(FormatBound(*bound)) : value;
  }

  SeriesLabels& out_;
  absl::string_view bound_label_;
  size_t most_;
};

absl::string_view SeriesLabels::Own(absl::string_view text) {
  const size_t start = scratch_.size();
  absl::StrAppend(&scratch_, text);
  return absl::string_view(scratch_).substr(start);
}

absl::Status SeriesLabels::Read(absl::string_view series, MetricType type, bool canonical_bounds,
                                size_t most) {
  labels_.clear();
  empty_names_.clear();
  scratch_.clear();
  if (series.size() > kMaxSeriesText) return SeriesTextTooLong();
  const absl::string_view bound_label = canonical_bounds ? BoundLabel(type) : "";
  // Unescaped text is shorter than escaped text, and each bound takes some bytes of `series` for
  // its name, `="` and `"`. So the text never grows beyond this size, and views into it stay valid.
  const size_t bounds =
      bound_label.empty() ? 0 : std::min(most + 1, series.size() / (bound_label.size() + 3));
  scratch_.reserve(series.size() + bounds * kBoundBytes);
  TextScanner scanner(series);
  SeriesLabelsVisitor visitor(*this, bound_label, most);
  const absl::string_view name = scanner.TakeMetricName();
  if (!name.empty()) labels_.push_back({kName, name});
  scanner.SkipBlanks();
  if (!scanner.AtEnd() && !scanner.TakeLabelBlock(kTextLabels, !name.empty(), visitor)) {
    return scanner.error();
  }
  if (visitor.TooMany()) {
    return absl::OutOfRangeError(absl::StrCat("a series has more than ", most, " labels"));
  }
  std::sort(labels_.begin(), labels_.end(),
            [](const LabelView& a, const LabelView& b) { return a.name < b.name; });
  if (!labels_.empty() && labels_.front().name.empty()) {
    return absl::InvalidArgumentError("a label has no name");
  }
  for (size_t i = 1; i < labels_.size(); ++i) {
    if (labels_[i - 1].name == labels_[i].name) {
      return absl::InvalidArgumentError(
          absl::StrCat("label ", promql::Quote(Abridged(labels_[i].name)), " is there twice"));
    }
  }
  return absl::OkStatus();
}

}  // namespace flyball::formats
