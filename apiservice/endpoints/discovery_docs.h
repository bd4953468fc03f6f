// The discovery and OpenAPI documents of what is served at present, made once for each change of
// the lists of metrics.
//
// Thread-safe. The API server's availability probe asks for these five times every half minute, for
// each API service, so an answer is a pointer copy unless a provider's list is new. Both versions
// of the custom group and every resource are listed, also in the aggregated form (the original
// leaves them out).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "adapter/provider.h"
#include "apiservice/endpoints/document_forms.h"
#include "apiservice/wire/discovery.h"
#include "base/snapshot.h"

namespace flyball::apiservice {

struct Document {
  std::shared_ptr<const std::string> json;
  std::string hash;
  std::shared_ptr<DocumentForms> forms;  // all forms other than compact JSON
};

// OpenAPI documents, which depend only on which groups are on.
struct OpenApiDocuments {
  Document v2, v3_list;
  std::map<std::string, Document> v3;  // by apis/GROUP/VERSION
};

// Immutable.
struct DiscoverySet {
  std::vector<wire::DiscoveryGroup> groups;  // those that are on
  std::map<std::string, Document> lists;     // APIResourceList of each GROUP/VERSION
  Document group_list, aggregated_v2, aggregated_v2beta1;
  std::vector<std::string> paths;  // for the index
  std::string address;             // of this server, as the list of groups has it
  std::shared_ptr<const OpenApiDocuments> openapi;

  // nullptr: the group is off.
  const wire::DiscoveryGroup* FindGroup(absl::string_view group) const;

  // The lists that it was made from.
  std::shared_ptr<const std::vector<adapter::CustomMetricInfo>> custom;
  std::shared_ptr<const std::vector<std::string>> external;
  bool resource = false;
};

class DiscoveryDocs {
 public:
  // `fixed_paths`: paths of the index beside those of the groups. `port`: the server's, which is
  // known once it listens.
  DiscoveryDocs(std::vector<std::string> fixed_paths, std::function<int()> port);

  std::shared_ptr<const DiscoverySet> Get(const adapter::Providers& providers);

 private:
  const std::vector<std::string> fixed_paths_;
  const std::function<int()> port_;
  absl::Mutex renewing_;  // held while last_ is made
  DocumentForms::Shared forms_;
  Snapshot<DiscoverySet> last_;
};

}  // namespace flyball::apiservice
