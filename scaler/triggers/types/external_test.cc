// The external triggers against a scaler in Python that speaks KEDA's protocol
// (test/peers/external_scaler.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "http/testing/fake_dns_server.h"
#include "http/testing/test_pki.h"
#include "scaler/triggers/parts/clients.h"
#include "scaler/triggers/parts/test_clients.h"
#include "scaler/triggers/types/test_external_peer.h"
#include "scaler/triggers/types/trigger_types.h"

namespace flyball::scaler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Fields = std::map<std::string, std::string>;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

// ---- certificates ----

// A certificate for 127.0.0.1 and a.example that is its own authority.
struct Certificate {
  std::string pem;
  std::string key;

  explicit Certificate(const std::string& names = "IP:127.0.0.1,DNS:a.example") {
    const http::TestPair made =
        http::MakeTestPair({.common_name = "test", .is_ca = true, .names = names});
    pem = http::PemOf(made.certificate.get());
    key = http::PemOf(made.key.get());
  }
};

std::string TempFile(const std::string& name, const std::string& text) {
  const std::string path = absl::StrCat(testing::TempDir(), "/flyball-external-", getpid(), name);
  std::ofstream(path) << text;
  return path;
}

// ---- triggers ----

std::unique_ptr<Trigger> Make(const std::string& address, Fields metadata = {}, Fields secrets = {},
                              const std::string& type = "external",
                              std::shared_ptr<TriggerClients> clients = nullptr) {
  TriggerSpec spec;
  spec.type = type;
  spec.metadata = std::move(metadata);
  spec.metadata["scalerAddress"] = address;
  for (const auto& [parameter, value] : secrets) spec.secrets[parameter] = {"s", parameter};
  TriggerContext context;
  context.ns = "shop";
  context.autoscaler = "web";
  context.index = 2;
  context.clients = clients != nullptr ? std::move(clients) : LoopbackClients();
  context.read_secret = [secrets](absl::string_view, const TriggerSpec::SecretKey& key) {
    return absl::StatusOr<SecretValue>({.text = secrets.at(key.key)});
  };
  auto trigger = MakeTrigger(spec, context);
  EXPECT_TRUE(trigger.ok()) << trigger.status();
  return trigger.ok() ? *std::move(trigger) : nullptr;
}

constexpr char kQueue[] =
    R"({"spec": [{"name": "queue", "target": 5}], "values": {"queue": [{"value": 12}]}})";

TEST(ExternalTriggerTest, TheServerNamesMetricsAndTargets) {
  Peer peer;
  peer.Do(
      R"({"spec": [{"name": "queue", "target": 5}, {"name": "a/b.c", "target": 1, "float": 2.5}]})");
  const auto trigger = Make(peer.address(), {{"topic", "t"}});
  const auto metrics = trigger->Metrics(absl::Seconds(10));
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  ASSERT_EQ(metrics->size(), 2u);
  EXPECT_EQ((*metrics)[0].name, "s2-queue");
  EXPECT_EQ((*metrics)[0].target_milli, 5000);
  EXPECT_EQ((*metrics)[1].name, "s2-a/b.c");  // the server's name stays as it is
  EXPECT_EQ((*metrics)[1].target_milli, 2500);
  EXPECT_EQ(peer.Tell(R"({"seen": true})"),
            absl::StrCat(R"({"metadata": {"scalerAddress": ")", peer.address(),
                         R"(", "topic": "t"}, "method": "GetMetricSpec", "name": "web", )"
                         R"("namespace": "shop"})"));
}

TEST(ExternalTriggerTest, ValuesAreReadAndActivityIsAsked) {
  Peer peer;
  peer.Do(kQueue);
  const auto trigger = Make(peer.address());
  TriggerReading got = trigger->Read(kNow, absl::Seconds(10)).at(0);
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(got.value_milli, 12'000);
  EXPECT_FALSE(got.active);  // whatever the value
  EXPECT_EQ(got.time, kNow);
  // Several values of one metric add up; fractions win over whole numbers.
  peer.Do(R"({"active": true, "values": {"queue": [{"value": 9, "float": 0.5}, {"value": 2}]}})");
  got = trigger->Read(kNow, absl::Seconds(10)).at(0);
  EXPECT_EQ(got.value_milli, 2500);
  EXPECT_TRUE(got.active);
  // One that is negative takes nothing away from the others.
  peer.Do(R"({"values": {"queue": [{"value": 9}, {"value": -5}]}})");
  EXPECT_EQ(trigger->Read(kNow, absl::Seconds(10)).at(0).value_milli, 9000);
}

TEST(ExternalTriggerTest, OddAnswersAreUnknown) {
  Peer peer;
  const auto trigger = Make(peer.address());
  EXPECT_THAT(std::string(trigger->Metrics(absl::Seconds(10)).status().message()),
              HasSubstr("it names 0 metrics"));
  peer.Do(R"({"spec": [{"name": "queue"}]})");
  EXPECT_THAT(trigger->Read(kNow, absl::Seconds(10)).at(0).error,
              HasSubstr("its target for metric 1 must be greater than 0"));
  peer.Do(R"({"spec": [{"name": "queue", "target": 5}]})");
  TriggerReading got = trigger->Read(kNow, absl::Seconds(10)).at(0);
  EXPECT_THAT(got.error, HasSubstr("it gives no value of metric 1"));
  EXPECT_FALSE(got.active);
  EXPECT_FALSE(got.failed());
  // It may tell of activity alone, as KEDA allows.
  peer.Do(R"({"active": true})");
  got = trigger->Read(kNow, absl::Seconds(10)).at(0);
  EXPECT_THAT(got.error, HasSubstr("it gives no value of metric 1"));
  EXPECT_TRUE(got.active);
  EXPECT_FALSE(got.failed());
  // KEDA takes the whole number, 0, if the fraction is NaN.
  peer.Do(R"({"values": {"queue": [{"float": NaN}]}})");
  got = trigger->Read(kNow, absl::Seconds(10)).at(0);
  EXPECT_THAT(got.error, HasSubstr("the value is NaN"));
  EXPECT_TRUE(got.failed());
}

TEST(ExternalTriggerTest, AMetricWithoutAValueLeavesTheOthersAndActivityKnown) {
  Peer peer;
  peer.Do(R"({"active": true, "spec": [{"name": "lost", "target": 5}, {"name": "queue", "target": )"
          R"(5}], "values": {"queue": [{"value": 12}]}})");
  const auto trigger = Make(peer.address());
  ASSERT_TRUE(trigger->Metrics(absl::Seconds(10)).ok());
  const std::vector<TriggerReading> got = trigger->Read(kNow, absl::Seconds(10));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_THAT(got[0].error, HasSubstr("it gives no value of metric 1"));
  EXPECT_TRUE(got[0].active);
  EXPECT_EQ(got[1].error, "");
  EXPECT_EQ(got[1].value_milli, 12'000);
  EXPECT_TRUE(got[1].active);
}

TEST(ExternalTriggerTest, AFailingServerIsUnknownUntilItIsBack) {
  Peer peer;
  peer.Do(kQueue);
  peer.Do(R"({"active": true})");
  const auto trigger = Make(peer.address());
  ASSERT_TRUE(trigger->Metrics(absl::Seconds(10)).ok());
  peer.Do(R"({"fail": "RESOURCE_EXHAUSTED"})");
  const TriggerReading failed = trigger->Read(kNow, absl::Seconds(10)).at(0);
  EXPECT_EQ(failed.error,
            absl::StrCat("external scaler ", peer.address(),
                         ": RESOURCE_EXHAUSTED: the server refuses, or its answer is too large (64 "
                         "KiB; 4 KiB for IsActive)"));
  EXPECT_FALSE(failed.active);
  EXPECT_TRUE(trigger->Metrics(absl::Seconds(10)).ok());  // those that were learnt before
  peer.Do(R"({"fail": null})");
  EXPECT_EQ(trigger->Read(kNow, absl::Seconds(10)).at(0).error, "");
}

// A server of several processes may fail once and answer right afterwards, by then with other
// metrics: a value must not be taken for that of another metric, with another target.
TEST(ExternalTriggerTest, ReadingsAreThoseOfTheMetricsThatWereReturnedLast) {
  Peer peer;
  peer.Do(R"({"spec": [{"name": "a", "target": 5}, {"name": "b", "target": 100}], "values": )"
          R"({"a": [{"value": 50}], "b": [{"value": 7}]}})");
  const auto trigger = Make(peer.address());
  ASSERT_TRUE(trigger->Metrics(absl::Seconds(10)).ok());
  peer.Do(R"({"fail": "UNAVAILABLE"})");
  EXPECT_NE(trigger->Read(kNow, absl::Seconds(10)).at(0).error, "");
  auto metrics = trigger->Metrics(absl::Seconds(10));
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_EQ(metrics->at(0).name, "s2-a");
  peer.Do(R"({"fail": null, "spec": [{"name": "b", "target": 100}, {"name": "a", "target": 5}]})");
  std::vector<TriggerReading> got = trigger->Read(kNow, absl::Seconds(10));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].value_milli, 50'000) << got[0].error;
  EXPECT_EQ(got[1].value_milli, 7000) << got[1].error;
  metrics = trigger->Metrics(absl::Seconds(10));
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_EQ(metrics->at(0).name, "s2-b");
  got = trigger->Read(kNow, absl::Seconds(10));
  EXPECT_EQ(got.at(0).value_milli, 7000) << got[0].error;
  EXPECT_EQ(got.at(1).value_milli, 50'000) << got[1].error;
}

std::string Specs(int count, size_t name_size) {
  std::vector<std::string> specs(
      static_cast<size_t>(count),
      absl::StrCat(R"({"name": ")", std::string(name_size, 'a'), R"(", "target": 5})"));
  return absl::StrCat(R"({"spec": [)", absl::StrJoin(specs, ","), "]}");
}

TEST(ExternalTriggerTest, AnAnswerHasLimits) {
  Peer peer;
  const auto error = [&] {
    return Make(peer.address())->Read(kNow, absl::Seconds(10)).at(0).error;
  };
  peer.Do(Specs(33, 1));
  EXPECT_THAT(error(), HasSubstr("FAILED_PRECONDITION: it names 33 metrics, expected 1 to 32"));
  peer.Do(Specs(300, 250));  // 76 KiB
  EXPECT_THAT(error(), HasSubstr("RESOURCE_EXHAUSTED: the server refuses, or its answer is too "
                                 "large (64 KiB; 4 KiB for IsActive)"));
  peer.Do(kQueue);
  const std::vector<std::string> values(1001, R"({"value": 1})");
  peer.Do(absl::StrCat(R"({"values": {"queue": [)", absl::StrJoin(values, ","), "]}}"));
  EXPECT_THAT(error(), HasSubstr("it gives 1001 values of one metric, expected 1 to 1000"));
}

// Unpacked, an answer that is small on the wire may have a thousand times its size.
TEST(ExternalTriggerTest, ACompressedAnswerIsRefusedUnread) {
  Peer peer({"--gzip"});
  peer.Do(absl::StrCat(R"({"spec": [{"name": ")", std::string(200, 'a'), R"(", "target": 5}]})"));
  const auto trigger = Make(peer.address());
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(trigger->Read(kNow, absl::Seconds(10)).at(0).error,
              absl::StrCat("external scaler ", peer.address(),
                           ": FAILED_PRECONDITION: the answer can't be read: it is compressed "
                           "(only grpc-encoding identity is read), or it is not of the protocol of "
                           "external scalers"));
  }
}

TEST(ExternalTriggerTest, AHangingServerIsUnknownInTime) {
  Peer peer;
  peer.Do(kQueue);
  const auto trigger = Make(peer.address());
  ASSERT_TRUE(trigger->Metrics(absl::Seconds(10)).ok());
  peer.Do(R"({"hang": true})");
  EXPECT_THAT(trigger->Read(kNow, absl::Milliseconds(300)).at(0).error,
              HasSubstr("DEADLINE_EXCEEDED"));
  peer.Do(R"({"hang": false})");
}

TEST(ExternalTriggerTest, AMetricThatHangsLeavesTimeToThoseAfterIt) {
  Peer peer;
  peer.Do(R"({"spec": [{"name": "a", "target": 5}, {"name": "b", "target": 5}]})");
  Make(peer.address())->Read(kNow, absl::Hours(2));
  const std::string told = peer.Tell(R"({"times": true})");
  const std::vector<std::string> times =
      absl::StrSplit(told, absl::ByAnyChar("[, ]"), absl::SkipEmpty());
  ASSERT_EQ(times.size(), 2u) << told;
  int first = 0;
  int second = 0;
  ASSERT_TRUE(absl::SimpleAtoi(times[0], &first) && absl::SimpleAtoi(times[1], &second)) << told;
  EXPECT_LE(first, 7199);   // two seconds less than all, which is rounded up
  EXPECT_GT(second, 7000);  // the first one has needed little of its time
}

TEST(ExternalTriggerTest, ACallUnderWayEndsAtShutdown) {
  Peer peer;
  peer.Do(kQueue);
  const auto clients = LoopbackClients();
  const auto trigger = Make(peer.address(), {}, {}, "external", clients);
  ASSERT_TRUE(trigger->Metrics(absl::Seconds(10)).ok());
  peer.Do(R"({"hang": true})");
  std::string error;
  std::thread reader([&] { error = trigger->Read(kNow, absl::Hours(1)).at(0).error; });
  clients->Shutdown();
  reader.join();
  EXPECT_THAT(error, HasSubstr("CANCELLED"));
  peer.Do(R"({"hang": false})");
}

TEST(ExternalTriggerTest, NobodyThere) {
  const auto trigger = Make("127.0.0.1:1");
  EXPECT_THAT(trigger->Read(kNow, absl::Seconds(10)).at(0).error,
              HasSubstr("UNAVAILABLE: no connection"));
}

TEST(ExternalTriggerTest, ASpecialAddressIsNotConnectedTo) {
  http::FakeDnsServer dns;
  dns.Set("inside.example", {"127.0.0.1"});
  const auto clients = std::make_shared<TriggerClients>(
      Clock::System(), TriggerClientOptions{.addresses = {}, .dns = dns.Settings()});
  for (const char* address :
       {"127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "inside.example:1", "169.254.169.254"}) {
    const auto trigger = Make(address, {}, {}, "external", clients);
    EXPECT_THAT(trigger->Read(kNow, absl::Seconds(10)).at(0).error,
                AllOf(HasSubstr("PERMISSION_DENIED"),
                      HasSubstr("which triggers may not ask (--scaler-trigger-allow-addresses)")));
  }
}

TEST(ExternalTriggerTest, OnlyHostsAreAddresses) {
  for (const char* address : {"unix:/run/x.sock", "unix:///run/x.sock", "ipv4:1.2.3.4:80",
                              "xds:///x", "http://h:1", "h:1/x", "u@h:1", "h:0", "h:99999"}) {
    TriggerSpec spec;
    spec.type = "external";
    spec.metadata = {{"scalerAddress", address}};
    EXPECT_EQ(MakeTrigger(spec, {}).status().message(),
              "triggers[0].metadata.scalerAddress: expected host:port")
        << address;
  }
}

// A server that has moved is found again, although gRPC is given addresses and not the name.
TEST(ExternalTriggerTest, ANameIsLookedUpAgainAfterAFailure) {
  Peer peer;
  peer.Do(kQueue);
  peer.Do(R"({"active": true})");
  http::FakeDnsServer dns;
  dns.Set("scaler.example", {"127.0.0.2"});  // nothing listens there
  const std::string port = peer.address().substr(peer.address().rfind(':'));
  for (const char* prefix : {"", "dns:///"}) {
    const auto trigger = Make(absl::StrCat(prefix, "scaler.example", port), {}, {}, "external",
                              LoopbackClients(dns.Settings()));
    dns.Set("scaler.example", {"127.0.0.2"});
    EXPECT_THAT(trigger->Read(kNow, absl::Seconds(10)).at(0).error, HasSubstr("no connection"));
    dns.Set("scaler.example", {"127.0.0.1"});
    EXPECT_EQ(trigger->Read(kNow, absl::Seconds(10)).at(0).error, "");
  }
}

// gRPC connects to all that it is given.
TEST(ExternalTriggerTest, OfANameWithManyAddressesFourAreConnectedTo) {
  Peer peer;
  peer.Do(kQueue);
  http::FakeDnsServer dns;
  const std::string port = peer.address().substr(peer.address().rfind(':'));
  const auto error = [&] {
    return Make(absl::StrCat("scaler.example", port), {}, {}, "external",
                LoopbackClients(dns.Settings()))
        ->Read(kNow, absl::Seconds(10))
        .at(0)
        .error;
  };
  // The peer listens at the one that is the last in order.
  dns.Set("scaler.example", {"127.0.0.10", "127.0.0.11", "127.0.0.12", "127.0.0.1"});
  EXPECT_EQ(error(), "");
  dns.Set("scaler.example", {"127.0.0.10", "127.0.0.11", "127.0.0.12", "127.0.0.13", "127.0.0.1"});
  EXPECT_THAT(error(), HasSubstr("no connection"));
}

TEST(ExternalTriggerTest, ValuesOfTheTargetsEnvironmentAreRefused) {
  TriggerSpec spec;
  spec.type = "external";
  spec.metadata = {{"scalerAddress", "h:1"}, {"topicFromEnv", "TOPIC"}};
  EXPECT_EQ(
      MakeTrigger(spec, {}).status().message(),
      "triggers[0].metadata.topicFromEnv: the target's environment is not read; write the value");
}

// ---- push ----

// Counts calls; waits for the next ones.
class Calls {
 public:
  std::function<void()> Callback() {
    return [this] {
      absl::MutexLock lock(&mutex_);
      ++count_;
    };
  }
  bool WaitFor(int count) {
    absl::MutexLock lock(&mutex_);
    const auto reached = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return count_ >= count; };
    return mutex_.AwaitWithTimeout(absl::Condition(&reached), absl::Seconds(20));
  }
  int count() {
    absl::MutexLock lock(&mutex_);
    return count_;
  }

 private:
  absl::Mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A trigger whose stream is open.
class ExternalPushTriggerTest : public testing::Test {
 protected:
  void SetUp() override {
    peer.Do(kQueue);
    trigger = Make(peer.address(), {}, {}, "external-push");
    trigger->Subscribe(calls.Callback());
    peer.Do(R"({"streams": 1})");
  }

  Peer peer;
  Calls calls;
  std::unique_ptr<Trigger> trigger;
};

TEST_F(ExternalPushTriggerTest, AnActiveMessageIsToldAtOnceAndInactiveOnesAreNot) {
  peer.Do(R"({"push": false})");
  peer.Do(R"({"push": true})");
  EXPECT_TRUE(calls.WaitFor(1));
  // Messages come in order, so the inactive one has arrived and was not counted.
  EXPECT_EQ(calls.count(), 1);
}

TEST_F(ExternalPushTriggerTest, MessagesWithoutEndBeginFiveDecisionsASecond) {
  const absl::Time began = absl::Now();
  for (int i = 0; i < 30; ++i) peer.Do(R"({"push": true})");
  EXPECT_TRUE(calls.WaitFor(3));
  const int count = calls.count();
  EXPECT_LE(count, (absl::Now() - began) / absl::Milliseconds(200) + 1);
  trigger.reset();  // while the stream pauses before the next read
}

TEST_F(ExternalPushTriggerTest, AnActiveMessageAfterAnInactiveOneIsToldToo) {
  for (const char* active : {"true", "false", "true"}) {
    peer.Do(absl::StrCat(R"({"push": )", active, "}"));
  }
  EXPECT_TRUE(calls.WaitFor(2));
}

// Whatever the messages say: they are read one after the other, and the server may send few ahead.
TEST(ExternalPushWithoutStreamTest, AServerThatSendsWithoutEndIsReadSlowly) {
  Peer peer({}, "http2_scaler.py");
  Calls calls;
  const auto trigger = Make(peer.address(), {}, {}, "external-push");
  const absl::Time began = absl::Now();
  trigger->Subscribe(calls.Callback());
  EXPECT_TRUE(calls.WaitFor(1));  // by the fourth message
  EXPECT_GE(absl::Now() - began, 3 * absl::Milliseconds(50));
  int sent = 0;
  EXPECT_TRUE(absl::SimpleAtoi(peer.Tell(R"({"sent": true})"), &sent));
  EXPECT_LE(sent, 4096);
  EXPECT_EQ(peer.Tell(R"({"accepts": true})"), "identity");
}

TEST_F(ExternalPushTriggerTest, WhatWasPushedCountsOnceWhateverThePollSays) {
  EXPECT_FALSE(trigger->Read(kNow, absl::Seconds(10)).at(0).active);
  peer.Do(R"({"push": true})");
  EXPECT_TRUE(calls.WaitFor(1));
  EXPECT_TRUE(trigger->Read(kNow, absl::Seconds(10)).at(0).active);
  EXPECT_FALSE(trigger->Read(kNow, absl::Seconds(10)).at(0).active);
}

TEST_F(ExternalPushTriggerTest, WhatWasPushedCountsAlthoughCallsFail) {
  ASSERT_TRUE(trigger->Metrics(absl::Seconds(10)).ok());
  peer.Do(R"({"push": true})");
  EXPECT_TRUE(calls.WaitFor(1));
  peer.Do(R"({"fail": "INTERNAL"})");
  const TriggerReading got = trigger->Read(kNow, absl::Seconds(10)).at(0);
  EXPECT_THAT(got.error, HasSubstr("INTERNAL"));
  EXPECT_TRUE(got.active);
  EXPECT_FALSE(trigger->Read(kNow, absl::Seconds(10)).at(0).active);
}

TEST_F(ExternalPushTriggerTest, AnEndedStreamIsOpenedAgain) {
  peer.Do(R"({"end": true})");
  peer.Do(R"({"streams": 1})");  // after about 2 s
  peer.Do(R"({"push": true})");
  EXPECT_TRUE(calls.WaitFor(1));
}

TEST_F(ExternalPushTriggerTest, AMessageThatIsLargeEndsTheStream) {
  peer.Do(R"({"push": true, "padding": 8000})");
  peer.Do(R"({"streams": 0})");
  EXPECT_EQ(calls.count(), 0);
  peer.Do(R"({"streams": 1})");
  peer.Do(R"({"push": true, "padding": 2000})");
  EXPECT_TRUE(calls.WaitFor(1));
}

TEST_F(ExternalPushTriggerTest, ItsEndClosesTheStream) {
  trigger.reset();
  peer.Do(R"({"streams": 0})");
}

TEST(ExternalPushWithoutStreamTest, ItEndsWhileItWaitsToReconnect) {
  Calls calls;
  auto trigger = Make("127.0.0.1:1", {}, {}, "external-push");
  trigger->Subscribe(calls.Callback());
  trigger->Read(kNow, absl::Seconds(1));
  trigger.reset();
  EXPECT_EQ(calls.count(), 0);
}

TEST(ExternalPushWithoutStreamTest, AnExternalOneOpensNoStream) {
  Peer peer;
  peer.Do(kQueue);
  Calls calls;
  const auto trigger = Make(peer.address());
  trigger->Subscribe(calls.Callback());
  trigger->Read(kNow, absl::Seconds(10));
  peer.Do(R"({"streams": 0})");
}

// ---- TLS ----

class ExternalTlsTest : public testing::Test {
 protected:
  std::vector<std::string> Serve(bool client_certificates = false) {
    std::vector<std::string> arguments = {"--cert", TempFile("cert", server_.pem), "--key",
                                          TempFile("key", server_.key)};
    if (client_certificates) {
      arguments.insert(arguments.end(), {"--client-ca", TempFile("ca", client_.pem)});
    }
    return arguments;
  }
  std::string ErrorOf(const Peer& peer, Fields metadata, Fields secrets) {
    return Make(peer.address(), std::move(metadata), std::move(secrets))
        ->Read(kNow, absl::Seconds(10))
        .at(0)
        .error;
  }

  const Certificate server_;
  const Certificate client_;
};

TEST_F(ExternalTlsTest, AnAuthorityOfASecretTurnsTlsOn) {
  Peer peer(Serve());
  peer.Do(kQueue);
  EXPECT_EQ(ErrorOf(peer, {}, {{"caCert", server_.pem}}), "");
}

// Else the server would be asked in plain text.
TEST_F(ExternalTlsTest, ABlankSecretIsUnknown) {
  Peer peer;
  peer.Do(kQueue);
  EXPECT_THAT(ErrorOf(peer, {}, {{"caCert", "\n"}}),
              HasSubstr("parameter caCert: the Secret's value is empty"));
  EXPECT_THAT(ErrorOf(peer, {}, {{"tlsClientCert", " "}, {"tlsClientKey", client_.key}}),
              HasSubstr("parameter tlsClientCert: the Secret's value is empty"));
  EXPECT_THAT(ErrorOf(peer, {}, {{"tlsClientCert", client_.pem}, {"tlsClientKey", ""}}),
              HasSubstr("parameter tlsClientKey: the Secret's value is empty"));
}

TEST_F(ExternalTlsTest, TheCertificateIsForTheNameAndNotForItsAddress) {
  Peer peer(Serve());
  peer.Do(kQueue);
  http::FakeDnsServer dns;
  dns.Set("a.example", {"127.0.0.1"});
  dns.Set("b.example", {"127.0.0.1"});
  const std::string port = peer.address().substr(peer.address().rfind(':'));
  const auto error = [&](const std::string& host) {
    return Make(host + port, {}, {{"caCert", server_.pem}}, "external",
                LoopbackClients(dns.Settings()))
        ->Read(kNow, absl::Seconds(10))
        .at(0)
        .error;
  };
  EXPECT_EQ(error("a.example"), "");
  EXPECT_THAT(error("b.example"), HasSubstr("UNAVAILABLE"));
}

TEST_F(ExternalTlsTest, AnUnknownAuthorityIsRefused) {
  Peer peer(Serve());
  peer.Do(kQueue);
  EXPECT_THAT(ErrorOf(peer, {{"enableTLS", "true"}}, {}), HasSubstr("UNAVAILABLE"));
  EXPECT_THAT(ErrorOf(peer, {}, {{"caCert", client_.pem}}), HasSubstr("UNAVAILABLE"));
}

// gRPC reads them once in a process, hence in one of its own.
TEST_F(ExternalTlsTest, WithoutACaTheMachinesRootsAreTrusted) {
  if (std::getenv("FLYBALL_EMULATED") != nullptr) GTEST_SKIP() << "it starts itself once more";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto ask = [this] {
    setenv("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", TempFile("roots", server_.pem).c_str(), 1);
    Peer peer(Serve());
    peer.Do(kQueue);
    const std::string error = ErrorOf(peer, {{"enableTLS", "true"}}, {});
    std::cerr << error;
    _exit(error.empty() ? 0 : 1);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(0), "");
}

TEST_F(ExternalTlsTest, UnsafeSslTakesAnyCertificate) {
  Peer peer(Serve());
  peer.Do(kQueue);
  EXPECT_EQ(ErrorOf(peer, {{"enableTLS", "true"}, {"unsafeSsl", "true"}}, {}), "");
}

// A connection keeps them as long as a trigger uses it.
TEST_F(ExternalTlsTest, AServerThatShowsManyCertificatesIsLeft) {
  std::string chain = server_.pem;
  for (int i = 0; i < 10; ++i) chain += client_.pem;
  const auto error = [&](Fields metadata, Fields secrets) {
    Peer peer({"--cert", TempFile("chain", chain), "--key", TempFile("key", server_.key)});
    peer.Do(kQueue);
    return ErrorOf(peer, std::move(metadata), std::move(secrets));
  };
  EXPECT_EQ(error({}, {{"caCert", server_.pem}}), "");
  for (int i = 0; i < 50; ++i) chain += client_.pem;
  EXPECT_THAT(error({}, {{"caCert", server_.pem}}),
              HasSubstr("the server shows more than 8 KiB of certificates"));
  EXPECT_THAT(error({{"enableTLS", "true"}, {"unsafeSsl", "true"}}, {}),
              HasSubstr("the server shows more than 8 KiB of certificates"));
}

TEST_F(ExternalTlsTest, AServerOfManyNamesIsLeft) {
  std::string names = "IP:127.0.0.1";
  for (int i = 1; i < 100; ++i) absl::StrAppend(&names, ",DNS:a", i);
  const auto error = [&] {
    const Certificate many(names);
    Peer peer({"--cert", TempFile("many", many.pem), "--key", TempFile("key", many.key)});
    peer.Do(kQueue);
    return ErrorOf(peer, {}, {{"caCert", many.pem}});
  };
  EXPECT_EQ(error(), "");
  absl::StrAppend(&names, ",DNS:b");
  EXPECT_THAT(error(), HasSubstr("100 names"));
}

// A connection keeps their names too.
TEST_F(ExternalTlsTest, AServerThatNamesManyAuthoritiesIsLeft) {
  const auto error = [&](int authorities) {
    std::string names;
    for (int i = 0; i < authorities; ++i) names += client_.pem;
    std::vector<std::string> arguments = Serve();
    arguments.insert(arguments.end(), {"--client-ca", TempFile("authorities", names)});
    Peer peer(arguments);
    peer.Do(kQueue);
    return ErrorOf(
        peer, {},
        {{"caCert", server_.pem}, {"tlsClientCert", client_.pem}, {"tlsClientKey", client_.key}});
  };
  EXPECT_EQ(error(500), "");
  EXPECT_THAT(error(1000), HasSubstr("or 16 KiB of names of authorities"));
}

TEST_F(ExternalTlsTest, AClientCertificateIsShown) {
  Peer peer(Serve(/*client_certificates=*/true));
  peer.Do(kQueue);
  const Fields known = {
      {"caCert", server_.pem}, {"tlsClientCert", client_.pem}, {"tlsClientKey", client_.key}};
  EXPECT_EQ(ErrorOf(peer, {}, known), "");
  EXPECT_THAT(ErrorOf(peer, {}, {{"caCert", server_.pem}}), HasSubstr("UNAVAILABLE"));
}

TEST_F(ExternalTlsTest, ABrokenKeyIsUnknownAndNotShown) {
  Peer peer(Serve());
  peer.Do(kQueue);
  EXPECT_THAT(
      ErrorOf(
          peer, {},
          {{"caCert", server_.pem}, {"tlsClientCert", client_.pem}, {"tlsClientKey", "hunter2"}}),
      AllOf(HasSubstr("parameter tlsClientKey: the Secret's value holds no PEM private key"),
            Not(HasSubstr("hunter2"))));
  EXPECT_THAT(ErrorOf(peer, {}, {{"caCert", "hunter2"}}),
              AllOf(HasSubstr("parameter caCert: the Secret's value holds no PEM certificate"),
                    Not(HasSubstr("hunter2"))));
}

}  // namespace
}  // namespace flyball::scaler
