#include "apiservice/auth/review_client.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace flyball::apiservice {
namespace {

using Answer = absl::StatusOr<http::HttpAnswer>;

http::HttpAnswer Code(int status, bool retry_after = false) {
  http::HttpAnswer answer;
  answer.status = status;
  answer.body = "body";
  if (retry_after) answer.headers = {{"Retry-After", "0"}};
  return answer;
}

// Gives the scripted answers in turn, the last one for ever.
class ScriptedTransport : public http::HttpTransport {
 public:
  explicit ScriptedTransport(std::vector<Answer> answers) : answers_(std::move(answers)) {}
  Answer Do(const http::HttpCall& call) override {
    EXPECT_LE(call.timeout, absl::Seconds(10));
    const size_t index = std::min(static_cast<size_t>(calls++), answers_.size() - 1);
    return answers_[index];
  }
  absl::Status Stream(const http::HttpCall&,
                      const std::function<bool(absl::string_view)>&) override {
    return absl::UnimplementedError("not used");
  }
  void Shutdown() override {}
  int calls = 0;

 private:
  const std::vector<Answer> answers_;
};

struct ReviewClientRow {
  std::string name;
  std::vector<Answer> answers;
  bool ok;
  int calls;
};

class PostTest : public testing::TestWithParam<ReviewClientRow> {};

TEST_P(PostTest, Row) {
  ScriptedTransport transport(GetParam().answers);
  ReviewClient client(&transport, &Clock::System(), absl::Microseconds(1));
  EXPECT_EQ(client.Post("/x", "{}").ok(), GetParam().ok);
  EXPECT_EQ(transport.calls, GetParam().calls);
}

INSTANTIATE_TEST_SUITE_P(
    Retries, PostTest,
    testing::Values(
        ReviewClientRow{"Created", {Code(201)}, true, 1},
        ReviewClientRow{"FiveTriesOnServerError", {Code(500)}, false, 5},
        ReviewClientRow{"RecoversWithinFive", {Code(500), Code(504), Code(201)}, true, 3},
        ReviewClientRow{"ThrottledWithoutRetryAfter", {Code(429), Code(201)}, true, 2},
        ReviewClientRow{"RetryAfterOnAnyCode", {Code(503, true), Code(201)}, true, 2},
        ReviewClientRow{"UnavailableWithoutRetryAfter", {Code(503)}, false, 1},
        ReviewClientRow{"ForbiddenAtOnce", {Code(403)}, false, 1},
        ReviewClientRow{"RefusedConnectionAtOnce", {absl::UnavailableError("refused")}, false, 1}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flyball::apiservice
