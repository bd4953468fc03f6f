#include "scaler/front/envoy/answers.h"

#include <gtest/gtest.h>

namespace flyball::front {
namespace {

TEST(ReleaseMessageTest, NamesThePodInMetadataOnlyWhereThereIsOne) {
  EXPECT_TRUE(ReleaseMessage(std::nullopt).has_request_headers());
  EXPECT_FALSE(ReleaseMessage(std::nullopt).has_dynamic_metadata());
  const auto message = ReleaseMessage("10.0.0.7:8080");
  EXPECT_TRUE(message.has_request_headers());
  EXPECT_EQ(message.dynamic_metadata()
                .fields()
                .at("flyball")
                .struct_value()
                .fields()
                .at("pod")
                .string_value(),
            "10.0.0.7:8080");
}

TEST(RefusalMessageTest, CarriesStatusHeadersAndBody) {
  const auto reply =
      RefusalMessage({.reason = RefusalReason::kActivationTimeout}).immediate_response();
  EXPECT_EQ(reply.status().code(), 504);
  EXPECT_FALSE(reply.body().empty());
  EXPECT_EQ(reply.details(), "flyball_activation-timeout");
  std::string headers;
  for (const auto& header : reply.headers().set_headers()) {
    headers += header.header().key() + "=" + header.header().raw_value() + ";";
  }
  EXPECT_EQ(headers, "content-type=text/plain;x-flyball=activation-timeout;retry-after=5;");
}

TEST(PassMessageTest, AnswersEachPartInKind) {
  envoy::ProcessingRequest request;
  EXPECT_FALSE(PassMessage(request).has_value());
  request.mutable_response_trailers();
  EXPECT_TRUE(PassMessage(request)->has_response_trailers());
  request.mutable_request_trailers();
  EXPECT_TRUE(PassMessage(request)->has_request_trailers());
  request.mutable_response_headers();
  EXPECT_TRUE(PassMessage(request)->has_response_headers());
  request.mutable_request_headers();
  EXPECT_TRUE(PassMessage(request)->has_request_headers());
}

}  // namespace
}  // namespace flyball::front
