#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "adapter/live/formats/text.h"
#include "adapter/live/formats/text_escapes.h"
#include "adapter/live/formats/text_scanner.h"
#include "adapter/live/formats/text_value.h"
#include "base/go/arithmetic.h"
#include "base/go/text.h"

namespace flyball::formats {
namespace {

// By the number of the MetricType.
constexpr absl::string_view kTypeNames[] = {"unknown",        "counter", "gauge", "histogram",
                                            "gaugehistogram", "summary", "info",  "stateset"};

std::optional<MetricType> TypeNamed(absl::string_view word) {
  const auto* const name = std::find(std::begin(kTypeNames), std::end(kTypeNames), word);
  if (name == std::end(kTypeNames)) return std::nullopt;
  return static_cast<MetricType>(name - kTypeNames);
}

// `name_unit`: the unit must be the last word of the name.
bool EndsInUnit(absl::string_view name, absl::string_view unit) {
  return unit.empty() || (absl::ConsumeSuffix(&name, unit) && absl::EndsWith(name, "_"));
}

class OpenMetricsParser {
 public:
  OpenMetricsParser(absl::string_view page, ScrapeSink& sink) : scanner_(page), sink_(sink) {}

  absl::Status Parse() {
    while (!ended_) {
      if (scanner_.Skip("# ") ? !TakeMetadata() : !TakeSample()) return scanner_.error();
    }
    return absl::OkStatus();
  }

 private:
  bool TakeMetadata() {
    if (scanner_.Skip("EOF")) {
      scanner_.Skip('\n');
      ended_ = true;
      return scanner_.AtEnd() || scanner_.Fail("expected nothing after # EOF");
    }
    if (scanner_.Skip("TYPE ")) return TakeFamily(&OpenMetricsParser::ReadType);
    if (scanner_.Skip("HELP ")) return TakeFamily(&OpenMetricsParser::ReadHelp);
    if (scanner_.Skip("UNIT ")) return TakeFamily(&OpenMetricsParser::ReadUnit);
    return scanner_.Fail("expected HELP, TYPE, UNIT or EOF");
  }

  // Fills what the line is about; nullptr, or what is wrong with `text`.
  using ReadText = const char* (OpenMetricsParser::*)(absl::string_view text, FamilyMetadata&);

  bool TakeFamily(ReadText read) {
    FamilyMetadata metadata;
    if (!scanner_.TakeFamilyName(metadata.name)) return false;
    if (!scanner_.Skip(' ')) return scanner_.Fail("expected a blank");
    const char* const text_start = scanner_.position();
    const absl::string_view text = scanner_.TakeLine();
    if (!TakeLineEnd()) return false;
    const char* const wrong = (this->*read)(text, metadata);
    if (wrong != nullptr) return scanner_.FailAt(text_start, wrong);
    sink_.OnMetadata(metadata);
    return true;
  }

  const char* ReadType(absl::string_view text, FamilyMetadata& metadata) {
    metadata.type = TypeNamed(text);
    if (!metadata.type.has_value()) return "there is no such type of metrics";
    type_ = *metadata.type;
    return nullptr;
  }

  const char* ReadHelp(absl::string_view text, FamilyMetadata& metadata) {
    if (!go::IsUtf8(text)) return "the help text is not UTF-8";
    scratch_.clear();
    metadata.help = Unescape(text, /*quotes=*/true, scratch_);
    return nullptr;
  }

  const char* ReadUnit(absl::string_view text, FamilyMetadata& metadata) {
    metadata.unit = text;
    return EndsInUnit(metadata.name, text) ? nullptr : "the unit does not end the metric's name";
  }

  bool TakeSample() {
    if (scanner_.AtEnd()) return scanner_.Fail("the page does not end with # EOF");
    ScrapedSample sample;
    const char* const start = scanner_.position();
    const bool has_name = !scanner_.TakeMetricName().empty();
    LabelVisitor ignored;
    if (scanner_.Peek() == '{') {
      if (!scanner_.TakeLabelBlock(kOpenMetricsLabels, has_name, ignored)) return false;
    } else if (!has_name) {
      return scanner_.Fail("expected a metric's name or #");
    }
    sample.series = scanner_.Since(start);
    sample.type = type_;
    if (!TakeNumber(sample.value)) return false;
    if (!IsExemplarNext() && scanner_.Peek() == ' ') {
      double seconds = 0;
      if (!TakeStamp(seconds)) return false;
      sample.time_ms = GoInt64(seconds * 1000);
    }
    if (IsExemplarNext() ? !TakeExemplar() : !TakeLineEnd()) return false;
    sink_.OnSample(sample);
    return true;
  }

  // ` # {v}`: a blank, a comment and a brace, which no stamp can be.
  bool IsExemplarNext() const {
    TextScanner ahead = scanner_;
    return ahead.Skip(" # {");
  }

  bool TakeExemplar() {
    scanner_.Skip(" # ");
    LabelVisitor ignored;
    if (!scanner_.TakeLabelBlock(kExemplarLabels, /*has_name=*/false, ignored)) return false;
    double value = 0;
    if (!TakeNumber(value)) return false;
    if (scanner_.Peek() == ' ' && !TakeStamp(value)) return false;
    return TakeLineEnd();
  }

  // A blank and a number.
  bool TakeNumber(double& number) {
    if (!scanner_.Skip(' ')) return scanner_.Fail("expected one blank and a number");
    const char* const start = scanner_.position();
    const auto value = ParseValue(scanner_.TakeUntil(' ', ' ', ' '));
    if (!value.has_value()) return scanner_.FailAt(start, "expected a number");
    number = *value;
    return true;
  }

  bool TakeStamp(double& seconds) {
    const char* const start = scanner_.position();
    if (!TakeNumber(seconds)) return false;
    return std::isfinite(seconds) || scanner_.FailAt(start, "the stamp is not finite");
  }

  bool TakeLineEnd() {
    if (scanner_.Skip('\n')) return true;
    return scanner_.Fail(scanner_.AtEnd() ? "the page does not end with # EOF"
                                          : "expected the line's end");
  }

  TextScanner scanner_;
  ScrapeSink& sink_;
  MetricType type_ = MetricType::kUnknown;
  bool ended_ = false;
  std::string scratch_;  // of unescaped help
};

}  // namespace

absl::string_view MetricTypeName(MetricType type) { return kTypeNames[static_cast<size_t>(type)]; }

absl::Status ParseOpenMetrics(absl::string_view page, ScrapeSink& sink) {
  return OpenMetricsParser(page, sink).Parse();
}

}  // namespace flyball::formats
