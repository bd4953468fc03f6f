// Chooses the encoding of the answer by the Accept header.
//
// Pure. Source: k8s.io/apiserver 0.30 endpoints/handlers/negotiation and munnerz/goautoneg: clauses
// by q, those without `*` before those with one whatever their q, then in their order. A clause
// whose conversion (`as`, `g`, `v`), stream or server version (`sv`) the endpoint lacks is skipped.
// q=0 is the least wanted, not refused; a q that is no number counts as 0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::apiservice {

enum class Encoding { kJson, kYaml, kProtobuf };

// Another form of the same object, which the client asks for by `as`.
enum class Conversion { kNone, kTableV1, kTableV1Beta1, kDiscoveryV2, kDiscoveryV2Beta1 };

bool IsTable(Conversion conversion);

struct Offer {
  bool tables = false;           // metrics.k8s.io
  bool discovery = false;        // /apis
  bool server_versions = false;  // takes ;sv=v1
};

struct MediaType {
  Encoding encoding = Encoding::kJson;
  Conversion conversion = Conversion::kNone;
  bool pretty = false;  // ;pretty=1
};

// nullopt: nothing acceptable, 406. An empty header accepts JSON.
std::optional<MediaType> Negotiate(absl::string_view accept, Offer offer);

// Whether a clause takes JSON, whatever its parameters; nullopt: there is no clause. OpenAPI
// documents are chosen so (k8s.io/kube-openapi).
std::optional<bool> TakesJson(absl::string_view accept);

// The Content-Type of an answer.
std::string ContentTypeOf(MediaType type);

// The media types named in a 406; the 406 to a list of metrics also names those of a watch.
const std::vector<std::string>& SupportedMediaTypes();
const std::vector<std::string>& SupportedListMediaTypes();

// Whether a clause names one of these types, or any (`*/*`, or no header), whatever its parameters.
// The original's router checks this first, literally: neither `application/*` nor capitals count.
bool NamesType(absl::string_view accept, const std::vector<std::string>& types);

// Whether a Content-Type names one of these types, as literally, or there is none. Several may be
// named, and `*/*` is a type like others.
bool IsOfType(absl::string_view content_type, const std::vector<std::string>& types);

}  // namespace flyball::apiservice
