// A Prometheus (or several of equal content) behind its HTTP API, as a metric source.
//
// Thread-safe; no threads of its own. Requests have the exact form of prometheus-adapter 0.12.0:
// GET puts the sorted form into the URL in place of the URL's own query string, POST sends it as
// the body and keeps the URL's. Never sent: an empty `timeout=`, `end`, `limit`.
//
// Several servers: each call goes to the server in use; when that one fails (refused, too slow,
// unknown response code, an answer that is not Prometheus's, 503) to the next ones in order, and
// the first that answers stays in use. While it is not the first of the list, one call every
// `recheck_interval` tries the ones before it. A refused query (400, 422) is an answer.
//
// Errors: those of MetricSource; texts name the server without user, password or query string.
// Limits: the size of an answer, the bytes of all that are read at once, the time of a call. The
// answer to a query counts until its caller has let go of QueryResult::counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "adapter/prometheus/answer_budget.h"
#include "adapter/queries/metric_source.h"
#include "adapter/queries/past_samples.h"
#include "adapter/queries/request_observer.h"
#include "base/clock.h"
#include "http/client/transport.h"

namespace flyball::adapter::prometheus {

// The parts of a --prometheus-url.
struct ServerUrl {
  std::string base;   // for the transport: scheme, user, host and path
  std::string query;  // its query string without `?`, sent along by POST only
  std::string shown;  // for logs and labels: no user, password or query string
  // The server is on this machine: answers are not compressed, since that costs more than it saves.
  bool loopback = false;
};
ServerUrl SplitServerUrl(absl::string_view url);

struct Server {
  ServerUrl url;
  std::unique_ptr<http::HttpTransport> transport;
};

struct ClientOptions {
  enum class Verb { kGet, kPost };
  Verb verb = Verb::kGet;
  // A query never takes longer than this or its own timeout, whichever is shorter; a series call
  // has only its own. The default is the original's limit for a whole request.
  absl::Duration timeout = absl::Seconds(60);
  // The time limit for one of several servers while there is another one to ask.
  absl::Duration failover_after = absl::Seconds(10);
  absl::Duration recheck_interval = absl::Seconds(5);
  absl::Duration recheck_timeout = absl::Seconds(2);
  size_t max_query_bytes = 24u << 20;    // about 200,000 samples; takes five times as much
  size_t max_series_bytes = 128u << 20;  // about 450,000 series of one rule
  // For all answers to queries, and again for all answers about series: see answer_budget.h.
  size_t max_bytes_at_once = 3u << 20;
};

class Client : public MetricSource, public PastSamples {
 public:
  // `servers` is not empty. `clock` and `observer` (may be nullptr) outlive the client.
  Client(std::vector<Server> servers, ClientOptions options, Clock& clock,
         RequestObserver* observer);

  absl::StatusOr<std::shared_ptr<const QueryResult>> Query(absl::string_view promql, absl::Time at,
                                                           absl::Duration timeout) override;
  absl::StatusOr<StandingResult> Ask(StandingQuery& query, absl::Time at,
                                     absl::Duration timeout) override;
  absl::StatusOr<std::vector<SeriesName>> Series(absl::string_view selector, absl::Time start,
                                                 absl::Duration timeout) override;

  absl::StatusOr<std::vector<PastSeries>> Past(absl::string_view selector, absl::Time at,
                                               absl::Duration range,
                                               absl::Duration timeout) override;

  // The version that the server in use reports: "2.42.0". The outcome has no effect on failover,
  // since not every server that answers queries answers this.
  absl::StatusOr<std::string> Version(absl::Duration timeout);
  // The server in use, for the log.
  const std::string& ServerInUse() const { return servers_[in_use_].url.shown; }

  // Ends the calls under way; later ones fail. For an orderly end of the program, before those that
  // use the client are stopped.
  void Shutdown();

 private:
  struct Request {
    absl::string_view path;
    std::string form;  // its parameters, encoded
    size_t max_bytes = 0;
    MonotonicTime deadline;
    AnswerBudget* memory = nullptr;
  };

  // `escaped`: the query in form encoding.
  Request QueryRequest(absl::string_view escaped, absl::Time at, absl::Duration timeout);
  // Sends a request to one server. Returns an answer with an unparsed body, whose bytes `memory`
  // counts.
  absl::StatusOr<http::HttpAnswer> AskServer(const Server& server, Request request,
                                             absl::Duration timeout, AnswerBudget::Share& memory);
  // The first answer of the servers that `parse` accepts. `counted` becomes the share of the memory
  // that its body has.
  template <typename T>
  absl::StatusOr<T> AskAny(Request request, absl::FunctionRef<absl::StatusOr<T>(std::string)> parse,
                           std::shared_ptr<const void>* counted = nullptr);
  // Where to begin: the server in use, or 0 when it is time to look whether an earlier one is back.
  size_t FirstToAsk(size_t in_use);
  void UseServer(size_t index);
  MonotonicTime Deadline(absl::Duration timeout) const;

  const std::vector<Server> servers_;
  const ClientOptions options_;
  Clock& clock_;
  RequestObserver* const observer_;
  AnswerBudget query_memory_;
  AnswerBudget series_memory_;  // long answers, for which no query should wait
  std::atomic<size_t> in_use_{0};
  absl::Mutex mutex_;
  MonotonicTime next_recheck_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
};

}  // namespace flyball::adapter::prometheus
