// The parameters of a request: those of a posted form, then those of the URL.
//
// Pure. Source: Go's net/http Request.ParseForm and FormValue, with which Prometheus reads them.
// Limit: kMaxParameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "http/server/message.h"

namespace flyball::live {

class Form {
 public:
  static constexpr size_t kMaxParameters = 1000;
  static constexpr size_t kMaxBodyBytes = size_t{1} << 20;  // as sent

  // kInvalidArgument: a malformed escape, or too many or too long parameters.
  static absl::StatusOr<Form> Of(const http::HttpRequest& request);

  // The first value of a name; "" if absent.
  std::string Value(absl::string_view name) const;
  std::vector<std::string> All(absl::string_view name) const;

  // A time; `absent` if the parameter is absent or empty. Errors name the parameter.
  absl::StatusOr<int64_t> TimeMs(absl::string_view name, std::optional<int64_t> absent) const;
  // The maximum number of results; 0: all.
  absl::StatusOr<size_t> Limit() const;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;  // decoded
};

}  // namespace flyball::live
