// Third stage of the template language: tree and data to text.
//
// Pure; a tree may be executed on many threads at once. Source: Go's text/template/exec.go. Limits,
// where Go has none: kMaxOutput bytes of text, kMaxSteps statements and values, kMaxDepth
// templates inside templates (Go: 100000).
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "rules/template/tree.h"
#include "rules/template/value.h"

namespace flyball::rules::tmpl {

inline constexpr size_t kMaxOutput = 1 << 20;
inline constexpr int kMaxSteps = 100'000;
inline constexpr int kMaxDepth = 50;

// kInvalidArgument: the template uses something that the data or a function does not have; the
// message says where. kResourceExhausted: a limit.
absl::StatusOr<std::string> Execute(const Tree& tree, const Value& data);

}  // namespace flyball::rules::tmpl
