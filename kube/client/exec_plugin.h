// Programs that print credentials for a kubeconfig's user: those of EKS, GKE, AKS, and others.
//
// Source: client-go 0.30 plugin/pkg/client/auth/exec; client.authentication.k8s.io/v1 and v1beta1.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/client/kubeconfig.h"

namespace flyball::kube {

// The ExecCredential for the plugin's input: with the cluster only if the plugin wants it.
std::string ExecInfo(const std::string& api_version, const http::TransportOptions* cluster);

// Puts the credentials that a plugin printed into `options`. Pure. kInvalidArgument says what is
// wrong with them, without showing them.
absl::Status TakeCredential(absl::string_view printed, const std::string& api_version,
                            http::TransportOptions& options);

// Runs the plugin with this process's environment and its own variables; its standard error is
// passed through. It gets no input, and is killed after `timeout`.
//   kNotFound          there is no such command: the install hint
//   kPermissionDenied  it failed, or printed over 1 MiB
//   kDeadlineExceeded  it took too long
absl::StatusOr<std::string> RunExecPlugin(const ExecPlugin& plugin, Clock& clock,
                                          absl::Duration timeout = absl::Minutes(1));

}  // namespace flyball::kube
