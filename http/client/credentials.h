// The credentials that a client sends with each call: its Authorization header and its TLS
// identity, re-read when their files change.
//
// Thread-safe. Internal to transport.cc.
#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/file_watcher.h"
#include "http/client/tls_client.h"
#include "http/client/transport.h"

namespace flyball::http {

struct Credentials {
  std::string authorization;             // "Bearer …", "Basic …", or ""
  std::shared_ptr<const TlsClient> tls;  // null for plain http
  int generation = 0;                    // grows when `tls` is replaced
};

class CredentialSource {
 public:
  // kInvalidArgument if a file that `options` names cannot be used.
  // The clock outlives the source.
  static absl::StatusOr<std::unique_ptr<CredentialSource>> Make(const TransportOptions& options,
                                                                bool tls, Clock& clock);

  // Checks the files at most once a second. If files have become invalid or can't be read, the last
  // good credentials stay in use, with one warning in the log, and the files are read again each
  // second.
  Credentials Get();

 private:
  CredentialSource(const TransportOptions& options, bool tls, Clock& clock);
  absl::Status Load() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::string> LoadAuthorization() const;

  const TransportOptions options_;
  const bool tls_;
  Clock& clock_;
  absl::Mutex mutex_;
  FileStamps stamps_ ABSL_GUARDED_BY(mutex_);
  MonotonicTime last_look_ ABSL_GUARDED_BY(mutex_);
  absl::Status loaded_ ABSL_GUARDED_BY(mutex_);  // outcome of the last reading
  Credentials credentials_ ABSL_GUARDED_BY(mutex_);
};

// True if `text` could split a request's head: it contains CR, LF or NUL.
bool HasLineBreak(absl::string_view text);

}  // namespace flyball::http
