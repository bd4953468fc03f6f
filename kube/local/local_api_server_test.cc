// What a test double never needs: a bounded memory of changes, and an end of watches with their
// transports. The API itself is tested through the double that is made of it.
#include "kube/local/local_api_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"

namespace flyball::kube {
namespace {

using testing::HasSubstr;

std::string PodOf(int number) {
  return absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"n":)",
                      number, "}}");
}

http::HttpCall WatchFrom(int version) {
  http::HttpCall call;
  call.target = absl::StrCat("/api/v1/pods?watch=1&resourceVersion=", version);
  return call;
}

TEST(LocalApiServer, AWatchThatIsTooOldIsToldToListAnew) {
  SimulatedClock clock(absl::FromUnixSeconds(1767225600));
  LocalApiServer server(clock);
  const auto transport = server.Connect();
  for (size_t i = 0; i <= LocalApiServer::kKeptChanges; ++i) {
    ASSERT_TRUE(server.Put(PodOf(static_cast<int>(i))).ok());
  }
  std::string told;
  const auto note = [&told](absl::string_view text) {
    absl::StrAppend(&told, text);
    return told.empty();
  };
  EXPECT_TRUE(transport->Stream(WatchFrom(1), note).ok());
  EXPECT_THAT(told, HasSubstr(R"("code":410)"));
  told.clear();
  EXPECT_TRUE(transport->Stream(WatchFrom(3), note).ok());
  EXPECT_THAT(told, HasSubstr(R"("type":"MODIFIED")"));
}

TEST(LocalApiServer, AWatchEndsWithItsTransport) {
  SimulatedClock clock(absl::FromUnixSeconds(1767225600));
  LocalApiServer server(clock);
  const auto transport = server.Connect();
  ASSERT_TRUE(server.Put(PodOf(0)).ok());
  absl::Status ended;
  std::thread watch(
      [&] { ended = transport->Stream(WatchFrom(1), [](absl::string_view) { return true; }); });
  transport->Shutdown();
  watch.join();
  EXPECT_EQ(ended.code(), absl::StatusCode::kCancelled);
}

TEST(LocalApiServer, LabelsThatAreNoStringsAreNotSelected) {
  SimulatedClock clock(absl::FromUnixSeconds(1767225600));
  LocalApiServer server(clock);
  const auto transport = server.Connect();
  for (const char* labels : {"null", "[]", R"("a")", R"({"a":1,"b":null,"c":"d"})"}) {
    ASSERT_TRUE(server
                    .Put(absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p",)"
                                      R"("labels":)",
                                      labels, "}}"))
                    .ok());
    http::HttpCall list;
    list.target = "/api/v1/pods?labelSelector=!a,!b";
    const auto answer = transport->Do(list);
    ASSERT_TRUE(answer.ok());
    EXPECT_THAT(answer->body, HasSubstr(R"("name":"p")"));
  }
  std::string told;
  http::HttpCall watch = WatchFrom(1);
  watch.target += "&labelSelector=c";
  EXPECT_TRUE(transport
                  ->Stream(watch,
                           [&told](absl::string_view text) {
                             absl::StrAppend(&told, text);
                             return told.empty();
                           })
                  .ok());
  EXPECT_THAT(told, HasSubstr(R"("type":"ADDED")"));
}

TEST(LocalApiServer, OnlyWhatItKnowsIsStored) {
  SimulatedClock clock(absl::FromUnixSeconds(1767225600));
  LocalApiServer server(clock);
  EXPECT_EQ(server.Put("[]").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(server.Put(R"({"apiVersion":"v1","kind":"Pod"})").code(),
            absl::StatusCode::kInvalidArgument);
  const char* widget = R"({"apiVersion":"a.b/v1","kind":"Widget","metadata":{"name":"w"}})";
  EXPECT_EQ(server.Put(widget).code(), absl::StatusCode::kNotFound);
  ResourceInfo info;
  info.name = {"a.b", "widgets"};
  info.version = "v1";
  info.kind = "Widget";
  server.AddKind(info, true);
  server.AddKind(info, false);  // known already
  EXPECT_TRUE(server.Put(widget).ok());
  EXPECT_NE(server.Get("/apis/a.b/v1/namespaces/default/widgets/w/scale"), "");
  EXPECT_EQ(server.List("/apis/a.b/v1/widgets").size(), 1u);
  server.Delete("/apis/a.b/v1/namespaces/default/widgets/w");
  EXPECT_EQ(server.List("/apis/a.b/v1/widgets").size(), 0u);
}

TEST(LocalApiServer, AKindThatWasAddedMayGetAnotherPluralAndScope) {
  SimulatedClock clock(absl::FromUnixSeconds(1767225600));
  LocalApiServer server(clock);
  ResourceInfo info = {.name = {"a.b", "gooses"}, .version = "v1", .kind = "Goose", .singular = {}};
  server.AddKind(info, false);
  info.name.resource = "geese";
  info.namespaced = false;
  server.AddKind(info, false);
  EXPECT_TRUE(server
                  .Put(R"({"apiVersion":"a.b/v1","kind":"Goose","metadata":)"
                       R"({"name":"g","namespace":"ignored"}})")
                  .ok());
  EXPECT_THAT(server.Get("/apis/a.b/v1/geese/g"), testing::Not(HasSubstr("ignored")));
  EXPECT_NE(server.Get("/apis/a.b/v1/geese/g"), "");
  EXPECT_EQ(server.Get("/apis/a.b/v1/gooses/g"), "");
  ResourceInfo pods = {.name = {"", "others"}, .version = "v1", .kind = "Pod", .singular = {}};
  server.AddKind(pods, false);
  EXPECT_TRUE(server.List("/api/v1/others").empty());
  EXPECT_TRUE(server.Put(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})").ok());
  EXPECT_EQ(server.List("/api/v1/pods").size(), 1u);
}

}  // namespace
}  // namespace flyball::kube
