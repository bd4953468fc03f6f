// ProcessSet of flyball.dev: an object with a scale, for a number of equal processes on this
// machine.
//
// Pure. Fields of the spec, with their defaults:
//
//   command            the program and its arguments; $(VAR) is a variable of its environment
//   env                variables in addition to flyball's own and to NAME, INDEX and PORT
//   workingDirectory   of the processes; flyball's own
//   replicas           how many there are at first, until the scale is written; 1
//   labels             of the pods that represent the processes; {app: NAME}
//   port               replica i gets port + i as PORT; 0: none
//   metricsPath        where the processes serve metrics, for the prometheus.io annotations; none
//   readiness          {http: PATH} or {tcp: true} on that port; a process is ready at once
//   gracePeriod        from SIGTERM to SIGKILL, at most 1h; 30s
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "scaler/spec/document.h"

namespace flyball::processes {

inline constexpr char kProcessSetKind[] = "ProcessSet";
inline constexpr char kProcessSetPlural[] = "processsets";
inline constexpr int32_t kMaxReplicas = 1000;

// How a process is checked for being ready.
struct Readiness {
  enum class Check { kNone, kTcp, kHttp };
  Check check = Check::kNone;
  std::string path;  // kHttp: ready if GET answers with a status of 2xx or 3xx

  friend bool operator==(const Readiness&, const Readiness&) = default;
};

struct ProcessSetSpec {
  std::string ns;
  std::string name;
  int32_t replicas = 1;
  std::vector<std::string> command;
  std::map<std::string, std::string> env;
  std::string working_directory;
  std::map<std::string, std::string> labels;
  int32_t port = 0;
  std::string metrics_path;
  Readiness readiness;
  absl::Duration grace_period = absl::Seconds(30);

  friend bool operator==(const ProcessSetSpec&, const ProcessSetSpec&) = default;
};

// kInvalidArgument: `line N: spec.FIELD: what`. Unknown fields are refused.
absl::StatusOr<ProcessSetSpec> ReadProcessSet(const scaler::Node& object);

// Name, port (0: none), and environment (without flyball's own) of the replica with that index.
std::string NameOfReplica(const ProcessSetSpec& spec, int32_t index);
int32_t PortOfReplica(const ProcessSetSpec& spec, int32_t index);
std::map<std::string, std::string> EnvironmentOf(const ProcessSetSpec& spec, int32_t index);

// `text` with each $(VAR) replaced if `environment` has VAR; other text stays, and $$ becomes $.
std::string Expand(const std::string& text, const std::map<std::string, std::string>& environment);

}  // namespace flyball::processes
