#include "scaler/stores/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  absl::StatusOr<SecretValue> Read(const std::string& name, TriggerSecrets which,
                                   const std::string& key = "token") {
    const auto transport = api_.Connector()();
    kube::ApiClient client(**transport, Clock::System(), absl::Seconds(5));
    return ReadSecret(client, "shop", {.secret = name, .key = key}, which);
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
  EXPECT_TRUE(absl::IsNotFound(read().status()));
  Put("s", R"(,"labels":{"flyball.dev/trigger-secret":"true"})");
  EXPECT_EQ(read()->text, "hunter2") << "errors are not kept";
  Put("s", "");  // the label is taken away
  clock.Advance(absl::Seconds(4));
  EXPECT_EQ(read()->text, "hunter2");
  EXPECT_FALSE(reader.Read("shop", {.secret = "s", .key = "other"}).ok()) << "the value of a key";
  clock.Advance(absl::Seconds(1));
  EXPECT_TRUE(absl::IsPermissionDenied(read().status()));
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
