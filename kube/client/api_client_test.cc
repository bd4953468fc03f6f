#include "kube/client/api_client.h"

#include <deque>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

// Gives its answers one by one, the last for ever.
class ScriptedTransport : public http::HttpTransport {
 public:
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    calls.push_back(call);
    if (on_call) on_call();
    if (answers.empty()) return failure;
    http::HttpAnswer answer = answers.front();
    if (answers.size() > 1) answers.pop_front();
    return answer;
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("no streams here");
  }
  void Shutdown() override {}

  std::deque<http::HttpAnswer> answers;
  absl::Status failure = absl::UnavailableError("connection refused");  // if there are none
  std::vector<http::HttpCall> calls;
  std::function<void()> on_call;
};

http::HttpAnswer Answer(int status, std::string body, std::string type = "application/json") {
  http::HttpAnswer answer;
  answer.status = status;
  answer.body = std::move(body);
  answer.headers = {{"content-type", std::move(type)}};
  return answer;
}

http::HttpAnswer Failure(int status, absl::string_view reason, absl::string_view message) {
  return Answer(status, absl::StrCat(R"({"kind":"Status","apiVersion":"v1","status":"Failure",)",
                                     R"("reason":")", reason, R"(","message":")", message,
                                     R"(","code":)", status, "}"));
}

http::HttpAnswer RetryAfter(int status, std::string seconds) {
  http::HttpAnswer answer = Failure(status, "TooManyRequests", "later");
  answer.headers.emplace_back("Retry-After", std::move(seconds));
  return answer;
}

struct ErrorRow {
  std::string name;
  http::HttpAnswer answer;
  absl::StatusCode code;
  std::string message;
  std::string path = "/apis/apps/v1/namespaces/shop/deployments/web";
};

class GetErrorTest : public testing::TestWithParam<ErrorRow> {};

TEST_P(GetErrorTest, Row) {
  ScriptedTransport server;
  server.answers = {GetParam().answer};
  ApiClient client(server, Clock::System());
  const auto got = client.Get(GetParam().path);
  EXPECT_EQ(got.status().code(), GetParam().code);
  EXPECT_EQ(got.status().message(), GetParam().message);
  EXPECT_EQ(client.counters().gets, 1u);
  EXPECT_EQ(client.counters().errors, 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Status, GetErrorTest,
    testing::Values(ErrorRow{"NotFoundIsTheStatusMessageAlone",
                             Failure(404, "NotFound", "deployments.apps \\\"web\\\" not found"),
                             absl::StatusCode::kNotFound, "deployments.apps \"web\" not found"},
                    ErrorRow{"ConflictIsAborted",
                             Failure(409, "Conflict", "the object has been modified"),
                             absl::StatusCode::kAborted, "the object has been modified"},
                    ErrorRow{"AlreadyExistsIsItsOwnCode", Failure(409, "AlreadyExists", "exists"),
                             absl::StatusCode::kAlreadyExists, "exists"},
                    ErrorRow{"InvalidIsFailedPrecondition", Failure(422, "Invalid", "is invalid"),
                             absl::StatusCode::kFailedPrecondition, "is invalid"}),
    [](const auto& info) { return info.param.name; });

// The texts of apimachinery v0.34.4 NewGenericServerResponse.
INSTANTIATE_TEST_SUITE_P(
    NoStatusObject, GetErrorTest,
    testing::Values(
        ErrorRow{"PlainNotFoundNamesResourceAndName",
                 Answer(404, "404 page not found\n", "text/plain"), absl::StatusCode::kNotFound,
                 "the server could not find the requested resource (get deployments.apps web)"},
        ErrorRow{"ScaleClientDoesNotKnowTheGroup", Answer(404, "404 page not found"),
                 absl::StatusCode::kNotFound,
                 "the server could not find the requested resource (get deployments web)",
                 "/apis/apps/v1/namespaces/shop/deployments/web/scale"},
        ErrorRow{"CoreHasNoGroup", Answer(503, ""), absl::StatusCode::kUnavailable,
                 "the server is currently unable to handle the request (get pods)",
                 "/api/v1/namespaces/shop/pods?limit=1"},
        ErrorRow{"NamespaceItselfIsAResource", Answer(401, ""), absl::StatusCode::kUnauthenticated,
                 "the server has asked for the client to provide credentials (get namespaces shop)",
                 "/api/v1/namespaces/shop"},
        ErrorRow{"ForbiddenKeepsItsText", Answer(403, "no \n", "text/html"),
                 absl::StatusCode::kPermissionDenied, "no (get deployments.apps web)"},
        ErrorRow{"TextOfA500IsQuoted", Answer(500, "a \"b\"", "text/plain"),
                 absl::StatusCode::kUnavailable,
                 "an error on the server (\"a \\\"b\\\"\") has prevented the request from "
                 "succeeding (get deployments.apps web)"},
        ErrorRow{"OtherBodiesAreUnknown", Answer(500, "{}"), absl::StatusCode::kUnavailable,
                 "an error on the server (\"unknown\") has prevented the request from succeeding "
                 "(get deployments.apps web)"},
        ErrorRow{"SuccessStatusIsNoMessage",
                 Answer(404, R"({"kind":"Status","status":"Success","message":"x"})"),
                 absl::StatusCode::kNotFound,
                 "the server could not find the requested resource (get deployments.apps web)"}),
    [](const auto& info) { return info.param.name; });

TEST(ApiClientTest, EachCallHasItsMethodAndType) {
  ScriptedTransport server;
  server.answers = {Answer(201, "stored")};
  ApiClient client(server, Clock::System(), absl::Seconds(7));
  EXPECT_EQ(*client.Get("/api/v1/pods"), "stored");
  EXPECT_EQ(*client.Create("/c", "{1}"), "stored");
  EXPECT_EQ(*client.Update("/u", "{2}"), "stored");
  EXPECT_EQ(*client.MergePatch("/p", "{3}"), "stored");
  std::string told;
  for (const http::HttpCall& call : server.calls) {
    absl::StrAppend(&told, call.method, " ", call.target, " ", call.body, " ", call.content_type,
                    "\n");
    EXPECT_EQ(call.timeout, absl::Seconds(7));
    EXPECT_EQ(call.writes, call.method != "GET");
  }
  EXPECT_EQ(told,
            "GET /api/v1/pods  \n"
            "POST /c {1} application/json\n"
            "PUT /u {2} application/json\n"
            "PATCH /p {3} application/merge-patch+json\n");
  EXPECT_EQ(client.counters().gets, 1u);
  EXPECT_EQ(client.counters().creates, 1u);
  EXPECT_EQ(client.counters().updates, 1u);
  EXPECT_EQ(client.counters().patches, 1u);
  EXPECT_EQ(client.counters().errors, 0u);
}

TEST(ApiClientTest, TransportErrorsAreHandedOn) {
  ScriptedTransport server;
  ApiClient client(server, Clock::System());
  EXPECT_EQ(client.Get("/x").status(), absl::UnavailableError("connection refused"));
  EXPECT_EQ(client.counters().errors, 1u);
}

struct RetryRow {
  std::string name;
  std::vector<http::HttpAnswer> answers;
  size_t calls = 1;
  bool ok = false;
};

class RetryTest : public testing::TestWithParam<RetryRow> {};

TEST_P(RetryTest, Row) {
  ScriptedTransport server;
  server.answers = {GetParam().answers.begin(), GetParam().answers.end()};
  ApiClient client(server, Clock::System());
  EXPECT_EQ(client.Get("/x").ok(), GetParam().ok);
  EXPECT_EQ(server.calls.size(), GetParam().calls);
}

INSTANTIATE_TEST_SUITE_P(
    RetryAfter, RetryTest,
    testing::Values(
        RetryRow{"TooManyIsAskedAgain", {RetryAfter(429, "0"), Answer(200, "x")}, 2, true},
        RetryRow{"ServerErrorsToo",
                 {RetryAfter(503, "0"), RetryAfter(500, "0"), Answer(200, "x")},
                 3,
                 true},
        RetryRow{"ThreeTimesAtMost", {RetryAfter(429, "0")}, 4},
        RetryRow{"NotWithoutTheHeader", {Failure(429, "x", "y"), Answer(200, "x")}},
        RetryRow{"NotWhenItIsNoNumber", {RetryAfter(429, "soon"), Answer(200, "x")}},
        RetryRow{"NotBeyondTheTimeout", {RetryAfter(429, "10"), Answer(200, "x")}},
        RetryRow{"NotForOtherErrors", {RetryAfter(404, "0"), Answer(200, "x")}}),
    [](const auto& info) { return info.param.name; });

TEST(ApiClientTest, ARepetitionHasOnlyTheTimeThatIsLeft) {
  SimulatedClock clock(absl::FromUnixSeconds(1767225600));
  ScriptedTransport server;
  server.answers = {RetryAfter(429, "0"), RetryAfter(429, "0"), Answer(200, "x")};
  server.on_call = [&clock] { clock.Advance(absl::Seconds(3)); };
  ApiClient client(server, clock, absl::Seconds(7));
  EXPECT_TRUE(client.Get("/x").ok());
  ASSERT_EQ(server.calls.size(), 3u);
  EXPECT_EQ(server.calls[1].timeout, absl::Seconds(4));
  EXPECT_EQ(server.calls[2].timeout, absl::Seconds(1));
}

TEST(ApiClientTest, AnUpdateIsTriedAgainOnlyWhileItMay) {
  for (const int allowed : {0, 1}) {
    ScriptedTransport server;
    server.answers = {RetryAfter(429, "0")};
    ApiClient client(server, Clock::System());
    int asked = 0;
    const auto stored = client.Update("/x", "{}", [&](bool maybe_done) {
      EXPECT_FALSE(maybe_done);
      return ++asked <= allowed;
    });
    EXPECT_EQ(stored.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(asked, allowed + 1);
    EXPECT_EQ(server.calls.size(), static_cast<size_t>(allowed) + 1);
  }
}

TEST(ApiClientTest, WhoIsAskedKnowsWhetherAnEarlierTryMayHaveHadItsEffect) {
  ScriptedTransport server;
  server.answers = {RetryAfter(429, "0"), RetryAfter(503, "0"), RetryAfter(429, "0"),
                    Answer(200, "x")};
  ApiClient client(server, Clock::System());
  std::vector<bool> told;
  const auto stored = client.Update("/x", "{}", [&](bool maybe_done) {
    told.push_back(maybe_done);
    return true;
  });
  EXPECT_TRUE(stored.ok());
  EXPECT_EQ(told, (std::vector<bool>{false, true, true}));
}

// Only then is it sure that it had no effect.
TEST(ApiClientTest, TooLargeAnAnswerIsNotTakenForTooManyRequests) {
  ScriptedTransport server;
  server.failure = absl::ResourceExhaustedError("the answer is too large");
  ApiClient client(server, Clock::System());
  EXPECT_EQ(client.Update("/x", "{}").status(), absl::InternalError("the answer is too large"));
}

TEST(ApiClientTest, ShutdownEndsTheWait) {
  ScriptedTransport server;
  server.answers = {RetryAfter(429, "3600")};
  ApiClient client(server, Clock::System(), absl::Hours(2));
  client.Shutdown();
  EXPECT_EQ(client.Get("/x").status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(server.calls.size(), 1u);
}

TEST(ObjectPathTest, Forms) {
  EXPECT_EQ(ObjectPath("", "v1", "shop", "pods", "web-1"), "/api/v1/namespaces/shop/pods/web-1");
  EXPECT_EQ(ObjectPath("apps", "v1", "shop", "deployments", "web", "scale"),
            "/apis/apps/v1/namespaces/shop/deployments/web/scale");
  EXPECT_EQ(ObjectPath("", "v1", "", "nodes", "n1", "status"), "/api/v1/nodes/n1/status");
  EXPECT_EQ(ObjectPath("", "v1", "shop", "events", ""), "/api/v1/namespaces/shop/events");
  // No name leads out of its segment.
  EXPECT_EQ(ObjectPath("", "v1", "a/b", "pods", "../x?y"),
            "/api/v1/namespaces/a%2Fb/pods/..%2Fx%3Fy");
}

}  // namespace
}  // namespace flyball::kube
