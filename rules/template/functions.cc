#include "rules/template/functions.h"

#include <algorithm>
#include <complex>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/go/text.h"
#include "base/go/url.h"
#include "base/status_macros.h"
#include "rules/template/format.h"

namespace flyball::rules::tmpl {
namespace {

using Arguments = absl::Span<const Value>;

absl::Status Error(absl::string_view message) { return absl::InvalidArgumentError(message); }

// Comparison.

// Of an int, or of a byte of a string, which compares as one; nullopt: another type.
std::optional<int64_t> Integer(const Value& value) {
  if (const auto* v = value.As<int64_t>()) return *v;
  if (const auto* v = value.As<uint8_t>()) return *v;
  return std::nullopt;
}

absl::Status Incompatible(const Value& a, const Value& b) {
  return Error(absl::StrCat("cannot compare ", a.TypeName(), " with ", b.TypeName()));
}

// Whether both are of the type, and then whether they are equal.
template <typename T>
std::optional<bool> EqualAs(const Value& a, const Value& b) {
  const T* v = a.As<T>();
  const T* w = b.As<T>();
  return v != nullptr && w != nullptr ? std::optional(*v == *w) : std::nullopt;
}

absl::StatusOr<bool> EqualTo(const Value& a, const Value& b) {
  // Nil equals nil only.
  if (a.IsNil() || b.IsNil()) return a.IsNil() && b.IsNil();
  if (const auto v = Integer(a), w = Integer(b); v && w) return *v == *w;
  if (const auto equal = EqualAs<bool>(a, b)) return *equal;
  if (const auto equal = EqualAs<double>(a, b)) return *equal;
  if (const auto equal = EqualAs<std::complex<double>>(a, b)) return *equal;
  if (const auto equal = EqualAs<std::string>(a, b)) return *equal;
  // Lists and maps, and records that hold them, do not compare.
  const auto* record_a = a.As<const Record*>();
  const auto* record_b = b.As<const Record*>();
  if (record_a == nullptr || record_b == nullptr) return Incompatible(a, b);
  bool equal = (*record_a)->type_name == (*record_b)->type_name;
  for (size_t i = 0; equal && i < (*record_a)->fields.size(); ++i) {
    ASSIGN_OR_RETURN(equal, EqualTo((*record_a)->fields[i].second, (*record_b)->fields[i].second));
  }
  return equal;
}

absl::StatusOr<bool> LessThan(const Value& a, const Value& b) {
  if (const auto v = Integer(a), w = Integer(b); v && w) return *v < *w;
  const auto *real_a = a.As<double>(), *real_b = b.As<double>();
  if (real_a != nullptr && real_b != nullptr) return *real_a < *real_b;
  const auto *text_a = a.As<std::string>(), *text_b = b.As<std::string>();
  if (text_a != nullptr && text_b != nullptr) return *text_a < *text_b;
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
// ne, lt, le, gt and ge: whether `kCompare` says of the two arguments what is wanted.
template <auto kCompare, bool kWanted>
absl::StatusOr<Value> Compare(Arguments arguments) {
  ASSIGN_OR_RETURN(const bool holds, kCompare(arguments[0], arguments[1]));
  return Value(holds == kWanted);
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
  const std::optional<int64_t> number = Integer(index);
  if (!number) return Error(absl::StrCat("cannot index with ", index.TypeName()));
  if (*number < 0 || static_cast<uint64_t>(*number) > limit) {
    return Error(absl::StrCat("index ", *number, " is out of range"));
  }
  return static_cast<size_t>(*number);
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
  return Value(absl::StrReplaceAll(Joined(arguments), {{absl::string_view("\0", 1), "\uFFFD"},
                                                       {"\"", "&#34;"},
                                                       {"'", "&#39;"},
                                                       {"&", "&amp;"},
                                                       {"<", "&lt;"},
                                                       {">", "&gt;"}}));
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
    {"ge", 2, 2, Compare<LessThan, false>},
    {"gt", 2, 2, Compare<LessOrEqual, false>},
    {"html", 0, kAny, CallHtml},
    {"index", 1, kAny, CallIndex},
    {"js", 0, kAny, CallJs},
    {"le", 2, 2, Compare<LessOrEqual, true>},
    {"len", 1, 1, CallLen},
    {"lt", 2, 2, Compare<LessThan, true>},
    {"ne", 2, 2, Compare<EqualTo, false>},
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
