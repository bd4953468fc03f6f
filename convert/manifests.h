// The output of a conversion into several objects: YAML documents, of which the first begins with
// comments that say what it was made from and what could not be carried over.
//
// Not thread-safe; one for each object that is converted. Nothing is written if anything in the
// object was refused.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "convert/convert.h"
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

  // Adds a remark for each member of `object` that is not in `known`: it is not carried over.
  void NameUnknown(const nlohmann::ordered_json& object, absl::string_view path,
                   const std::set<std::string>& known);
  // Does the same for annotations of the object, except for those that kubectl writes for itself.
  void NameAnnotations(const nlohmann::ordered_json& object, const std::set<std::string>& known);

  // A member that is a whole number; `otherwise` if it is absent or, with an error, none.
  int64_t NumberOr(const nlohmann::ordered_json& object, absl::string_view path, const char* name,
                   int64_t otherwise);

  // Records that `made`, a field of the Autoscaler (CRD), was made with its content from `source`,
  // a field of the object. Errors in it are then reported for the source.
  void MadeFrom(const std::string& made, const std::string& source) { sources_[made] = source; }

  void Add(const nlohmann::ordered_json& object);
  // Adds an Autoscaler (CRD) or, as errors, everything that is wrong with it. If something was
  // refused before, only fields with a source are checked, since others may be missing for that
  // reason.
  void AddAutoscaler(nlohmann::ordered_json object, const std::string& mode);

  // Writes everything. `from` says what was converted, such as `HTTPScaledObject web`.
  void Finish(absl::string_view from);

 private:
  std::optional<std::string> SourceOf(absl::string_view field) const;
  std::string InWordsOfSource(absl::string_view why) const;

  const absl::string_view file_;
  const scaler::Node& source_;
  Conversion& conversion_;
  std::vector<std::string> refused_;            // fields of the object
  std::map<std::string, std::string> sources_;  // by field of the Autoscaler (CRD)
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
