// Shared by the parsers of the text format and of OpenMetrics: names, label blocks, and the
// position of an error.
//
// Pure; not thread-safe. Source: Prometheus 3.15.0 model/textparse (promlex.l, openmetricslex.l),
// whose lexers disagree in the three points of LabelBlockSyntax.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/go/text.h"

namespace flyball::formats {

struct LabelBlockSyntax {
  bool blanks;        // blanks and tabs may stand between any two parts
  bool line_breaks;   // a quoted value may hold line breaks
  bool needs_commas;  // between two labels
  bool exemplar;      // it is an exemplar's: no metric name, no line breaks in names
};

inline constexpr LabelBlockSyntax kTextLabels = {
    .blanks = true, .line_breaks = true, .needs_commas = false, .exemplar = false};
inline constexpr LabelBlockSyntax kOpenMetricsLabels = {
    .blanks = false, .line_breaks = false, .needs_commas = true, .exemplar = false};
inline constexpr LabelBlockSyntax kExemplarLabels = {
    .blanks = false, .line_breaks = false, .needs_commas = true, .exemplar = true};

// Called with each label. Names and values are unchanged, without their quotes and with escapes.
class LabelVisitor {
 public:
  void OnName(absl::string_view) {}
  void OnLabel(absl::string_view, absl::string_view) {}
};

// A position that moves through a text. If a function returns false the text is wrong, error() says
// what and where, and the position must not be used any more.
class TextScanner {
 public:
  explicit TextScanner(absl::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  bool AtEnd() const { return at_ == end_; }
  // The next byte; '\0' at the end.
  char Peek() const { return at_ == end_ ? '\0' : *at_; }
  const char* position() const { return at_; }
  absl::string_view Since(const char* from) const {
    return absl::string_view(from, static_cast<size_t>(at_ - from));
  }

  bool Skip(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  // Skips the word if it comes next; false if not.
  bool Skip(absl::string_view word);
  void SkipBlanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  // `[A-Za-z_:][A-Za-z0-9_:]*`, or without the colons; "" where none begins.
  absl::string_view TakeMetricName();
  absl::string_view TakeLabelName();
  absl::string_view TakeDigits();
  // All bytes before the line's end and these stops.
  absl::string_view TakeUntil(char stop, char second, char third);
  // All bytes before the line end.
  absl::string_view TakeLine();

  // Moves past a quoted text that begins here; `text` is what is between the quotes.
  bool TakeQuoted(bool line_breaks, absl::string_view& text);
  // Moves past the name in a line of metadata, quoted or plain.
  bool TakeFamilyName(absl::string_view& name);

  // Moves past `{…}`, whose brace is next. `has_name`: the metric's name came before it. Also false
  // if there is no name in either place.
  template <typename Visitor>
  bool TakeLabelBlock(const LabelBlockSyntax& syntax, bool has_name, Visitor& visitor);

  // Always false. `what`: a literal.
  bool Fail(const char* what) { return FailAt(at_, what); }
  bool FailAt(const char* where, const char* what) {
    failed_at_ = where;
    failure_ = what;
    return false;
  }
  // kInvalidArgument with line and column (bytes, both from 1), and the bytes that stand there.
  absl::Status error() const;

 private:
  void SkipBlanksOf(const LabelBlockSyntax& syntax) {
    if (syntax.blanks) SkipBlanks();
  }
  template <typename Visitor>
  bool TakeLabel(const LabelBlockSyntax& syntax, bool& has_name, Visitor& visitor);

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* failed_at_ = nullptr;
  const char* failure_ = "";
};

template <typename Visitor>
bool TextScanner::TakeLabelBlock(const LabelBlockSyntax& syntax, bool has_name, Visitor& visitor) {
  if (!Skip('{')) return Fail("expected {");
  SkipBlanksOf(syntax);
  while (!Skip('}')) {
    if (!TakeLabel(syntax, has_name, visitor)) return false;
  }
  if (!has_name && !syntax.exemplar) return Fail("the metric has no name");
  return true;
}

// One label, or the metric's name in quotes, with the comma after it.
template <typename Visitor>
bool TextScanner::TakeLabel(const LabelBlockSyntax& syntax, bool& has_name, Visitor& visitor) {
  const char* const start = at_;
  absl::string_view name;
  absl::string_view value;
  const bool quoted = Peek() == '"';
  if (quoted) {
    if (!TakeQuoted(!syntax.exemplar, name)) return false;
  } else {
    name = TakeLabelName();
    if (name.empty()) return Fail("expected a label's name or }");
  }
  SkipBlanksOf(syntax);
  bool comma = Peek() == ',';
  if (quoted && (comma || Peek() == '}')) {
    if (syntax.exemplar) return Fail("expected =");
    if (has_name) return FailAt(start, "the metric's name stands there already");
    has_name = true;
    visitor.OnName(name);
  } else {
    if (!Skip('=')) return Fail("expected =");
    SkipBlanksOf(syntax);
    const char* const value_start = at_;
    if (Peek() != '"') return Fail("expected a label's value in quotes");
    if (!TakeQuoted(syntax.line_breaks, value)) return false;
    if (!go::IsUtf8(value)) return FailAt(value_start, "the label's value is not UTF-8");
    visitor.OnLabel(name, value);
    SkipBlanksOf(syntax);
    comma = Peek() == ',';
    if (!comma && syntax.needs_commas && Peek() != '}') return Fail("expected a comma or }");
  }
  if (comma) {
    ++at_;
    SkipBlanksOf(syntax);
  }
  return true;
}

}  // namespace flyball::formats
