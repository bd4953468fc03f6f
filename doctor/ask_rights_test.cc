#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "doctor/cluster.h"

namespace flyball::doctor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// An API server that grants what is asked for in a namespace.
class ByNamespace : public http::HttpTransport {
 public:
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    const auto review = nlohmann::json::parse(call.body, nullptr, false);
    const bool allowed = review["spec"]["resourceAttributes"].contains("namespace");
    http::HttpAnswer answer;
    answer.status = 201;
    answer.body = nlohmann::json({{"status", {{"allowed", allowed}}}}).dump();
    return answer;
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("");
  }
  void Shutdown() override {}
};

TEST(AskRights, WhatIsDeniedIsAskedForByNamespaceWhereThatHelps) {
  ByNamespace server;
  kube::ApiClient api(server, Clock::System());
  const auto answers = AskRights(api,
                                 {{.verb = "list", .resource = "pods"},
                                  {.verb = "list", .resource = "pods", .everywhere = true},
                                  {.verb = "get", .resource = "secrets", .ns = "shop"}},
                                 {"shop"});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].allowed_in, 1u);
  EXPECT_THAT(answers[0].asked_in, ElementsAre("shop"));
  EXPECT_FALSE(*answers[1].allowed);
  EXPECT_THAT(answers[1].asked_in, IsEmpty());
  EXPECT_TRUE(*answers[2].allowed);
}

}  // namespace
}  // namespace flyball::doctor
