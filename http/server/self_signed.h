// The serving pair that is made when none is given: apiserver.crt and apiserver.key in a folder.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace flyball::http {

struct KeyPairFiles {
  std::string cert_file;
  std::string key_file;
};

// Finds the pair in `dir` or makes one there: CN localhost; names localhost, 127.0.0.1 and
// `bind_address` (an IP address); good for one year; ECDSA P-256. Without a folder (`dir` is
// "") a new pair is made in memory. kFailedPrecondition: the folder cannot be made or written, or
// holds only one of the two files.
absl::StatusOr<KeyPairFiles> EnsureSelfSigned(const std::string& dir,
                                              const std::string& bind_address);

}  // namespace flyball::http
