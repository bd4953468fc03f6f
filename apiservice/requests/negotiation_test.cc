#include "apiservice/requests/negotiation.h"

#include <string>

#include <gtest/gtest.h>

namespace flyball::apiservice {
namespace {

struct Row {
  std::string name;
  std::string accept;
  Offer offer;
  std::string want;  // Content-Type, "406", or "table"
};

class NegotiateTest : public testing::TestWithParam<Row> {};

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
        Row{"None", "", kPlain, "application/json"}, Row{"Any", "*/*", kPlain, "application/json"},
        Row{"Hpa", "application/vnd.kubernetes.protobuf, */*", kPlain,
            "application/vnd.kubernetes.protobuf"},
        Row{"Yaml", "application/yaml", kPlain, "application/yaml"},
        Row{"Text", "text/plain", kPlain, "406"},
        Row{"Late", std::string(8'000, ',') + "application/yaml", kPlain, "application/yaml"},
        Row{"TooLate", std::string(9'000, ',') + "application/yaml", kPlain, "406"},
        Row{"CborAlone", "application/cbor", kPlain, "406"},
        Row{"CborThenJson", "application/cbor, application/json", kPlain, "application/json"},
        Row{"Charset", "application/json;charset=utf-8", kPlain, "application/json"},
        Row{"QOrders", "application/json;q=0.5, application/yaml;q=0.9", kPlain,
            "application/yaml"},
        Row{"QOfZeroIsTheLeastWanted", "application/json;q=0, application/yaml;q=0.1", kPlain,
            "application/yaml"},
        Row{"QOfZeroIsTaken", "application/json;q=0", kPlain, "application/json"},
        Row{"QThatIsNoNumberIsZero", "application/json;q=x, application/yaml;q=0.1", kPlain,
            "application/yaml"},
        Row{"NamedTypesFirst", "*/*, application/yaml", kPlain, "application/yaml"},
        Row{"NamedTypesFirstWhateverTheirQ", "*/*, application/yaml;q=0.1", kPlain,
            "application/yaml"},
        Row{"SpacesInAType", " application / yaml ", kPlain, "application/yaml"},
        Row{"SlashBehindAType", "application/yaml/", kPlain, "application/yaml"},
        Row{"ThreePartsOfAType", "application/yaml/x, application/json", kPlain,
            "application/json"},
        Row{"AnyByOneStar", "*", kPlain, "application/json"},
        Row{"NoSubtype", "application/", kPlain, "406"},
        Row{"OnlyACommaIsNoType", ",", kPlain, "406"},
        Row{"QuotesBelongToValues", R"(application/json;as="Table";v=v1;g=meta.k8s.io)", kTables,
            "406"},
        Row{"EmptyParameterIsNone", "application/json;as=;q=, application/yaml;q=0.9", kPlain,
            "application/json"},
        Row{"BlankConversion", "application/json;as= ;q=1", kPlain, "406"},
        Row{"SpacesAroundQ", "application/json;q= 1, application/yaml;q=0.1", kPlain,
            "application/yaml"},
        Row{"TwoEqualSigns", "application/json;as=x=y", kPlain, "application/json"},
        Row{"EqualSignAtTheEnd", "application/json;as=x=", kPlain, "406"},
        Row{"Stream", "application/json;stream=watch", kPlain, "application/json"},
        Row{"OtherStream", "application/json;stream=x", kPlain, "406"},
        Row{"NoStreamOfYaml", "application/yaml;stream=watch", kPlain, "406"},
        Row{"ServerVersion", "application/json;sv=v1", kVersions, "application/json"},
        Row{"NoServerVersionOfErrors", "application/json;sv=v1", kPlain, "406"},
        Row{"OtherServerVersion", "application/json;sv=v2", kVersions, "406"},
        Row{"TableAsYaml", "application/yaml;as=Table;v=v1;g=meta.k8s.io", kTables, "table"},
        Row{"NoTableAsProtobuf", "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
            kTables, "406"},
        Row{"TableOnlyWherePlain", kTable, kPlain, "406"},
        Row{"TableThenJson", kTable + ",application/json", kPlain, "application/json"},
        Row{"Table", kTable, kTables, "table"},
        Row{"Aggregated", kV2 + ",application/json", kDiscovery, kV2},
        Row{"AggregatedElsewhere", kV2, kPlain, "406"}),
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
