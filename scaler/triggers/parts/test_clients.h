// Connections for tests, which, unlike all others, may lead to servers on this machine.
#pragma once

#include <memory>
#include <utility>

#include "base/clock.h"
#include "http/client/address_rules.h"
#include "scaler/triggers/parts/clients.h"

namespace flyball::scaler {

inline std::shared_ptr<TriggerClients> LoopbackClients(http::DnsSettings dns = {}) {
  return std::make_shared<TriggerClients>(
      Clock::System(),
      TriggerClientOptions{.addresses = *http::AddressRules::Parse({"127.0.0.0/8", "::1"}),
                           .dns = std::move(dns)});
}

}  // namespace flyball::scaler
