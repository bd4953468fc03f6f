// Tests only: a status writer with an API server in memory, on which there are the autoscalers
// `web` and `other`, and with a clock that only the test moves.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kube/testing/fake_api_server.h"
#include "scaler/stores/autoscaler_store.h"
#include "scaler/views/status_writer.h"

namespace flyball::scaler {

class StatusWorld {
 public:
  StatusWorld() {
    for (const char* name : {"web", "other"}) Put(name, "shop");
    Put("quiet", "bank");
    MakeWriter(1);
  }

  void MakeWriter(int threads) {
    writer = std::make_unique<StatusWriter>(
        StatusWriter::Deps{client, budget, clock, owner}, threads,
        [](const StatusJob&, const absl::Status& status) { ADD_FAILURE() << status.ToString(); });
  }

  static StatusWriter::OutboxPtr NewOutbox() { return std::make_shared<StatusWriter::Outbox>(); }
  std::string Stored(const std::string& name = "web", const std::string& ns = "shop") const {
    return api.Get(AutoscalerPath({AutoscalerKind::kHpa, ns, name}));
  }
  ManagedPtr Read(const std::string& name = "web", const std::string& ns = "shop") const {
    return ReadManaged(AutoscalerKind::kHpa, Stored(name, ns));
  }
  void Offer(const StatusWriter::OutboxPtr& outbox, int32_t desired, absl::Duration in,
             const std::string& name = "web", const std::string& ns = "shop", bool urgent = true) {
    StatusJob job{.managed = Read(name, ns), .status = {}, .own = std::nullopt};
    job.status.desired_replicas = desired;
    writer->Offer(outbox, std::move(job), urgent, clock.MonotonicNow() + in);
  }
  // Writes the status of `other`. When it returns, everything that was offered before and was due
  // has been written too.
  void WriteAnother() {
    const int before = Writes("other");
    Offer(NewOutbox(), 1, absl::ZeroDuration(), "other");
    ASSERT_TRUE(api.AwaitRequests("PATCH", "other/status", before + 1));
  }
  bool Desires(int32_t replicas, const std::string& name = "web",
               const std::string& ns = "shop") const {
    return absl::StrContains(Stored(name, ns), absl::StrCat(R"("desiredReplicas":)", replicas));
  }
  int Writes(const std::string& name = "web") const {
    return api.CountRequests("PATCH", absl::StrCat(name, "/status"));
  }

  kube::FakeApiServer api;
  SimulatedClock clock{absl::FromUnixSeconds(1767225600)};
  std::unique_ptr<http::HttpTransport> server = *api.Connector()();
  kube::ApiClient client{*server, clock, absl::Seconds(5)};
  kube::RequestBudget budget{clock, 0, 1};
  SoleOwner owner;
  std::unique_ptr<StatusWriter> writer;

 private:
  void Put(const char* name, const char* ns) {
    api.Put(absl::StrCat(
        R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{)",
        R"("namespace":")", ns, R"(","name":")", name, R"("},"spec":{"maxReplicas":20,)",
        R"("scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}})"));
  }
};

}  // namespace flyball::scaler
