// Handles the failure to make a thread: std::thread throws when the limit of the container, the
// user or the machine is reached. That must not end the process.
#pragma once

#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace flyball {

// Returns what `make`, which starts threads, returns: a status or a value. kResourceExhausted if
// they can't be made.
template <typename Make, typename Made = decltype(std::declval<Make>()())>
auto UnlessNoThread(Make make)
    -> std::conditional_t<std::is_same_v<Made, absl::Status>, absl::Status, absl::StatusOr<Made>> {
  try {
    return make();
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(absl::StrCat("no thread can be made: ", error.what()));
  }
}

// A thread that runs `run`, or kResourceExhausted.
template <typename Run>
absl::StatusOr<std::thread> MakeThread(Run run) {
  return UnlessNoThread([&run] { return std::thread(std::move(run)); });
}

}  // namespace flyball
