#include "scaler/spec/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

using testing::HasSubstr;

// Compact JSON, repeated keys kept; for comparing.
std::string Show(const Node& node) {
  std::string out;
  switch (node.kind) {
    case Node::Kind::kNull: return "null";
    case Node::Kind::kBool: return node.boolean ? "true" : "false";
    case Node::Kind::kNumber: return node.text;
    case Node::Kind::kString: return absl::StrCat("\"", node.text, "\"");
    case Node::Kind::kList:
      for (const Node& item : node.items) absl::StrAppend(&out, out.empty() ? "" : ",", Show(item));
      return absl::StrCat("[", out, "]");
    case Node::Kind::kMap:
      for (const auto& [key, value] : node.members) {
        absl::StrAppend(&out, out.empty() ? "" : ",", "\"", key, "\":", Show(value));
      }
      return absl::StrCat("{", out, "}");
  }
  return out;
}

struct DocumentRow {
  std::string name;
  std::string text;
  std::string want;  // of the first document; "error: …" when it must be refused
};

class ParseDocumentsTest : public testing::TestWithParam<DocumentRow> {};

TEST_P(ParseDocumentsTest, Row) {
  const auto got = ParseDocuments(GetParam().text, {.max_nodes = 1000});
  if (GetParam().want.rfind("error: ", 0) == 0) {
    ASSERT_FALSE(got.ok()) << Show(got->front());
    EXPECT_THAT(std::string(got.status().message()), HasSubstr(GetParam().want.substr(7)));
    return;
  }
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->size(), 1u);
  EXPECT_EQ(Show(got->front()), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Json, ParseDocumentsTest,
    testing::Values(DocumentRow{"NumbersKeepTheirText",
                                R"({"a": 1e3, "b": 1.50, "c": 123456789012345678901234})",
                                R"({"a":1e3,"b":1.50,"c":123456789012345678901234})"},
                    DocumentRow{"RepeatedKeysAreKept", R"({"a": 1, "a": 2})", R"({"a":1,"a":2})"},
                    DocumentRow{"StringsAreUnescaped", R"({"a": "x\u0041"})", R"({"a":"xA"})"},
                    DocumentRow{"YamlInsideBracesIsRefused", "{a: 1}", "error: not JSON"},
                    DocumentRow{"TrailingComma", R"({"a": 1,})", "error: not JSON"},
                    DocumentRow{"TwoDocuments", "{} {}", "error: not JSON"},
                    DocumentRow{"Unclosed", R"({"a": [1, 2})", "error: not JSON"},
                    DocumentRow{"NumberWithLetters", R"({"a": 1x})", "error: not JSON"},
                    DocumentRow{"LeadingZero", R"({"a": 01})", "error: not JSON"},
                    DocumentRow{"BadWord", R"({"a": nul})", "error: not JSON"},
                    DocumentRow{"ErrorsHaveALine", "{\"a\": 1,\n \"b\": x}", "error: line 2"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Yaml, ParseDocumentsTest,
    testing::Values(
        DocumentRow{"Bools", "a: yes\nb: Off\nc: 'yes'\nd: y",
                    R"({"a":true,"b":false,"c":"yes","d":true})"},
        DocumentRow{"Nulls", "a:\nb: ~\nc: NULL\nd: ''", R"({"a":null,"b":null,"c":null,"d":""})"},
        DocumentRow{"Integers", "a: 010\nb: 0x1F\nc: 1_000\nd: +5\ne: -0\nf: 08",
                    R"({"a":8,"b":31,"c":1000,"d":5,"e":0,"f":8})"},
        DocumentRow{"OddNumbers", "a: 18446744073709551615\nb: 0b-11\nc: .5_0\nd: 0o1_7\ne: _1",
                    R"({"a":18446744073709551615,"b":-3,"c":0.5,"d":15,"e":"_1"})"},
        DocumentRow{"Floats", "a: 1.50\nb: 1e3\nc: .5\nd: 0.0000001\ne: 1e21",
                    R"({"a":1.5,"b":1000,"c":0.5,"d":1e-7,"e":1e+21})"},
        DocumentRow{"NotNumbers", "a: 1.2.3\nb: 1x\nc: 2026-01-01\nd: 500m",
                    R"({"a":"1.2.3","b":"1x","c":"2026-01-01","d":"500m"})"},
        DocumentRow{"KeysBecomeStrings", "1: a\ntrue: b", R"({"1":"a","true":"b"})"},
        DocumentRow{"LastOfRepeatedKeysStays", "a: 1\na: 2", R"({"a":2})"},
        DocumentRow{"TagsWin", "a: !!str 5\nb: !!int '5'", R"({"a":"5","b":5})"},
        DocumentRow{"Aliases", "a: &x {p: 1}\nb: *x", R"({"a":{"p":1},"b":{"p":1}})"},
        DocumentRow{"Merge", "x: &x {p: 1, q: 2}\na:\n  <<: *x\n  q: 3",
                    R"({"x":{"p":1,"q":2},"a":{"q":3,"p":1}})"},
        DocumentRow{"InfinityHasNoJson", "a: .inf", "error: .inf has no form in JSON"},
        DocumentRow{"KeyMustBeAString", "? [a]\n: b", "error: a key must be a string"},
        DocumentRow{"SelfAlias", "a: &x [*x]", "error: alias"},
        DocumentRow{"StrayFlowEnd", "a: 1\n--- ,x", "error: line 2"},
        DocumentRow{"BadIndent", "a: 1\n b: 2", "error: line 2"},
        DocumentRow{"NotUtf8", "a: \xc3\xa4\nb: x\xc3, y", "error: line 2, column 5: not UTF-8"}),
    [](const auto& info) { return info.param.name; });

TEST(ParseDocumentsTest, EmptyDocumentsAreLeftOut) {
  const auto got = ParseDocuments("---\n# nothing\n---\na: 1\n---\nb: 2\n...\n");
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ(got->size(), 2u);
  EXPECT_EQ((*got)[1].Find("b")->line, 6);
}

TEST(ParseDocumentsTest, AnAliasBombRunsIntoTheLimit) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    absl::StrAppend(&bomb, "a", i, ": &a", i, " [");
    for (int j = 0; j < 10; ++j) absl::StrAppend(&bomb, j == 0 ? "" : ", ", "*a", i - 1);
    absl::StrAppend(&bomb, "]\n");
  }
  const auto got = ParseDocuments(bomb, {.max_nodes = 10000});
  EXPECT_THAT(std::string(got.status().message()), HasSubstr("too many values"));
}

// Few nodes, and each of them long.
TEST(ParseDocumentsTest, TextThatAliasesRepeatCountsAsIfItWereWrittenOut) {
  std::string bomb =
      absl::StrCat("- &a {", std::string(500, 'k'), ": ", std::string(500, 'x'), "}\n");
  for (int i = 0; i < 9; ++i) absl::StrAppend(&bomb, "- *a\n");
  EXPECT_TRUE(ParseDocuments(bomb, {.max_bytes = 10'000}).ok());
  absl::StrAppend(&bomb, "- *a\n");
  const auto got = ParseDocuments(bomb, {.max_bytes = 10'000});
  EXPECT_THAT(std::string(got.status().message()), HasSubstr("aliases repeat too much text"));
  EXPECT_FALSE(ParseYamlDocuments(std::string(101, 'x'), {.max_bytes = 100}).ok());
}

TEST(ParseDocumentsTest, DepthHasALimit) {
  const std::string deep(5000, '[');
  EXPECT_FALSE(ParseDocuments(deep + std::string(5000, ']')).ok());
  EXPECT_FALSE(ParseDocuments("a: " + deep + std::string(5000, ']')).ok());
  const std::string fine = std::string(99, '[') + std::string(99, ']');
  EXPECT_TRUE(ParseDocuments(fine).ok());
}

TEST(ParseDocumentsTest, LinesAreThoseOfTheText) {
  const auto got = ParseDocuments("{\"a\": {\n\"b\": [1,\n\n2]}}");
  ASSERT_TRUE(got.ok());
  const Node* list = got->front().Find("a")->Find("b");
  EXPECT_EQ(list->line, 2);
  EXPECT_EQ(list->items[1].line, 4);
}

TEST(LineOfTest, FindsTheFieldOrWhatIsAroundIt) {
  const auto got = ParseDocuments("spec:\n  metrics:\n  - type: x\n  - pods:\n      a: 1\n");
  ASSERT_TRUE(got.ok());
  const Node& root = got->front();
  EXPECT_EQ(LineOf(root, "spec.metrics[1].pods.a"), 5);
  EXPECT_EQ(LineOf(root, "spec.metrics[1].pods.target.value"), 5);
  EXPECT_EQ(LineOf(root, "spec.metrics[7]"), 3);
  EXPECT_EQ(LineOf(root, "status"), 1);
}

// The parser would keep a token for each bracket until the last one ends, which takes a hundred
// times as much memory as the text.
TEST(ParseDocumentsTest, BracketsAreCountedBeforeTheyAreRead) {
  constexpr ParseLimits kLimits = {.max_nodes = 10'000};
  for (const char* const opening : {"[", "[{", "[&a ", "[\"\" ", "{? "}) {
    std::string text = "v: ";
    while (text.size() < 200'000) text += opening;
    const auto got = ParseDocuments(text, kLimits);
    EXPECT_EQ(got.status().message(), "too many values, brackets and quotes") << opening;
  }
  std::string many = "v: [";
  for (int i = 0; i < 9'000; ++i) absl::StrAppend(&many, "\"", i, "\",");
  EXPECT_TRUE(ParseDocuments(many + "1]", kLimits).ok());
  EXPECT_TRUE(ParseDocuments("v: \"" + std::string(200'000, ',') + "\"", kLimits).ok());
}

}  // namespace
}  // namespace flyball::scaler
