#include "apiservice/endpoints/discovery_docs.h"

#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "apiservice/test_fakes.h"

namespace flyball::apiservice {
namespace {

TEST(DiscoveryDocsTest, TheDocumentsOfANewListAreMadeOnceHoweverManyAsk) {
  const adapter::Providers providers = {FakeMetricsOfPods(2'000), nullptr, nullptr};
  DiscoveryDocs docs({}, [] { return 6443; });
  absl::Notification begin;
  std::vector<std::shared_ptr<const DiscoverySet>> sets(8);
  std::vector<std::thread> askers;
  for (std::shared_ptr<const DiscoverySet>& set : sets) {
    askers.emplace_back([&, made = &set] {
      begin.WaitForNotification();
      *made = docs.Get(providers);
    });
  }
  begin.Notify();
  for (std::thread& asker : askers) asker.join();
  for (const std::shared_ptr<const DiscoverySet>& set : sets) EXPECT_EQ(set, sets[0]);
}

}  // namespace
}  // namespace flyball::apiservice
