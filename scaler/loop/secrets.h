// One value of a Secret, as triggers ask for them.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/api_client.h"
#include "scaler/spec/own_spec.h"

namespace flyball::scaler {

// Asks the API server each time. Messages name the Secret and the key, never a value.
//   kNotFound         there is no such Secret, or it has no such key
//   kInvalidArgument  the value is no base64
absl::StatusOr<std::string> ReadSecret(kube::ApiClient& client, absl::string_view ns,
                                       const TriggerSpec::SecretKey& key);

}  // namespace flyball::scaler
