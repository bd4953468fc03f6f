// Evaluates one query moment by moment; the implementation of engine.h.
//
// Not thread-safe; one for each query.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/go/regexp.h"
#include "base/status_macros.h"
#include "promql/ast.h"
#include "promql/engine/engine.h"
#include "promql/engine/functions.h"
#include "promql/engine/query_memory.h"
#include "promql/engine/samples.h"
#include "promql/engine/series.h"
#include "promql/engine/value.h"
#include "promql/matcher.h"

namespace flyball::promql {

// The results of one expression at successive moments.
struct RangesInTheMaking {
  std::vector<Range> series;
  absl::flat_hash_map<Labels, size_t> index;  // into `series`
  size_t bytes = 0;                           // approximate size of all of this
};

class Evaluator {
 public:
  // `steps` are those of the whole query; start and end are equal for an instant query.
  Evaluator(const EvalOptions& options, const Steps& steps)
      : options_(options),
        steps_(steps),
        memory_(options.memory != nullptr ? *options.memory : unlimited_),
        meter_(options.interrupted) {}

  // Reads the samples of `expr`'s selectors for all steps. To be called once, first.
  absl::Status Load(const Expr& expr, const SeriesReader& store) {
    return Load(expr, store, {steps_.start_ms, steps_.end_ms});
  }
  // Evaluates at one of the steps.
  absl::StatusOr<Value> EvalMoment(const Expr& expr, int64_t now_ms);
  // Adds the values of a moment that is later than all before.
  absl::Status Append(int64_t at_ms, Vector vector, RangesInTheMaking& ranges);

 private:
  // One series in a window. Its points belong to the samples of a selector or to a subquery.
  struct Window {
    const Labels& source;  // the series' own labels
    const Labels& labels;  // for the result: without the name unless that is kept
    absl::Span<const Point> points;
  };

  absl::Status Load(const Expr& expr, const SeriesReader& store, TimeSpan moments);
  absl::Status LoadSelector(const Selector& selector, const SeriesReader& store, TimeSpan moments);
  // Counts the memory of the result until the caller has made its own value from it.
  absl::StatusOr<Value> Eval(const Expr& expr, int64_t now_ms);
  absl::StatusOr<Value> EvalNode(const Expr& expr, int64_t now_ms);

  // Counts points that are kept until the query ends.
  absl::Status Hold(size_t points);
  // Does the same for labels, if they are longer than a series' own, which belong to the store.
  absl::Status HoldLabels(const Labels& labels);
  // Makes the label sets without names of all series of the selector.
  absl::Status MakeNameless(SelectorSamples& samples);

  // The series of a selector; over all selectors at most as many as points may be kept.
  absl::StatusOr<SeriesList> SeriesOf(const Selector& selector, const SeriesReader& store);
  absl::Status LoadCall(const Call& call, const SeriesReader& store, TimeSpan moments);

  // Counts work: elements and points that were read.
  absl::Status Charge(size_t points);
  bool closed() const { return options_.dialect == Dialect::k2; }
  // The window of this length that ends at `end_ms`. Its left end is included only in dialect 2.
  TimeSpan WindowTo(int64_t end_ms, int64_t length_ms) const {
    return {end_ms - length_ms + (closed() ? 0 : 1), end_ms};
  }
  // The moments at which a subquery that ends there evaluates its inside.
  int64_t StepOf(const Subquery& subquery) const {
    return subquery.step_ms > 0 ? subquery.step_ms : options_.default_step_ms;
  }
  int64_t FirstStep(const Subquery& subquery, int64_t end_ms) const;
  // The moment that a selector's `@` names, else now; its offset is not yet subtracted.
  int64_t BaseTime(const TimeShift& shift, int64_t now_ms) const;

  // For an expression whose type is known to be T's.
  template <typename T>
  absl::StatusOr<T> EvalAs(const Expr& expr, int64_t now_ms) {
    ASSIGN_OR_RETURN(Value value, Eval(expr, now_ms));
    return std::get<T>(std::move(value));
  }

  absl::StatusOr<Vector> EvalSelector(const Selector& selector, int64_t now_ms);
  absl::StatusOr<Matrix> EvalMatrixSelector(const Selector& selector, int64_t now_ms);
  // The series of a range selector that have samples in this time.
  absl::StatusOr<std::vector<Window>> WindowsOf(const Selector& selector, TimeSpan span,
                                                bool keep_name);
  absl::StatusOr<Matrix> EvalSubquery(const Subquery& subquery, int64_t now_ms);

  absl::StatusOr<Value> EvalUnary(const Unary& unary, int64_t now_ms);
  absl::StatusOr<Value> EvalBinary(const Binary& binary, int64_t now_ms);
  absl::StatusOr<Vector> EvalAggregation(const Aggregation& aggregation, int64_t now_ms);

  absl::StatusOr<Value> EvalCall(const Call& call, int64_t now_ms);
  absl::StatusOr<Vector> EvalVectorCall(const Call& call, int64_t now_ms);
  // Evaluates the operand of an aggregation.
  absl::StatusOr<Vector> EvalGrouped(const Aggregation& aggregation, int64_t now_ms);
  absl::StatusOr<Vector> EvalRangeCall(const Call& call, int64_t now_ms, bool keep_name);
  // The function that a call applies to windows, looked up once for all of them.
  struct WindowFunction {
    explicit WindowFunction(const Call& its_call);
    const Call& call;
    const RangeFunction function;
    const bool smooths;
    const bool may_collide;  // two series may become equal without the name
  };
  absl::StatusOr<Vector> ApplyToWindows(const WindowFunction& function, WindowArgs args,
                                        const std::vector<Window>& windows);
  // For a selector that is read series by series.
  absl::StatusOr<Vector> ApplyToSeries(const WindowFunction& function, WindowArgs args,
                                       SelectorSamples& samples, TimeSpan span, bool keep_name);
  // Adds the function's result for one window, if there is one.
  absl::Status ApplyToWindow(const WindowFunction& function, WindowArgs& args, const Window& window,
                             Vector& result);
  absl::Status CheckOneSource(const void* node, const Labels& result, const Labels& source);
  absl::StatusOr<Vector> EvalTimestamp(const Expr& arg, int64_t now_ms);
  absl::StatusOr<Vector> EvalAbsent(const Call& call, int64_t now_ms);
  absl::StatusOr<Vector> EvalLabelCall(const Call& call, int64_t now_ms);
  // The regular expression of a call of label_replace.
  absl::StatusOr<const go::Regexp*> RegexOf(const Call& call, const std::string& pattern);
  absl::StatusOr<Vector> EvalClamp(const Call& call, int64_t now_ms);

  const EvalOptions& options_;
  const Steps steps_;
  QueryMemory unlimited_{0};
  QueryMemory& memory_;
  int64_t held_ = 0;
  int64_t held_by_labels_ = 0;  // the part for labels that were made longer in this moment
  int64_t series_ = 0;          // that selectors found
  int64_t work_ = 0;
  WorkMeter meter_;  // of work that has no limit but the deadline
  absl::node_hash_map<const Selector*, SelectorSamples> samples_;
  // Their patterns are texts, the same at each moment.
  RegexRoom regex_room_;
  absl::node_hash_map<const Call*, go::Regexp> regexes_;
  // Over all moments: the series that each result of an operation was made of.
  absl::flat_hash_map<const void*, absl::flat_hash_map<Labels, Labels>> sources_;
};

}  // namespace flyball::promql
