// Replays test/data/promql: what Prometheus 2.42.0 and 3.15.0 answered on the same samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "adapter/live/store/testing/any_time_store.h"
#include "base/test_gzip.h"
#include "promql/engine/engine.h"
#include "promql/parser.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

using nlohmann::json;

std::string ReadVectors(const std::string& name) {
  return ReadGzip(absl::StrCat(FLYBALL_SOURCE_DIR, "/test/data/promql/", name, ".gz"));
}

double Number(absl::string_view text) {
  if (text == "stale") return StaleMarker();
  const auto value = ParseBound(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(0);
}

// `name{a="b",c="d"} value stamp`; exemplars are cut off.
void AppendLine(absl::string_view line, live::AnyTimeStore* store) {
  size_t end = 0;
  LabelSet labels;
  const size_t brace = line.find('{');
  if (brace != absl::string_view::npos && brace < line.find(' ')) {
    labels.emplace_back("__name__", line.substr(0, brace));
    bool quoted = false;
    for (end = brace; quoted || line[end] != '}'; ++end) {
      if (line[end] == '\\') {
        ++end;
      } else if (line[end] == '"') {
        quoted = !quoted;
      }
    }
    ++end;
    const auto selector = ParseSeriesSelector(line.substr(0, end));
    ASSERT_TRUE(selector.ok()) << line << selector.status();
    for (const Matcher& matcher : selector->matchers) {
      if (matcher.label() != "__name__") labels.emplace_back(matcher.label(), matcher.value());
    }
  } else {
    end = line.find(' ');
    labels.emplace_back("__name__", line.substr(0, end));
  }
  const std::vector<absl::string_view> words = absl::StrSplit(line.substr(end + 1), ' ');
  ASSERT_GE(words.size(), 2u) << line;
  const auto time_ms = static_cast<int64_t>(Number(words[1]) * 1000);
  const absl::Status status = store->Append(labels, time_ms, Number(words[0]));
  ASSERT_TRUE(status.ok()) << line << status;
}

std::unique_ptr<live::AnyTimeStore> Load(const std::string& data) {
  auto store = std::make_unique<live::AnyTimeStore>();
  if (data == "stale") {
    const json root = json::parse(ReadVectors("stale.json"));
    for (const json& series : root["series"]) {
      LabelSet labels;
      for (const auto& [name, value] : series["labels"].items()) labels.emplace_back(name, value);
      for (const json& sample : series["samples"]) {
        EXPECT_TRUE(
            store->Append(labels, sample[0].get<int64_t>(), Number(sample[1].get<std::string>()))
                .ok());
      }
    }
    return store;
  }
  const std::string text = ReadVectors(data + ".om");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!line.empty() && line[0] != '#') AppendLine(line, store.get());
  }
  return store;
}

const live::AnyTimeStore& StoreOf(const std::string& data) {
  static auto& stores = *new std::map<std::string, std::unique_ptr<live::AnyTimeStore>>();
  auto& store = stores[data];
  if (!store) store = Load(data);
  return *store;
}

int64_t Milliseconds(const json& seconds) {
  const double value =
      seconds.is_string() ? Number(seconds.get<std::string>()) : seconds.get<double>();
  return std::llround(value * 1000);
}

// One series of an answer: its labels and its values as the API prints them.
struct VectorsRow {
  std::string labels;
  std::vector<std::pair<int64_t, std::string>> values;

  friend auto operator<=>(const VectorsRow&, const VectorsRow&) = default;
};

std::ostream& operator<<(std::ostream& out, const VectorsRow& row) {
  out << "{" << row.labels << "}";
  for (const auto& [time_ms, value] : row.values) out << " " << value << "@" << time_ms;
  return out;
}

using Answer = std::vector<VectorsRow>;

VectorsRow MakeRow(const Labels& labels, const std::vector<Point>& points) {
  VectorsRow row;
  for (const auto& [name, value] : labels) absl::StrAppend(&row.labels, name, Quote(value));
  for (const Point& point : points) {
    row.values.emplace_back(point.time_ms, FormatValue(point.value));
  }
  return row;
}

Answer FromJson(const json& data, bool ordered) {
  const std::string type = data["resultType"];
  const json& result = data["result"];
  if (type == "scalar" || type == "string") {
    return {{"", {{Milliseconds(result[0]), result[1].get<std::string>()}}}};
  }
  Answer answer;
  for (const json& series : result) {
    VectorsRow row;
    for (const auto& [name, value] : series["metric"].items()) {
      absl::StrAppend(&row.labels, name, Quote(value.get<std::string>()));
    }
    const json values = type == "vector" ? json::array({series["value"]}) : series["values"];
    for (const json& value : values) {
      row.values.emplace_back(Milliseconds(value[0]), value[1].get<std::string>());
    }
    answer.push_back(std::move(row));
  }
  if (!ordered) std::sort(answer.begin(), answer.end());
  return answer;
}

Answer FromValue(const Value& value, int64_t now_ms) {
  // Scalars are printed without an exponent, unlike the values of vectors.
  if (const auto* scalar = std::get_if<double>(&value)) {
    return {{"", {{now_ms, FormatPlain(*scalar)}}}};
  }
  if (const auto* text = std::get_if<std::string>(&value)) return {{"", {{now_ms, *text}}}};
  Answer answer;
  if (const auto* matrix = std::get_if<Matrix>(&value)) {
    for (const Range& range : matrix->series) {
      answer.push_back(MakeRow(range.labels, range.points));
    }
  } else {
    for (const Element& element : std::get<Vector>(value)) {
      answer.push_back(MakeRow(element.labels, {{now_ms, element.value}}));
    }
  }
  return answer;
}

absl::StatusOr<Answer> Ask(const json& line, Dialect dialect) {
  const live::AnyTimeStore& store = StoreOf(line["data"]);
  const auto expr = Parse(line["query"].get<std::string>(), dialect);
  if (!expr.ok()) return expr.status();
  EvalOptions options;
  options.dialect = dialect;
  Answer answer;
  if (line.contains("start")) {
    const auto ranges = EvalRange(
        **expr, store,
        {Milliseconds(line["start"]), Milliseconds(line["end"]), Milliseconds(line["step"])},
        options);
    if (!ranges.ok()) return ranges.status();
    for (const Range& range : *ranges) answer.push_back(MakeRow(range.labels, range.points));
  } else {
    const int64_t now_ms = Milliseconds(line["time"]);
    const auto value = EvalInstant(**expr, store, now_ms, options);
    if (!value.ok()) return value.status();
    answer = FromValue(*value, now_ms);
  }
  if (!line.contains("ordered")) std::sort(answer.begin(), answer.end());
  return answer;
}

bool Near(const std::string& a, const std::string& b) {
  const auto x = ParseBound(a);
  const auto y = ParseBound(b);
  return x && y && std::fabs(*x - *y) <= 1e-12 * std::max(std::fabs(*x), std::fabs(*y));
}

// Rewrites values of `got` that are near the expected ones to these.
void Forgive(const Answer& expected, Answer* got) {
  for (size_t i = 0; i < std::min(expected.size(), got->size()); ++i) {
    auto& values = (*got)[i].values;
    for (size_t j = 0; j < std::min(expected[i].values.size(), values.size()); ++j) {
      if (Near(expected[i].values[j].second, values[j].second)) values[j] = expected[i].values[j];
    }
  }
}

void ExpectError(const json& error, const absl::Status& got) {
  const bool execution = error["type"] == "execution";
  EXPECT_EQ(got.code(),
            execution ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kInvalidArgument)
      << got;
  if (error.contains("at") && !error["at"].is_null()) {
    EXPECT_TRUE(absl::StartsWith(got.message(), absl::StrCat(error["at"].get<std::string>(), ":")))
        << got.message() << " instead of " << error["message"];
  } else {
    EXPECT_EQ(got.message(), error["message"].get<std::string>());
  }
}

class VectorsTest : public testing::TestWithParam<std::tuple<const char*, Dialect>> {};

TEST_P(VectorsTest, AnswersAsPrometheus) {
  const auto& [file, dialect] = GetParam();
  const std::string text = ReadVectors(absl::StrCat(file, ".jsonl"));
  int count = 0;
  for (const absl::string_view raw : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const json line = json::parse(raw.begin(), raw.end());
    SCOPED_TRACE(
        absl::StrCat(file, " ", line["id"].get<int>(), ": ", line["query"].get<std::string>()));
    ++count;
    auto got = Ask(line, dialect);
    const bool newer = dialect == Dialect::k3;
    std::string expect = newer && line.contains("expect_3x") ? "expect_3x" : "expect";
    const std::string error = newer && line.contains("error_3x") ? "error_3x" : "error";
    const bool refused = line.contains(error) && !(newer && line.contains("expect_3x"));
    if (refused && !got.ok()) {
      ExpectError(line[error], got.status());
      continue;
    }
    if (!got.ok()) {
      ADD_FAILURE() << got.status();
      continue;
    }
    // What only one of the two refuses may be accepted in both; newer syntax as the newer one has
    // it.
    const std::string differs = line.value("differs_3x", "");
    if (refused && differs == "only an error in 3.x") continue;
    if (refused && differs == "only an error in 2.x") expect = "expect_3x";
    ASSERT_TRUE(line.contains(expect)) << "should be refused: " << line[error];
    const Answer expected = FromJson(line[expect], line.contains("ordered"));
    // Printed values are equal to the last digit, with two exceptions. Go's atan2 is not libm's;
    // and where no answer of 3.15.0 is kept, its sums differ from 2.42.0's in the last bit only.
    if (absl::StrContains(line["query"].get<std::string>(), "atan2") ||
        (newer && expect == "expect")) {
      Forgive(expected, &*got);
    }
    EXPECT_THAT(*got, testing::ElementsAreArray(expected));
  }
  EXPECT_GT(count, 100);
}

INSTANTIATE_TEST_SUITE_P(Prometheus, VectorsTest,
                         testing::Combine(testing::Values("sample", "stale"),
                                          testing::Values(Dialect::k2, Dialect::k3)),
                         [](const auto& info) {
                           return absl::StrCat(std::get<0>(info.param),
                                               std::get<1>(info.param) == Dialect::k2 ? "2" : "3");
                         });

}  // namespace
}  // namespace flyball::promql
