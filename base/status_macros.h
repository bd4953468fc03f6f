// RETURN_IF_ERROR and ASSIGN_OR_RETURN: return an absl::Status error to the caller unchanged.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define FLYBALL_CONCAT_INNER(a, b) a##b
#define FLYBALL_CONCAT(a, b) FLYBALL_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expr)                                                     \
  do {                                                                            \
    if (::absl::Status status_macro_status = (expr); !status_macro_status.ok()) { \
      return status_macro_status;                                                 \
    }                                                                             \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_INNER(FLYBALL_CONCAT(status_macro_value_, __LINE__), lhs, expr)

#define ASSIGN_OR_RETURN_INNER(tmp, lhs, expr) \
  auto tmp = (expr);                           \
  if (!tmp.ok()) return tmp.status();          \
  lhs = *std::move(tmp)
