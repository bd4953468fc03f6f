#include "kube/client/api_client.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/go/url.h"
#include "base/status_macros.h"
#include "kube/client/api_error.h"

namespace flyball::kube {
namespace {

constexpr int kMaxRetries = 3;

// The wait in seconds before the request may be repeated; negative: it may not be.
int RetryAfterSeconds(const http::HttpAnswer& answer) {
  int seconds = -1;
  if (answer.status != 429 && answer.status / 100 != 5) return -1;
  return absl::SimpleAtoi(answer.Header("Retry-After"), &seconds) ? seconds : -1;
}

}  // namespace

absl::StatusOr<std::string> ApiClient::Get(absl::string_view path) {
  ++counters_.gets;
  return Call("GET", path, "", "");
}

absl::StatusOr<std::string> ApiClient::Create(absl::string_view path, absl::string_view json) {
  ++counters_.creates;
  return Call("POST", path, json, "application/json");
}

absl::StatusOr<std::string> ApiClient::Update(absl::string_view path, absl::string_view json,
                                              MayTryAgain may_try_again) {
  ++counters_.updates;
  return Call("PUT", path, json, "application/json", may_try_again);
}

absl::StatusOr<std::string> ApiClient::MergePatch(absl::string_view path, absl::string_view json) {
  ++counters_.patches;
  return Call("PATCH", path, json, "application/merge-patch+json");
}

void ApiClient::Shutdown() {
  absl::MutexLock lock(&mutex_);
  shut_ = true;
}

bool ApiClient::Wait(absl::Duration wait) {
  absl::MutexLock lock(&mutex_);
  return !clock_.Await(mutex_, absl::Condition(&shut_), clock_.MonotonicNow() + wait);
}

absl::StatusOr<std::string> ApiClient::Call(absl::string_view method, absl::string_view path,
                                            absl::string_view json, absl::string_view content_type,
                                            MayTryAgain may_try_again) {
  http::HttpCall call;
  call.method = std::string(method);
  call.target = std::string(path);
  call.headers = {{"Accept", "application/json"}};
  call.body = std::string(json);
  call.content_type = std::string(content_type);
  call.repeatable = true;
  call.writes = call.method != "GET";
  absl::StatusOr<std::string> stored = Try(std::move(call), may_try_again);
  if (!stored.ok()) ++counters_.errors;
  return stored;
}

absl::StatusOr<std::string> ApiClient::Try(http::HttpCall call, MayTryAgain may_try_again) {
  const MonotonicTime deadline = clock_.MonotonicNow() + timeout_;
  call.timeout = timeout_;
  bool maybe_done = false;  // an answer leaves open whether it was
  for (int tries = 0;; ++tries) {
    absl::StatusOr<http::HttpAnswer> done = server_.Do(call);
    if (absl::IsResourceExhausted(done.status())) {
      return absl::InternalError(done.status().message());
    }
    ASSIGN_OR_RETURN(http::HttpAnswer answer, std::move(done));
    if (answer.status / 100 == 2) return std::move(answer.body);
    const auto error = [&] {
      const absl::Status status = AnswerError(call.method, call.target, answer);
      const bool sure = !maybe_done || !absl::IsResourceExhausted(status);
      return sure ? status : absl::UnavailableError(status.message());
    };
    maybe_done |= answer.status / 100 == 5;
    const int seconds = RetryAfterSeconds(answer);
    const absl::Duration left = deadline - clock_.MonotonicNow();
    if (seconds < 0 || tries == kMaxRetries || absl::Seconds(seconds) >= left ||
        !Wait(absl::Seconds(seconds)) || !may_try_again(maybe_done)) {
      return error();
    }
    call.timeout = deadline - clock_.MonotonicNow();
    if (call.timeout <= absl::ZeroDuration()) return error();
  }
}

std::string ObjectPath(absl::string_view group, absl::string_view version, absl::string_view ns,
                       absl::string_view resource, absl::string_view name,
                       absl::string_view subresource) {
  std::string path =
      group.empty() ? absl::StrCat("/api/", version) : absl::StrCat("/apis/", group, "/", version);
  if (!ns.empty()) absl::StrAppend(&path, "/namespaces/", go::UrlEscape(ns));
  absl::StrAppend(&path, "/", resource);
  if (!name.empty()) absl::StrAppend(&path, "/", go::UrlEscape(name));
  if (!subresource.empty()) absl::StrAppend(&path, "/", subresource);
  return path;
}

}  // namespace flyball::kube
