// A pod as the front needs it: its address and how its readiness is probed.
//
// Pure values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/objects/selector.h"
#include "scaler/front/pod_table.h"

namespace flyball::serve {

// How the readiness of a container is probed from outside; by a connection to its port, if it has
// no probe of its own.
struct ReadinessCheck {
  enum class Kind { kConnect, kHttpGet };
  Kind kind = Kind::kConnect;
  std::string port = {};  // a number or a name; "": that of the requests
  std::string host = {};  // kHttpGet: the header Host; "": the address
  std::string path = "/";
  friend bool operator==(const ReadinessCheck&, const ReadinessCheck&) = default;
};

struct CarriedPod {
  std::string name;
  std::string uid;
  kube::Labels labels;
  std::string ip;                            // "" until it has one
  std::string node;                          // "" until it has one
  std::map<std::string, int32_t> ports;      // of its containers, by name
  std::optional<ReadinessCheck> check = {};  // nullopt: only the kubelet can ask it
  bool unproven = false;                     // nobody but the front asks whether it is ready
  bool running = false;                      // each of its containers
  int64_t restarts = 0;                      // of all of them
  bool ready = false;
  bool deleting = false;
};

// kInvalidArgument: it is no pod.
absl::StatusOr<CarriedPod> ReadCarriedPod(absl::string_view json);

// "10.0.0.7:8080", "[fd00::7]:8080"; "" without an address, or where the pod has no such port.
std::string AddressOf(const CarriedPod& pod, absl::string_view port);

front::PodView ViewOf(const CarriedPod& pod, absl::string_view target_port);

}  // namespace flyball::serve
