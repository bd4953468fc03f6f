#include "apiservice/endpoints/document_endpoints.h"

#include <gtest/gtest.h>

#include "apiservice/test_fakes.h"
#include "http/headers.h"

namespace flyball::apiservice {
namespace {

// However many ask for it and do not read it.
TEST(DocumentEndpointsTest, ALongDocumentIsCompressedOnce) {
  const adapter::Providers providers = {FakeMetricsOfPods(2'000), nullptr, nullptr};
  const HealthChecks health({});
  DocumentEndpoints documents(
      {}, &health, {}, [] { return 6443; }, &Clock::System());
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
