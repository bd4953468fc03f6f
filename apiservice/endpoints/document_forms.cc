#include "apiservice/endpoints/document_forms.h"

namespace flyball::apiservice {

DocumentForms::Body DocumentForms::Get(const Style& style,
                                       const std::function<std::string()>& make) {
  const absl::MutexLock lock(&mutex_);
  Body& body = made_[{style.media.encoding, style.pretty}];
  if (body == nullptr) body = std::make_shared<const std::string>(make());
  return body;
}

}  // namespace flyball::apiservice
