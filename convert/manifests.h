// What a conversion into several objects writes: each as YAML, the first one behind comments that
// say what it comes from and what could not be carried over.
//
// Not thread-safe; one for each object that is converted. Nothing is written of an object of which
// something was refused.
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
  // All outlive it.
  Manifests(absl::string_view file, const scaler::Node& source, Conversion& conversion)
      : file_(file), source_(source), conversion_(conversion) {}

  void Remark(absl::string_view text);
  void NotCarriedOver(absl::string_view field, absl::string_view why = "");
  // An error at the field's place.
  void Refuse(absl::string_view field, absl::string_view why);

  // The members of `object` that are not among `known`, each as not carried over.
  void NameUnknown(const nlohmann::ordered_json& object, absl::string_view path,
                   const std::set<std::string>& known);

  void Add(const nlohmann::ordered_json& object);
  // Our own kind, which must be one that `flyball check` accepts, its trigger too.
  void AddAutoscaler(nlohmann::ordered_json object, const std::string& mode);

  // `from`: what it was, as `HTTPScaledObject web`.
  void Finish(absl::string_view from);

 private:
  const absl::string_view file_;
  const scaler::Node& source_;
  Conversion& conversion_;
  bool refused_ = false;
  std::vector<std::string> remarks_;
  std::string yaml_;
};

// `name` and the object's namespace, and its labels but for those of one of these domains.
nlohmann::ordered_json MetadataOf(const nlohmann::ordered_json& object, const std::string& name,
                                  const std::vector<absl::string_view>& domains);
// `serving.knative.dev/creator` is of the domain `knative.dev`.
bool IsOfDomain(absl::string_view key, absl::string_view domain);

// A Service without a selector, of which Flyball writes where it leads to; with one port, by this
// name.
nlohmann::ordered_json FrontService(nlohmann::ordered_json metadata, const std::string& port,
                                    bool h2c);

}  // namespace flyball::convert
