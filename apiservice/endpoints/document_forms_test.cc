#include "apiservice/endpoints/document_forms.h"

#include <gtest/gtest.h>

namespace flyball::apiservice {
namespace {

TEST(DocumentFormsTest, EachFormIsMadeOnce) {
  DocumentForms forms;
  int made = 0;
  const auto make = [&] { return std::to_string(++made); };
  Style yaml, pretty;
  yaml.media.encoding = Encoding::kYaml;
  pretty.pretty = true;
  const DocumentForms::Body first = forms.Get(yaml, make);
  EXPECT_EQ(*first, "1");
  EXPECT_EQ(*forms.Get(pretty, make), "2");
  EXPECT_EQ(forms.Get(yaml, make), first);
  EXPECT_EQ(*forms.Get(pretty, make), "2");
}

}  // namespace
}  // namespace flyball::apiservice
