// Pages at paths of their own, behind a server that has authenticated and authorized the client.
//
// Implementations are thread-safe.
#pragma once

#include "absl/strings/string_view.h"
#include "http/server/message.h"

namespace flyball::http {

class Pages {
 public:
  virtual ~Pages() = default;
  // Whether the path, as sent but without the query and not decoded, is one of them.
  virtual bool Has(absl::string_view path) const = 0;
  // Called for those only, whatever the method.
  virtual HttpResponse Answer(const HttpRequest& request) = 0;
};

}  // namespace flyball::http
