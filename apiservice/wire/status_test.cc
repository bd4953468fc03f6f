#include "apiservice/wire/status.h"

#include <string>

#include <gtest/gtest.h>

namespace flyball::apiservice::wire {
namespace {

struct StatusRow {
  std::string name;
  Status status;
  std::string want;  // from "status" on
};

class StatusJsonTest : public testing::TestWithParam<StatusRow> {};

TEST_P(StatusJsonTest, Row) {
  EXPECT_EQ(ToJson(GetParam().status),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)" +
                GetParam().want + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Cases, StatusJsonTest,
    testing::Values(
        StatusRow{
            "RoutingErrorHasEmptyDetails", RouteNotFound(),
            R"("message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404})"},
        StatusRow{
            "MetricNotFoundHasNone",
            FromProviderError(
                absl::NotFoundError("the server could not find the metric m for pods")),
            R"("message":"the server could not find the metric m for pods","reason":"NotFound","code":404})"},
        StatusRow{
            "InternalRepeatsItsCause",
            FromProviderError(absl::InternalError("unable to fetch metrics")),
            R"("message":"Internal error occurred: unable to fetch metrics","reason":"InternalError","details":{"causes":[{"message":"unable to fetch metrics"}]},"code":500})"},
        StatusRow{"UnknownHasNoReason", FromProviderError(absl::UnknownError("plain")),
                  R"("message":"plain","code":500})"},
        StatusRow{"BadRequestHasNoDetails", BadRequest("x"),
                  R"("message":"x","reason":"BadRequest","code":400})"},
        StatusRow{
            "Object", ObjectNotFound("", "pods", "x"),
            R"("message":"pods \"x\" not found","reason":"NotFound","details":{"name":"x","kind":"pods"},"code":404})"},
        StatusRow{
            "ObjectOfAGroup", ObjectNotFound("metrics.k8s.io", "nodemetrics", "x"),
            R"("message":"nodemetrics.metrics.k8s.io \"x\" not found","reason":"NotFound","details":{"name":"x","group":"metrics.k8s.io","kind":"nodemetrics"},"code":404})"},
        StatusRow{
            "Watch", WatchNotSupported("external.metrics.k8s.io", "*"),
            R"("message":"watch is not supported on resources of kind \"*.external.metrics.k8s.io\"","reason":"MethodNotAllowed","details":{"group":"external.metrics.k8s.io","kind":"*"},"code":405})"},
        StatusRow{
            "ForbiddenNamesWhat", Forbidden("g", "m", "n", "User \"u\" cannot get"),
            R"("message":"m.g \"n\" is forbidden: User \"u\" cannot get","reason":"Forbidden","details":{"name":"n","group":"g","kind":"m"},"code":403})"},
        StatusRow{
            "ForbiddenQuotes", Forbidden("", "m", "a\tb", "no"),
            R"("message":"m \"a\\tb\" is forbidden: no","reason":"Forbidden","details":{"name":"a\tb","kind":"m"},"code":403})"},
        StatusRow{
            "ForbiddenPath", ForbiddenPath("User \"u\" cannot get path \"/x\""),
            R"("message":"forbidden: User \"u\" cannot get path \"/x\"","reason":"Forbidden","details":{},"code":403})"}),
    [](const auto& info) { return info.param.name; });

TEST(ShortenedTest, NoTextIsRepeatedWhole) {
  const std::string name(100'000, 'n');
  Status status = Forbidden(name, name, name, "User \"" + name + "\"");
  status.details->causes.push_back({.message = name});
  EXPECT_LT(ToJson(Shortened(status)).size(), 8000u);
  EXPECT_EQ(Shortened(ObjectNotFound("", "pods", "x")).message, "pods \"x\" not found");
}

}  // namespace
}  // namespace flyball::apiservice::wire
