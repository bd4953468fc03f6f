#include "scaler/triggers/parts/http_source.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/go/url.h"
#include "base/status_macros.h"

namespace flyball::scaler {
namespace {

constexpr size_t kMaxContentType = 64;

// Headers that say where a request ends and what happens to its connection, which the HTTP client
// sets itself.
constexpr absl::string_view kFraming[] = {"Connection", "Content-Length",    "Expect", "Host", "TE",
                                          "Trailer",    "Transfer-Encoding", "Upgrade"};

// A query without the parameters of that name.
std::string WithoutParameter(absl::string_view query, absl::string_view name) {
  const auto is_other = [name](absl::string_view pair) {
    return go::Unescape(pair.substr(0, pair.find('=')), /*plus_is_space=*/true) != name;
  };
  return absl::StrJoin(absl::StrSplit(query, '&', is_other), "&");
}

// Whether the options give a header of that name.
bool Gives(const http::TransportOptions& options, absl::string_view name) {
  if (absl::EqualsIgnoreCase(name, "Authorization") &&
      !(options.token.empty() && options.username.empty())) {
    return true;
  }
  return std::any_of(options.headers.begin(), options.headers.end(), [name](const auto& header) {
    return absl::EqualsIgnoreCase(header.first, name);
  });
}

bool FitsRequestLine(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7f;
  });
}

}  // namespace

std::string HttpSource::Describe(const http::HttpAnswer& answer) {
  const absl::string_view header = answer.Header("Content-Type");
  const absl::string_view type = absl::StripAsciiWhitespace(header.substr(0, header.find(';')));
  const bool is_type = std::all_of(type.begin(), type.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("/.+-", c);
  });
  return absl::StrCat("status ", answer.status,
                      is_type && !type.empty() && type.size() <= kMaxContentType
                          ? absl::StrCat(" (", type, ")")
                          : "");
}

absl::string_view HttpSource::HeaderProblem(absl::string_view name) {
  const bool is_token = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           absl::StrContains("!#$%&'*+-.^_`|~", absl::string_view(&c, 1));
  });
  if (!is_token) return "is no name of a header";
  const bool framing =
      std::any_of(std::begin(kFraming), std::end(kFraming),
                  [name](absl::string_view each) { return absl::EqualsIgnoreCase(name, each); });
  return framing ? "is set by the client itself" : "";
}

std::unique_ptr<HttpSource> HttpSource::Make(const TriggerPlan& plan, absl::string_view url_field) {
  std::unique_ptr<HttpSource> source(new HttpSource());
  Metadata& metadata = plan.metadata;
  const http::Url url = source->ReadUrl(plan, url_field);
  source->ns_ = plan.context.ns;
  source->secrets_ = std::make_unique<const Secrets>(plan, url.host, url.port);
  source->unsafe_ssl_ = metadata.Bool("unsafeSsl");
  source->timeout_ = metadata.Duration("timeout");
  source->clients_ = plan.context.clients;
  source->ReadAuth(plan);
  return source;
}

http::Url HttpSource::ReadUrl(const TriggerPlan& plan, absl::string_view field) {
  Metadata& metadata = plan.metadata;
  const std::string written = metadata.Text(field, KeyKind::kUrl);
  const absl::string_view text = written;
  if (text.empty()) return {};
  absl::StatusOr<http::Url> url = http::Url::Parse(text);
  if (!url.ok()) {
    metadata.Wrong(field, url.status().message());
    return {};
  }
  origin_ = url->Origin();
  const size_t host = text.find("://") + 3;
  const size_t end = text.find_first_of("/?#", host);
  server_ = std::string(text.substr(0, end));
  if (end == absl::string_view::npos) return *std::move(url);
  absl::string_view rest = text.substr(end);
  rest = rest.substr(0, rest.find('#'));
  if (!FitsRequestLine(rest)) {
    metadata.Wrong(field, "spaces and other special characters have to be percent-encoded");
  }
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(rest, absl::MaxSplits('?', 1));
  path_ = std::string(parts.first);
  query_ = std::string(parts.second);
  return *std::move(url);
}

void HttpSource::ReadAuth(const TriggerPlan& plan) {
  Metadata& metadata = plan.metadata;
  const char* const field = metadata.Has("authModes") ? "authModes" : "authMode";
  for (const absl::string_view item :
       absl::StrSplit(metadata.Text(field), ',', absl::SkipWhitespace())) {
    const std::string mode(absl::StripAsciiWhitespace(item));
    if (mode == "oauth") {
      metadata.Wrong(field, "oauth is not supported; bearer takes a token");
    } else if (mode != "apiKey" && mode != "basic" && mode != "bearer" && mode != "custom" &&
               mode != "tls") {
      metadata.Wrong(
          field, absl::StrCat("expected apiKey, basic, bearer, custom or tls, got \"", mode, "\""));
    }
    modes_.insert(mode);
  }
  const auto need = [&](absl::string_view mode, std::initializer_list<absl::string_view> any_of) {
    if (modes_.count(std::string(mode)) == 0) return;
    if (std::any_of(any_of.begin(), any_of.end(),
                    [this](auto name) { return secrets_->Has(name); })) {
      return;
    }
    metadata.Wrong(field, absl::StrCat(mode, " needs the parameter ", *any_of.begin(),
                                       " in authenticationSecretRefs"));
  };
  if (modes_.count("bearer") + modes_.count("basic") > 1) {
    metadata.Wrong(field, "may have at most one of basic and bearer");
  }
  need("bearer", {"bearerToken", "token"});
  need("basic", {"username"});
  need("tls", {"cert"});
  need("tls", {"key"});
  need("custom", {"customAuthHeader"});
  need("custom", {"customAuthValue"});
  if (modes_.count("apiKey") == 0) return;
  plain_api_key_ = metadata.Text("apiKey");
  if (plain_api_key_.empty()) need("apiKey", {"apiKey"});
  api_key_in_query_ = metadata.OneOf("method") == "query";
  api_key_name_ = metadata.Text("keyParamName");
  if (api_key_name_.empty()) api_key_name_ = api_key_in_query_ ? "api_key" : "X-API-KEY";
  if (api_key_in_query_) query_ = WithoutParameter(query_, api_key_name_);
  const absl::string_view problem = api_key_in_query_ ? "" : HeaderProblem(api_key_name_);
  if (!problem.empty()) {
    metadata.Wrong("keyParamName", absl::StrCat("\"", api_key_name_, "\" ", problem));
  }
}

absl::StatusOr<http::TransportOptions> HttpSource::Options(QueryPairs& query) const {
  http::TransportOptions options;
  options.url = server_;
  ASSIGN_OR_RETURN(options.ca_data, secrets_->ReadPem("ca"));
  if (modes_.count("tls") != 0) {
    ASSIGN_OR_RETURN(options.client_cert_data, secrets_->ReadPem("cert"));
    ASSIGN_OR_RETURN(options.client_key_data, secrets_->ReadPem("key"));
  }
  const bool without = options.ca_data.empty() && options.client_cert_data.empty();
  options.insecure_skip_verify = unsafe_ssl_ && (without || unsafe_with_certificates_);
  if (modes_.count("bearer") != 0) {
    ASSIGN_OR_RETURN(options.token, secrets_->ReadLine({"bearerToken", "token"}));
  }
  if (modes_.count("basic") != 0) {
    ASSIGN_OR_RETURN(options.username, secrets_->ReadLine({"username"}));
    ASSIGN_OR_RETURN(const std::string password, secrets_->Read({"password"}));
    options.password = std::string(absl::StripAsciiWhitespace(password));
  }
  if (modes_.count("custom") != 0) {
    ASSIGN_OR_RETURN(std::string name, secrets_->ReadLine({"customAuthHeader"}));
    ASSIGN_OR_RETURN(std::string value, secrets_->ReadLine({"customAuthValue"}));
    if (const absl::string_view problem = HeaderProblem(name); !problem.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("parameter customAuthHeader: the Secret's value ", problem));
    }
    options.headers.emplace_back(std::move(name), std::move(value));
  }
  if (modes_.count("apiKey") != 0) {
    std::string key = plain_api_key_;
    if (key.empty()) {
      ASSIGN_OR_RETURN(key, secrets_->ReadLine({"apiKey"}));
    }
    if (api_key_in_query_) {
      query.emplace_back(api_key_name_, std::move(key));
    } else {
      options.headers.emplace_back(api_key_name_, std::move(key));
    }
  }
  return options;
}

absl::StatusOr<http::HttpAnswer> HttpSource::Get(absl::string_view path, const QueryPairs& query,
                                                 absl::Duration timeout) {
  Clock& clock = clients_->clock();
  const MonotonicTime deadline = clock.MonotonicNow() + timeout;
  QueryPairs pairs = query;
  ASSIGN_OR_RETURN(const http::TransportOptions options, Options(pairs));
  ASSIGN_OR_RETURN(const std::shared_ptr<http::HttpTransport> client, clients_->Http(ns_, options));
  std::string target =
      absl::StrCat(path.empty() ? absl::string_view(path_) : absl::StripSuffix(path_, "/"), path);
  if (target.empty()) target = "/";
  std::string all = query_;
  for (const auto& [name, value] : pairs) {
    absl::StrAppend(&all, all.empty() ? "" : "&", go::UrlEscape(name), "=", go::UrlEscape(value));
  }
  if (!all.empty()) absl::StrAppend(&target, "?", all);
  http::HttpCall call;
  call.target = std::move(target);
  call.headers = headers_;
  std::erase_if(call.headers,
                [&options](const auto& header) { return Gives(options, header.first); });
  call.timeout = std::min(deadline - clock.MonotonicNow(), timeout_);
  call.max_body_bytes = max_answer_bytes_;
  absl::StatusOr<http::HttpAnswer> answer = client->Do(call);
  return answer.ok() ? std::move(answer) : TriggerClients::Hinted(answer.status());
}

}  // namespace flyball::scaler
