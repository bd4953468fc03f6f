#include "adapter/prometheus/json.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "adapter/queries/failure_notes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::adapter::prometheus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string VectorJson(const std::string& samples) {
  return absl::StrCat(R"({"status":"success","data":{"resultType":"vector","result":)", samples,
                      "}}");
}

std::string OneValue(const std::string& text) {
  return VectorJson(
      absl::StrCat(R"([{"metric":{"pod":"a"},"value":[1700000000.123,")", text, "\"]}]"));
}

// ---- values ----

struct ValueRow {
  std::string name;
  std::string text;
  double want;
};

class ParseValueTest : public testing::TestWithParam<ValueRow> {};

TEST_P(ParseValueTest, Row) {
  const auto got = ParseQueryAnswer(OneValue(GetParam().text));
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_THAT(got->samples, SizeIs(1));
  const double value = got->samples[0].value;
  if (std::isnan(GetParam().want)) {
    EXPECT_TRUE(std::isnan(value)) << value;
  } else {
    EXPECT_EQ(value, GetParam().want);
  }
  EXPECT_EQ(absl::ToUnixMillis(got->samples[0].time), 1700000000123);
}

constexpr double kInf = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    Forms, ParseValueTest,
    testing::Values(ValueRow{"Integer", "42", 42}, ValueRow{"Fraction", "2.71828", 2.71828},
                    ValueRow{"Negative", "-1.5", -1.5}, ValueRow{"PlusSign", "+3", 3},
                    ValueRow{"Exponent", "1.5e+06", 1.5e6},
                    ValueRow{"SmallExponent", "4e-320", 4e-320},
                    ValueRow{"BelowTheSmallestIsZero", "1e-400", 0},
                    ValueRow{"NaN", "NaN", std::nan("")}, ValueRow{"PlusInf", "+Inf", kInf},
                    ValueRow{"MinusInf", "-Inf", -kInf}, ValueRow{"BareInf", "Inf", kInf},
                    ValueRow{"BeyondTheLargestIsInfinite", "1e400", kInf},
                    ValueRow{"MinusBeyondTheLargest", "-1e400", -kInf}),
    [](const auto& info) { return info.param.name; });

// ---- query answers ----

TEST(ParseQueryAnswerTest, SamplesKeepTheirOrderAndLabelsAreSorted) {
  const auto got = ParseQueryAnswer(VectorJson(
      R"([{"metric":{"z":"1","a":"q\"\u00e9"},"value":[1,"2"]},{"metric":{},"value":[1.5,"3"]}])"));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->type, QueryResult::Type::kVector);
  ASSERT_THAT(got->samples, SizeIs(2));
  EXPECT_EQ(got->samples[0].labels, (LabelSet{{"a", "q\"\xc3\xa9"}, {"z", "1"}}));
  EXPECT_EQ(LabelValue(got->samples[0].labels, "z"), "1");
  EXPECT_EQ(LabelValue(got->samples[0].labels, "none"), "");
  EXPECT_THAT(got->samples[1].labels, SizeIs(0));
  EXPECT_EQ(absl::ToUnixMillis(got->samples[1].time), 1500);
}

// Whoever has series in Prometheus chooses how many labels they have.
TEST(ParseQueryAnswerTest, SamplesOfShortLabelsThatWouldTakeTooMuchAreRefused) {
  std::string labels = R"("a":"")";
  for (int i = 1'000; i < 2'000; ++i) absl::StrAppend(&labels, ",\"b", i, "\":\"\"");
  const auto answer = [&labels](size_t count) {
    std::string samples;
    for (size_t i = 0; i < count; ++i) {
      absl::StrAppend(&samples, i == 0 ? "" : ",", R"({"metric":{)", labels,
                      R"(},"value":[1,"1"]})");
    }
    return ParseQueryAnswer(VectorJson(absl::StrCat("[", samples, "]")));
  };
  EXPECT_TRUE(answer(100).ok());
  const absl::Status refused = answer(1'200).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(NoteOf(refused, kTooLongNote), "");
}

TEST(ParseQueryAnswerTest, ScalarIsOneSampleWithoutLabels) {
  const auto got = ParseQueryAnswer(
      R"({"status":"success","data":{"resultType":"scalar","result":[1700000000,"3"]}})");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->type, QueryResult::Type::kScalar);
  ASSERT_THAT(got->samples, SizeIs(1));
  EXPECT_EQ(got->samples[0].value, 3);
}

// prometheus/common v0.46: what is behind the point is added also before the epoch.
TEST(ParseQueryAnswerTest, TimesBeforeTheEpochAreReadAsGoDoes) {
  const auto got = ParseQueryAnswer(
      VectorJson(R"([{"metric":{},"value":[-5.5,"1"]},{"metric":{},"value":[-0.25,"1"]},)"
                 R"({"metric":{},"value":[-7,"1"]},{"metric":{},"value":[-1700000000.123,"1"]},)"
                 R"({"metric":{},"value":[-62135596800,"1"]}])"));
  ASSERT_TRUE(got.ok()) << got.status();
  const int64_t wanted[] = {-4500, -250, -7000, -1699999999877, -62135596800000};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(absl::ToUnixMillis(got->samples[i].time), wanted[i]) << i;
  }
}

TEST(ParseQueryAnswerTest, AValueWithDigitGroupsIsInfiniteAndTheOthersStand) {
  const auto got = ParseQueryAnswer(
      VectorJson(R"([{"metric":{"pod":"a"},"value":[1,"1_000"]},{"metric":{},"value":[1,"2"]}])"));
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_THAT(got->samples, SizeIs(2));
  EXPECT_EQ(got->samples[0].value, kInf);
  EXPECT_EQ(got->samples[1].value, 2);
}

TEST(ParseQueryAnswerTest, NativeHistogramCountsAsZero) {
  const auto got = ParseQueryAnswer(VectorJson(
      R"([{"metric":{"pod":"a"},"histogram":[7,{"count":"5","sum":"9","buckets":[[0,"1","2","3"]]}]}])"));
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_THAT(got->samples, SizeIs(1));
  EXPECT_EQ(got->samples[0].value, 0);
  EXPECT_EQ(absl::ToUnixSeconds(got->samples[0].time), 7);
}

struct TypeRow {
  std::string name;
  std::string body;
  QueryResult::Type type;
  bool null_result = false;
};

class ParseQueryAnswerTypeTest : public testing::TestWithParam<TypeRow> {};

TEST_P(ParseQueryAnswerTypeTest, Row) {
  const auto got = ParseQueryAnswer(GetParam().body);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->type, GetParam().type);
  EXPECT_EQ(got->null_result, GetParam().null_result);
  EXPECT_THAT(got->samples, SizeIs(0));
}

INSTANTIATE_TEST_SUITE_P(
    Types, ParseQueryAnswerTypeTest,
    testing::Values(
        TypeRow{"EmptyVector", VectorJson("[]"), QueryResult::Type::kVector},
        TypeRow{"NullVector", VectorJson("null"), QueryResult::Type::kVector, true},
        TypeRow{
            "Matrix",
            R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"2"]]}]}})",
            QueryResult::Type::kMatrix},
        TypeRow{"String", R"({"status":"success","data":{"resultType":"string","result":[1,"x"]}})",
                QueryResult::Type::kString},
        TypeRow{
            "FieldsInAnyOrder",
            R"({"data":{"result":[],"resultType":"vector"},"warnings":["w"],"status":"success"})",
            QueryResult::Type::kVector},
        TypeRow{"OtherStatusIsSuccess",
                R"({"status":"fine","data":{"resultType":"vector","result":[]}})",
                QueryResult::Type::kVector},
        TypeRow{"NoStatusIsSuccess", R"({"data":{"resultType":"vector","result":[]}})",
                QueryResult::Type::kVector}),
    [](const auto& info) { return info.param.name; });

// ---- failures ----

struct FailureRow {
  std::string name;
  std::string body;
  absl::StatusCode code;
  std::string says;
};

class ParseQueryAnswerFailureTest : public testing::TestWithParam<FailureRow> {};

TEST_P(ParseQueryAnswerFailureTest, Row) {
  const absl::Status got = ParseQueryAnswer(GetParam().body).status();
  EXPECT_EQ(got.code(), GetParam().code) << got;
  EXPECT_THAT(std::string(got.message()), HasSubstr(GetParam().says));
}

constexpr auto kRefused = absl::StatusCode::kInvalidArgument;
constexpr auto kDown = absl::StatusCode::kUnavailable;

INSTANTIATE_TEST_SUITE_P(
    Failures, ParseQueryAnswerFailureTest,
    testing::Values(
        FailureRow{"BadDataIsRefused",
                   R"({"status":"error","errorType":"bad_data","error":"no \"x\""})", kRefused,
                   "bad_data: no \"x\""},
        FailureRow{"ExecutionIsRefused",
                   R"({"status":"error","errorType":"execution","error":"many-to-many"})", kRefused,
                   "many-to-many"},
        FailureRow{"TimeoutIsNot", R"({"status":"error","errorType":"timeout","error":"late"})",
                   kDown, "timeout: late"},
        FailureRow{"UnavailableIsNot",
                   R"({"status":"error","errorType":"unavailable","error":"starting"})", kDown,
                   "starting"},
        FailureRow{"OtherTypesMayBe",
                   R"({"status":"error","errorType":"422","error":"too long query"})",
                   absl::StatusCode::kUnknown, "422: too long query"},
        FailureRow{"ErrorWithoutText", R"({"status":"error"})", absl::StatusCode::kUnknown,
                   "no error text"},
        FailureRow{"Empty", "", kDown, "not an answer"},
        FailureRow{"Html", "<html>\n<body>502</body>", kDown, "begins `<html>.<body>502</body>`"},
        FailureRow{"LongBodyIsCut", std::string(500, 'x'), kDown,
                   absl::StrCat("`", std::string(80, 'x'), "...`")},
        FailureRow{"Null", "null", kDown, "begins `null`"},
        FailureRow{"Array", "[]", kDown, "begins `[]`"},
        FailureRow{"NoData", R"({"status":"success"})", kDown, "data"},
        FailureRow{"NullData", R"({"status":"success","data":null})", kDown, "data"},
        FailureRow{"CutOff",
                   R"({"status":"success","data":{"resultType":"vector","result":[{"metric)", kDown,
                   "not an answer"},
        FailureRow{"CutOffAtABrace",
                   R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{}})",
                   kDown, "not an answer"},
        FailureRow{"UnknownType",
                   R"({"status":"success","data":{"resultType":"table","result":[]}})", kDown,
                   "resultType"},
        FailureRow{"ValueIsNotAString", VectorJson(R"([{"metric":{},"value":[1,2]}])"), kDown,
                   "sample value"},
        FailureRow{"ValueIsNotANumber", VectorJson(R"([{"metric":{},"value":[1,"two"]}])"), kDown,
                   "not a number"},
        FailureRow{"EmptyValue", VectorJson(R"([{"metric":{},"value":[1,""]}])"), kDown,
                   "not a number"},
        FailureRow{"DigitGroupWithoutDigits", VectorJson(R"([{"metric":{},"value":[1,"1__0"]}])"),
                   kDown, "not a number"},
        FailureRow{"TwoSigns", VectorJson(R"([{"metric":{},"value":[1,"+-1"]}])"), kDown,
                   "not a number"},
        FailureRow{"ThreeValues", VectorJson(R"([{"metric":{},"value":[1,"2","3"]}])"), kDown,
                   "pair"},
        FailureRow{"TimeOutOfRange", VectorJson(R"([{"metric":{},"value":[1e300,"2"]}])"), kDown,
                   "time"},
        FailureRow{"LabelIsNotAString", VectorJson(R"([{"metric":{"a":1},"value":[1,"2"]}])"),
                   kDown, "label value"},
        FailureRow{"BrokenUtf8", "{\"status\":\"\xff\"}", kDown, "not an answer"}),
    [](const auto& info) { return info.param.name; });

// As Go's encoding/json: one U+FFFD for each byte that belongs to no character.
TEST(ParseQueryAnswerTest, BytesThatAreNoUtf8AreReplaced) {
  const auto got = ParseQueryAnswer(
      VectorJson("[{\"metric\":{\"a\":\"\xff\xfe|\xc3\xa9|\xed\xa0\x80\",\"po\":\"p\"}"
                 ",\"value\":[1,\"2\"]}]"));
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_THAT(got->samples, SizeIs(1));
  EXPECT_EQ(LabelValue(got->samples[0].labels, "a"), "\uFFFD\uFFFD|\u00e9|\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(LabelValue(got->samples[0].labels, "po"), "p");
}

// ---- series ----

TEST(ParseSeriesAnswerTest, BytesThatAreNoUtf8AreReplaced) {
  const auto got =
      ParseSeriesAnswer("{\"status\":\"success\",\"data\":[{\"__name__\":\"m\",\"po\":\"\xff\"}]}");
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_THAT(*got, SizeIs(1));
  EXPECT_EQ((*got)[0].name, "m");
}

TEST(ParseSeriesAnswerTest, KeepsDistinctNamesAndLabelNames) {
  const auto got = ParseSeriesAnswer(
      R"({"status":"success","data":[
        {"__name__":"m","pod":"a","ns":"x"},
        {"__name__":"m","pod":"b","ns":"y"},
        {"__name__":"m","pod":"c"},
        {"pod":"nameless"}]})");
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_THAT(*got, SizeIs(3));
  EXPECT_EQ((*got)[0].name, "m");
  EXPECT_THAT((*got)[0].labels, ElementsAre("ns", "pod"));
  EXPECT_THAT((*got)[1].labels, ElementsAre("pod"));
  EXPECT_EQ((*got)[2].name, "");
}

TEST(ParseSeriesAnswerTest, OrderIsThatOfTheLastOccurrence) {
  const auto got = ParseSeriesAnswer(
      R"({"status":"success","data":[{"__name__":"a"},{"__name__":"b"},{"__name__":"a"}]})");
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_THAT(*got, SizeIs(2));
  EXPECT_EQ((*got)[0].name, "b");
  EXPECT_EQ((*got)[1].name, "a");
}

// "ab" + "c" must not be taken for "a" + "bc".
TEST(ParseSeriesAnswerTest, LabelNamesDoNotRunTogether) {
  const auto got = ParseSeriesAnswer(
      R"({"status":"success","data":[{"ab":"","c":""},{"a":"","bc":""},{"a":"","__name__":"bc"}]})");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(*got, SizeIs(3));
}

TEST(ParseSeriesAnswerTest, EmptyListIsFine) {
  const auto got = ParseSeriesAnswer(R"({"status":"success","data":[]})");
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(*got, SizeIs(0));
}

class ParseSeriesAnswerFailureTest : public testing::TestWithParam<FailureRow> {};

TEST_P(ParseSeriesAnswerFailureTest, Row) {
  const absl::Status got = ParseSeriesAnswer(GetParam().body).status();
  EXPECT_EQ(got.code(), GetParam().code) << got;
  EXPECT_THAT(std::string(got.message()), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Failures, ParseSeriesAnswerFailureTest,
    testing::Values(
        FailureRow{"NullData", R"({"status":"success","data":null})", kDown, "null"},
        FailureRow{"NoData", R"({"status":"success"})", kDown, "data"},
        FailureRow{"NotAList", R"({"status":"success","data":{"a":"b"}})", kDown, "data"},
        FailureRow{"NotObjects", R"({"status":"success","data":["a"]})", kDown, "data"},
        FailureRow{"CutOff", R"({"status":"success","data":[{"__name__":"m"},{"__na)", kDown,
                   "not an answer"},
        FailureRow{
            "Refused",
            R"({"status":"error","errorType":"bad_data","error":"no match[] parameter provided"})",
            kRefused, "no match[] parameter"}),
    [](const auto& info) { return info.param.name; });

// ---- samples of before ----

std::string Matrix(const std::string& series) {
  return absl::StrCat(R"({"status":"success","data":{"resultType":"matrix","result":)", series,
                      "}}");
}

TEST(ParsePast, SamplesOfEachSeries) {
  const auto got = ParsePastAnswer(
      Matrix(R"([{"metric":{"__name__":"x","pod":"a"},"values":[[1,"2"],[1.5,"NaN"]]},)"
             R"({"metric":{"__name__":"x"},"histograms":[[1,{"count":"1"}]]},)"
             R"({"metric":{"__name__":"x","pod":"b"},"values":[[2.001,"+Inf"]]}])"));
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_THAT(*got, SizeIs(2)) << "the native histogram has no samples here";
  EXPECT_EQ((*got)[0].labels, (LabelSet{{"__name__", "x"}, {"pod", "a"}}));
  ASSERT_THAT((*got)[0].points, SizeIs(2));
  EXPECT_EQ((*got)[0].points[0].value, 2);
  EXPECT_EQ((*got)[0].points[1].time_ms, 1500);
  EXPECT_TRUE(std::isnan((*got)[0].points[1].value));
  EXPECT_EQ((*got)[1].points[0].time_ms, 2001);
}

TEST(ParsePast, WhatIsNoMatrixOfRisingTimesIsRefused) {
  for (const std::string& body :
       {VectorJson("[]"), Matrix("null"), Matrix(R"([{"values":[[2,"1"],[2,"1"]]}])"),
        Matrix(R"([{"values":[[2]]}])")}) {
    EXPECT_TRUE(absl::IsUnavailable(ParsePastAnswer(body).status())) << body;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(
      ParsePastAnswer(R"({"status":"error","errorType":"bad_data","error":"no"})").status()));
}

}  // namespace
}  // namespace flyball::adapter::prometheus
