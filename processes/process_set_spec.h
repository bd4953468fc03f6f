// ProcessSet of flyball.dev: so many equal processes on this machine, as an object with a scale.
//
// Pure. Fields of the spec:
//
//   command            what is run, without a shell; $(VAR) is a variable of its environment
//   env                variables beside those that flyball has itself and NAME, INDEX and PORT
//   workingDirectory   of the processes; that of flyball without it
//   replicas           how many there are at first; the scale changes it. 1 without it
//   labels             of the pods that stand for the processes; {app: NAME} without it
//   port               replica i is given port + i as PORT; 0 or absent: none
//   metricsPath        where it serves metrics: makes the prometheus.io annotations of its pods
//   readiness          {http: PATH} or {tcp: true} on that port; ready at once without it
//   gracePeriod        from SIGTERM to SIGKILL, at most 1h; 30s without it
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

// How it is found out that a process is ready.
struct Readiness {
  enum class Check { kNone, kTcp, kHttp };
  Check check = Check::kNone;
  std::string path;  // kHttp: a 2xx or 3xx answer to GET

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

// kInvalidArgument: `line N: field: what`. Fields that there are not are refused.
absl::StatusOr<ProcessSetSpec> ReadProcessSet(const scaler::Node& object);

// What the replica of that index is called, its port (0: none), and its environment beside
// flyball's own.
std::string NameOfReplica(const ProcessSetSpec& spec, int32_t index);
int32_t PortOfReplica(const ProcessSetSpec& spec, int32_t index);
std::map<std::string, std::string> EnvironmentOf(const ProcessSetSpec& spec, int32_t index);

// `text` with each $(VAR) that `environment` has replaced; others stay as they are, and $$ is $.
std::string Expand(const std::string& text, const std::map<std::string, std::string>& environment);

}  // namespace flyball::processes
