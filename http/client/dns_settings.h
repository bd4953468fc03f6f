// Where DNS questions are sent.
#pragma once

#include <string>

namespace flyball::http {

// For tests only: the program uses the machine's settings.
struct DnsSettings {
  std::string resolv_conf;  // a file instead of /etc/resolv.conf
  std::string servers;      // "address:port,…" instead of those in the file
};

}  // namespace flyball::http
