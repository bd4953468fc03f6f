// The syntax tree of a PromQL expression.
//
// Plain values, owned top down, immutable once parsed. Durations and times are int64 milliseconds.
// Parentheses are kept as nodes, so that a tree prints as written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "promql/matcher.h"

namespace flyball::promql {

enum class ValueType { kScalar, kString, kVector, kMatrix };

// "scalar", "string", "instant vector", "range vector".
absl::string_view TypeName(ValueType type);

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;
struct Function;  // functions.h

struct NumberLiteral {
  double value = 0;
};

struct StringLiteral {
  std::string value;
};

// The `offset` and `@` of a selector or subquery.
struct TimeShift {
  int64_t offset_ms = 0;
  enum class At { kNone, kTime, kStart, kEnd };
  At at = At::kNone;
  int64_t at_ms = 0;  // for kTime
};

struct Selector {
  std::string name;               // as written before the braces; "" if absent
  std::vector<Matcher> matchers;  // the name's included, last
  int64_t range_ms = 0;           // > 0: a range vector
  TimeShift shift;
};

struct Subquery {
  ExprPtr expr;
  int64_t range_ms = 0;
  int64_t step_ms = 0;  // 0: the default
  TimeShift shift;
};

struct Call {
  const Function* function = nullptr;
  std::vector<ExprPtr> args;
};

struct Grouping {
  bool without = false;  // false: by
  bool given = false;
  std::vector<std::string> labels;
};

struct Aggregation {
  std::string op;  // "sum"
  Grouping grouping;
  ExprPtr param;  // null for operators without one
  ExprPtr expr;
};

enum class Cardinality { kOneToOne, kManyToOne, kOneToMany, kManyToMany };

struct Matching {
  bool given = false;  // on or ignoring was written
  bool on = false;     // false: ignoring
  std::vector<std::string> labels;
  Cardinality cardinality = Cardinality::kOneToOne;
  std::vector<std::string> include;  // of group_left or group_right
};

struct Binary {
  std::string op;    // "+", "==", "and"
  size_t op_at = 0;  // byte offset
  bool return_bool = false;
  Matching matching;
  ExprPtr lhs, rhs;
};

struct Unary {
  bool negative = false;
  ExprPtr expr;
};

struct Paren {
  ExprPtr expr;
};

struct Expr {
  std::variant<NumberLiteral, StringLiteral, Selector, Subquery, Call, Aggregation, Binary, Unary,
               Paren>
      node;
  size_t at = 0;  // byte offset of the first token
  int depth = 1;  // nodes on the longest path down, this one included

  ValueType Type() const;
  template <typename T>
  const T* As() const {
    return std::get_if<T>(&node);
  }
};

// The expression inside its parentheses.
const Expr& Unwrap(const Expr& expr);

bool IsComparison(absl::string_view op);   // == != > < >= <=
bool IsSetOperator(absl::string_view op);  // and or unless

// Canonical PromQL: `sum by (pod) (rate(x{a="b"}[5m] offset 1m))`. Parsing it gives the same tree.
std::string Print(const Expr& expr);

}  // namespace flyball::promql
