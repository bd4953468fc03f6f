// The module's server. The program sees only the symbol at the end of this file.
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "scaler/front/module/data_path_server.h"
#include "scaler/front/module/grpc/acceptor.h"
#include "scaler/front/module/grpc/ads_service.h"
#include "scaler/front/module/grpc/gate_service.h"
#include "scaler/front/module/grpc/metrics_service.h"
#include "scaler/front/module/grpc/peers.h"

namespace flyball::front {
namespace {

constexpr int kMaxMessageBytes = 16 << 20;
constexpr AdmissionWindow::Limits kAdmission;

void SetConnections(grpc::ServerBuilder& builder) {
  // Envoys ping every 5 s, also while nothing is sent. By gRPC's defaults that is too often, and
  // their connections would be closed after half a minute.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
  // Pings detect an Envoy whose node is lost, which does not close its connection.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 5000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 3000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // By default a peer that shows no certificate is kept for two minutes.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             static_cast<int>(absl::ToInt64Milliseconds(kAdmission.window)));
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
}

class GrpcDataPathServer : public DataPathServer {
 public:
  GrpcDataPathServer(const DataPathServerOptions& options, const Clock& clock,
                     DataPathEvents& events)
      : clock_(clock),
        ads_(clock, options.peer_name, events),
        gate_(clock, options.peer_name, events),
        metrics_(clock, options.peer_name, events) {}

  ~GrpcDataPathServer() override {
    // First, since gRPC neither serves nor closes a connection that it is given while it ends.
    acceptor_.reset();
    if (server_ == nullptr) return;
    // Time 0 ends all calls at once. gRPC would take a time before 1970 as one that never comes.
    server_->Shutdown(std::chrono::system_clock::from_time_t(0));
    server_->Wait();
  }

  absl::Status Listen(const DataPathServerOptions& options) {
    const auto window = std::make_shared<AdmissionWindow>(kAdmission);
    ASSIGN_OR_RETURN(const auto credentials,
                     CredentialsFor(options, [window] { window->Shown(); }));
    ASSIGN_OR_RETURN(acceptor_, Acceptor::Listen(options.listen, window));
    grpc::ServerBuilder builder;
    SetConnections(builder);
    using FromOutside = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    connections_ =
        builder.experimental().AddExternalConnectionAcceptor(FromOutside::FROM_FD, credentials);
    builder.RegisterService(&ads_);
    builder.RegisterService(&gate_);
    builder.RegisterService(&metrics_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) return absl::UnavailableError("the front's port: gRPC does not start");
    return acceptor_->Start(clock_, [this](int listener, int fd) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.listener_fd = listener;
      connection.fd = fd;
      connections_->HandleNewConnection(&connection);
    });
  }

  uint16_t port() const override { return acceptor_->port(); }

  void Put(Resource resource, uint64_t version) override { ads_.Put(std::move(resource), version); }
  void Remove(ResourceKind kind, const std::string& service) override {
    ads_.Remove(kind, service);
  }
  void BeginServing(const std::vector<std::string>& kept) override {
    ads_.BeginServing(kept);
    gate_.BeginServing();
  }
  void Release(RequestId id, std::optional<std::string> pod) override { gate_.Release(id, pod); }
  void Refuse(RequestId id, const Refusal& refusal) override { gate_.Refuse(id, refusal); }

 private:
  const Clock& clock_;
  AdsService ads_;
  GateService gate_;
  MetricsService metrics_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;
  std::unique_ptr<grpc::Server> server_;  // is destroyed before the services that its calls use
  std::unique_ptr<Acceptor> acceptor_;
};

absl::StatusOr<std::unique_ptr<DataPathServer>> Make(const DataPathServerOptions& options,
                                                     const Clock& clock, DataPathEvents& events) {
  auto server = std::make_unique<GrpcDataPathServer>(options, clock, events);
  RETURN_IF_ERROR(server->Listen(options));
  return server;
}

}  // namespace
}  // namespace flyball::front

extern "C" {
extern __attribute__((visibility("default")))
const flyball::front::FrontModule flyball_front_module;
const flyball::front::FrontModule flyball_front_module = {.interface = FLYBALL_FRONT_INTERFACE,
                                                          .make = flyball::front::Make};
}
