#include "rules/template/functions.h"

#include <algorithm>
#include <complex>
#include <iterator>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/go/text.h"
#include "base/go/url.h"
#include "base/status_macros.h"
#include "rules/template/format.h"

namespace flyball::rules::tmpl {
namespace {

using Arguments = absl::Span<const Value>;

absl::Status Error(absl::string_view message) { return absl::InvalidArgumentError(message); }

// Comparison.

enum class Basic { kNone, kBool, kInt, kUint, kFloat, kComplex, kString };

Basic BasicOf(const Value& value) {
  if (value.As<bool>() != nullptr) return Basic::kBool;
  if (value.As<int64_t>() != nullptr) return Basic::kInt;
  if (value.As<uint8_t>() != nullptr) return Basic::kUint;
  if (value.As<double>() != nullptr) return Basic::kFloat;
  if (value.As<std::complex<double>>() != nullptr) return Basic::kComplex;
  if (value.As<std::string>() != nullptr) return Basic::kString;
  return Basic::kNone;
}

// A byte of a string compares as an integer.
int64_t Integer(const Value& value) {
  if (const auto* v = value.As<uint8_t>()) return *v;
  return *value.As<int64_t>();
}

absl::Status Incompatible(const Value& a, const Value& b) {
  return Error(absl::StrCat("cannot compare ", a.TypeName(), " with ", b.TypeName()));
}

bool AreIntegers(Basic a, Basic b) {
  const auto is_integer = [](Basic kind) { return kind == Basic::kInt || kind == Basic::kUint; };
  return is_integer(a) && is_integer(b);
}

absl::StatusOr<bool> EqualTo(const Value& a, const Value& b);

absl::StatusOr<bool> EqualRecords(const Value& a, const Value& b) {
  const auto* record_a = a.As<const Record*>();
  const auto* record_b = b.As<const Record*>();
  if (record_a == nullptr || record_b == nullptr) return Incompatible(a, b);
  bool equal = (*record_a)->type_name == (*record_b)->type_name;
  for (size_t i = 0; equal && i < (*record_a)->fields.size(); ++i) {
    ASSIGN_OR_RETURN(equal, EqualTo((*record_a)->fields[i].second, (*record_b)->fields[i].second));
  }
  return equal;
}

absl::StatusOr<bool> EqualTo(const Value& a, const Value& b) {
  const Basic kind_a = BasicOf(a), kind_b = BasicOf(b);
  if (AreIntegers(kind_a, kind_b)) return Integer(a) == Integer(b);
  if (kind_a != kind_b) {
    if (!a.IsNil() && !b.IsNil()) return Incompatible(a, b);
    return false;
  }
  switch (kind_a) {
    case Basic::kBool:
      return *a.As<bool>() == *b.As<bool>();
    case Basic::kFloat:
      return *a.As<double>() == *b.As<double>();
    case Basic::kComplex:
      return *a.As<std::complex<double>>() == *b.As<std::complex<double>>();
    case Basic::kString:
      return *a.As<std::string>() == *b.As<std::string>();
    default:
      // Nil equals nil only; lists, maps and records that hold them do not compare.
      if (a.IsNil() || b.IsNil()) return a.IsNil() == b.IsNil();
      return EqualRecords(a, b);
  }
}

absl::StatusOr<bool> LessThan(const Value& a, const Value& b) {
  const Basic kind_a = BasicOf(a), kind_b = BasicOf(b);
  if (AreIntegers(kind_a, kind_b)) return Integer(a) < Integer(b);
  if (kind_a != kind_b) return Incompatible(a, b);
  if (kind_a == Basic::kFloat) return *a.As<double>() < *b.As<double>();
  if (kind_a == Basic::kString) return *a.As<std::string>() < *b.As<std::string>();
  return Incompatible(a, b);
}

absl::StatusOr<bool> LessOrEqual(const Value& a, const Value& b) {
  ASSIGN_OR_RETURN(const bool less, LessThan(a, b));
  if (less) return true;
  return EqualTo(a, b);
}

absl::StatusOr<Value> CallEq(Arguments arguments) {
  if (arguments.size() < 2) return Error("nothing to compare with");
  for (const Value& other : arguments.subspan(1)) {
    ASSIGN_OR_RETURN(const bool equal, EqualTo(arguments[0], other));
    if (equal) return Value(true);
  }
  return Value(false);
}
absl::StatusOr<Value> CallNe(Arguments arguments) {
  ASSIGN_OR_RETURN(const bool equal, EqualTo(arguments[0], arguments[1]));
  return Value(!equal);
}
absl::StatusOr<Value> CallLt(Arguments arguments) {
  ASSIGN_OR_RETURN(const bool less, LessThan(arguments[0], arguments[1]));
  return Value(less);
}
absl::StatusOr<Value> CallLe(Arguments arguments) {
  ASSIGN_OR_RETURN(const bool less, LessOrEqual(arguments[0], arguments[1]));
  return Value(less);
}
absl::StatusOr<Value> CallGt(Arguments arguments) {
  ASSIGN_OR_RETURN(const bool less, LessOrEqual(arguments[0], arguments[1]));
  return Value(!less);
}
absl::StatusOr<Value> CallGe(Arguments arguments) {
  ASSIGN_OR_RETURN(const bool less, LessThan(arguments[0], arguments[1]));
  return Value(!less);
}
absl::StatusOr<Value> CallNot(Arguments arguments) { return Value(!arguments[0].Truth()); }

// Lists, maps and strings.

absl::StatusOr<Value> CallLen(Arguments arguments) {
  const Value& item = arguments[0];
  if (const auto* v = item.As<std::string>()) return Value(static_cast<int64_t>(v->size()));
  if (const auto* v = item.As<List>()) return Value(static_cast<int64_t>(v->size));
  if (const auto* v = item.As<const StringMap*>()) return Value(static_cast<int64_t>((*v)->size()));
  return Error(absl::StrCat("len of ", item.TypeName()));
}

// 0..limit, both included.
absl::StatusOr<size_t> TakeIndex(const Value& index, size_t limit) {
  int64_t number = 0;
  if (BasicOf(index) != Basic::kInt && BasicOf(index) != Basic::kUint) {
    return Error(absl::StrCat("cannot index with ", index.TypeName()));
  }
  number = Integer(index);
  if (number < 0 || static_cast<uint64_t>(number) > limit) {
    return Error(absl::StrCat("index ", number, " is out of range"));
  }
  return static_cast<size_t>(number);
}

absl::StatusOr<Value> IndexOne(const Value& item, const Value& index) {
  if (const auto* map = item.As<const StringMap*>()) {
    const auto* key = index.As<std::string>();
    if (key == nullptr) return Error(absl::StrCat("a map is indexed with ", index.TypeName()));
    const auto found = (*map)->find(*key);
    return Value(found == (*map)->end() ? std::string() : found->second);
  }
  if (const auto* list = item.As<List>()) {
    ASSIGN_OR_RETURN(const size_t at, TakeIndex(index, list->size));
    if (at == list->size) return Error("index is out of range");
    return Value(list->begin[at]);
  }
  if (const auto* text = item.As<std::string>()) {
    ASSIGN_OR_RETURN(const size_t at, TakeIndex(index, text->size()));
    if (at == text->size()) return Error("index is out of range");
    return Value(static_cast<uint8_t>((*text)[at]));
  }
  return Error(absl::StrCat("cannot index ", item.TypeName()));
}

absl::StatusOr<Value> CallIndex(Arguments arguments) {
  if (arguments[0].IsNil()) return Error("index of nil");
  Value item = arguments[0];
  for (const Value& index : arguments.subspan(1)) {
    ASSIGN_OR_RETURN(item, IndexOne(item, index));
  }
  return item;
}

absl::StatusOr<Value> CallSlice(Arguments arguments) {
  const auto* text = arguments[0].As<std::string>();
  const auto* list = arguments[0].As<List>();
  if (text == nullptr && list == nullptr) {
    return Error(absl::StrCat("cannot slice ", arguments[0].TypeName()));
  }
  const Arguments indexes = arguments.subspan(1);
  if (indexes.size() > (text != nullptr ? 2u : 3u)) return Error("too many slice indexes");
  const size_t limit = text != nullptr ? text->size() : list->capacity;
  size_t bounds[3] = {0, text != nullptr ? text->size() : list->size, limit};
  for (size_t i = 0; i < indexes.size(); ++i) {
    ASSIGN_OR_RETURN(bounds[i], TakeIndex(indexes[i], limit));
  }
  if (bounds[0] > bounds[1] || bounds[1] > bounds[2])
    return Error("slice indexes are not in order");
  if (text != nullptr) return Value(text->substr(bounds[0], bounds[1] - bounds[0]));
  return Value(List{list->begin + bounds[0], bounds[1] - bounds[0], bounds[2] - bounds[0]});
}

// Text.

absl::StatusOr<Value> CallPrint(Arguments arguments) { return Value(Sprint(arguments)); }
absl::StatusOr<Value> CallPrintln(Arguments arguments) { return Value(Sprintln(arguments)); }
absl::StatusOr<Value> CallPrintf(Arguments arguments) {
  const auto* format = arguments[0].As<std::string>();
  if (format == nullptr) {
    return Error(absl::StrCat("printf takes a string first, not ", arguments[0].TypeName()));
  }
  return Value(Sprintf(*format, arguments.subspan(1)));
}

// What the escapers escape: as printed by an action, where nil is "<no value>".
std::string Joined(Arguments arguments) {
  std::vector<Value> shown(arguments.begin(), arguments.end());
  for (Value& value : shown) {
    if (value.IsNil()) value = Value(std::string("<no value>"));
  }
  return Sprint(shown);
}

absl::StatusOr<Value> CallHtml(Arguments arguments) {
  std::string out;
  for (const char c : Joined(arguments)) {
    switch (c) {
      case '\0':
        out += "\xEF\xBF\xBD";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return Value(std::move(out));
}

absl::StatusOr<Value> CallJs(Arguments arguments) {
  const std::string joined = Joined(arguments);
  std::string out;
  for (absl::string_view text = joined; !text.empty();) {
    const go::Rune rune = go::DecodeRune(text);
    const auto code = static_cast<uint32_t>(rune.value);
    if (code == '\\' || code == '\'' || code == '"') {
      absl::StrAppend(&out, "\\", text.substr(0, 1));
    } else if (code < ' ' || code == '<' || code == '>' || code == '&' || code == '=' ||
               (code >= 0x80 && !go::IsPrintable(rune.value))) {
      absl::StrAppendFormat(&out, "\\u%04X", code);
    } else {
      absl::StrAppend(&out, text.substr(0, static_cast<size_t>(rune.length)));
    }
    text.remove_prefix(static_cast<size_t>(rune.length));
  }
  return Value(std::move(out));
}

absl::StatusOr<Value> CallUrlquery(Arguments arguments) {
  return Value(go::QueryEscape(Joined(arguments)));
}

absl::StatusOr<Value> CallCall(Arguments arguments) {
  return Error(absl::StrCat("call of ", arguments[0].TypeName(), ", which is not a function"));
}

absl::StatusOr<Value> CallLogic(Arguments) {
  return absl::InternalError("and and or are evaluated by the evaluator");
}

struct Function {
  absl::string_view name;
  size_t least = 0, most = 0;  // arguments
  absl::StatusOr<Value> (*call)(Arguments) = nullptr;
};

constexpr size_t kAny = std::numeric_limits<size_t>::max();

constexpr Function kFunctions[] = {
    {"and", 1, kAny, CallLogic},
    {"call", 1, kAny, CallCall},
    {"eq", 1, kAny, CallEq},
    {"ge", 2, 2, CallGe},
    {"gt", 2, 2, CallGt},
    {"html", 0, kAny, CallHtml},
    {"index", 1, kAny, CallIndex},
    {"js", 0, kAny, CallJs},
    {"le", 2, 2, CallLe},
    {"len", 1, 1, CallLen},
    {"lt", 2, 2, CallLt},
    {"ne", 2, 2, CallNe},
    {"not", 1, 1, CallNot},
    {"or", 1, kAny, CallLogic},
    {"print", 0, kAny, CallPrint},
    {"printf", 1, kAny, CallPrintf},
    {"println", 0, kAny, CallPrintln},
    {"slice", 1, kAny, CallSlice},
    {"urlquery", 0, kAny, CallUrlquery},
};

const Function* Find(absl::string_view name) {
  const auto* const found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                         [&](const Function& f) { return f.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

}  // namespace

bool IsFunction(absl::string_view name) { return Find(name) != nullptr; }

absl::StatusOr<Value> CallFunction(absl::string_view name, Arguments arguments) {
  const Function* const function = Find(name);
  if (function == nullptr) return Error(absl::StrCat("function \"", name, "\" is not known"));
  if (arguments.size() < function->least || arguments.size() > function->most) {
    return Error(absl::StrCat("wrong number of arguments for ", name, ": ", arguments.size()));
  }
  auto result = function->call(arguments);
  if (!result.ok()) return Error(absl::StrCat(name, ": ", result.status().message()));
  return result;
}

}  // namespace flyball::rules::tmpl
