// The gRPC server that Envoys connect to: for their resources (incremental xDS over one stream),
// for questions about requests (ext_proc), and with their statistics (metrics service).
//
// Thread-safe. The calls of DataPath wait only for a lock, which is held while the messages of
// changed resources are made. Events come from gRPC's threads, from before Make returns until the
// destructor does; a stream or request that waits holds no thread. The destructor ends all streams:
// Envoys ask again elsewhere, and keep holding requests. This header uses no type of gRPC: only a
// module that is loaded when the first server is made is linked with it.
//
// Limits: a message of 16 MiB.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "scaler/front/data_path.h"

namespace flyball::front {

struct DataPathServerOptions {
  std::string listen;  // "0.0.0.0:18000"; port 0: any that is free

  // PEM files for mutual TLS, checked every 3 s, so that renewed ones are used for new connections.
  // All empty: no TLS, and every peer that reaches the port is trusted.
  std::string cert_file;
  std::string key_file;
  std::string ca_file;  // of the CA that must have signed the Envoys' certificates

  // The name that their certificates must have: a subject alternative name, or the common name if
  // there is none. Empty: any certificate of that CA. A peer without that name gets
  // PERMISSION_DENIED.
  std::string peer_name;
};

class DataPathServer : public DataPath {
 public:
  // The port it listens on, also if `listen` has port 0.
  virtual uint16_t port() const = 0;
};

inline constexpr char kFrontModuleFile[] = "front.so";
inline constexpr char kFrontModuleSymbol[] = "flyball_front_module";

// The type of the symbol kFrontModuleSymbol.
struct FrontModule {
  // The version of the program, with a digest of the headers that both sides include.
  const char* interface = nullptr;
  absl::StatusOr<std::unique_ptr<DataPathServer>> (*make)(const DataPathServerOptions& options,
                                                          const Clock& clock,
                                                          DataPathEvents& events) = nullptr;
};

// Loads the module if needed, and listens. `clock` and `events` outlive the server.
//   kNotFound, kFailedPrecondition  the module cannot be loaded (module_library.h)
//   kInvalidArgument                a TLS file is missing or unreadable, or not all three are given
//   kUnavailable                    the address cannot be listened on
absl::StatusOr<std::unique_ptr<DataPathServer>> MakeDataPathServer(
    const DataPathServerOptions& options, const Clock& clock, DataPathEvents& events);

// The path that the module would be loaded from; the errors of LoadModule.
absl::StatusOr<std::string> FrontModulePath(absl::Span<const std::string> folders);

}  // namespace flyball::front
