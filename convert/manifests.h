// The output of a conversion into several objects: YAML documents, of which the first begins with
// comments that say what it was made from and what could not be carried over.
//
// Not thread-safe; one for each object that is converted. Nothing is written if anything in the
// object was refused.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "convert/convert_hpa.h"
#include "scaler/spec/document.h"

namespace flyball::convert {

class Manifests {
 public:
  // All arguments must outlive it.
  Manifests(absl::string_view file, const scaler::Node& source, Conversion& conversion)
      : file_(file), source_(source), conversion_(conversion) {}

  void Remark(absl::string_view text);
  void NotCarriedOver(absl::string_view field, absl::string_view why = "");
  // Adds an error with the field's line.
  void Refuse(absl::string_view field, absl::string_view why);

  // Remarks for each member of `object` that is not in `known` that it is not carried over.
  void NameUnknown(const nlohmann::ordered_json& object, absl::string_view path,
                   const std::set<std::string>& known);

  void Add(const nlohmann::ordered_json& object);
  // Adds an Autoscaler (CRD) or, as errors, everything that is wrong with it.
  void AddAutoscaler(nlohmann::ordered_json object, const std::string& mode);

  // Writes everything. `from` says what was converted, such as `HTTPScaledObject web`.
  void Finish(absl::string_view from);

 private:
  const absl::string_view file_;
  const scaler::Node& source_;
  Conversion& conversion_;
  bool refused_ = false;
  std::vector<std::string> remarks_;
  std::string yaml_;
};

// Metadata with `name`, the object's namespace, and its labels without those of these domains.
nlohmann::ordered_json MetadataOf(const nlohmann::ordered_json& object, const std::string& name,
                                  const std::vector<absl::string_view>& domains);
// Whether the key is in the domain: `serving.knative.dev/creator` is in `knative.dev`.
bool IsOfDomain(absl::string_view key, absl::string_view domain);

// A Service without a selector, whose endpoints Flyball writes, with one port of this name.
nlohmann::ordered_json FrontService(nlohmann::ordered_json metadata, const std::string& port,
                                    bool h2c);

}  // namespace flyball::convert
