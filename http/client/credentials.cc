#include "http/client/credentials.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "spdlog/spdlog.h"

namespace flyball::http {
namespace {

constexpr absl::Duration kFileInterval = absl::Seconds(1);

// What the file holds, or the text where there is no file.
absl::StatusOr<std::string> Secret(absl::string_view what, const std::string& file,
                                   const std::string& text) {
  if (file.empty()) return text;
  std::string secret = ReadFile(file).value_or("");
  absl::StripAsciiWhitespace(&secret);
  if (!secret.empty()) return secret;
  return absl::InvalidArgumentError(absl::StrCat(what, " file cannot be read or is empty: ", file));
}

}  // namespace

bool HasLineBreak(absl::string_view text) {
  return text.find_first_of(absl::string_view("\r\n\0", 3)) != absl::string_view::npos;
}

CredentialSource::CredentialSource(const TransportOptions& options, bool tls, Clock& clock)
    : options_(options),
      tls_(tls),
      clock_(clock),
      stamps_({options.ca_file, options.client_cert_file, options.client_key_file,
               options.token_file, options.password_file}),
      last_look_(clock_.MonotonicNow()) {}

absl::StatusOr<std::unique_ptr<CredentialSource>> CredentialSource::Make(
    const TransportOptions& options, bool tls, Clock& clock) {
  auto source = std::unique_ptr<CredentialSource>(new CredentialSource(options, tls, clock));
  absl::MutexLock lock(&source->mutex_);
  RETURN_IF_ERROR(source->Load());
  return source;
}

Credentials CredentialSource::Get() {
  const MonotonicTime now = clock_.MonotonicNow();
  absl::MutexLock lock(&mutex_);
  if (now - last_look_ >= kFileInterval) {
    last_look_ = now;
    // Certificates are often replaced in several steps, and a read may fail for a moment.
    if (stamps_.Refresh() || !loaded_.ok()) {
      const absl::Status before = std::exchange(loaded_, Load());
      if (!loaded_.ok() && loaded_ != before) {
        spdlog::warn("keeping the last good credentials: {}", std::string(loaded_.message()));
      }
    }
  }
  return credentials_;
}

absl::Status CredentialSource::Load() {
  ASSIGN_OR_RETURN(std::string authorization, LoadAuthorization());
  credentials_.authorization = std::move(authorization);
  // Loaded even if it is not used (plain http), since files that are named must be valid.
  ASSIGN_OR_RETURN(std::shared_ptr<const TlsClient> tls, TlsClient::Load(options_));
  if (!tls_) return absl::OkStatus();
  credentials_.tls = std::move(tls);
  ++credentials_.generation;
  return absl::OkStatus();
}

absl::StatusOr<std::string> CredentialSource::LoadAuthorization() const {
  ASSIGN_OR_RETURN(std::string token, Secret("token", options_.token_file, options_.token));
  absl::StripAsciiWhitespace(&token);
  if (HasLineBreak(token)) return absl::InvalidArgumentError("the token holds a line break");
  if (!token.empty()) return absl::StrCat(options_.token_scheme, " ", token);
  ASSIGN_OR_RETURN(const std::string password,
                   Secret("password", options_.password_file, options_.password));
  if (options_.username.empty() && password.empty()) return std::string();
  return absl::StrCat("Basic ", absl::Base64Escape(absl::StrCat(options_.username, ":", password)));
}

}  // namespace flyball::http
