#include "rule_tests/rule_bench.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace flyball::rule_tests {
namespace {

using nlohmann::json;

constexpr size_t kMaxShown = 400;

// What the series of a test give need not be UTF-8.
std::string TextOf(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// As it would be written in a test file.
std::string ScalarText(const json& value) {
  return value.is_string() ? value.get<std::string>() : TextOf(value);
}

std::string Shorten(std::string text) {
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "…";
  return text;
}

void Mismatch(const std::string& path, absl::string_view expected, absl::string_view got,
              std::vector<std::string>* differences) {
  differences->push_back(absl::StrCat(path, ": expected ", expected, ", got ", got));
}

// `Pod/a-1`, of an item's describedObject.
std::string ObjectName(const json& item) {
  const json object = item.value("describedObject", json::object());
  return absl::StrCat(object.value("kind", ""), "/", object.value("name", ""));
}

void Compare(const std::string& path, const Expected& expected, const json& got,
             std::vector<std::string>* differences);

void CompareList(const std::string& path, const Expected& expected, const json& got,
                 std::vector<std::string>* differences) {
  if (!got.is_array()) return Mismatch(path, "a list", Shorten(TextOf(got)), differences);
  if (got.size() != expected.items.size()) {
    return Mismatch(path, absl::StrCat(expected.items.size(), " entries"),
                    absl::StrCat(got.size(), ": ", Shorten(TextOf(got))), differences);
  }
  for (size_t i = 0; i < got.size(); ++i) {
    Compare(absl::StrCat(path, "[", i, "]"), expected.items[i], got[i], differences);
  }
}

void CompareMap(const std::string& path, const Expected& expected, const json& got,
                std::vector<std::string>* differences) {
  if (!got.is_object()) return Mismatch(path, "a mapping", Shorten(TextOf(got)), differences);
  for (size_t i = 0; i < expected.keys.size(); ++i) {
    const std::string& key = expected.keys[i];
    const Expected& value = expected.items[i];
    const std::string field = absl::StrCat(path, ".", key);
    if (got.contains(key)) {
      Compare(field, value, got[key], differences);
    } else if (key == "object" && got.contains("describedObject")) {
      Compare(field, value, ObjectName(got), differences);
    } else if (value.kind != Expected::Kind::kNull) {
      Mismatch(field, "a value", absl::StrCat("none among ", Shorten(TextOf(got))), differences);
    }
  }
}

void Compare(const std::string& path, const Expected& expected, const json& got,
             std::vector<std::string>* differences) {
  switch (expected.kind) {
    case Expected::Kind::kNull:
      if (!got.is_null()) Mismatch(path, "null", Shorten(TextOf(got)), differences);
      return;
    case Expected::Kind::kText:
      if (got.is_structured() || ScalarText(got) != expected.text) {
        Mismatch(path, json(expected.text).dump(-1, ' ', false, json::error_handler_t::replace),
                 Shorten(TextOf(got)), differences);
      }
      return;
    case Expected::Kind::kList: return CompareList(path, expected, got, differences);
    case Expected::Kind::kMap: return CompareMap(path, expected, got, differences);
  }
}

void ComparePromql(std::vector<std::string> expected, const std::vector<std::string>& got,
                   std::vector<std::string>* differences) {
  std::sort(expected.begin(), expected.end());
  if (expected == got) return;
  std::string text = "promql:";
  for (const std::string& query : expected) absl::StrAppend(&text, "\n  expected: ", query);
  if (expected.empty()) absl::StrAppend(&text, "\n  expected: no query");
  for (const std::string& query : got) absl::StrAppend(&text, "\n  got:      ", query);
  if (got.empty()) absl::StrAppend(&text, "\n  got:      no query");
  differences->push_back(std::move(text));
}

}  // namespace

std::vector<std::string> Differences(const RuleTest& test, const Exchange& got) {
  std::vector<std::string> differences;
  const json body = json::parse(got.body, nullptr, false);
  const std::string message =
      body.is_object() ? ScalarText(body.value("message", json(""))) : got.body;
  if (got.code != test.code) {
    differences.push_back(absl::StrCat("code: expected ", test.code, ", got ", got.code,
                                       message.empty() ? "" : ": ", message));
  }
  if (test.promql) ComparePromql(*test.promql, got.promql, &differences);
  if (test.message && *test.message != message) {
    Mismatch("message", TextOf(*test.message), TextOf(message), &differences);
  }
  // An answer of another code has another shape; its message says enough.
  if (test.answer && got.code == test.code) {
    if (body.is_discarded()) {
      Mismatch("answer", "JSON", Shorten(TextOf(got.body)), &differences);
    } else {
      Compare("answer", *test.answer, body, &differences);
    }
  }
  if (!differences.empty()) {
    for (const std::string& error : got.errors) {
      differences.push_back(absl::StrCat("query failed: ", error));
    }
  }
  return differences;
}

}  // namespace flyball::rule_tests
