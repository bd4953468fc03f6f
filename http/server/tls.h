// The serving side of TLS: certificates from files, read again when they change.
//
// Thread-safe. A connection takes the bundle of its handshake; a reload affects only later
// handshakes, and only with a pair that matches. Client certificates are asked for, never required
// and never verified here: an unknown issuer must not end a handshake, and who the client is
// depends on CA bundles that change while it stays connected (auth/). Sessions are not resumed, so
// that each connection shows its certificate.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file_watcher.h"
#include "base/snapshot.h"
#include "http/server/options.h"

struct ssl_st;

namespace flyball::http {

class TlsBundle;  // immutable: the contexts of one reading of the files

class TlsCertificates {
 public:
  // kInvalidArgument: a file cannot be used, an unknown version or cipher; kFailedPrecondition: the
  // self-signed pair cannot be written.
  static absl::StatusOr<std::unique_ptr<TlsCertificates>> Create(TlsOptions options,
                                                                 const std::string& bind_address);
  ~TlsCertificates();

  // Reads the files again; after an error the previous ones stay in use.
  absl::Status Reload();

  // The stamps of the files right before their first reading, from which a watcher continues.
  const FileStamps& first_look() const { return first_look_; }

  std::shared_ptr<const TlsBundle> bundle() const { return bundle_.Get(); }
  // When the default certificate expires.
  absl::Time not_after() const;

 private:
  explicit TlsCertificates(TlsOptions options);
  const TlsOptions options_;
  const FileStamps first_look_;
  Snapshot<TlsBundle> bundle_;
};

// A handshake that names more certificate authorities than this is refused.
inline constexpr size_t kMaxNamedAuthoritiesBytes = 512;

// A new server-side TLS state for one connection; the caller frees it and keeps `bundle` alive.
ssl_st* NewServerSsl(const TlsBundle& bundle);

// OpenSSL's names for Go's, separated by colons: TLS 1.2 suites and TLS 1.3 ones. kInvalidArgument
// names the first unknown one.
struct CipherLists {
  std::string tls12;
  std::string tls13;
};
absl::StatusOr<CipherLists> CipherListsFromGo(const std::vector<std::string>& names);

}  // namespace flyball::http
