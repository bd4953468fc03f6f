#include "apiservice/endpoints/document_endpoints.h"

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "apiservice/test_fakes.h"
#include "http/headers.h"

namespace flyball::apiservice {
namespace {

// However many ask for it and do not read it.
TEST(DocumentEndpointsTest, ALongDocumentIsCompressedOnce) {
  std::vector<adapter::CustomMetricInfo> infos;
  for (int i = 0; i < 2'000; ++i) infos.push_back({{"", "pods"}, true, absl::StrCat("m", i)});
  const auto custom = std::make_shared<FakeCustomMetrics>();
  custom->infos = std::make_shared<const std::vector<adapter::CustomMetricInfo>>(std::move(infos));
  const adapter::Providers providers = {custom, nullptr, nullptr};
  const HealthChecks health({});
  DocumentEndpoints documents({}, &health, {}, &Clock::System());
  RoutedRequest routed;
  routed.group = std::string(kCustomGroup);
  routed.version = "v1beta2";
  Style style;
  for (const bool pretty : {false, true}) {
    style.pretty = pretty;
    style.gzip = true;
    const http::HttpResponse first = documents.ResourceList(routed, style, providers);
    EXPECT_EQ(http::FindHeader(first.headers, "Content-Encoding"), "gzip");
    EXPECT_EQ(documents.ResourceList(routed, style, providers).body, first.body);
    style.gzip = false;
    const http::HttpResponse plain = documents.ResourceList(routed, style, providers);
    EXPECT_EQ(http::FindHeader(plain.headers, "Content-Encoding"), "");
    EXPECT_GT(plain.body->size(), first.body->size());
  }
}

}  // namespace
}  // namespace flyball::apiservice
