#include "adapter/prometheus/client.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "adapter/prometheus/answer_mark.h"
#include "adapter/prometheus/json.h"
#include "adapter/queries/failure_notes.h"
#include "base/free_memory.h"
#include "base/go/url.h"
#include "base/status_macros.h"
#include "http/client/url.h"
#include "spdlog/spdlog.h"

namespace flyball::adapter::prometheus {
namespace {

constexpr absl::string_view kQueryPath = "/api/v1/query";
constexpr absl::string_view kSeriesPath = "/api/v1/series";
constexpr absl::string_view kBuildInfoPath = "/api/v1/status/buildinfo";
constexpr char kFormType[] = "application/x-www-form-urlencoded";

// Unix seconds with up to three decimals, trailing zeros cut.
std::string FormSeconds(absl::Time time) {
  const int64_t millis = absl::ToUnixMillis(time);
  std::string text = absl::StrCat(millis < 0 ? "-" : "", std::abs(millis) / 1000);
  if (const int64_t fraction = std::abs(millis) % 1000; fraction != 0) {
    absl::StrAppend(&text, ".", absl::Dec(fraction, absl::kZeroPad3));
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

// Whether something in front of the server refuses the request, most often because its line is too
// long: another request may be taken.
bool IsRefused(const http::HttpAnswer& answer) {
  return answer.status == 413 || answer.status == 414 || answer.status == 431 ||
         (answer.status == 400 && !absl::StartsWith(answer.body, "{"));
}

// The error for an answer whose error type Prometheus does not have.
absl::Status ByCode(const absl::Status& error, int code) {
  return code == 400 || code == 422 ? absl::InvalidArgumentError(error.message())
                                    : absl::UnavailableError(error.message());
}

bool HasAnswer(int code) { return code / 100 == 2 || code == 400 || code == 422 || code == 503; }

// Whether the host's name shows that it is this machine. Names are not resolved for this.
bool IsLoopback(absl::string_view host) {
  return host == "localhost" || host == "[::1]" || absl::StartsWith(host, "127.");
}

absl::Status WithServer(const absl::Status& status, const Server& server) {
  const absl::string_view message = http::WithoutOrigin(status.message(), server.url.shown);
  return Reworded(status, status.code(),
                  absl::StrCat("prometheus ", server.url.shown, ": ", message));
}

absl::StatusOr<std::shared_ptr<QueryResult>> ParseShared(std::string body) {
  ASSIGN_OR_RETURN(QueryResult result, ParseQueryAnswer(std::move(body)));
  result.source = rules::SourceChoice::kPrometheus;
  return std::make_shared<QueryResult>(std::move(result));
}

// Whether the time that the mark leaves out is that of all samples.
bool IsOf(const MarkedAnswer& marked, const QueryResult& result) {
  return marked.points == result.samples.size() &&
         std::all_of(result.samples.begin(), result.samples.end(),
                     [&marked](const Sample& sample) { return sample.time == marked.time; });
}

absl::StatusOr<StandingResult> ParseStanding(std::string body, std::optional<AnswerMark>& last) {
  const std::optional<MarkedAnswer> marked = MarkAnswer(body);
  if (marked.has_value() && marked->mark == last) {
    return StandingResult{
        .result = nullptr, .time = marked->time, .source = rules::SourceChoice::kPrometheus};
  }
  last.reset();
  StandingResult out;
  ASSIGN_OR_RETURN(out.result, ParseShared(std::move(body)));
  out.source = out.result->source;
  if (marked.has_value() && IsOf(*marked, *out.result)) {
    last = marked->mark;
    out.time = marked->time;
  }
  return out;
}

// The parameters as a person writes them, for the log.
std::string ShownForm(const std::string& form) {
  return go::Unescape(form, /*plus_is_space=*/true);
}

// Cleans the decoded path as Go's path.Join does: each slash counts, escaped ones too, a dot is no
// segment, and two dots remove the segment before them.
std::string CleanPath(absl::string_view path) {
  const std::string decoded = go::Unescape(path, /*plus_is_space=*/false);
  std::vector<absl::string_view> segments;
  for (const absl::string_view segment : absl::StrSplit(decoded, '/', absl::SkipEmpty())) {
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (segment != ".") {
      segments.push_back(segment);
    }
  }
  std::string clean;
  for (const absl::string_view segment : segments) {
    absl::StrAppend(&clean, "/", go::EscapePath(segment));
  }
  return clean;
}

}  // namespace

ServerUrl SplitServerUrl(absl::string_view url) {
  url = absl::StripTrailingAsciiWhitespace(url);
  ServerUrl parts;
  url = url.substr(0, url.find('#'));
  if (const size_t mark = url.find('?'); mark != absl::string_view::npos) {
    parts.query = std::string(url.substr(mark + 1));
    url = url.substr(0, mark);
  }
  const size_t scheme = url.find("://");
  const size_t host = scheme == absl::string_view::npos ? 0 : scheme + 3;
  const size_t path = std::min(url.find('/', host), url.size());
  const absl::string_view authority = url.substr(host, path - host);
  parts.base = absl::StrCat(absl::AsciiStrToLower(url.substr(0, host)), authority,
                            CleanPath(url.substr(path)));
  const size_t user = authority.rfind('@');
  const size_t cut = user == absl::string_view::npos ? 0 : user + 1;
  const absl::string_view server = authority.substr(cut);
  parts.loopback = IsLoopback(server.substr(0, server.find(':', server.rfind(']') + 1)));
  parts.shown = absl::StrCat(url.substr(0, host), url.substr(host + cut));
  return parts;
}

Client::Client(std::vector<Server> servers, ClientOptions options, Clock& clock,
               RequestObserver* observer)
    : servers_(std::move(servers)),
      options_(std::move(options)),
      clock_(clock),
      observer_(observer),
      query_memory_(options_.max_bytes_at_once, clock),
      series_memory_(options_.max_bytes_at_once, clock) {}

void Client::Shutdown() {
  for (const Server& server : servers_) server.transport->Shutdown();
}

MonotonicTime Client::Deadline(absl::Duration timeout) const {
  return clock_.MonotonicNow() + std::min(timeout, options_.timeout);
}

Client::Request Client::QueryRequest(absl::string_view escaped, absl::Time at,
                                     absl::Duration timeout) {
  return {.path = kQueryPath,
          .form = absl::StrCat("query=", escaped, "&time=", FormSeconds(at)),
          .max_bytes = options_.max_query_bytes,
          .deadline = Deadline(timeout),
          .memory = &query_memory_};
}

absl::StatusOr<std::shared_ptr<const QueryResult>> Client::Query(absl::string_view promql,
                                                                 absl::Time at,
                                                                 absl::Duration timeout) {
  std::shared_ptr<const void> counted;
  ASSIGN_OR_RETURN(std::shared_ptr<QueryResult> result,
                   AskAny<std::shared_ptr<QueryResult>>(
                       QueryRequest(go::QueryEscape(promql), at, timeout), ParseShared, &counted));
  result->counted = std::move(counted);
  return result;
}

absl::StatusOr<StandingResult> Client::Ask(StandingQuery& query, absl::Time at,
                                           absl::Duration timeout) {
  return AskAny<StandingResult>(
      QueryRequest(query.Encoded(go::QueryEscape), at, timeout),
      [&query](std::string body) { return ParseStanding(std::move(body), query.last); });
}

absl::StatusOr<std::vector<SeriesName>> Client::Series(absl::string_view selector, absl::Time start,
                                                       absl::Duration timeout) {
  return AskAny<std::vector<SeriesName>>(
      {.path = kSeriesPath,
       .form =
           absl::StrCat("match%5B%5D=", go::QueryEscape(selector), "&start=", FormSeconds(start)),
       .max_bytes = options_.max_series_bytes,
       .deadline = clock_.MonotonicNow() + timeout,
       .memory = &series_memory_},
      ParseSeriesAnswer);
}

absl::StatusOr<std::vector<PastSeries>> Client::Past(absl::string_view selector, absl::Time at,
                                                     absl::Duration range, absl::Duration timeout) {
  const std::string query = absl::StrCat(selector, "[", absl::ToInt64Milliseconds(range), "ms]");
  return AskAny<std::vector<PastSeries>>(QueryRequest(go::QueryEscape(query), at, timeout),
                                         ParsePastAnswer);
}

absl::StatusOr<std::string> Client::Version(absl::Duration timeout) {
  http::HttpCall call;
  call.timeout = timeout;
  call.target = std::string(kBuildInfoPath);
  call.max_body_bytes = 64 << 10;
  ASSIGN_OR_RETURN(http::HttpAnswer answer, servers_[in_use_].transport->Do(call));
  if (answer.status != 200) {
    return absl::UnavailableError(absl::StrCat("unknown response code ", answer.status));
  }
  return ParseBuildInfoAnswer(std::move(answer.body));
}

absl::StatusOr<http::HttpAnswer> Client::AskServer(const Server& server, Request request,
                                                   absl::Duration timeout,
                                                   AnswerBudget::Share& memory) {
  const std::string shown = spdlog::should_log(spdlog::level::trace) ? ShownForm(request.form) : "";
  http::HttpCall call;
  if (server.url.loopback) call.headers.emplace_back("Accept-Encoding", "identity");
  call.timeout = timeout;
  call.max_body_bytes = request.max_bytes;
  bool in_time = true;  // the wait for memory, which is no failure of the server
  bool is_long = false;
  const MonotonicTime until = clock_.MonotonicNow() + timeout;
  call.admit = [&](size_t bytes) {
    in_time = memory.GrowTo(bytes) && clock_.MonotonicNow() < until;
    if (in_time && bytes >= kMuchMemory && !std::exchange(is_long, true)) ReturnFreeMemory();
    return in_time;
  };
  if (options_.verb == ClientOptions::Verb::kGet) {
    call.target = absl::StrCat(request.path, "?", request.form);
  } else {
    call.method = "POST";
    call.repeatable = true;  // a query changes nothing
    call.target = absl::StrCat(request.path, server.url.query.empty() ? "" : "?", server.url.query);
    call.body = std::move(request.form);
    call.content_type = kFormType;
  }

  const MonotonicTime start = clock_.MonotonicNow();
  absl::StatusOr<http::HttpAnswer> answer = server.transport->Do(call);
  const absl::Duration took = clock_.MonotonicNow() - start;
  if (observer_ != nullptr && answer.ok()) {
    observer_->OnRequest(request.path, server.url.shown, took);
  }
  if (spdlog::should_log(spdlog::level::trace)) {
    spdlog::trace("{}{} {}: {} in {}", server.url.shown, std::string(request.path), shown,
                  answer.ok() ? absl::StrCat(answer->status, ", ", answer->body.size(), " bytes")
                              : std::string(answer.status().message()),
                  absl::FormatDuration(took));
  }
  if (!in_time) {
    return absl::ResourceExhaustedError("other answers were being read, which take all the memory");
  }
  if (absl::IsResourceExhausted(answer.status())) {
    return SourceAnswerTooLong(
        absl::StrCat("the answer is larger than ", request.max_bytes, " bytes"));
  }
  if (!answer.ok()) return answer.status();
  if (IsRefused(*answer)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "response code ", answer->status, " without an answer of the Prometheus API: ",
        "something in front of it refuses the request, ",
        answer->status == 400 ? "perhaps since it expects https"
                              : "perhaps for its length, then use --prometheus-verb=POST"));
  }
  if (!HasAnswer(answer->status)) {
    return absl::UnavailableError(absl::StrCat("unknown response code ", answer->status));
  }
  return answer;
}

template <typename T>
absl::StatusOr<T> Client::AskAny(Request request,
                                 absl::FunctionRef<absl::StatusOr<T>(std::string)> parse,
                                 std::shared_ptr<const void>* counted) {
  const size_t in_use = in_use_.load(std::memory_order_relaxed);
  const size_t first = FirstToAsk(in_use);
  absl::Status failure;
  for (size_t step = 0; step < servers_.size(); ++step) {
    const size_t index = (first + step) % servers_.size();
    const Server& server = servers_[index];
    absl::Duration timeout = request.deadline - clock_.MonotonicNow();
    if (timeout <= absl::ZeroDuration()) {
      if (failure.ok()) failure = absl::DeadlineExceededError("no time left to ask prometheus");
      break;
    }
    const bool last = step + 1 == servers_.size();
    if (!last) {
      timeout =
          std::min(timeout, index < in_use ? options_.recheck_timeout : options_.failover_after);
    }
    const auto memory = std::make_shared<AnswerBudget::Share>(*request.memory, request.deadline);
    absl::StatusOr<http::HttpAnswer> answer =
        AskServer(server, last ? std::move(request) : request, timeout, *memory);
    // It is for want of memory here, and no other server can help.
    if (absl::IsResourceExhausted(answer.status())) return WithServer(answer.status(), server);
    const bool body_came = answer.ok();
    absl::StatusOr<T> result = body_came ? parse(std::move(answer->body)) : answer.status();
    if (body_came && absl::IsUnknown(result.status())) {
      result = ByCode(result.status(), answer->status);
    }
    // An answer that is not from the server's API, but a proxy's, may be better from another
    // server.
    const bool answered = result.ok() || (body_came && absl::IsInvalidArgument(result.status()));
    if (observer_ != nullptr) {
      observer_->OnOutcome(server.url.shown, answered ? absl::OkStatus() : result.status());
    }
    if (answered) {
      if (index != in_use) UseServer(index);
      if (!result.ok()) return WithServer(result.status(), server);
      if (counted != nullptr) *counted = memory;
      return result;
    }
    failure = WithServer(result.status(), server);
  }
  return failure;
}

size_t Client::FirstToAsk(size_t in_use) {
  if (in_use == 0) return 0;
  const MonotonicTime now = clock_.MonotonicNow();
  absl::MutexLock lock(&mutex_);
  if (now < next_recheck_) return in_use;
  next_recheck_ = now + options_.recheck_interval;
  return 0;
}

void Client::UseServer(size_t index) {
  const size_t before = in_use_.exchange(index);
  if (before == index) return;
  {
    absl::MutexLock lock(&mutex_);
    next_recheck_ = clock_.MonotonicNow() + options_.recheck_interval;
  }
  spdlog::warn("prometheus: now asking {} instead of {}", servers_[index].url.shown,
               servers_[before].url.shown);
  if (observer_ != nullptr) observer_->OnServerChange(servers_[index].url.shown);
}

}  // namespace flyball::adapter::prometheus
