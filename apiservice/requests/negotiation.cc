#include "apiservice/requests/negotiation.h"

#include <algorithm>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/go/number.h"

namespace flyball::apiservice {
namespace {

constexpr size_t kMaxClauses = 64;  // of one Accept header; further ones are not looked at
constexpr size_t kMaxAcceptBytes = 8
                                   << 10;  // what follows is not read: it is not known yet who asks

struct Clause {
  absl::string_view type, subtype;
  std::optional<absl::string_view> as, group, version;
  absl::string_view stream, server_version;
  bool pretty = false;
  double q = 1;
};

// No other white space counts.
absl::string_view WithoutSpaces(absl::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == absl::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// Takes off what stands before the first `separator`, and the separator.
absl::string_view TakeUpTo(char separator, absl::string_view& text) {
  const size_t at = text.find(separator);
  const absl::string_view before = text.substr(0, at);
  text.remove_prefix(at == absl::string_view::npos ? text.size() : at + 1);
  return before;
}

void SetParameter(absl::string_view key, absl::string_view value, Clause& clause) {
  if (key == "q") {
    clause.q = go::ParseFloat(value).value_or(0);
    return;
  }
  value = WithoutSpaces(value);
  if (key == "as") clause.as = value;
  if (key == "g") clause.group = value;
  if (key == "v") clause.version = value;
  if (key == "sv") clause.server_version = value;
  if (key == "pretty") clause.pretty = value == "1";
  if (key == "stream") clause.stream = value;
}

// Quotation marks are characters like others. A separator behind which nothing comes is no error.
std::optional<Clause> ParseClause(absl::string_view text) {
  Clause clause;
  absl::string_view parameters = WithoutSpaces(text);
  absl::string_view subtype = TakeUpTo(';', parameters);
  clause.type = WithoutSpaces(TakeUpTo('/', subtype));
  if (subtype.empty()) {
    if (clause.type != "*") return std::nullopt;
    clause.subtype = "*";
  } else {
    clause.subtype = WithoutSpaces(TakeUpTo('/', subtype));
    if (!subtype.empty()) return std::nullopt;
  }
  while (!parameters.empty()) {
    absl::string_view value = TakeUpTo(';', parameters);
    const absl::string_view key = WithoutSpaces(TakeUpTo('=', value));
    if (value.empty()) continue;
    absl::string_view more = value;
    value = TakeUpTo('=', more);
    if (more.empty()) SetParameter(key, value, clause);
  }
  return clause;
}

bool Contains(const std::vector<std::string>& types, absl::string_view type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// Whether that holds for the type of a clause, without its parameters.
bool AnyTypeIs(absl::string_view header, absl::FunctionRef<bool(absl::string_view)> wanted) {
  for (const absl::string_view clause : absl::StrSplit(header, ',')) {
    if (wanted(WithoutSpaces(clause.substr(0, clause.find(';'))))) return true;
  }
  return false;
}

std::vector<Clause> ParseAccept(absl::string_view accept) {
  std::vector<Clause> clauses;
  for (const absl::string_view text : absl::StrSplit(accept.substr(0, kMaxAcceptBytes), ',')) {
    if (clauses.size() == kMaxClauses) break;
    if (std::optional<Clause> clause = ParseClause(text)) clauses.push_back(*clause);
  }
  return clauses;
}

// Not a strict order: of two clauses each may come before the other.
bool ComesBefore(const Clause& a, const Clause& b) {
  return a.q > b.q || (a.type != "*" && b.type == "*") || (a.subtype != "*" && b.subtype == "*");
}

// Sorts like Go's sort.Sort with up to twelve elements: with such an order the algorithm matters.
void Sort(std::vector<Clause>& clauses) {
  for (size_t i = 1; i < clauses.size(); ++i) {
    for (size_t j = i; j > 0 && ComesBefore(clauses[j], clauses[j - 1]); --j) {
      std::swap(clauses[j], clauses[j - 1]);
    }
  }
}

bool Matches(const Clause& clause, absl::string_view subtype) {
  if (clause.type == "*") return clause.subtype == "*";
  return clause.type == "application" && (clause.subtype == subtype || clause.subtype == "*");
}

// YAML can't be streamed; of the server's API there is one version.
bool IsKnown(const Clause& clause, Encoding encoding, Offer offer) {
  if (!clause.stream.empty() && (clause.stream != "watch" || encoding == Encoding::kYaml)) {
    return false;
  }
  return clause.server_version.empty() || (offer.server_versions && clause.server_version == "v1");
}

std::optional<Conversion> ConversionOf(const Clause& clause, Offer offer) {
  if (!clause.as && !clause.group && !clause.version) return Conversion::kNone;
  if (offer.tables && clause.as == "Table" && clause.group == "meta.k8s.io") {
    if (clause.version == "v1") return Conversion::kTableV1;
    if (clause.version == "v1beta1") return Conversion::kTableV1Beta1;
  }
  if (offer.discovery && clause.as == "APIGroupDiscoveryList" &&
      clause.group == "apidiscovery.k8s.io") {
    if (clause.version == "v2") return Conversion::kDiscoveryV2;
    if (clause.version == "v2beta1") return Conversion::kDiscoveryV2Beta1;
  }
  return std::nullopt;
}

// Tables have no protobuf form, aggregated discovery is made in JSON only.
bool IsMadeIn(Conversion conversion, Encoding encoding) {
  if (conversion == Conversion::kNone || encoding == Encoding::kJson) return true;
  return IsTable(conversion) && encoding == Encoding::kYaml;
}

struct Serializer {
  absl::string_view subtype;
  Encoding encoding;
};

constexpr Serializer kSerializers[] = {{"json", Encoding::kJson},
                                       {"yaml", Encoding::kYaml},
                                       {"vnd.kubernetes.protobuf", Encoding::kProtobuf}};

}  // namespace

bool IsTable(Conversion conversion) {
  return conversion == Conversion::kTableV1 || conversion == Conversion::kTableV1Beta1;
}

std::optional<MediaType> Negotiate(absl::string_view accept, Offer offer) {
  if (absl::StripAsciiWhitespace(accept).empty()) return MediaType();
  std::vector<Clause> clauses = ParseAccept(accept);
  Sort(clauses);
  for (const Clause& clause : clauses) {
    const std::optional<Conversion> conversion = ConversionOf(clause, offer);
    if (!conversion.has_value()) continue;
    for (const Serializer& serializer : kSerializers) {
      if (!Matches(clause, serializer.subtype)) continue;
      if (!IsKnown(clause, serializer.encoding, offer)) continue;
      if (!IsMadeIn(*conversion, serializer.encoding)) continue;
      return MediaType{serializer.encoding, *conversion, clause.pretty};
    }
  }
  return std::nullopt;
}

std::optional<bool> TakesJson(absl::string_view accept) {
  if (accept.empty()) return true;
  const std::vector<Clause> clauses = ParseAccept(accept);
  if (clauses.empty()) return std::nullopt;
  return std::any_of(clauses.begin(), clauses.end(), [](const Clause& clause) {
    return (clause.type == "application" || clause.type == "*") &&
           (clause.subtype == "json" || clause.subtype == "*");
  });
}

std::string ContentTypeOf(MediaType type) {
  const bool v2 = type.conversion == Conversion::kDiscoveryV2;
  if (v2 || type.conversion == Conversion::kDiscoveryV2Beta1) {
    return absl::StrCat("application/json;g=apidiscovery.k8s.io;v=", v2 ? "v2" : "v2beta1",
                        ";as=APIGroupDiscoveryList");
  }
  return SupportedMediaTypes()[static_cast<size_t>(type.encoding)];
}

// In the order of Encoding.
const std::vector<std::string>& SupportedMediaTypes() {
  static const auto* const kTypes = new std::vector<std::string>{
      "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"};
  return *kTypes;
}

const std::vector<std::string>& SupportedListMediaTypes() {
  static const auto* const kTypes = new std::vector<std::string>{
      "application/json", "application/yaml", "application/vnd.kubernetes.protobuf",
      "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"};
  return *kTypes;
}

bool NamesType(absl::string_view accept, const std::vector<std::string>& types) {
  if (absl::StripAsciiWhitespace(accept).empty()) return true;
  return AnyTypeIs(accept,
                   [&](absl::string_view type) { return type == "*/*" || Contains(types, type); });
}

bool IsOfType(absl::string_view content_type, const std::vector<std::string>& types) {
  if (content_type.empty()) return true;
  return AnyTypeIs(content_type, [&](absl::string_view type) { return Contains(types, type); });
}

}  // namespace flyball::apiservice
