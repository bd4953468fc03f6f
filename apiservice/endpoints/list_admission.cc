#include "apiservice/endpoints/list_admission.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apiservice/wire/sizes.h"
#include "base/free_memory.h"

namespace flyball::apiservice {
namespace {

// How many bytes of memory making an answer takes for each byte of compact JSON: an indented answer
// exists twice, once longer; in protobuf it exists twice, and grows; YAML is made from a tree.
size_t MemoryForEachByte(const Style& style) {
  if (style.media.encoding == Encoding::kYaml) return 12;
  if (style.media.encoding == Encoding::kProtobuf) return 3;
  return style.pretty ? 3 : 1;
}

// The same of a list that is asked for, for each byte of its JSON: the names, the query of them,
// the result and the list.
constexpr size_t kMemoryToAsk = 4;

}  // namespace

http::HttpResponse NoRoom(const absl::Status& why) {
  return absl::IsResourceExhausted(why) ? TooManyRequests() : TimeoutResponse();
}

ListAdmission::ListAdmission(const Limits& limits, const Style& style, size_t repeated_bytes)
    : limits_(limits), style_(style), repeated_bytes_(repeated_bytes) {}

size_t ListAdmission::AnswerMemory(size_t json_bytes) const {
  return json_bytes * (MemoryForEachByte(style_) + (style_.gzip ? 1 : 0));
}

absl::Status ListAdmission::TakeFrom(http::Room& room, size_t amount, const adapter::ListSize& size,
                                     std::shared_ptr<const void>& share) {
  auto taken = room.Take(amount, limits_.deadline, size.held_bytes, size.counted);
  if (taken.ok()) {
    share = *std::move(taken);
    if (amount >= kMuchMemory) ReturnFreeMemory();
    return absl::OkStatus();
  }
  refused_ = NoRoom(taken.status());
  return absl::ResourceExhaustedError(taken.status().message());
}

absl::Status ListAdmission::Take(const adapter::ListSize& size) {
  const size_t list_bytes = wire::JsonBytes(size.items, size.text_bytes);
  if (size.to_ask) {
    return TakeFrom(limits_.lists, list_bytes * kMemoryToAsk, size, listing_);
  }
  // What the provider holds is there until the list that is made of it, and as large, is an answer.
  const size_t list_memory = std::max(list_bytes, 2 * size.held_bytes);
  const size_t json_bytes = list_bytes + size.items * repeated_bytes_;
  refused_ = TooLong(json_bytes);
  if (refused_.has_value()) return absl::ResourceExhaustedError("the answer would be too long");
  return TakeFrom(limits_.answers, list_memory + AnswerMemory(json_bytes), size, held_);
}

// Counted before the answer is made. In protobuf, as kubectl asks for lists, an answer is no longer
// than as JSON and may have as much.
std::optional<http::HttpResponse> ListAdmission::TooLong(size_t json_bytes) const {
  const bool proto = style_.media.encoding == Encoding::kProtobuf;
  const size_t factor = proto ? 1 : MemoryForEachByte(style_);
  if (json_bytes <= limits_.max_bytes / factor) return std::nullopt;
  std::string text =
      absl::StrCat("the answer would have about ", json_bytes, " bytes, more than the ",
                   limits_.max_bytes / factor, " that --max-answer-bytes allows in this form");
  if (factor > 1) absl::StrAppend(&text, "; compact JSON may have ", limits_.max_bytes);
  return StatusResponse(wire::RequestEntityTooLarge(text), style_);
}

std::optional<http::HttpResponse> ListAdmission::Refusal(size_t json_bytes) {
  if (auto too_long = TooLong(json_bytes)) return too_long;
  // The list itself counts among `lists`, or is of one object, or was kept from before.
  if (held_ == nullptr) {
    const size_t held_bytes = listing_ != nullptr ? 0 : json_bytes;
    (void)TakeFrom(limits_.answers, AnswerMemory(json_bytes), {.held_bytes = held_bytes}, held_);
  }
  return refused_;
}

}  // namespace flyball::apiservice
