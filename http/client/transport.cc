#include "http/client/transport.h"

#include <algorithm>
#include <csignal>
#include <deque>
#include <mutex>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"
#include "http/client/connection.h"
#include "http/client/credentials.h"
#include "http/client/tls_client.h"
#include "http/client/url.h"
#include "http/client/wait.h"

namespace flyball::http {
namespace {

constexpr int kMaxRedirects = 5;
constexpr size_t kMaxErrorBytes = 64 << 10;
constexpr size_t kSmallBody = 64 << 10;
constexpr size_t kLargeBody = 1 << 20;
// The room that JSON parsers need behind a text, so that they need not copy it.
constexpr size_t kParserRoom = 64;
constexpr size_t kLargestReserve = 128 << 20;
constexpr absl::Duration kMaxIdle = absl::Seconds(60);

bool AreSendable(const Headers& headers) {
  return std::none_of(headers.begin(), headers.end(), [](const auto& header) {
    return header.first.empty() || HasLineBreak(header.first) || HasLineBreak(header.second);
  });
}

bool Has(const Headers& headers, absl::string_view name) {
  return std::any_of(headers.begin(), headers.end(), [name](const auto& header) {
    return absl::EqualsIgnoreCase(header.first, name);
  });
}

absl::Status CheckCall(const HttpCall& call) {
  if (!HasLineBreak(call.target) && !absl::StrContains(call.target, ' ') &&
      absl::StartsWith(call.target, "/") && !HasLineBreak(call.content_type) &&
      AreSendable(call.headers)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "the target must start with / and hold no space; targets and headers hold no line break");
}

bool IsRepeatable(const HttpCall& call) {
  return call.repeatable || call.method == "GET" || call.method == "HEAD" || call.method == "PUT" ||
         call.method == "DELETE";
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// A call, and where redirects have led it. It refers to the call, whose body may be long.
struct Errand {
  const HttpCall* call;
  std::string target;  // instead of the call's
  Until until;
};

// The caller's side of one exchange: what came back, and whether it grew too large.
struct Received {
  HttpAnswer answer;
  size_t limit = 0;
  const std::function<bool(size_t)>& admit;
  bool too_large = false;

  bool TakeHead(int status, Headers headers) {
    answer.status = status;
    answer.headers = std::move(headers);
    uint64_t length = 0;
    const bool plain = answer.Header("Content-Encoding").empty();
    if (!plain || !absl::SimpleAtoi(answer.Header("Content-Length"), &length)) return true;
    // Admitted before it gets its room, which takes memory even while it is unused if the heap has
    // used it before.
    too_large = length > limit || (admit != nullptr && !admit(length));
    if (!too_large && length <= kLargeBody) answer.body.reserve(length + kParserRoom);
    return !too_large;
  }
  bool TakeData(absl::string_view data) {
    const size_t size = answer.body.size() + data.size();
    too_large = size > limit || (admit != nullptr && !admit(size));
    if (too_large) return false;
    // A body that is not small gets its room at once: growing by doubling would hold it twice.
    // So much room is not of the heap, and costs no memory while it is unused.
    if (size > kSmallBody && size + kParserRoom > answer.body.capacity()) {
      const size_t room = size <= kLargeBody ? kLargeBody : kLargestReserve;
      if (size <= room) answer.body.reserve(std::min(limit, room) + kParserRoom);
    }
    answer.body.append(data.data(), data.size());
    return true;
  }
};

// Idle connections, the last used first.
class Pool {
 public:
  Pool(const TransportOptions& options, Clock& clock)
      : max_idle_(static_cast<size_t>(std::max(options.max_idle_connections, 0))),
        memory_(options.idle_memory),
        clock_(clock) {}

  // nullptr if none fits.
  std::unique_ptr<Connection> Take(int generation) {
    const MonotonicTime now = clock_.MonotonicNow();
    std::deque<Idle> dropped;  // destroyed outside the lock
    absl::MutexLock lock(&mutex_);
    while (!idle_.empty()) {
      Idle last = std::move(idle_.back());
      idle_.pop_back();
      if (last.generation == generation && now - last.since < kMaxIdle &&
          last.connection->Reusable()) {
        return std::move(last.connection);
      }
      dropped.push_back(std::move(last));
    }
    return nullptr;
  }

  void Return(std::unique_ptr<Connection> connection, int generation) {
    // Whether it is still usable is checked again when it is taken.
    if (!connection->Open() || !connection->WorthKeeping()) return;
    ByteShare memory(memory_, 0);
    if (!memory.Grow(connection->IdleBytes())) return;
    const MonotonicTime now = clock_.MonotonicNow();
    std::deque<Idle> dropped;
    absl::MutexLock lock(&mutex_);
    idle_.push_back({std::move(connection), generation, now, std::move(memory)});
    while (idle_.size() > max_idle_) {
      dropped.push_back(std::move(idle_.front()));
      idle_.pop_front();
    }
  }

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    int generation;
    MonotonicTime since;
    ByteShare memory;
  };

  const size_t max_idle_;
  const std::shared_ptr<ByteBudget> memory_;
  Clock& clock_;
  absl::Mutex mutex_;
  std::deque<Idle> idle_ ABSL_GUARDED_BY(mutex_);
};

class PooledTransport : public HttpTransport {
 public:
  PooledTransport(Url base, TransportOptions options, std::unique_ptr<CredentialSource> identity,
                  Clock& clock)
      : base_(std::move(base)),
        options_(std::move(options)),
        identity_(std::move(identity)),
        clock_(clock),
        pool_(options_, clock_) {}

  absl::StatusOr<HttpAnswer> Do(const HttpCall& call) override {
    RETURN_IF_ERROR(CheckCall(call));
    Errand next = {.call = &call,
                   .target = absl::StrCat(base_.path, call.target),
                   .until = {clock_.MonotonicNow() + call.timeout, &stop_, clock_}};
    HttpCall as_get;
    Url origin = base_;
    for (int redirects = 0;; ++redirects) {
      absl::StatusOr<HttpAnswer> answer = DoAt(origin, next);
      if (!answer.ok()) return Explain(answer.status(), call.timeout);
      const bool becomes_get =
          answer->status <= 303 && next.call->method != "GET" && next.call->method != "HEAD";
      if (!options_.follow_redirects || !IsRedirect(answer->status) ||
          answer->Header("Location").empty() || (call.writes && becomes_get)) {
        return answer;
      }
      if (redirects == kMaxRedirects) {
        return absl::UnavailableError(
            absl::StrCat(base_.Origin(), ": more than ", kMaxRedirects, " redirects"));
      }
      // The redirect's target is in no message, since the server wrote it.
      absl::StatusOr<RedirectTarget> redirect =
          ResolveRedirect(origin, next.target, answer->Header("Location"));
      if (!redirect.ok()) {
        return absl::UnavailableError(absl::StrCat(base_.Origin(), ": status ", answer->status,
                                                   " redirects to what is no valid URL"));
      }
      if (!options_.leave_origin && !redirect->origin.SameOrigin(base_)) {
        return absl::FailedPreconditionError(
            absl::StrCat(base_.Origin(), ": status ", answer->status,
                         " redirects to another scheme, host or port, which is not followed"));
      }
      origin = std::move(redirect->origin);
      next.target = std::move(redirect->target);
      if (becomes_get) {
        // As browsers and Go do.
        as_get = call;
        as_get.method = "GET";
        as_get.body.clear();
        as_get.content_type.clear();
        next.call = &as_get;
      }
    }
  }

  absl::Status Stream(const HttpCall& call,
                      const std::function<bool(absl::string_view)>& on_data) override {
    RETURN_IF_ERROR(CheckCall(call));
    const Credentials identity = identity_->Get();
    // Streams take long, so they get connections of their own.
    Connection connection(base_, identity.tls, options_);
    absl::Duration limit = std::min(call.timeout, call.head_timeout);
    Until until = {clock_.MonotonicNow() + limit, &stop_, clock_};
    int status = 0;
    std::string error;
    Exchange exchange =
        MakeExchange(call, absl::StrCat(base_.path, call.target), &identity, "identity");
    exchange.on_head = [&](int answered, const Headers&) {
      status = answered;
      limit = call.timeout;
      until.deadline = clock_.MonotonicNow() + limit;
      return status != 200 || on_data("");
    };
    exchange.on_data = [&](absl::string_view data) {
      until.deadline = clock_.MonotonicNow() + limit;
      if (status == 200) return on_data(data);
      error.append(data.data(), std::min(data.size(), kMaxErrorBytes - error.size()));
      return error.size() < kMaxErrorBytes;
    };
    RETURN_IF_ERROR(Explain(connection.Run(exchange, until), limit));
    if (status == 200) return absl::OkStatus();
    return absl::Status(HttpStatusCode(status),
                        error.empty() ? absl::StrCat("HTTP ", status) : error);
  }

  void Shutdown() override { stop_.Set(); }

 private:
  // `identity` is null on the way to another host.
  Exchange MakeExchange(const HttpCall& call, std::string target, const Credentials* identity,
                        absl::string_view encoding) const {
    Exchange exchange;
    exchange.method = call.method;
    exchange.target = std::move(target);
    exchange.body = call.body;
    exchange.headers = call.headers;
    const auto add = [&](absl::string_view name, absl::string_view value) {
      if (!Has(exchange.headers, name)) exchange.headers.emplace_back(name, value);
    };
    // Before options_.headers, which know nothing of the body.
    if (!call.content_type.empty()) add("Content-Type", call.content_type);
    if (identity != nullptr) {
      for (const auto& header : options_.headers) {
        const bool of_body =
            !call.content_type.empty() && absl::EqualsIgnoreCase(header.first, "Content-Type");
        if (!of_body && !Has(call.headers, header.first)) exchange.headers.push_back(header);
      }
      if (!identity->authorization.empty()) add("Authorization", identity->authorization);
    }
    add("Accept-Encoding", encoding);
    add("User-Agent", "flyball");
    return exchange;
  }

  // One exchange with `origin`, tried again once if a kept connection turned out to be gone: both
  // within the same time.
  absl::StatusOr<HttpAnswer> DoAt(const Url& origin, const Errand& errand) {
    const Credentials identity = identity_->Get();
    if (!origin.SameOrigin(base_)) return DoElsewhere(origin, errand, identity);
    Exchange exchange = MakeExchange(*errand.call, errand.target, &identity, "gzip");
    std::unique_ptr<Connection> connection = pool_.Take(identity.generation);
    while (true) {
      const bool kept = connection != nullptr;
      if (!kept) connection = std::make_unique<Connection>(origin, identity.tls, options_);
      bool answered = false;
      absl::StatusOr<HttpAnswer> answer = RunOn(*connection, errand, exchange, &answered);
      if (answer.ok()) {
        pool_.Return(std::move(connection), identity.generation);
        return answer;
      }
      if (!kept || answered || !IsRepeatable(*errand.call) ||
          !absl::IsUnavailable(answer.status())) {
        return answer;
      }
      connection.reset();
    }
  }

  absl::StatusOr<HttpAnswer> DoElsewhere(const Url& origin, const Errand& errand,
                                         const Credentials& identity) {
    std::shared_ptr<const TlsClient> tls = identity.tls;
    if (origin.tls && tls == nullptr) {
      TransportOptions trust;
      trust.ca_file = options_.ca_file;
      trust.ca_data = options_.ca_data;
      trust.insecure_skip_verify = options_.insecure_skip_verify;
      ASSIGN_OR_RETURN(tls, TlsClient::Load(trust));
    }
    tls = origin.tls ? tls->WithoutIdentity() : nullptr;
    Connection connection(origin, tls, options_);
    const HttpCall bare = WithoutCredentials(*errand.call);
    Exchange exchange = MakeExchange(bare, errand.target, nullptr, "gzip");
    bool answered = false;
    return RunOn(connection, errand, exchange, &answered);
  }

  static HttpCall WithoutCredentials(HttpCall call) {
    std::erase_if(call.headers, [](const auto& header) {
      return absl::EqualsIgnoreCase(header.first, "Authorization") ||
             absl::EqualsIgnoreCase(header.first, "Cookie");
    });
    return call;
  }

  absl::StatusOr<HttpAnswer> RunOn(Connection& connection, const Errand& errand, Exchange& exchange,
                                   bool* answered) {
    const size_t limit = errand.call->max_body_bytes;
    Received received{.answer = {}, .limit = limit, .admit = errand.call->admit};
    exchange.on_head = [&](int status, Headers headers) {
      *answered = true;
      return received.TakeHead(status, std::move(headers));
    };
    exchange.on_data = [&](absl::string_view data) { return received.TakeData(data); };
    RETURN_IF_ERROR(connection.Run(exchange, errand.until));
    if (received.too_large) {
      return absl::ResourceExhaustedError(
          absl::StrCat(base_.Origin(), ": the answer is larger than ", limit, " bytes"));
    }
    return std::move(received.answer);
  }

  // Adds to the error of a wait how long it was and for which server.
  absl::Status Explain(const absl::Status& status, absl::Duration timeout) const {
    if (absl::IsDeadlineExceeded(status)) {
      return absl::DeadlineExceededError(
          absl::StrCat(base_.Origin(), ": no whole answer within ",
                       absl::FormatDuration(absl::Ceil(timeout, absl::Milliseconds(1)))));
    }
    if (absl::IsCancelled(status)) {
      return absl::CancelledError(absl::StrCat(base_.Origin(), ": shutting down"));
    }
    return status;
  }

  const Url base_;
  const TransportOptions options_;
  const std::unique_ptr<CredentialSource> identity_;
  Clock& clock_;
  StopSignal stop_;
  Pool pool_;
};

}  // namespace

absl::StatusCode HttpStatusCode(int status) {
  using Code = absl::StatusCode;
  static constexpr std::pair<int, Code> kCodes[] = {
      {400, Code::kInvalidArgument},  {401, Code::kUnauthenticated},
      {403, Code::kPermissionDenied}, {404, Code::kNotFound},
      {405, Code::kUnimplemented},    {409, Code::kAborted},
      {410, Code::kOutOfRange},       {429, Code::kResourceExhausted},
      {504, Code::kDeadlineExceeded},
  };
  for (const auto& [of, code] : kCodes) {
    if (of == status) return code;
  }
  if (status >= 500 && status < 600) return Code::kUnavailable;
  return status >= 400 && status < 500 ? Code::kFailedPrecondition : Code::kUnknown;
}

absl::StatusOr<std::unique_ptr<HttpTransport>> MakeHttpTransport(TransportOptions options,
                                                                 Clock& clock) {
  static std::once_flag sigpipe;
  std::call_once(sigpipe, [] { std::signal(SIGPIPE, SIG_IGN); });
  ASSIGN_OR_RETURN(Url base, Url::Parse(options.url));
  if (options.username.empty() && options.password.empty()) {
    options.username = base.username;
    options.password = base.password;
  }
  if (!AreSendable(options.headers)) {
    return absl::InvalidArgumentError("a header's name is empty or a header holds a line break");
  }
  ASSIGN_OR_RETURN(auto identity, CredentialSource::Make(options, base.tls, clock));
  return std::make_unique<PooledTransport>(std::move(base), std::move(options), std::move(identity),
                                           clock);
}

}  // namespace flyball::http
