// A server that a trigger asks with GET: its address, TLS, credentials and headers, from metadata
// and Secrets.
//
// Thread-safe once made. Secrets are read at each call, so that a change of one counts for the next
// call; errors never contain them.
//
// Source:  KEDA 2.20 HTTP authentication block.
// Differs: authModes, method and keyParamName come from metadata alone; oauth and `custom` values
//          from metadata are refused; proxies are not used; an answer beyond kMaxAnswerBytes, or a
//          lower limit that is set, is an error.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/client/transport.h"
#include "http/client/url.h"
#include "scaler/triggers/parts/clients.h"
#include "scaler/triggers/parts/metadata.h"
#include "scaler/triggers/parts/secrets.h"

namespace flyball::scaler {

using QueryPairs = std::vector<std::pair<std::string, std::string>>;

// The keys that every type that asks an HTTP server has beside its own.
inline constexpr MetadataKey kHttpKeys[] = {
    {"authModes", KeyKind::kText, "",
     "how to authenticate to the server: `apiKey`, `basic`, `bearer`, `custom` or `tls`; several "
     "are separated by commas"},
    {"authMode", KeyKind::kText, "", "older name of `authModes`"},
    {"bearerToken", KeyKind::kSecret, "", "the token, in mode `bearer`"},
    {"token", KeyKind::kSecret, "", "older name of `bearerToken`"},
    {"username", KeyKind::kSecret, "", "in mode `basic`"},
    {"password", KeyKind::kSecret, "", "in mode `basic`"},
    {"apiKey", KeyKind::kSecret, "", "the key, in mode `apiKey`"},
    {"apiKey", KeyKind::kText, "", "the key, in mode `apiKey`, if it is no secret"},
    {"method", KeyKind::kOneOf, "header",
     "in mode `apiKey`: whether the key is sent as a header or as a query parameter",
     "header, query"},
    {"keyParamName", KeyKind::kText, "",
     "in mode `apiKey`: name of that header or parameter; `X-API-KEY` or `api_key` when absent"},
    {"customAuthHeader", KeyKind::kSecret, "", "in mode `custom`: name of the header"},
    {"customAuthValue", KeyKind::kSecret, "", "in mode `custom`: value of the header"},
    {"ca", KeyKind::kSecret, "",
     "CA certificates (PEM) that the server's certificate is verified with"},
    {"cert", KeyKind::kSecret, "", "in mode `tls`: the client's certificate (PEM)"},
    {"key", KeyKind::kSecret, "", "in mode `tls`: its key (PEM)"},
    {"unsafeSsl", KeyKind::kBool, "false",
     "`true`: the server's certificate is not verified; `prometheus` verifies it nevertheless if a "
     "`ca` or a `cert` is given"},
    {"timeout", KeyKind::kDuration, "3s",
     "how long an answer may take; a longer one than 10s counts as 10s"},
};

class HttpSource {
 public:
  static constexpr size_t kMaxAnswerBytes = 1 << 20;

  // Everything that an error may say about an unexpected answer: "status 403 (text/html)".
  static std::string Describe(const http::HttpAnswer& answer);

  // Why no trigger may send a header of that name; "" if one may.
  static absl::string_view HeaderProblem(absl::string_view name);

  // Reads the URL in the metadata `url_field`, unsafeSsl, timeout, authModes and what these need.
  // Problems are recorded in plan.metadata.
  static std::unique_ptr<HttpSource> Make(const TriggerPlan& plan, absl::string_view url_field);

  // GET of the URL's path + `path`, with the URL's own query and then `query`. Redirects are
  // followed only within the origin. An answer of any status is returned as a value.
  // Errors: those of http::HttpTransport::Do, and kFailedPrecondition if a Secret cannot be read.
  absl::StatusOr<http::HttpAnswer> Get(absl::string_view path, const QueryPairs& query,
                                       absl::Duration timeout);

  // Headers that are added to each call, unless a Secret gives one of the same name.
  void set_headers(http::Headers headers) { headers_ = std::move(headers); }

  // Makes unsafeSsl count even if a `ca` or a `cert` is given.
  void set_unsafe_with_certificates() { unsafe_with_certificates_ = true; }

  // For types with smaller answers. To be called before the first Get.
  void set_max_answer_bytes(size_t bytes) { max_answer_bytes_ = bytes; }

  // "https://host:port"
  const std::string& origin() const { return origin_; }

 private:
  HttpSource() = default;
  http::Url ReadUrl(const TriggerPlan& plan, absl::string_view field);
  void ReadAuth(const TriggerPlan& plan);
  absl::StatusOr<http::TransportOptions> Options(QueryPairs& query) const;

  std::string ns_;
  std::string server_;  // scheme://[user:password@]host:port
  std::string origin_;  // the same without user and password
  std::string path_;    // "" or begins with a slash
  std::string query_;   // the URL's, encoded
  bool unsafe_ssl_ = false;
  bool unsafe_with_certificates_ = false;
  absl::Duration timeout_;
  http::Headers headers_;
  size_t max_answer_bytes_ = kMaxAnswerBytes;
  std::set<std::string> modes_;
  bool api_key_in_query_ = false;
  std::string api_key_name_;
  std::string plain_api_key_;  // from metadata
  std::unique_ptr<const Secrets> secrets_;
  std::shared_ptr<TriggerClients> clients_;
};

}  // namespace flyball::scaler
