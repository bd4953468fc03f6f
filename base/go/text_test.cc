#include "base/go/text.h"

#include <gtest/gtest.h>

#include <string>

namespace flyball::go {
namespace {

struct Row {
  std::string name;
  std::string text, quoted;
};

class QuoteGoTest : public testing::TestWithParam<Row> {};

TEST_P(QuoteGoTest, Row) {
  EXPECT_EQ(Quote(GetParam().text), GetParam().quoted);
  EXPECT_EQ(Unquote(GetParam().quoted), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Strconv, QuoteGoTest,
    testing::Values(Row{"Plain", "web-1.a_b", R"("web-1.a_b")"},
                    Row{"QuoteAndBackslash", R"(a"b\c)", R"("a\"b\\c")"},
                    Row{"Controls", "\a\b\f\n\r\t\v", R"("\a\b\f\n\r\t\v")"},
                    Row{"OtherControls", std::string("\0\x1f\x7f", 3), R"("\x00\x1f\x7f")"},
                    Row{"PrintableUtf8Stays", "h\xC3\xA9\xE2\x98\x83", "\"h\xC3\xA9\xE2\x98\x83\""},
                    Row{"UnprintableUtf8", "\xC2\xA0\xE2\x80\xA8\xF3\xA0\x80\x81",
                        R"("\u00a0\u2028\U000e0001")"},
                    Row{"InvalidUtf8", "a\xFF\xC3", R"("a\xff\xc3")"},
                    // A surrogate in UTF-8 is three invalid bytes.
                    Row{"Surrogate", "\xED\xA0\x80", R"("\xed\xa0\x80")"}),
    [](const auto& info) { return info.param.name; });

class JsonGoTest : public testing::TestWithParam<Row> {};

TEST_P(JsonGoTest, Row) {
  std::string out;
  AppendJsonString(GetParam().text, &out);
  EXPECT_EQ(out, GetParam().quoted);
}

INSTANTIATE_TEST_SUITE_P(
    EncodingJson, JsonGoTest,
    testing::Values(Row{"PlainStays", "queue_len", "\"queue_len\""},
                    Row{"QuoteAndBackslash", "a\"b\\c", R"("a\"b\\c")"},
                    Row{"HtmlAsGo", "<a>&b", R"("\u003ca\u003e\u0026b")"},
                    Row{"Controls", std::string("\n\r\t\b\f\x01", 6), R"("\n\r\t\b\f\u0001")"},
                    Row{"NonAsciiStays", "grüße€😀", "\"grüße€😀\""},
                    Row{"LineSeparators", "\u2028\u2029", R"("\u2028\u2029")"},
                    Row{"BrokenUtf8IsReplaced", "a\xff\xc3", R"("a\ufffd\ufffd")"},
                    // A surrogate half in UTF-8 is three broken bytes.
                    Row{"SurrogateIsBroken", "\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"}),
    [](const auto& info) { return info.param.name; });

TEST(JsonEscapesTest, EscapesNoMoreThanAskedFor) {
  const std::string text = "<a>&\n\"\\\xff\u2028\x01";
  const auto written = [&text](JsonEscapes escapes) {
    std::string out;
    AppendJsonString(text, &out, escapes);
    return out;
  };
  EXPECT_EQ(written({.html = false}), R"("<a>&\n\"\\\ufffd\u2028\u0001")");
  EXPECT_EQ(written({.letters = false}), R"("\u003ca\u003e\u0026\u000a\"\\\ufffd\u2028\u0001")");
  EXPECT_EQ(written({.html = false, .letters = false, .separators = false}),
            "\"<a>&\\u000a\\\"\\\\\\ufffd\u2028\\u0001\"");
}

TEST(UnquoteGoTest, RefusesWhatIsNoLiteral) {
  for (const char* bad : {"", "\"", "\"a", "a\"", "'a'", "\"a\"b\"", "\"\n\"", R"("\q")", R"("\'")",
                          R"("\x4")", R"("\400")", R"("\ud800")", R"("\U00110000")", "`a`b`"}) {
    EXPECT_EQ(Unquote(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(Unquote("`a\\n\r`"), "a\\n");
}

TEST(UnquoteGoRuneTest, OneCharacter) {
  EXPECT_EQ(UnquoteRune("'a'"), U'a');
  EXPECT_EQ(UnquoteRune("'\xC3\xA9'"), 0xE9);
  EXPECT_EQ(UnquoteRune(R"('\'')"), U'\'');
  EXPECT_EQ(UnquoteRune(R"('\x41')"), U'A');
  for (const char* bad : {"''", "'ab'", "'a", R"('\"')", "\"a\""}) {
    EXPECT_EQ(UnquoteRune(bad), std::nullopt) << bad;
  }
}

TEST(DecodeRuneTest, RefusesOverlongAndOutOfRange) {
  for (const char* bad : {"\xC0\x80", "\xE0\x80\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80",
                          "\x80", "\xC3", "\xE2\x98"}) {
    EXPECT_FALSE(DecodeRune(bad).valid) << bad;
    EXPECT_EQ(DecodeRune(bad).length, 1) << bad;
  }
  EXPECT_EQ(DecodeRune("\xF4\x8F\xBF\xBF").value, 0x10FFFF);
}

TEST(AppendRuneTest, IsTheInverseOfDecodeRune) {
  for (const char32_t rune : {0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF}) {
    std::string text;
    AppendRune(rune, text);
    EXPECT_EQ(DecodeRune(text).value, rune);
    EXPECT_EQ(static_cast<size_t>(DecodeRune(text).length), text.size());
  }
}

}  // namespace
}  // namespace flyball::go
