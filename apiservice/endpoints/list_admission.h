// Decides whether the list of one request may be made: there has to be room for it, and its answer
// may not be too long.
//
// Of one thread. A provider asks for the room as soon as it knows how long the list will be, which
// is before many requests for long lists hold what they are made of.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "adapter/provider.h"
#include "apiservice/requests/render.h"
#include "base/clock.h"
#include "http/server/message.h"
#include "http/server/room.h"

namespace flyball::apiservice {

// The answer where Room::Take failed.
http::HttpResponse NoRoom(const absl::Status& why);

class ListAdmission {
 public:
  // An answer may have `max_bytes` of compact JSON. The rooms outlive this. `lists` is for the
  // lists that a metric source is being asked for: it may take seconds, in which others need the
  // room of `answers`.
  struct Limits {
    size_t max_bytes;
    http::Room& lists;
    http::Room& answers;
    MonotonicTime deadline;
  };

  // `repeated_bytes`: what each item of the answer has beside that which ListSize counts.
  ListAdmission(const Limits& limits, const Style& style, size_t repeated_bytes);

  // For a provider's request; this outlives it.
  adapter::AdmitList Admit() {
    return [this](const adapter::ListSize& size) { return Take(size); };
  }
  // The refusal of a list that would have so many bytes as JSON, or for which there is no room.
  // nullopt: its answer may be made.
  std::optional<http::HttpResponse> Refusal(size_t json_bytes);
  // Why Admit refused the list; nullopt: it did not.
  const std::optional<http::HttpResponse>& refused() const { return refused_; }
  // What the answer has to hold until it is sent.
  std::shared_ptr<const void> held() const { return held_; }

 private:
  absl::Status Take(const adapter::ListSize& size);
  absl::Status TakeFrom(http::Room& room, size_t amount, const adapter::ListSize& size,
                        std::shared_ptr<const void>& share);
  // The memory in which an answer of that length is made.
  size_t AnswerMemory(size_t json_bytes) const;
  std::optional<http::HttpResponse> TooLong(size_t json_bytes) const;

  const Limits limits_;
  const Style style_;
  const size_t repeated_bytes_;
  std::shared_ptr<const void> listing_;  // until the answer is made
  std::shared_ptr<const void> held_;     // nullptr: room for the answer was not asked for yet
  std::optional<http::HttpResponse> refused_;
};

}  // namespace flyball::apiservice
