#include "scaler/stores/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "kube/testing/fake_api_server.h"

namespace flyball::scaler {
namespace {

using testing::HasSubstr;

class ReadSecretTest : public testing::Test {
 protected:
  // `metadata`: beside its name.
  void Put(const std::string& name, const std::string& metadata) {
    api_.Put(absl::StrCat(
        R"({"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"shop","name":")", name, "\"",
        metadata, R"(},"data":{"token":"aHVudGVyMg==","broken":"?"}})"));
  }
  // As `base64`, the value of the key token.
  void PutValue(const std::string& ns, const std::string& name, const std::string& base64) {
    api_.Put(absl::StrCat(R"({"apiVersion":"v1","kind":"Secret","metadata":{"namespace":")", ns,
                          R"(","name":")", name, R"("},"data":{"token":")", base64, R"("}})"));
  }
  absl::StatusOr<SecretValue> Read(const std::string& name, TriggerSecrets which,
                                   const std::string& key = "token") {
    const auto transport = api_.Connector()();
    kube::ApiClient client(**transport, Clock::System(), absl::Seconds(5));
    SecretReader reader(client, Clock::System(), which);
    return reader.Read("shop", {.secret = name, .key = key});
  }

  kube::FakeApiServer api_;
};

TEST_F(ReadSecretTest, AnySecretOrOnlyThoseWithTheLabel) {
  Put("plain", "");
  Put("marked", R"(,"labels":{"flyball.dev/trigger-secret":"true"})");
  Put("unmarked", R"(,"labels":{"flyball.dev/trigger-secret":"false"})");
  for (const char* name : {"plain", "marked", "unmarked"}) {
    const auto any = Read(name, TriggerSecrets::kAll);
    ASSERT_TRUE(any.ok()) << any.status();
    EXPECT_EQ(any->text, "hunter2");
    EXPECT_FALSE(any->allowed_hosts.has_value());
  }
  EXPECT_EQ(Read("marked", TriggerSecrets::kReferenced)->text, "hunter2");
  for (const char* name : {"plain", "unmarked"}) {
    const absl::Status refused = Read(name, TriggerSecrets::kReferenced).status();
    EXPECT_EQ(refused, absl::PermissionDeniedError(absl::StrCat(
                           "secret shop/", name,
                           " has no label flyball.dev/trigger-secret=true, so triggers may not "
                           "use it")));
  }
}

TEST_F(ReadSecretTest, AValueIsGivenAgainForSeconds) {
  const auto transport = api_.Connector()();
  kube::ApiClient client(**transport, Clock::System(), absl::Seconds(5));
  SimulatedClock clock(absl::UnixEpoch());
  SecretReader reader(client, clock, TriggerSecrets::kReferenced);
  const auto read = [&] { return reader.Read("shop", {.secret = "s", .key = "token"}); };
  Put("s", R"(,"labels":{"flyball.dev/trigger-secret":"true"})");
  EXPECT_EQ(read()->text, "hunter2");
  Put("s", "");  // the label is taken away
  clock.Advance(absl::Seconds(4));
  EXPECT_EQ(read()->text, "hunter2");
  EXPECT_FALSE(reader.Read("shop", {.secret = "s", .key = "other"}).ok()) << "the value of a key";
  clock.Advance(absl::Seconds(1));
  EXPECT_TRUE(absl::IsPermissionDenied(read().status()));
}

// Triggers that are read five times a second ask for a Secret that does not exist as often.
TEST_F(ReadSecretTest, AnErrorIsGivenAgainForASecond) {
  const auto transport = api_.Connector()();
  kube::ApiClient client(**transport, Clock::System(), absl::Seconds(5));
  SimulatedClock clock(absl::UnixEpoch());
  SecretReader reader(client, clock, TriggerSecrets::kAll);
  const auto read = [&] { return reader.Read("shop", {.secret = "s", .key = "token"}); };
  for (int i = 0; i < 5; ++i) {
    const absl::Status status = read().status();
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    clock.Advance(absl::Milliseconds(199));
  }
  EXPECT_EQ(api_.CountRequests("GET", "/secrets/s"), 1);
  Put("s", "");
  clock.Advance(absl::Milliseconds(5));
  EXPECT_EQ(read()->text, "hunter2");
}

TEST_F(ReadSecretTest, AServerThatIsAwayForAMomentIsAskedAgainAtOnce) {
  const auto transport = api_.Connector()();
  kube::ApiClient client(**transport, Clock::System(), absl::Seconds(5));
  SimulatedClock clock(absl::UnixEpoch());
  SecretReader reader(client, clock, TriggerSecrets::kAll);
  Put("s", "");
  api_.Inject({.method = "GET", .part = "/secrets/s", .status = 503});
  EXPECT_FALSE(reader.Read("shop", {.secret = "s", .key = "token"}).ok());
  EXPECT_EQ(reader.Read("shop", {.secret = "s", .key = "token"})->text, "hunter2");
}

TEST_F(ReadSecretTest, WithoutTheRightToReadItTheErrorSaysWhatGrantsIt) {
  Put("s", "");
  api_.Inject({.method = "GET", .part = "/secrets/s", .status = 403, .message = "forbidden"});
  const absl::Status refused = Read("s", TriggerSecrets::kAll).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("forbidden"));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("; the chart grants this with scaler.triggerSecrets=referenced"));
}

TEST_F(ReadSecretTest, AValueHasALimit) {
  PutValue("shop", "s", absl::Base64Escape(std::string(kMaxSecretBytes, 'a')));
  EXPECT_TRUE(Read("s", TriggerSecrets::kAll).ok());
  PutValue("shop", "s", absl::Base64Escape(std::string(kMaxSecretBytes + 1, 'a')));
  EXPECT_EQ(std::string(Read("s", TriggerSecrets::kAll).status().message()),
            "key token of secret shop/s has 16385 bytes, expected at most 16384; of a CA file only "
            "the CA of that server is needed");
}

// Whoever may write Secrets of some namespaces could otherwise have those of all others read again
// for each reading.
TEST_F(ReadSecretTest, NamespacesWithManySecretsTakeNoRoomFromOthers) {
  const auto transport = api_.Connector()();
  kube::ApiClient client(**transport, Clock::System(), absl::Seconds(5));
  SimulatedClock clock(absl::UnixEpoch());
  SecretReader reader(client, clock, TriggerSecrets::kAll);
  constexpr int kCalm = 64, kBusy = 12, kMany = 60;
  const std::string large = absl::Base64Escape(std::string(kMaxSecretBytes, 'a'));
  const auto read_calm = [&] {
    for (int i = 0; i < kCalm; ++i) {
      const std::string ns = absl::StrCat("calm-", i);
      EXPECT_TRUE(reader.Read(ns, {.secret = "s", .key = "token"}).ok());
    }
  };
  // Returns how often the API server was asked for values of 12 MiB.
  const auto read_busy = [&] {
    const int before = api_.CountRequests("GET", "/namespaces/busy");
    for (int i = 0; i < kBusy * kMany; ++i) {
      const std::string ns = absl::StrCat("busy-", i / kMany), name = absl::StrCat("s-", i % kMany);
      EXPECT_TRUE(reader.Read(ns, {.secret = name, .key = "token"}).ok()) << i;
    }
    return api_.CountRequests("GET", "/namespaces/busy") - before;
  };
  for (int i = 0; i < kCalm; ++i) PutValue(absl::StrCat("calm-", i), "s", "aHVudGVyMg==");
  for (int i = 0; i < kBusy * kMany; ++i) {
    PutValue(absl::StrCat("busy-", i / kMany), absl::StrCat("s-", i % kMany), large);
  }
  read_calm();
  EXPECT_EQ(read_busy(), kBusy * kMany);
  EXPECT_GT(read_busy(), kBusy * kMany / 4) << "8 MiB hold at most 512 of these 720";
  clock.Advance(absl::Seconds(4));
  read_calm();
  EXPECT_EQ(api_.CountRequests("GET", "/namespaces/calm"), kCalm);
}

// As of keys that are too many to be kept for triggers that are read five times a second.
TEST_F(ReadSecretTest, TheApiServerIsAskedOnlySoOftenForANamespace) {
  const auto transport = api_.Connector()();
  kube::ApiClient client(**transport, Clock::System(), absl::Seconds(5));
  SimulatedClock clock(absl::UnixEpoch());
  SecretReader reader(client, clock, TriggerSecrets::kAll);
  PutValue("shop", "small", "aHVudGVyMg==");
  PutValue("shop", "large", std::string(9 * SecretReader::kCountedBytes, 'a'));
  PutValue("other", "small", "aHVudGVyMg==");
  // How many keys that a Secret does not have are looked for until the reader refuses.
  const auto reads = [&](const std::string& secret) {
    const int before = api_.CountRequests("GET", "/namespaces/shop");
    absl::Status status;
    for (int i = 0; i < 2 * SecretReader::kBurst; ++i) {
      status = reader.Read("shop", {.secret = secret, .key = absl::StrCat(i)}).status();
      if (!absl::IsNotFound(status)) break;
    }
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    return api_.CountRequests("GET", "/namespaces/shop") - before;
  };
  EXPECT_NEAR(reads("small"), SecretReader::kBurst, 1);
  EXPECT_TRUE(reader.Read("other", {.secret = "small", .key = "token"}).ok());
  clock.Advance(absl::Seconds(2));
  EXPECT_NEAR(reads("large"), 2 * SecretReader::kReadsPerSecond / 10, 1);
  clock.Advance(absl::Seconds(2));
  EXPECT_TRUE(reader.Read("shop", {.secret = "small", .key = "token"}).ok());
}

TEST_F(ReadSecretTest, TheAnnotationIsReadWithEither) {
  Put("s", R"(,"labels":{"flyball.dev/trigger-secret":"true"},"annotations":)"
           R"({"flyball.dev/allowed-hosts":"a.example"})");
  for (const TriggerSecrets which : {TriggerSecrets::kAll, TriggerSecrets::kReferenced}) {
    EXPECT_EQ(Read("s", which)->allowed_hosts, "a.example");
  }
}

TEST_F(ReadSecretTest, WhatIsMissingIsNamed) {
  Put("s", "");
  EXPECT_THAT(std::string(Read("s", TriggerSecrets::kAll, "other").status().message()),
              HasSubstr("secret shop/s has no key other"));
  EXPECT_THAT(std::string(Read("s", TriggerSecrets::kAll, "broken").status().message()),
              HasSubstr("is no base64"));
  EXPECT_EQ(Read("none", TriggerSecrets::kAll).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace flyball::scaler
