#include "rules/template/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/go/text.h"

namespace flyball::rules::tmpl {
namespace {

struct Spec {
  char32_t verb = 'v';
  bool plus = false, minus = false, sharp = false, space = false, zero = false;
  std::optional<int> width, precision;

  bool names_fields = false;  // %+v, where plus is no sign
  bool go_syntax = false;     // %#v
};

bool IsOneOf(char32_t verb, absl::string_view set) {
  return verb < 0x80 && set.find(static_cast<char>(verb)) != absl::string_view::npos;
}

int RuneCount(absl::string_view text) {
  int count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(go::DecodeRune(text).length);
  return count;
}

std::string Pad(std::string text, const Spec& spec, bool zeros_allowed = true) {
  const int missing = spec.width.value_or(0) - RuneCount(text);
  if (missing <= 0) return text;
  const auto count = static_cast<size_t>(missing);
  if (spec.minus) return text + std::string(count, ' ');
  if (!spec.zero || !zeros_allowed) return std::string(count, ' ') + text;
  // Zeros go between the sign and the digits.
  const size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+' || text[0] == ' ') ? 1 : 0;
  return text.substr(0, sign) + std::string(count, '0') + text.substr(sign);
}

std::string FormatValue(const Value& value, const Spec& spec);

// `%!d(string=x)`.
std::string BadVerb(const Value& value, const Spec& spec) {
  std::string out = "%!";
  go::AppendRune(spec.verb, out);
  if (value.IsNil()) return out + "(<nil>)";
  Spec as_is = spec;  // flags and width stay
  as_is.verb = 'v';
  return absl::StrCat(out, "(", value.TypeName(), "=", FormatValue(value, as_is), ")");
}

std::string FormatInteger(bool negative, uint64_t magnitude, const Value& value, const Spec& spec) {
  if (spec.verb == 'c' || spec.verb == 'q') {
    const auto rune =
        negative || magnitude > 0x10FFFF ? char32_t{0xFFFD} : static_cast<char32_t>(magnitude);
    std::string out;
    if (spec.verb == 'q') return Pad(go::QuoteRune(rune, spec.plus), spec);
    go::AppendRune(rune, out);
    return Pad(out, spec);
  }
  if (spec.verb == 'U')
    return Pad(absl::StrFormat("U+%04X", negative ? 0 - magnitude : magnitude), spec, false);
  const int base = IsOneOf(spec.verb, "vd")   ? 10
                   : IsOneOf(spec.verb, "xX") ? 16
                   : IsOneOf(spec.verb, "oO") ? 8
                   : spec.verb == 'b'         ? 2
                                              : 0;
  if (base == 0) return BadVerb(value, spec);
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, magnitude, base).ptr;
  std::string digits(buffer, end);
  if (spec.verb == 'X') absl::AsciiStrToUpper(&digits);
  const auto extend_to = [&](int length) {
    const int missing = length - static_cast<int>(digits.size());
    if (missing > 0) digits.insert(0, static_cast<size_t>(missing), '0');
  };
  const bool sign = negative || spec.plus || spec.space;
  if (spec.precision) {
    if (*spec.precision == 0 && magnitude == 0) return Pad("", spec, false);
    extend_to(*spec.precision);
  } else if (spec.zero && !spec.minus && spec.width) {
    extend_to(*spec.width - (sign ? 1 : 0));
  }
  if (spec.sharp && spec.verb != 'v') {
    if (spec.verb == 'b') digits.insert(0, "0b");
    if (spec.verb == 'x') digits.insert(0, "0x");
    if (spec.verb == 'X') digits.insert(0, "0X");
    if (spec.verb == 'o' && digits[0] != '0') digits.insert(0, "0");
  }
  if (spec.verb == 'O') digits.insert(0, "0o");
  if (sign) digits.insert(0, negative ? "-" : spec.plus ? "+" : " ");
  return Pad(digits, spec, false);
}

// An exponent of at least two digits, as both languages write it.
std::string FormatReal(double value, char verb, std::optional<int> precision) {
  char buffer[512];
  const auto chars = [&](double v, std::chars_format format) {
    const auto result = precision ? std::to_chars(buffer, buffer + sizeof buffer, v, format,
                                                  std::min(*precision, 100))
                                  : std::to_chars(buffer, buffer + sizeof buffer, v, format);
    return std::string(buffer, result.ptr);
  };
  if (verb == 'e') return chars(value, std::chars_format::scientific);
  if (verb == 'f') return chars(value, std::chars_format::fixed);
  // %g: an exponent below -4 or from the precision on, which counts as 6 where none is given.
  if (precision) return chars(value, std::chars_format::general);
  const std::string scientific = chars(value, std::chars_format::scientific);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  if (exponent < -4 || exponent >= 6) return scientific;
  return chars(value, std::chars_format::fixed);
}

std::string FormatFloat(double number, const Value& value, const Spec& spec) {
  if (!IsOneOf(spec.verb, "veEfFgG")) return BadVerb(value, spec);
  const bool upper = spec.verb == 'E' || spec.verb == 'G';
  const char verb = spec.verb == 'v' ? 'g' : static_cast<char>(spec.verb | 0x20);
  std::string text;
  if (std::isfinite(number)) {
    const auto precision = spec.precision || verb == 'g' ? spec.precision : std::optional<int>(6);
    text = FormatReal(std::fabs(number), verb, precision);
    if (upper) std::replace(text.begin(), text.end(), 'e', 'E');
  } else {
    text = std::isnan(number) ? "NaN" : "Inf";
  }
  const bool negative = std::signbit(number) && !std::isnan(number);
  if (negative || spec.plus || spec.space) text.insert(0, negative ? "-" : spec.plus ? "+" : " ");
  if (std::isinf(number) && !negative && !spec.space) text = "+Inf";
  return Pad(text, spec, std::isfinite(number));
}

// The imaginary part always has a sign.
std::string FormatComplex(std::complex<double> number, const Value& value, const Spec& spec) {
  if (!IsOneOf(spec.verb, "veEfFgG")) return BadVerb(value, spec);
  Spec signed_spec = spec;
  signed_spec.plus = true;
  return absl::StrCat("(", FormatFloat(number.real(), value, spec),
                      FormatFloat(number.imag(), value, signed_spec), "i)");
}

std::string FormatHexText(absl::string_view text, const Spec& spec) {
  if (spec.precision) text = text.substr(0, static_cast<size_t>(*spec.precision));
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && spec.space) out += ' ';
    if (spec.sharp && (i == 0 || spec.space)) absl::StrAppend(&out, "0x");
    absl::StrAppend(&out, absl::BytesToHexString(text.substr(i, 1)));
  }
  if (spec.verb == 'X') absl::AsciiStrToUpper(&out);
  return Pad(out, spec);
}

std::string FormatText(const std::string& text, const Value& value, const Spec& spec) {
  if (IsOneOf(spec.verb, "xX")) return FormatHexText(text, spec);
  if (!IsOneOf(spec.verb, "vsq")) return BadVerb(value, spec);
  absl::string_view cut = text;
  if (spec.precision) {
    size_t bytes = 0;
    for (int i = 0; i < *spec.precision && bytes < cut.size(); ++i) {
      bytes += static_cast<size_t>(go::DecodeRune(cut.substr(bytes)).length);
    }
    cut = cut.substr(0, bytes);
  }
  if (spec.verb != 'q' && !spec.go_syntax) return Pad(std::string(cut), spec);
  // A backquoted form is taken where it is asked for and can hold the text.
  const bool plain =
      cut.find("\uFEFF") == absl::string_view::npos &&
      std::all_of(cut.begin(), cut.end(), [](char c) {
        return c != '`' && (c == '\t' || static_cast<unsigned char>(c) >= ' ') && c != 0x7F;
      });
  if (spec.verb == 'q' && spec.sharp && plain) return Pad(absl::StrCat("`", cut, "`"), spec);
  return Pad(spec.verb == 'q' && spec.plus ? go::QuoteAscii(cut) : go::Quote(cut), spec);
}

// What is between the items of a list, map or record.
const char* Separator(const Spec& spec) { return spec.go_syntax ? ", " : " "; }

std::string FormatRecord(const Record& record, const Spec& spec) {
  // A type with a String method is its text, but for %#v.
  for (const auto& [name, value] : record.methods) {
    if (name == "String" && !spec.go_syntax && IsOneOf(spec.verb, "vsqxX")) {
      return FormatValue(value, spec);
    }
  }
  const std::string fields =
      absl::StrJoin(record.fields, Separator(spec), [&](std::string* out, const auto& field) {
        if (spec.names_fields || spec.go_syntax) absl::StrAppend(out, field.first, ":");
        absl::StrAppend(out, FormatValue(field.second, spec));
      });
  return absl::StrCat(spec.go_syntax ? record.type_name : "", "{", fields, "}");
}

std::string FormatList(const List& list, const Spec& spec) {
  const std::string items = absl::StrJoin(
      absl::MakeSpan(list.begin, list.size), Separator(spec),
      [&](std::string* out, const std::string& item) { *out += FormatValue(Value(item), spec); });
  return spec.go_syntax ? absl::StrCat("[]string{", items, "}") : absl::StrCat("[", items, "]");
}

std::string FormatMap(const StringMap& map, const Spec& spec) {
  const std::string items =
      absl::StrJoin(map, Separator(spec), [&](std::string* out, const auto& entry) {
        absl::StrAppend(out, FormatValue(Value(entry.first), spec), ":",
                        FormatValue(Value(entry.second), spec));
      });
  return spec.go_syntax ? absl::StrCat("map[string]string{", items, "}")
                        : absl::StrCat("map[", items, "]");
}

std::string FormatValue(const Value& value, const Spec& spec) {
  if (spec.verb == 'T') return Pad(std::string(value.TypeName()), spec);
  if (value.IsNil()) return spec.verb == 'v' ? Pad("<nil>", spec) : BadVerb(value, spec);
  if (const auto* v = value.As<bool>()) {
    if (!IsOneOf(spec.verb, "vt")) return BadVerb(value, spec);
    return Pad(*v ? "true" : "false", spec);
  }
  if (const auto* v = value.As<int64_t>()) {
    const auto bits = static_cast<uint64_t>(*v);
    return FormatInteger(*v < 0, *v < 0 ? 0 - bits : bits, value, spec);
  }
  if (const auto* v = value.As<uint8_t>()) {
    if (!spec.go_syntax) return FormatInteger(false, *v, value, spec);
    return absl::StrFormat("0x%x", *v);
  }
  if (const auto* v = value.As<double>()) return FormatFloat(*v, value, spec);
  if (const auto* v = value.As<std::complex<double>>()) return FormatComplex(*v, value, spec);
  if (const auto* v = value.As<std::string>()) return FormatText(*v, value, spec);
  if (const auto* v = value.As<List>()) return FormatList(*v, spec);
  if (const auto* v = value.As<const StringMap*>()) return FormatMap(**v, spec);
  return FormatRecord(**value.As<const Record*>(), spec);
}

// One walk over a format string.
class Printer {
 public:
  Printer(absl::string_view format, absl::Span<const Value> values)
      : format_(format), values_(values) {}

  std::string Run() {
    while (!format_.empty()) {
      const size_t percent = format_.find('%');
      absl::StrAppend(&out_, format_.substr(0, percent));
      if (percent == absl::string_view::npos) break;
      format_.remove_prefix(percent + 1);
      PrintVerb();
    }
    if (!reordered_ && next_ < values_.size()) PrintExtra();
    return std::move(out_);
  }

 private:
  bool Take(char c) {
    if (format_.empty() || format_[0] != c) return false;
    format_.remove_prefix(1);
    return true;
  }

  std::optional<int> TakeNumber() {
    size_t digits = 0;
    int number = 0;
    while (digits < format_.size() && format_[digits] >= '0' && format_[digits] <= '9') {
      number = std::min(number * 10 + (format_[digits] - '0'), 1'000'000);
      ++digits;
    }
    format_.remove_prefix(digits);
    if (digits == 0 || number > 1'000'000 - 1) return std::nullopt;
    return number;
  }

  void TakeFlags(Spec& spec) {
    const std::pair<char, bool*> flags[] = {{'+', &spec.plus},
                                            {'-', &spec.minus},
                                            {'#', &spec.sharp},
                                            {' ', &spec.space},
                                            {'0', &spec.zero}};
    bool taken = true;
    while (taken) {
      taken = false;
      for (const auto& [letter, flag] : flags) {
        if (Take(letter)) *flag = taken = true;
      }
    }
  }

  // `[2]`: the next value is the second.
  void TakeIndex() {
    if (format_.empty() || format_[0] != '[') return;
    reordered_ = true;
    const size_t close = format_.find(']');
    if (close == absl::string_view::npos) {
      good_index_ = false;
      format_.remove_prefix(1);
      return;
    }
    absl::string_view inside = format_.substr(1, close - 1);
    int index = 0;
    const auto [end, error] =
        std::from_chars(inside.data(), inside.data() + inside.size(), index, 10);
    format_.remove_prefix(close + 1);
    if (error != std::errc() || end != inside.data() + inside.size() || index < 1 ||
        static_cast<size_t>(index) > values_.size()) {
      good_index_ = false;
      return;
    }
    next_ = static_cast<size_t>(index - 1);
    indexed_ = true;
  }

  // The value of a `*`.
  std::optional<int> TakeStar() {
    if (next_ >= values_.size()) return std::nullopt;
    const Value& value = values_[next_++];
    indexed_ = false;
    std::optional<int64_t> number;
    if (const auto* v = value.As<int64_t>()) number = *v;
    if (const auto* v = value.As<uint8_t>()) number = *v;
    if (!number || *number > kMaxWidth || *number < -kMaxWidth) return std::nullopt;
    return static_cast<int>(*number);
  }

  void TakeWidth(Spec& spec) {
    if (Take('*')) {
      spec.width = TakeStar();
      if (!spec.width) absl::StrAppend(&out_, "%!(BADWIDTH)");
      if (spec.width && *spec.width < 0) {
        spec.width = -*spec.width;
        spec.minus = true;
        spec.zero = false;
      }
      return;
    }
    spec.width = TakeNumber();
    if (spec.width && indexed_) good_index_ = false;  // %[3]2d
    if (spec.width) spec.width = std::min(*spec.width, kMaxWidth);
  }

  void TakePrecision(Spec& spec) {
    if (!Take('.')) return;
    if (indexed_) good_index_ = false;  // %[3].2d
    TakeIndex();
    if (Take('*')) {
      spec.precision = TakeStar();
      if (spec.precision && *spec.precision < 0) spec.precision.reset();
      if (!spec.precision) absl::StrAppend(&out_, "%!(BADPREC)");
      return;
    }
    spec.precision = std::min(TakeNumber().value_or(0), kMaxWidth);
  }

  void PrintVerb() {
    Spec spec;
    indexed_ = false;
    good_index_ = true;
    TakeFlags(spec);
    TakeIndex();
    TakeWidth(spec);
    TakePrecision(spec);
    if (!indexed_) TakeIndex();
    if (format_.empty()) {
      absl::StrAppend(&out_, "%!(NOVERB)");
      return;
    }
    const go::Rune verb = go::DecodeRune(format_);
    format_.remove_prefix(static_cast<size_t>(verb.length));
    spec.verb = verb.value;
    if (spec.minus) spec.zero = false;
    if (spec.verb == '%') {
      out_ += '%';
    } else if (!good_index_ || next_ >= values_.size()) {
      absl::StrAppend(&out_, "%!");
      go::AppendRune(spec.verb, out_);
      absl::StrAppend(&out_, good_index_ ? "(MISSING)" : "(BADINDEX)");
    } else {
      const Value& value = values_[next_++];
      if (spec.verb == 'v') {
        spec.names_fields = std::exchange(spec.plus, false);
        spec.go_syntax = std::exchange(spec.sharp, false);
      }
      absl::StrAppend(&out_, FormatValue(value, spec));
    }
  }

  void PrintExtra() {
    absl::StrAppend(&out_, "%!(EXTRA ");
    for (size_t i = next_; i < values_.size(); ++i) {
      if (i > next_) absl::StrAppend(&out_, ", ");
      if (values_[i].IsNil()) {
        absl::StrAppend(&out_, "<nil>");
      } else {
        absl::StrAppend(&out_, values_[i].TypeName(), "=", FormatValue(values_[i], Spec{}));
      }
    }
    out_ += ')';
  }

  absl::string_view format_;
  const absl::Span<const Value> values_;
  size_t next_ = 0;
  bool reordered_ = false;  // some verb named its value: extra values are no mistake
  bool indexed_ = false;    // the verb at hand did
  bool good_index_ = true;
  std::string out_;
};

}  // namespace

std::string Sprint(absl::Span<const Value> values) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool text = values[i].As<std::string>() != nullptr;
    if (i > 0 && !text && values[i - 1].As<std::string>() == nullptr) out += ' ';
    absl::StrAppend(&out, FormatValue(values[i], Spec{}));
  }
  return out;
}

std::string Sprintln(absl::Span<const Value> values) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    absl::StrAppend(&out, i > 0 ? " " : "", FormatValue(values[i], Spec{}));
  }
  return out + "\n";
}

std::string Sprintf(absl::string_view format, absl::Span<const Value> values) {
  return Printer(format, values).Run();
}

}  // namespace flyball::rules::tmpl
