// Accept header → the encoding of the answer.
//
// Pure. Source: k8s.io/apiserver 0.30 endpoints/handlers/negotiation: clauses by q, then in their
// order; a clause whose conversion (`as`, `g`, `v`) the endpoint lacks is skipped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::apiservice {

enum class Encoding { kJson, kYaml, kProtobuf };

// Another form of the same thing that the client asks for by `as`.
enum class Conversion { kNone, kTableV1, kTableV1Beta1, kDiscoveryV2, kDiscoveryV2Beta1 };

struct Offer {
  bool tables = false;     // metrics.k8s.io
  bool discovery = false;  // /apis
};

struct MediaType {
  Encoding encoding = Encoding::kJson;
  Conversion conversion = Conversion::kNone;
  bool pretty = false;  // ;pretty=1
};

// nullopt: nothing acceptable, 406. An empty header accepts JSON.
std::optional<MediaType> Negotiate(absl::string_view accept, Offer offer);

// The Content-Type of an answer.
std::string ContentTypeOf(MediaType type);

// The list that a 406 names; that of a list has the forms of a watch too.
const std::vector<std::string>& SupportedMediaTypes();
const std::vector<std::string>& SupportedListMediaTypes();

// Whether a clause names a supported type, whatever its parameters: which 406 an answer is.
bool NamesSupportedType(absl::string_view accept);

}  // namespace flyball::apiservice
