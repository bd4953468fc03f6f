// The options of a server: its port, its certificate, and its limits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace flyball::http {

// Limits for each request; every byte counts (request_reader.h).
struct RequestLimits {
  // --max-header-bytes: request line and headers, from the first byte on; more is 431.
  size_t max_head_bytes = 1 << 20;
  size_t max_header_lines = 4096;  // --max-header-lines: more is 431
  // With chunk sizes and trailers: more is 413 and ends the connection.
  size_t max_body_bytes = 1 << 20;
  // False: nothing that is served has a body, and bodies are dropped as they come.
  bool keep_bodies = false;
};

// Where to listen, and the limits on connections and threads.
struct ListenOptions {
  std::string bind_address = "0.0.0.0";  // --bind-address; an IPv4 or IPv6 address
  int port = 443;                        // --secure-port; 0 takes a free one, see ApiServer::port()
  bool reuse_address = false;  // --permit-address-sharing: SO_REUSEADDR (always set on Linux)
  bool reuse_port = false;     // --permit-port-sharing: SO_REUSEPORT
  // --max-connections, --max-connection-bytes: if there are more, or they take more memory
  // together, those that have been quiet longest are ended. Answers that are being made may take
  // a tenth of these bytes beside them; for what they take beyond that, connections are ended.
  int max_connections = 10000;
  size_t max_connection_bytes = 40u << 20;
  int workers = 0;      // threads ready to serve; 0: one for each processor, at least 8
  int max_workers = 0;  // including those that wait for others; 0: enough for all
  absl::Duration handshake_timeout = absl::Seconds(10);
  absl::Duration header_timeout = absl::Seconds(32);  // from a request's first byte to its last
  absl::Duration idle_timeout = absl::Seconds(120);   // the aggregator keeps its own ends for 90 s
  absl::Duration write_timeout = absl::Seconds(30);   // for one answer to a peer that reads slowly
  RequestLimits request = {};
};

// One --tls-sni-cert-key: `cert,key` or `cert,key:name,name`.
struct SniCertificate {
  std::string cert_file;
  std::string key_file;
  // Names or `*.suffix` patterns that it is for; empty: those of the certificate.
  std::vector<std::string> names;
};

// The serving certificate. Files are re-read when they change; a pair is used once it matches.
struct TlsOptions {
  std::string cert_file;  // --tls-cert-file (PEM, chain); both or neither
  std::string key_file;   // --tls-private-key-file
  // --cert-dir: where a self-signed apiserver.crt and apiserver.key are made, or found, when no
  // file is given.
  std::string cert_dir = "apiserver.local.config/certificates";
  std::vector<SniCertificate> sni;         // --tls-sni-cert-key
  std::string min_version;                 // --tls-min-version: "", VersionTLS10 … VersionTLS13
  std::vector<std::string> cipher_suites;  // --tls-cipher-suites: Go's names; empty: defaults
};

}  // namespace flyball::http
