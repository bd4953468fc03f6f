#include "apiservice/requests/negotiation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace flyball::apiservice {
namespace {

constexpr size_t kMaxClauses = 64;  // of one Accept header; further ones are not looked at

struct Clause {
  absl::string_view type, subtype;
  absl::string_view as, group, version;
  bool pretty = false;
  bool other_stream = false;  // than of a watch, which every list may be
  double q = 1;
};

absl::string_view Unquote(absl::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

std::optional<Clause> ParseClause(absl::string_view text) {
  Clause clause;
  const std::pair<absl::string_view, absl::string_view> halves =
      absl::StrSplit(text, absl::MaxSplits(';', 1));
  const absl::string_view range = absl::StripAsciiWhitespace(halves.first);
  if (const size_t slash = range.find('/'); slash != absl::string_view::npos) {
    clause.type = range.substr(0, slash);
    clause.subtype = range.substr(slash + 1);
  } else if (range == "*") {
    clause.type = clause.subtype = "*";
  } else {
    return std::nullopt;
  }
  for (absl::string_view part : absl::StrSplit(halves.second, ';')) {
    part = absl::StripAsciiWhitespace(part);
    const size_t equals = part.find('=');
    if (equals == absl::string_view::npos) continue;
    const absl::string_view key = part.substr(0, equals);
    const absl::string_view value = Unquote(part.substr(equals + 1));
    if (key == "as") clause.as = value;
    if (key == "g") clause.group = value;
    if (key == "v") clause.version = value;
    if (key == "pretty") clause.pretty = value == "1";
    if (key == "stream") clause.other_stream = !value.empty() && value != "watch";
    if (key == "q" && !absl::SimpleAtod(value, &clause.q)) clause.q = 0;
  }
  return clause;
}

bool Matches(const Clause& clause, absl::string_view subtype) {
  if (clause.type == "*") return clause.subtype == "*";
  return clause.type == "application" && (clause.subtype == subtype || clause.subtype == "*");
}

std::optional<Conversion> ConversionOf(const Clause& clause, Offer offer) {
  if (clause.as.empty() && clause.group.empty() && clause.version.empty()) return Conversion::kNone;
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
  std::vector<Clause> clauses;
  for (const absl::string_view text : absl::StrSplit(accept, ',')) {
    if (clauses.size() == kMaxClauses) break;
    if (std::optional<Clause> clause = ParseClause(text)) clauses.push_back(*clause);
  }
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const Clause& a, const Clause& b) { return a.q > b.q; });
  for (const Clause& clause : clauses) {
    if (clause.other_stream) continue;
    const std::optional<Conversion> conversion = ConversionOf(clause, offer);
    if (!conversion.has_value()) continue;
    for (const Serializer& serializer : kSerializers) {
      if (!Matches(clause, serializer.subtype)) continue;
      if (!IsMadeIn(*conversion, serializer.encoding)) continue;
      return MediaType{serializer.encoding, *conversion, clause.pretty};
    }
  }
  return std::nullopt;
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
  for (absl::string_view clause : absl::StrSplit(accept, ',')) {
    clause = absl::StripAsciiWhitespace(clause.substr(0, clause.find(';')));
    if (clause == "*/*" || std::find(types.begin(), types.end(), clause) != types.end()) {
      return true;
    }
  }
  return false;
}

}  // namespace flyball::apiservice
