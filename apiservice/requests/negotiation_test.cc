#include "apiservice/requests/negotiation.h"

#include <string>

#include <gtest/gtest.h>

namespace flyball::apiservice {
namespace {

struct NegotiationRow {
  std::string name;
  std::string accept;
  Offer offer;
  std::string want;  // Content-Type, "406", or "table"
};

class NegotiateTest : public testing::TestWithParam<NegotiationRow> {};

TEST_P(NegotiateTest, Row) {
  const auto got = Negotiate(GetParam().accept, GetParam().offer);
  std::string text = got.has_value() ? ContentTypeOf(*got) : "406";
  if (got.has_value() && got->conversion == Conversion::kTableV1) text = "table";
  EXPECT_EQ(text, GetParam().want);
}

constexpr Offer kPlain = {};
constexpr Offer kTables = {.tables = true};
constexpr Offer kVersions = {.server_versions = true};
constexpr Offer kDiscovery = {.discovery = true};
const std::string kV2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const std::string kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";

INSTANTIATE_TEST_SUITE_P(
    Headers, NegotiateTest,
    testing::Values(
        NegotiationRow{"None", "", kPlain, "application/json"},
        NegotiationRow{"Any", "*/*", kPlain, "application/json"},
        NegotiationRow{"Hpa", "application/vnd.kubernetes.protobuf, */*", kPlain,
                       "application/vnd.kubernetes.protobuf"},
        NegotiationRow{"Yaml", "application/yaml", kPlain, "application/yaml"},
        NegotiationRow{"Text", "text/plain", kPlain, "406"},
        NegotiationRow{"Late", std::string(8'000, ',') + "application/yaml", kPlain,
                       "application/yaml"},
        NegotiationRow{"TooLate", std::string(9'000, ',') + "application/yaml", kPlain, "406"},
        NegotiationRow{"CborAlone", "application/cbor", kPlain, "406"},
        NegotiationRow{"CborThenJson", "application/cbor, application/json", kPlain,
                       "application/json"},
        NegotiationRow{"Charset", "application/json;charset=utf-8", kPlain, "application/json"},
        NegotiationRow{"QOrders", "application/json;q=0.5, application/yaml;q=0.9", kPlain,
                       "application/yaml"},
        NegotiationRow{"QOfZeroIsTheLeastWanted", "application/json;q=0, application/yaml;q=0.1",
                       kPlain, "application/yaml"},
        NegotiationRow{"QOfZeroIsTaken", "application/json;q=0", kPlain, "application/json"},
        NegotiationRow{"QThatIsNoNumberIsZero", "application/json;q=x, application/yaml;q=0.1",
                       kPlain, "application/yaml"},
        NegotiationRow{"NamedTypesFirst", "*/*, application/yaml", kPlain, "application/yaml"},
        NegotiationRow{"NamedTypesFirstWhateverTheirQ", "*/*, application/yaml;q=0.1", kPlain,
                       "application/yaml"},
        NegotiationRow{"SpacesInAType", " application / yaml ", kPlain, "application/yaml"},
        NegotiationRow{"SlashBehindAType", "application/yaml/", kPlain, "application/yaml"},
        NegotiationRow{"ThreePartsOfAType", "application/yaml/x, application/json", kPlain,
                       "application/json"},
        NegotiationRow{"AnyByOneStar", "*", kPlain, "application/json"},
        NegotiationRow{"NoSubtype", "application/", kPlain, "406"},
        NegotiationRow{"OnlyACommaIsNoType", ",", kPlain, "406"},
        NegotiationRow{"QuotesBelongToValues", R"(application/json;as="Table";v=v1;g=meta.k8s.io)",
                       kTables, "406"},
        NegotiationRow{"EmptyParameterIsNone", "application/json;as=;q=, application/yaml;q=0.9",
                       kPlain, "application/json"},
        NegotiationRow{"BlankConversion", "application/json;as= ;q=1", kPlain, "406"},
        NegotiationRow{"SpacesAroundQ", "application/json;q= 1, application/yaml;q=0.1", kPlain,
                       "application/yaml"},
        NegotiationRow{"TwoEqualSigns", "application/json;as=x=y", kPlain, "application/json"},
        NegotiationRow{"EqualSignAtTheEnd", "application/json;as=x=", kPlain, "406"},
        NegotiationRow{"Stream", "application/json;stream=watch", kPlain, "application/json"},
        NegotiationRow{"OtherStream", "application/json;stream=x", kPlain, "406"},
        NegotiationRow{"NoStreamOfYaml", "application/yaml;stream=watch", kPlain, "406"},
        NegotiationRow{"ServerVersion", "application/json;sv=v1", kVersions, "application/json"},
        NegotiationRow{"NoServerVersionOfErrors", "application/json;sv=v1", kPlain, "406"},
        NegotiationRow{"OtherServerVersion", "application/json;sv=v2", kVersions, "406"},
        NegotiationRow{"TableAsYaml", "application/yaml;as=Table;v=v1;g=meta.k8s.io", kTables,
                       "table"},
        NegotiationRow{"NoTableAsProtobuf",
                       "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io", kTables,
                       "406"},
        NegotiationRow{"TableOnlyWherePlain", kTable, kPlain, "406"},
        NegotiationRow{"TableThenJson", kTable + ",application/json", kPlain, "application/json"},
        NegotiationRow{"Table", kTable, kTables, "table"},
        NegotiationRow{"Aggregated", kV2 + ",application/json", kDiscovery, kV2},
        NegotiationRow{"AggregatedElsewhere", kV2, kPlain, "406"}),
    [](const auto& info) { return info.param.name; });

TEST(TakesJsonTest, ByAnyClause) {
  for (const char* accept : {"", "*/*", "*", "*;=", "*/json", "application/*;q=0",
                             "text/html, application/json;as=Table"}) {
    EXPECT_EQ(TakesJson(accept), true) << accept;
  }
  for (const char* accept : {"text/html", "application/jsonx", "text/*;x=application/json"}) {
    EXPECT_EQ(TakesJson(accept), false) << accept;
  }
  for (const char* accept : {"json", ",", "application/json/x"}) {
    EXPECT_EQ(TakesJson(accept), std::nullopt) << accept;
  }
}

TEST(NamesTypeTest, LooksAtTheTypeAlone) {
  const auto names = [](absl::string_view accept) {
    return NamesType(accept, SupportedMediaTypes());
  };
  EXPECT_TRUE(names("text/html, application/yaml;q=0.1"));
  EXPECT_TRUE(names("application/json;as=Table;v=v1;g=meta.k8s.io"));
  EXPECT_TRUE(names("application/json;q=0"));
  EXPECT_TRUE(names("*/*"));
  EXPECT_TRUE(names(""));
  EXPECT_FALSE(names("text/html"));
  EXPECT_FALSE(names("application/*"));
  EXPECT_FALSE(names("APPLICATION/JSON"));
  EXPECT_FALSE(NamesType("application/yaml", {"application/json"}));
}

TEST(IsOfTypeTest, AnyOfSeveralTypesCounts) {
  const auto taken = [](absl::string_view type) { return IsOfType(type, SupportedMediaTypes()); };
  EXPECT_TRUE(taken(""));
  EXPECT_TRUE(taken("application/json; charset=utf-8"));
  EXPECT_TRUE(taken("text/html , application/yaml"));
  EXPECT_TRUE(taken("application/json,"));
  EXPECT_FALSE(taken("*/*"));
  EXPECT_FALSE(taken("APPLICATION/JSON"));
  EXPECT_FALSE(taken(","));
  EXPECT_FALSE(IsOfType("application/yaml", {"application/json"}));
}

}  // namespace
}  // namespace flyball::apiservice
