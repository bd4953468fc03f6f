#include "scaler/front/envoy/delta_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/front/envoy/names.h"

namespace flyball::front {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

using enum ResourceKind;

// An Envoy's side of a stream, and the table behind it.
class Side {
 public:
  void Put(Resource resource, uint64_t version) {
    const ResourceKind kind = KindOf(resource);
    const std::string service = ServiceOf(resource);
    table.Put(std::move(resource), version);
    stream.OnChange(kind, service);
  }
  void Remove(ResourceKind kind, const std::string& service) {
    table.Remove(kind, service);
    stream.OnChange(kind, service);
  }
  void PutAll(const std::string& service, uint64_t version, bool gated = true) {
    Put(ClusterResource{.service = service}, version);
    Put(EndpointsResource{.service = service}, version);
    Put(RouteResource{.service = service, .gated = gated}, version);
    Put(ListenerResource{.service = service}, version);
  }
  DeltaStream::Verdict Subscribe(ResourceKind kind, std::vector<std::string> names = {},
                                 std::map<std::string, std::string> has = {}) {
    envoy::DeltaDiscoveryRequest request = Request(kind);
    for (const std::string& name : names) request.add_resource_names_subscribe(name);
    for (const auto& [name, version] : has) {
      (*request.mutable_initial_resource_versions())[name] = version;
    }
    return stream.OnRequest(request);
  }
  DeltaStream::Verdict Ack(const envoy::DeltaDiscoveryResponse& message) {
    envoy::DeltaDiscoveryRequest request = Request(*KindOfTypeUrl(message.type_url()));
    request.set_response_nonce(message.nonce());
    return stream.OnRequest(request);
  }
  DeltaStream::Verdict Nack(const envoy::DeltaDiscoveryResponse& message) {
    envoy::DeltaDiscoveryRequest request = Request(*KindOfTypeUrl(message.type_url()));
    request.set_response_nonce(message.nonce());
    request.mutable_error_detail()->set_message("no");
    return stream.OnRequest(request);
  }
  static envoy::DeltaDiscoveryRequest Request(ResourceKind kind) {
    envoy::DeltaDiscoveryRequest request;
    request.mutable_node()->set_id("front-1");
    request.set_type_url(std::string(TypeUrlOf(kind)));
    return request;
  }
  // The services of a table of hosts, with a star where the gate is on.
  static std::string GatesOf(const envoy::Resource& resource) {
    envoy::RouteConfiguration table;
    EXPECT_TRUE(table.ParseFromString(resource.resource().value()));
    std::string text;
    for (const envoy::VirtualHost& host : table.virtual_hosts()) {
      envoy::ExtProcPerRoute gate;
      const envoy::Route& route = host.routes(0);
      EXPECT_TRUE(gate.ParseFromString(route.typed_per_filter_config().at(kGateFilter).value()));
      absl::StrAppend(&text, " ", route.route().cluster(), gate.disabled() ? "" : "*");
    }
    return text;
  }
  void PutHosts(const std::string& service, uint64_t version, bool gated) {
    HostRouteResource route{.service = service, .routes = {}, .gated = gated};
    route.routes.places = {{service.substr(service.find('/') + 1), "/"}};
    Put(route, version);
  }
  // What would be sent now, message by message: "cluster a@1 b@2", "listener -a".
  std::vector<std::string> Sent() {
    std::vector<std::string> sent;
    while (auto message = stream.Next()) {
      static constexpr const char* kNames[] = {"cluster", "endpoints", "route", "listener"};
      std::string text = kNames[static_cast<int>(*KindOfTypeUrl(message->type_url()))];
      for (const envoy::Resource& resource : message->resources()) {
        if (resource.name() == kHostsListener && text == "route") {
          text = absl::StrCat("hosts", GatesOf(resource));
          continue;
        }
        absl::StrAppend(&text, " ", resource.name(), "@", resource.version());
      }
      for (const std::string& name : message->removed_resources()) {
        absl::StrAppend(&text, " -", name);
      }
      sent.push_back(text);
      messages.push_back(std::move(*message));
    }
    return sent;
  }

  ResourceTable table;
  DeltaStream stream{table};
  std::vector<envoy::DeltaDiscoveryResponse> messages;
};

TEST(DeltaStreamTest, WhoAsksForAllGetsAllAndTheRestByName) {
  Side side;
  side.PutAll("shop/a", 1);
  side.PutAll("shop/b", 2);
  EXPECT_THAT(side.Sent(), IsEmpty());
  side.Subscribe(kCluster);
  EXPECT_THAT(side.Sent(), ElementsAre("cluster shop/a@1 shop/b@2"));
  side.Subscribe(kListener, {"*"});
  EXPECT_THAT(side.Sent(), ElementsAre("listener shop/a@1 shop/b@2"));
  side.Subscribe(kEndpoints, {"shop/b"});
  side.Subscribe(kRoute, {"shop/a"});
  EXPECT_THAT(side.Sent(), ElementsAre("route shop/a@1", "endpoints shop/b@2"));
}

TEST(DeltaStreamTest, OnlyWhatHasChangedIsSent) {
  Side side;
  side.PutAll("shop/a", 1);
  side.PutAll("shop/b", 1);
  side.Subscribe(kCluster);
  side.Subscribe(kEndpoints, {"shop/a", "shop/b"});
  side.Sent();
  side.Put(EndpointsResource{.service = "shop/a"}, 2);
  EXPECT_THAT(side.Sent(), ElementsAre("endpoints shop/a@2"));
  EXPECT_THAT(side.Sent(), IsEmpty());
  side.Put(EndpointsResource{.service = "shop/c"}, 2);  // which it has no cluster for
  EXPECT_THAT(side.Sent(), IsEmpty());
}

TEST(DeltaStreamTest, ClosedGatesGoBeforePodsLeaveAndOpenOnesAfterPodsCame) {
  Side side;
  side.PutAll("shop/a", 1);
  side.PutAll("shop/b", 1, /*gated=*/false);
  side.Subscribe(kCluster);
  side.Subscribe(kListener);
  side.Subscribe(kEndpoints, {"shop/a", "shop/b"});
  side.Subscribe(kRoute, {"shop/a", "shop/b"});
  side.Sent();
  // The order of these calls is not the order in which they are sent when all wait.
  side.Put(ListenerResource{.service = "shop/c"}, 2);
  side.Put(RouteResource{.service = "shop/a", .gated = false}, 2);
  side.Put(EndpointsResource{.service = "shop/a"}, 2);
  side.Put(EndpointsResource{.service = "shop/b"}, 2);
  side.Put(RouteResource{.service = "shop/b", .gated = true}, 2);
  EXPECT_THAT(side.Sent(), ElementsAre("route shop/b@2", "endpoints shop/a@2 shop/b@2",
                                       "route shop/a@2", "listener shop/c@2"));
}

TEST(DeltaStreamTest, WhoAsksForAllIsAnsweredAlsoIfThereIsNothing) {
  Side side;
  side.Subscribe(kCluster);
  EXPECT_THAT(side.Sent(), ElementsAre("cluster"));
  side.Ack(side.messages[0]);
  side.Subscribe(kListener, {"*"});
  side.Subscribe(kRoute, {"shop/a"});
  EXPECT_THAT(side.Sent(), ElementsAre("listener"));
  side.Ack(side.messages[1]);
  EXPECT_THAT(side.Sent(), IsEmpty());
  side.PutAll("shop/a", 1);
  EXPECT_THAT(side.Sent(), ElementsAre("route shop/a@1", "cluster shop/a@1", "listener shop/a@1"));
}

TEST(DeltaStreamTest, WhatChangesWhileItWaitsIsSentOnce) {
  Side side;
  side.Subscribe(kEndpoints, {"shop/a"});
  for (uint64_t version = 1; version <= 1000; ++version) {
    side.Put(EndpointsResource{.service = "shop/a"}, version);
  }
  EXPECT_THAT(side.Sent(), ElementsAre("endpoints shop/a@1000"));
}

TEST(DeltaStreamTest, AnAcknowledgementSaysWhichVersionsItIsAbout) {
  Side side;
  side.PutAll("shop/a", 7);
  side.PutAll("shop/b", 8);
  side.Subscribe(kCluster);
  side.Sent();
  side.Put(ClusterResource{.service = "shop/a"}, 9);
  side.Sent();
  const auto first = side.Ack(side.messages[0]);
  EXPECT_EQ(first.kind, kCluster);
  EXPECT_THAT(first.accepted, ElementsAre(Pair("shop/a", 7), Pair("shop/b", 8)));
  EXPECT_THAT(side.Ack(side.messages[1]).accepted, ElementsAre(Pair("shop/a", 9)));
  EXPECT_THAT(side.Ack(side.messages[1]).accepted, IsEmpty());  // said once already
}

TEST(DeltaStreamTest, WhatIsRefusedWithOthersIsSentAloneThenTold) {
  Side side;
  side.PutAll("shop/a", 1);
  side.PutAll("shop/b", 1);
  side.PutAll("shop/c", 1);
  side.Subscribe(kListener);
  side.Sent();
  EXPECT_THAT(side.Nack(side.messages[0]).refused, IsEmpty());
  EXPECT_THAT(side.Sent(),
              ElementsAre("listener shop/a@1", "listener shop/b@1", "listener shop/c@1"));
  EXPECT_THAT(side.Ack(side.messages[1]).accepted, ElementsAre(Pair("shop/a", 1)));
  const auto refused = side.Nack(side.messages[2]);
  EXPECT_THAT(refused.refused, ElementsAre("shop/b"));
  EXPECT_EQ(refused.why_refused, "no");
  EXPECT_THAT(side.Sent(), IsEmpty());  // not again before it has changed
  side.Put(ListenerResource{.service = "shop/b"}, 2);
  EXPECT_THAT(side.Sent(), ElementsAre("listener shop/b@2"));
}

TEST(DeltaStreamTest, WhatAReturningEnvoyHasIsToldAndNotSent) {
  Side side;
  side.PutAll("shop/a", 1);
  side.PutAll("shop/b", 2);
  const auto had =
      side.Subscribe(kCluster, {}, {{"shop/a", "1"}, {"shop/b", "1"}, {"shop/x", "5"}});
  EXPECT_TRUE(side.stream.returning());
  EXPECT_THAT(had.accepted, ElementsAre(Pair("shop/a", 1)));
  EXPECT_THAT(
      side.Subscribe(kRoute, {"shop/a", "shop/b"}, {{"shop/a", "1"}, {"shop/b", "2"}}).accepted,
      UnorderedElementsAre(Pair("shop/a", 1), Pair("shop/b", 2)));
  EXPECT_THAT(side.Sent(), ElementsAre("cluster shop/b@2", "cluster -shop/x"));
  Side fresh;
  fresh.Subscribe(kCluster);
  EXPECT_FALSE(fresh.stream.returning());
}

TEST(DeltaStreamTest, WhatIsNotKnownYetStaysAsItIsUntilItIsPutOrRemoved) {
  Side side;
  for (const char* service : {"shop/a", "shop/b"}) side.table.Keep(service);
  const std::map<std::string, std::string> had = {{"shop/a", "1"}, {"shop/b", "1"}};
  side.Subscribe(kCluster, {}, had);
  side.Subscribe(kListener, {}, had);
  side.Subscribe(kEndpoints, {"shop/a", "shop/b"}, had);
  EXPECT_THAT(side.Sent(), IsEmpty());
  side.Put(ClusterResource{.service = "shop/a"}, 2);
  EXPECT_THAT(side.Sent(), ElementsAre("cluster shop/a@2"));
  side.Remove(kListener, "shop/b");
  side.Remove(kCluster, "shop/b");
  EXPECT_THAT(side.Sent(), ElementsAre("listener -shop/b", "cluster -shop/b"));
}

TEST(DeltaStreamTest, AnEnvoyThatHasIpv6ListensOnIt) {
  ResourceTable table;
  table.Put(ListenerResource{.service = "shop/a", .port = 20000}, 1);
  DeltaStream stream(table, /*ipv6=*/true);
  stream.OnRequest(Side::Request(kListener));
  const auto message = stream.Next();
  ASSERT_TRUE(message.has_value());
  envoy::Listener listener;
  ASSERT_TRUE(listener.ParseFromString(message->resources(0).resource().value()));
  EXPECT_EQ(listener.address().socket_address().address(), "::");
}

TEST(DeltaStreamTest, AServiceGoesListenerFirstClusterLast) {
  Side side;
  side.PutAll("shop/a", 1);
  side.PutAll("shop/b", 1);
  side.Subscribe(kCluster);
  side.Subscribe(kListener);
  side.Subscribe(kEndpoints, {"shop/a"});
  side.Subscribe(kRoute, {"shop/a"});
  side.Sent();
  for (const ResourceKind kind : {kCluster, kEndpoints, kRoute, kListener}) {
    side.Remove(kind, "shop/a");
  }
  EXPECT_THAT(side.Sent(), ElementsAre("listener -shop/a", "cluster -shop/a"));
  side.Remove(kCluster, "shop/never");
  EXPECT_THAT(side.Sent(), IsEmpty());
}

TEST(DeltaStreamTest, AClusterThatChangesComesWithItsEndpoints) {
  Side side;
  side.PutAll("shop/a", 1);
  side.Subscribe(kCluster);
  side.Subscribe(kEndpoints, {"shop/a"});
  side.Sent();
  side.Put(ClusterResource{.service = "shop/a", .h2c = true}, 2);
  EXPECT_THAT(side.Sent(), ElementsAre("cluster shop/a@2", "endpoints shop/a@1"));
}

TEST(DeltaStreamTest, WhoSubscribesOnceMoreGetsItOnceMore) {
  Side side;
  side.PutAll("shop/a", 1);
  side.Subscribe(kRoute, {"shop/a"});
  side.Sent();
  side.Subscribe(kRoute, {"shop/a"});
  EXPECT_THAT(side.Sent(), ElementsAre("route shop/a@1"));
  envoy::DeltaDiscoveryRequest end = Side::Request(kRoute);
  end.add_resource_names_unsubscribe("shop/a");
  side.stream.OnRequest(end);
  side.Put(RouteResource{.service = "shop/a"}, 2);
  EXPECT_THAT(side.Sent(), IsEmpty());
}

TEST(DeltaStreamTest, AnEnvoyThatOwesAnswersGetsTheNewestOnceItGaveThem) {
  Side side;
  side.Subscribe(kEndpoints, {"shop/a"});
  side.Subscribe(kRoute, {"shop/a"});
  for (int i = 1; i <= 200; ++i) {
    side.Put(EndpointsResource{.service = "shop/a"}, i);
    side.Sent();
  }
  EXPECT_EQ(side.messages.size(), DeltaStream::kMaxUnanswered);
  side.Put(RouteResource{.service = "shop/a"}, 1);  // another kind goes on
  EXPECT_THAT(side.Sent(), ElementsAre("route shop/a@1"));
  side.Ack(side.messages[0]);
  EXPECT_THAT(side.Sent(), ElementsAre("endpoints shop/a@200"));
}

TEST(DeltaStreamTest, ManyResourcesAreSentInSeveralMessages) {
  Side side;
  for (int i = 0; i < 600; ++i) side.Put(ClusterResource{.service = absl::StrCat("shop/", i)}, 1);
  side.Subscribe(kCluster);
  EXPECT_EQ(side.Sent().size(), 3u);
  EXPECT_EQ(side.messages[0].resources_size(), 256);
  EXPECT_EQ(side.messages[2].resources_size(), 600 - 512);
}

TEST(DeltaStreamTest, OfOtherKindsNothingIsSaid) {
  Side side;
  side.PutAll("shop/a", 1);
  envoy::DeltaDiscoveryRequest request;
  request.mutable_node()->set_id("front-1");
  request.set_type_url("type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration");
  EXPECT_THAT(side.stream.OnRequest(request).accepted, IsEmpty());
  EXPECT_THAT(side.Sent(), IsEmpty());
  EXPECT_EQ(side.stream.node(), "front-1");
}

// ---- the table of hosts

// Has all of two services, a with pods and b without.
class HostsStreamTest : public testing::Test {
 protected:
  HostsStreamTest() {
    side_.PutAll("shop/a", 1, /*gated=*/false);
    side_.PutAll("shop/b", 1);
    side_.PutHosts("shop/a", 1, /*gated=*/false);
    side_.PutHosts("shop/b", 1, /*gated=*/true);
    side_.Subscribe(kCluster);
    side_.Subscribe(kEndpoints, {"shop/a", "shop/b"});
    side_.Sent();
    side_.Subscribe(kRoute, {"shop/a", "shop/b", "hosts"});
  }
  void AckAll() {
    for (const auto& message : std::exchange(side_.messages, {})) side_.Ack(message);
  }
  Side side_;
};

TEST_F(HostsStreamTest, OneResourceHasTheRoutesOfAll) {
  EXPECT_THAT(side_.Sent(),
              ElementsAre("hosts shop/a shop/b*", "route shop/b@1", "route shop/a@1"));
  EXPECT_THAT(side_.Ack(side_.messages[side_.messages.size() - 3]).accepted,
              UnorderedElementsAre(Pair("shop/a", 1), Pair("shop/b", 1)));
  EXPECT_THAT(side_.Sent(), IsEmpty());
}

TEST_F(HostsStreamTest, OnlyWhatIsNewInATableIsAccepted) {
  side_.Sent();
  AckAll();
  side_.PutHosts("shop/b", 2, /*gated=*/true);
  side_.Sent();
  EXPECT_THAT(side_.Ack(side_.messages.back()).accepted, ElementsAre(Pair("shop/b", 2)));
}

TEST_F(HostsStreamTest, ItsAnswerIsAboutHostRoutes) {
  side_.Sent();
  const auto& table = side_.messages[side_.messages.size() - 3];
  EXPECT_EQ(side_.Ack(table).kind, kHostRoute);
  EXPECT_THAT(side_.Ack(table).accepted, IsEmpty());  // once
}

TEST_F(HostsStreamTest, ARefusedTableIsOfAllItsServices) {
  side_.Sent();
  const auto verdict = side_.Nack(side_.messages[side_.messages.size() - 3]);
  EXPECT_EQ(verdict.kind, kHostRoute);
  EXPECT_THAT(verdict.refused, ElementsAre("shop/a", "shop/b"));
  EXPECT_EQ(verdict.why_refused, "no");
  EXPECT_THAT(side_.Sent(), IsEmpty());
}

TEST_F(HostsStreamTest, OnlyWhatIsNewInARefusedTableMayBeWhatWasRefused) {
  side_.Sent();
  AckAll();
  side_.PutHosts("shop/b", 2, /*gated=*/true);
  side_.Sent();
  EXPECT_THAT(side_.Nack(side_.messages.back()).refused, ElementsAre("shop/b"));
}

TEST_F(HostsStreamTest, WhoseOwnRouteIsRefusedIsLeftOutUntilOneIsAccepted) {
  side_.Sent();
  AckAll();
  const auto put_b = [this](uint64_t version) {
    side_.PutHosts("shop/b", version, /*gated=*/true);
    side_.Put(RouteResource{.service = "shop/b"}, version);
  };
  put_b(2);
  EXPECT_THAT(side_.Sent(), ElementsAre("hosts shop/a shop/b*", "route shop/b@2"));
  for (const auto& message : std::exchange(side_.messages, {})) side_.Nack(message);
  EXPECT_THAT(side_.Sent(), ElementsAre("hosts shop/a"));
  // Others go on, and what changes of it meanwhile sends no table.
  side_.PutHosts("shop/a", 3, /*gated=*/true);
  EXPECT_THAT(side_.Sent(), ElementsAre("hosts shop/a*"));
  AckAll();
  put_b(4);
  EXPECT_THAT(side_.Sent(), ElementsAre("route shop/b@4"));
  AckAll();
  EXPECT_THAT(side_.Sent(), ElementsAre("hosts shop/a* shop/b*"));
  EXPECT_THAT(side_.Ack(side_.messages.back()).accepted, ElementsAre(Pair("shop/b", 4)));
}

TEST_F(HostsStreamTest, WhatWasLeftOutAndIsGoneComesBackAsAnyOther) {
  side_.Sent();
  AckAll();
  side_.Put(RouteResource{.service = "shop/b"}, 2);
  side_.Sent();
  side_.Nack(side_.messages.back());
  EXPECT_THAT(side_.Sent(), ElementsAre("hosts shop/a"));
  side_.Remove(kHostRoute, "shop/b");
  EXPECT_THAT(side_.Sent(), IsEmpty());
  side_.PutHosts("shop/b", 3, /*gated=*/true);  // while it has the same route of its own
  EXPECT_THAT(side_.Sent(), IsEmpty());
  side_.Remove(kHostRoute, "shop/b");
  side_.Remove(kRoute, "shop/b");
  EXPECT_THAT(side_.Sent(), IsEmpty());
  side_.PutHosts("shop/b", 4, /*gated=*/true);
  EXPECT_THAT(side_.Sent(), ElementsAre("hosts shop/a shop/b*"));
}

TEST_F(HostsStreamTest, AGateThatOpensWaitsForThePodsAndOneThatClosesDoesNot) {
  side_.Sent();
  AckAll();
  side_.Put(EndpointsResource{.service = "shop/b", .addresses = {"10.0.0.1:80"}}, 2);
  side_.PutHosts("shop/b", 2, /*gated=*/false);
  side_.PutHosts("shop/a", 2, /*gated=*/true);
  side_.Put(EndpointsResource{.service = "shop/a"}, 2);
  EXPECT_THAT(side_.Sent(), ElementsAre("hosts shop/a* shop/b*", "endpoints shop/a@2 shop/b@2",
                                        "hosts shop/a* shop/b"));
}

TEST_F(HostsStreamTest, AGateThatOpensGoesBehindThePods) {
  side_.Sent();
  AckAll();
  side_.PutHosts("shop/b", 2, /*gated=*/false);
  side_.Put(EndpointsResource{.service = "shop/b", .addresses = {"10.0.0.1:80"}}, 2);
  EXPECT_THAT(side_.Sent(), ElementsAre("endpoints shop/b@2", "hosts shop/a shop/b"));
}

TEST_F(HostsStreamTest, ARouteThatIsGoneGoesFirst) {
  side_.Sent();
  AckAll();
  side_.Remove(kHostRoute, "shop/a");
  side_.Remove(kCluster, "shop/a");
  EXPECT_THAT(side_.Sent(), ElementsAre("hosts shop/b*", "cluster -shop/a"));
}

TEST_F(HostsStreamTest, WhoOwesAnswersGetsNothingAfterAGateThatCloses) {
  side_.Sent();
  side_.PutHosts("shop/a", 2, true);
  std::vector<std::string> sent;
  for (uint64_t version = 3; version < 10; ++version) {
    side_.PutHosts("shop/b", version, true);
    for (const std::string& each : side_.Sent()) sent.push_back(each);
  }
  EXPECT_EQ(sent.size(), 3u);  // and the one before
  side_.Put(EndpointsResource{.service = "shop/a"}, 20);
  EXPECT_THAT(side_.Sent(), IsEmpty());
  AckAll();
  EXPECT_THAT(side_.Sent(), ElementsAre("hosts shop/a* shop/b*", "endpoints shop/a@20"));
}

TEST(DeltaStreamTest, AnEnvoyThatComesBackGetsGatesUntilItHasThePods) {
  Side back;
  back.PutAll("shop/a", 7, /*gated=*/false);
  back.PutHosts("shop/a", 7, /*gated=*/false);
  back.Subscribe(kRoute, {"hosts"}, {{"hosts", "3"}});
  EXPECT_THAT(back.Sent(), ElementsAre("hosts shop/a*"));
  back.Subscribe(kCluster);
  back.Subscribe(kEndpoints, {"shop/a"});
  EXPECT_THAT(back.Sent(), ElementsAre("cluster shop/a@7", "endpoints shop/a@7", "hosts shop/a"));
}

}  // namespace
}  // namespace flyball::front
