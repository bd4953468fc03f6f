#include "apiservice/wire/go_yaml.h"

#include <re2/re2.h>
#include <yaml.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "base/go/text.h"
#include "base/go/yaml_words.h"
#include "simdjson.h"

namespace flyball::apiservice::wire {
namespace {

namespace dom = simdjson::dom;

bool IsDigit(char32_t c) { return c >= '0' && c <= '9'; }

// ---- which texts are read as something else where they have no quotes ----

// 190:20:30, in parts of sixty. goyaml quotes it for other readers, but reads it as text itself.
bool IsBase60(absl::string_view text) {
  static const re2::LazyRE2 kBase60 = {"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\\.[0-9_]*)?"};
  return absl::StrContains(text, ':') &&
         re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *kBase60);
}

bool IsReadAsText(absl::string_view text) {
  return go::YamlTypeOf(text) == go::YamlType::kText && !IsBase60(text);
}

// ---- the order of keys: letters last, numbers by their value ----

std::u32string RunesOf(absl::string_view text) {
  std::u32string runes;
  while (!text.empty()) {
    const go::Rune rune = go::DecodeRune(text);
    runes += rune.value;
    text.remove_prefix(static_cast<size_t>(rune.length));
  }
  return runes;
}

struct TakenNumber {
  uint64_t value = 0;  // wraps, as the original's does
  size_t end = 0;
};

TakenNumber NumberAt(const std::u32string& text, size_t at, bool after_digits) {
  TakenNumber number = {.value = after_digits ? uint64_t{1} : 0, .end = at};
  for (; number.end < text.size() && IsDigit(text[number.end]); ++number.end) {
    number.value = number.value * 10 + (text[number.end] - '0');
  }
  return number;
}

bool ComesBefore(const std::u32string& a, const std::u32string& b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  if (i == a.size() || i == b.size()) return a.size() < b.size();
  const bool a_letter = go::IsLetterOrDigit(a[i]) && !IsDigit(a[i]);
  const bool b_letter = go::IsLetterOrDigit(b[i]) && !IsDigit(b[i]);
  if (a_letter && b_letter) return a[i] < b[i];
  if (a_letter || b_letter) return b_letter;
  bool after_digits = false;  // other than zeros: then a zero here belongs to their number
  if (a[i] == '0' || b[i] == '0') {
    for (size_t j = i; j > 0 && IsDigit(a[j - 1]); --j) after_digits |= a[j - 1] != '0';
  }
  const TakenNumber an = NumberAt(a, i, after_digits), bn = NumberAt(b, i, after_digits);
  if (an.value != bn.value) {
    return static_cast<int64_t>(an.value) < static_cast<int64_t>(bn.value);
  }
  return an.end != bn.end ? an.end < bn.end : a[i] < b[i];
}

// ---- the document ----

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

class Emitter {
 public:
  Emitter() {
    yaml_emitter_initialize(&emitter_);
    yaml_emitter_set_output(&emitter_, &Append, &out_);
    yaml_emitter_set_unicode(&emitter_, 1);
  }
  ~Emitter() { yaml_emitter_delete(&emitter_); }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  std::string Document(const dom::element& value) {
    yaml_event_t event;
    const bool good =
        Emit(yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), event) &&
        Emit(yaml_document_start_event_initialize(&event, nullptr, nullptr, nullptr, 1), event) &&
        Value(value) && Emit(yaml_document_end_event_initialize(&event, 1), event) &&
        Emit(yaml_stream_end_event_initialize(&event), event);
    return good ? std::move(out_) : "";
  }

 private:
  static int Append(void* out, unsigned char* bytes, size_t size) {
    static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
    return 1;
  }

  bool Emit(int made, yaml_event_t& event) {
    return made != 0 && yaml_emitter_emit(&emitter_, &event) != 0;
  }

  bool Scalar(absl::string_view text, yaml_scalar_style_t style) {
    if (text.size() > std::numeric_limits<int>::max()) return false;
    yaml_event_t event;
    return Emit(yaml_scalar_event_initialize(&event, nullptr, nullptr,
                                             reinterpret_cast<const yaml_char_t*>(text.data()),
                                             static_cast<int>(text.size()), 1, 1, style),
                event);
  }

  bool Plain(absl::string_view text) { return Scalar(text, YAML_PLAIN_SCALAR_STYLE); }

  bool Text(absl::string_view text) {
    if (absl::StrContains(text, '\n')) return Scalar(text, YAML_LITERAL_SCALAR_STYLE);
    return IsReadAsText(text) ? Plain(text) : Scalar(text, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
  }

  bool Map(const dom::object& map) {
    std::vector<std::pair<std::u32string, dom::key_value_pair>> members;
    for (const dom::key_value_pair member : map)
      members.emplace_back(RunesOf(View(member.key)), member);
    // Unlike std::sort, safe whether or not this is a strict order of any keys.
    std::stable_sort(members.begin(), members.end(),
                     [](const auto& a, const auto& b) { return ComesBefore(a.first, b.first); });
    yaml_event_t event;
    if (!Emit(yaml_mapping_start_event_initialize(&event, nullptr, nullptr, 1,
                                                  YAML_BLOCK_MAPPING_STYLE),
              event)) {
      return false;
    }
    for (const auto& [runes, member] : members) {
      if (!Text(View(member.key)) || !Value(member.value)) return false;
    }
    return Emit(yaml_mapping_end_event_initialize(&event), event);
  }

  bool List(const dom::array& list) {
    yaml_event_t event;
    if (!Emit(yaml_sequence_start_event_initialize(&event, nullptr, nullptr, 1,
                                                   YAML_BLOCK_SEQUENCE_STYLE),
              event)) {
      return false;
    }
    for (const dom::element item : list) {
      if (!Value(item)) return false;
    }
    return Emit(yaml_sequence_end_event_initialize(&event), event);
  }

  bool Value(const dom::element& value) {
    switch (value.type()) {
      case dom::element_type::OBJECT: return Map(value.get_object().value_unsafe());
      case dom::element_type::ARRAY: return List(value.get_array().value_unsafe());
      case dom::element_type::STRING: return Text(View(value.get_string().value_unsafe()));
      default: return Plain(simdjson::minify(value));  // a number, a boolean or null
    }
  }

  std::string out_;
  yaml_emitter_t emitter_;
};

}  // namespace

std::string YamlOfJson(absl::string_view text) {
  // Its tree is in three blocks, which leave no pieces behind in the heap when they are freed.
  dom::parser parser;
  dom::element value;
  if (parser.parse(text.data(), text.size()).get(value) != simdjson::SUCCESS) return "";
  return Emitter().Document(value);
}

}  // namespace flyball::apiservice::wire
