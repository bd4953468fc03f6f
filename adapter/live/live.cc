#include "adapter/live/live.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "adapter/live/store/times.h"
#include "adapter/queries/answer_digest.h"
#include "base/status_macros.h"
#include "promql/parser.h"
#include "promql/selectors.h"

namespace flyball::adapter {
namespace {

// Any error means that the query is refused, since the source itself works.
absl::Status Refused(const absl::Status& status) {
  return absl::InvalidArgumentError(status.message());
}

QueryResult ToResult(const promql::Value& value, absl::Time at) {
  QueryResult result;
  if (const auto* scalar = std::get_if<double>(&value)) {
    result.type = QueryResult::Type::kScalar;
    result.samples.push_back({{}, at, *scalar});
  } else if (std::holds_alternative<std::string>(value)) {
    result.type = QueryResult::Type::kString;
  } else if (std::holds_alternative<promql::Matrix>(value)) {
    result.type = QueryResult::Type::kMatrix;
  } else {
    for (const promql::Element& element : std::get<promql::Vector>(value)) {
      result.samples.push_back({element.labels.ToLabelSet(), at, element.value});
    }
  }
  return result;
}

// The mark of an answer. nullopt for an answer without samples, which has no common time.
std::optional<AnswerMark> MarkOf(const promql::Value& value) {
  AnswerDigest digest;
  const auto add_number = [&digest](auto number) {
    digest.Add({reinterpret_cast<const char*>(&number), sizeof(number)});
  };
  if (const auto* scalar = std::get_if<double>(&value)) {
    add_number(*scalar);
    return digest.End();
  }
  const auto* vector = std::get_if<promql::Vector>(&value);
  if (vector == nullptr || vector->empty()) return std::nullopt;
  for (const promql::Element& element : *vector) {
    const absl::string_view labels = element.labels.encoded();
    add_number(uint64_t{labels.size()});
    digest.Add(labels);
    add_number(element.value);
  }
  return digest.End();
}

// True if the series has a sample (markers don't count) at or after `start_ms`.
bool HasSampleSince(const promql::Series& series, int64_t start_ms) {
  const int64_t end_ms = std::numeric_limits<int64_t>::max();
  const std::optional<promql::Point> newest = series.Newest(start_ms, end_ms);
  if (!newest.has_value() || !promql::IsStale(newest->value)) return newest.has_value();
  std::vector<promql::Point> points;
  series.Read(start_ms, end_ms, points);
  return std::any_of(points.begin(), points.end(),
                     [](const promql::Point& point) { return !promql::IsStale(point.value); });
}

SeriesName NameOf(const promql::Labels& labels) {
  SeriesName name;
  for (const auto& [label, value] : labels) {
    if (label == "__name__") {
      name.name = std::string(value);
    } else {
      name.labels.emplace_back(label);
    }
  }
  return name;
}

// The largest age of a series' newest sample that the query still reads.
int64_t LongestRead(const promql::Expr& expr, int64_t lookback_ms) {
  int64_t longest_ms = lookback_ms;
  promql::ForEachSelector(expr, [&longest_ms](const promql::Selector& selector) {
    longest_ms = std::max(longest_ms, selector.range_ms);
  });
  return longest_ms;
}

// The series of a reader. Records whether for each selector that was asked for there is a series
// that still gets samples: its newest sample between two times exists and is no staleness marker.
class SeenSeries final : public promql::SeriesReader {
 public:
  SeenSeries(const promql::SeriesReader& series, int64_t from_ms, int64_t to_ms)
      : series_(series), from_ms_(from_ms), to_ms_(to_ms) {}

  absl::StatusOr<promql::SeriesList> SelectUnless(
      const promql::Interrupted& interrupted,
      const std::vector<promql::Matcher>& matchers) const override {
    auto found = series_.SelectUnless(interrupted, matchers);
    const auto gets_samples = [this](const std::shared_ptr<const promql::Series>& series) {
      const std::optional<promql::Point> newest = series->Newest(from_ms_, to_ms_);
      return newest.has_value() && !promql::IsStale(newest->value);
    };
    if (status_.ok() && found.ok() && std::none_of(found->begin(), found->end(), gets_samples)) {
      status_ = absl::UnavailableError(
          absl::StrCat("the live source gets no samples of ", promql::SelectorText(matchers)));
    }
    return found;
  }

  const absl::Status& status() const { return status_; }

 private:
  const promql::SeriesReader& series_;
  const int64_t from_ms_, to_ms_;
  mutable absl::Status status_;  // one query, in one thread, asks for the series
};

}  // namespace

Live::Live(const promql::SeriesReader& series, LiveOptions options)
    : series_(series),
      store_(nullptr),
      options_(std::move(options)),
      kept_(options_.window.kept),
      queries_(nullptr, nullptr, options_.eval.dialect) {}

Live::Live(live::Store& store, Clock& clock, LiveOptions options)
    : series_(store),
      store_(&store),
      options_(std::move(options)),
      kept_(options_.window.kept),
      news_(std::make_shared<SampleNews>(clock, options_.debounce)),
      queries_(&store, news_, options_.eval.dialect) {}

void Live::Start() {
  if (news_ != nullptr) news_->Start();
}

void Live::Stop() {
  if (news_ != nullptr) news_->Stop();
}

absl::Status Live::CheckForgotten(const promql::Expr& expr, int64_t time_ms) const {
  absl::Status status;
  if (store_ == nullptr) return status;
  const int64_t warmup_ms = absl::ToInt64Milliseconds(options_.window.warmup);
  ForEachRead(expr, time_ms, warmup_ms, [&](const promql::Selector& selector, int64_t since_ms) {
    if (!status.ok() || !store_->HasForgotten(selector.matchers, since_ms)) return;
    status = absl::UnavailableError(
        absl::StrCat("the live source had no room for all samples that the query needs of ",
                     promql::SelectorText(selector.matchers)));
  });
  return status;
}

absl::StatusOr<Live::Evaluated> Live::Evaluate(PreparedQuery& query, absl::Time at) const {
  const int64_t time_ms = absl::ToUnixMillis(at);
  LiveWindow window = options_.window;
  window.kept = kept_.Get();
  RETURN_IF_ERROR(CheckReach(query.expr(), time_ms, window));
  SamplesRead read = query.BeginToRead();
  const int64_t longest_ms = LongestRead(query.expr(), options_.eval.lookback_ms);
  const SeenSeries seen(series_, live::Earlier(time_ms, longest_ms), time_ms);
  const promql::SeriesReader& series = options_.refuses_unseen ? seen : series_;
  auto value = promql::EvalInstant(query.expr(), series, time_ms, options_.eval);
  RETURN_IF_ERROR(seen.status());
  // Only now, since samples may have been dropped while they were read.
  RETURN_IF_ERROR(CheckForgotten(query.expr(), time_ms));
  if (auto kept = kept_.Get(); kept != window.kept) {
    window.kept = std::move(kept);
    RETURN_IF_ERROR(CheckReach(query.expr(), time_ms, window));
  }
  if (!value.ok()) return Refused(value.status());
  return Evaluated{*std::move(value), absl::FromUnixMillis(time_ms), std::move(read)};
}

absl::StatusOr<std::shared_ptr<const QueryResult>> Live::Query(absl::string_view promql,
                                                               absl::Time at, absl::Duration) {
  const auto query = queries_.Get(promql);
  if (!query.ok()) return Refused(query.status());
  ASSIGN_OR_RETURN(Evaluated evaluated, Evaluate(**query, at));
  QueryResult result = ToResult(evaluated.value, evaluated.at);
  result.read = std::move(evaluated.read);
  result.source = rules::SourceChoice::kLive;
  return std::make_shared<const QueryResult>(std::move(result));
}

absl::StatusOr<StandingResult> Live::Ask(StandingQuery& query, absl::Time at, absl::Duration) {
  if (query.prepared == nullptr) {
    auto prepared = queries_.Get(query.promql);
    if (!prepared.ok()) return Refused(prepared.status());
    query.prepared = *std::move(prepared);
  }
  // Only this source sets `prepared`, always to a PreparedQuery.
  auto& prepared = *std::static_pointer_cast<PreparedQuery>(query.prepared);
  ASSIGN_OR_RETURN(Evaluated evaluated, Evaluate(prepared, at));
  StandingResult answer = {
      .result = nullptr, .read = std::move(evaluated.read), .source = rules::SourceChoice::kLive};
  const std::optional<AnswerMark> mark = MarkOf(evaluated.value);
  if (mark.has_value()) answer.time = evaluated.at;
  const bool unchanged = mark.has_value() && mark == query.last;
  query.last = mark;
  if (!unchanged) {
    answer.result = std::make_shared<const QueryResult>(ToResult(evaluated.value, evaluated.at));
  }
  return answer;
}

absl::StatusOr<std::vector<SeriesName>> Live::Series(absl::string_view selector, absl::Time start,
                                                     absl::Duration) {
  const auto parsed = promql::ParseSeriesSelector(selector, options_.eval.dialect);
  if (!parsed.ok()) return Refused(parsed.status());
  const int64_t start_ms = absl::ToUnixMillis(start);
  // There are few names with many series each, so samples are searched only until a name has one.
  absl::flat_hash_map<std::string, bool> found;  // by encoded labels, with the metric's value alone
  std::string encoded;
  for (const auto& series : series_.SelectInAnyOrder(parsed->matchers)) {
    encoded.clear();
    for (const auto& [label, value] : series->labels()) {
      promql::AppendLabel(label, label == "__name__" ? value : "", &encoded);
    }
    bool& has_sample = found[encoded];
    has_sample = has_sample || HasSampleSince(*series, start_ms);
  }
  std::vector<SeriesName> names;
  for (const auto& [labels, has_sample] : found) {
    if (has_sample) names.push_back(NameOf(promql::Labels::FromEncoded(labels)));
  }
  std::sort(names.begin(), names.end(), [](const SeriesName& a, const SeriesName& b) {
    return std::tie(a.name, a.labels) < std::tie(b.name, b.labels);
  });
  return names;
}

}  // namespace flyball::adapter
