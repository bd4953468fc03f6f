// Rules for the commands that explain them: those of the flyball in a cluster, or of a file.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http/client/transport.h"
#include "kube/objects/rest_mapping.h"
#include "rules/rule_source.h"
#include "serve/flags.h"

namespace flyball::cmd {

struct RulesAtHand {
  rules::FoundRules found;                         // they compile
  std::shared_ptr<const kube::RestMapper> mapper;  // the resources that labels may name
  serve::ServeFlags server = {};  // how the server was started; for a file: without flags
};

// The rules of a file (see ReadRuleFile), with the resources that every cluster has.
absl::StatusOr<RulesAtHand> RulesOfFile(const std::string& path, const std::string& values_path);
// The rules in the ConfigMap with which the cluster's server is started, with the cluster's
// resources. `url` is the API server's, for messages.
absl::StatusOr<RulesAtHand> RulesOfCluster(http::HttpTransport& server, const std::string& url,
                                           Clock& clock);

}  // namespace flyball::cmd
