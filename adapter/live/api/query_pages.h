// Prometheus's HTTP API over the live store, for Grafana, `promtool query` and people: query,
// query_range, series, labels, label values, metadata and buildinfo below /api/v1.
//
// Thread-safe. The client has been authenticated and authorized before; a client that may ask sees
// every series of the store. A query runs on the thread of its request, so only a few run at once;
// the others wait until the answers of those have been sent or are left to connections that do not
// read. Some of the limits do not exist in Prometheus: their errors say which limit it was.
// Source: Prometheus 3.15.0 and 2.42.0 web/api/v1, whose answers these are (promql/engine/api.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "adapter/live/api/form.h"
#include "adapter/live/store/metadata.h"
#include "base/clock.h"
#include "http/server/pages.h"
#include "http/server/room.h"
#include "promql/dialect.h"
#include "promql/engine/engine.h"
#include "promql/engine/interruption.h"

namespace flyball::live {

struct QueryLimits {
  absl::Duration timeout = absl::Minutes(2);  // a request may ask for a shorter one
  int64_t max_points = 2'000'000;             // that one query reads, of 16 bytes each
  size_t max_answer_bytes = size_t{32} << 20;
  size_t max_query_bytes = 64 << 10;  // of the text, and of each match[]
  size_t max_match = 16;              // match[] of one request
  // Approximate memory of the queries that run at once, with their answers until these are sent.
  // Each may take an equal part of it.
  size_t max_bytes = size_t{80} << 20;
  size_t max_at_once = 2;
  size_t max_waiting = 64;
};

struct QueryPagesOptions {
  promql::Dialect dialect = promql::Dialect::k3;
  int64_t lookback_ms = 300'000;
  QueryLimits limits = {};
};

class QueryPages : public http::Pages {
 public:
  // All outlive it.
  QueryPages(const promql::SeriesReader& store, const MetadataTable& metadata, Clock& clock,
             QueryPagesOptions options = {});

  bool Has(absl::string_view path) const override;
  http::HttpResponse Answer(const http::HttpRequest& request) override;

 private:
  // The `data` of an answer, and a warning about it.
  struct Answered {
    std::string data;
    std::string warning;
    std::shared_ptr<const void> place = nullptr;  // its place among the queries that run at once
  };

  absl::StatusOr<Answered> AnswerOf(absl::string_view path, const Form& form);
  // The limits of one query.
  struct Bounds {
    MonotonicTime deadline;
    promql::QueryMemory& memory;
  };
  absl::StatusOr<Answered> DataOf(absl::string_view path, const Form& form,
                                  const Bounds& bounds) const;
  absl::StatusOr<Answered> Query(const Form& form, const Bounds& bounds) const;
  absl::StatusOr<Answered> QueryRange(const Form& form, const Bounds& bounds) const;
  absl::StatusOr<Answered> List(absl::string_view path, const Form& form,
                                const Bounds& bounds) const;
  absl::StatusOr<Answered> Metadata(const Form& form, const Bounds& bounds) const;
  absl::StatusOr<MonotonicTime> DeadlineOf(const Form& form) const;
  promql::Interrupted EndAt(MonotonicTime deadline) const;
  absl::StatusOr<Answered> Checked(std::string data, size_t most_bytes, bool truncated) const;
  size_t MaxBytesOfOne() const;
  // The longest answer that may be made of a result of that many bytes.
  size_t MaxAnswerBytes(size_t result_bytes) const;
  absl::StatusOr<promql::EvalOptions> EvalOptionsOf(const Form& form, const Bounds& bounds) const;

  const promql::SeriesReader& store_;
  const MetadataTable& metadata_;
  Clock& clock_;
  const QueryPagesOptions options_;
  http::Room places_;
};

}  // namespace flyball::live
