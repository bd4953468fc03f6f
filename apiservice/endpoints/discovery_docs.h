// The discovery documents of what is served now, made once for each change of the metric lists.
//
// Thread-safe. The availability probe asks for these in fives, every half minute for each API
// service: an answer is a pointer copy unless a provider's list is a new one. Both versions of the
// custom group and every resource are listed, in the aggregated form too (the original leaves them
// out).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapter/provider.h"
#include "apiservice/wire/discovery.h"
#include "base/snapshot.h"

namespace flyball::apiservice {

struct Document {
  std::shared_ptr<const std::string> json;
  std::string etag;  // with quotes
};

// Immutable.
struct DiscoverySet {
  std::vector<wire::DiscoveryGroup> groups;  // those that are on
  std::vector<Document> lists;               // APIResourceList of each version, in their order
  Document group_list, aggregated_v2, aggregated_v2beta1;
  std::vector<std::string> paths;  // for the index

  // nullptr: off, or not served.
  const wire::DiscoveryGroup* FindGroup(absl::string_view group) const;
  const wire::DiscoveryVersion* FindVersion(absl::string_view group,
                                            absl::string_view version) const;
  const Document* FindList(absl::string_view group, absl::string_view version) const;

  // What it was made of.
  std::shared_ptr<const std::vector<adapter::CustomMetricInfo>> custom;
  std::shared_ptr<const std::vector<std::string>> external;
  bool resource = false;
};

wire::ApiGroup GroupOf(const wire::DiscoveryGroup& group);

class DiscoveryDocs {
 public:
  // `fixed_paths`: paths of the index beside those of the groups.
  explicit DiscoveryDocs(std::vector<std::string> fixed_paths);

  std::shared_ptr<const DiscoverySet> Get(const adapter::Providers& providers);

 private:
  const std::vector<std::string> fixed_paths_;
  Snapshot<DiscoverySet> last_;
};

}  // namespace flyball::apiservice
