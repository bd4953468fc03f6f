#include "adapter/live/formats/text.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "adapter/live/formats/text_escapes.h"
#include "adapter/live/formats/text_scanner.h"
#include "adapter/live/formats/text_value.h"
#include "base/go/text.h"

namespace flyball::formats {
namespace {

std::optional<MetricType> TextType(absl::string_view word) {
  if (word == "counter") return MetricType::kCounter;
  if (word == "gauge") return MetricType::kGauge;
  if (word == "histogram") return MetricType::kHistogram;
  if (word == "summary") return MetricType::kSummary;
  if (word == "untyped") return MetricType::kUnknown;
  return std::nullopt;
}

class TextParser {
 public:
  TextParser(absl::string_view page, ScrapeSink& sink) : scanner_(page), sink_(sink) {}

  absl::Status Parse() {
    while (true) {
      scanner_.SkipBlanks();
      if (scanner_.AtEnd()) return absl::OkStatus();
      if (scanner_.Skip('\n')) continue;
      if (scanner_.Peek() == '#' ? !TakeComment() : !TakeSample()) return scanner_.error();
    }
  }

 private:
  // Reads `# HELP` and `# TYPE`; any other comment is ignored.
  bool TakeComment() {
    scanner_.Skip('#');
    if (scanner_.Peek() == ' ' || scanner_.Peek() == '\t') {
      scanner_.SkipBlanks();
      if (SkipKeyword("HELP")) return TakeMetadata(/*is_type=*/false);
      if (SkipKeyword("TYPE")) return TakeMetadata(/*is_type=*/true);
    }
    scanner_.TakeLine();
    return true;
  }

  bool SkipKeyword(absl::string_view keyword) {
    TextScanner ahead = scanner_;
    if (!ahead.Skip(keyword) || (ahead.Peek() != ' ' && ahead.Peek() != '\t')) return false;
    scanner_ = ahead;
    scanner_.SkipBlanks();
    return true;
  }

  bool TakeMetadata(bool is_type) {
    FamilyMetadata metadata;
    if (!scanner_.TakeFamilyName(metadata.name)) return false;
    // Exactly one byte, of any kind, separates the name from the text.
    if (!scanner_.AtEnd() && scanner_.Peek() != '\n') scanner_.Skip(scanner_.Peek());
    const char* const text_start = scanner_.position();
    const absl::string_view text = scanner_.TakeLine();
    if (is_type) {
      metadata.type = TextType(text);
      if (!metadata.type.has_value()) {
        return scanner_.FailAt(text_start,
                               "expected one of counter, gauge, histogram, summary and untyped");
      }
      type_ = *metadata.type;
    } else {
      if (!go::IsUtf8(text)) return scanner_.FailAt(text_start, "the help text is not UTF-8");
      scratch_.clear();
      metadata.help = Unescape(text, /*quotes=*/false, scratch_);
    }
    sink_.OnMetadata(metadata);
    return true;
  }

  bool TakeSample() {
    ScrapedSample sample;
    if (!TakeSeries(sample)) return false;
    if (!TakeValue(sample)) return false;
    sample.type = type_;
    sink_.OnSample(sample);
    return true;
  }

  bool TakeSeries(ScrapedSample& sample) {
    const char* const start = scanner_.position();
    const bool has_name = !scanner_.TakeMetricName().empty();
    sample.series = scanner_.Since(start);
    if (has_name) scanner_.SkipBlanks();
    if (scanner_.Peek() == '{') {
      LabelVisitor ignored;
      if (!scanner_.TakeLabelBlock(kTextLabels, has_name, ignored)) return false;
      sample.series = scanner_.Since(start);
    } else if (!has_name) {
      return scanner_.Fail("expected a metric's name or #");
    }
    return true;
  }

  bool TakeValue(ScrapedSample& sample) {
    scanner_.SkipBlanks();
    const char* const value_start = scanner_.position();
    const absl::string_view text = scanner_.TakeUntil(' ', '\t', '{');
    const auto value = ParseValue(text);
    if (!value.has_value()) return scanner_.FailAt(value_start, "expected a number");
    sample.value = *value;
    scanner_.SkipBlanks();
    if (absl::ascii_isdigit(static_cast<unsigned char>(scanner_.Peek()))) {
      const char* const stamp_start = scanner_.position();
      int64_t time_ms = 0;
      if (!absl::SimpleAtoi(scanner_.TakeDigits(), &time_ms)) {
        return scanner_.FailAt(stamp_start, "the stamp is not within 64 bits");
      }
      sample.time_ms = time_ms;
      scanner_.SkipBlanks();
    }
    if (scanner_.AtEnd() || scanner_.Skip('\n')) return true;
    return scanner_.Fail(sample.time_ms.has_value() ? "expected the line's end"
                                                    : "expected a stamp or the line's end");
  }

  TextScanner scanner_;
  ScrapeSink& sink_;
  MetricType type_ = MetricType::kUnknown;
  std::string scratch_;  // of unescaped help
};

}  // namespace

absl::Status ParseText(absl::string_view page, ScrapeSink& sink) {
  return TextParser(page, sink).Parse();
}

}  // namespace flyball::formats
