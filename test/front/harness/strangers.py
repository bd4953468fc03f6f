"""Peers of Flyball's port that are no real Envoy: one that acknowledges only what a test wants, and one that makes headers up."""

import importlib
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading

import grpc

PROTO = pathlib.Path(__file__).resolve().parents[3] / "scaler" / "front" / "envoy" / "envoy.proto"
ROUTE = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"


def messages():
    """The module of Envoy's messages."""
    if "envoy_pb2" not in sys.modules:
        with tempfile.TemporaryDirectory(prefix="flyball-front-proto-") as folder:
            subprocess.run(["protoc", f"-I{PROTO.parent}", f"--python_out={folder}", PROTO.name], check=True)
            sys.path.insert(0, folder)
            importlib.import_module("envoy_pb2")
    return importlib.import_module("envoy_pb2")


class SlowEnvoy:
    """Is connected, reports that it has no requests, and acknowledges the routes of some services, and nothing else."""

    def __init__(self, port: int, node: str, services: list):
        pb = messages()
        self._out, self._end = queue.SimpleQueue(), threading.Event()
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        stream = self._channel.stream_stream("/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
                                             request_serializer=lambda message: message.SerializeToString(),
                                             response_deserializer=pb.DeltaDiscoveryResponse.FromString)
        self._out.put(pb.DeltaDiscoveryRequest(node=pb.Node(id=node), type_url=ROUTE, resource_names_subscribe=services))
        self._answers = stream(iter(self._out.get, None))
        threading.Thread(target=self._acknowledge, args=(pb,), daemon=True).start()
        reports = self._channel.stream_unary("/envoy.service.metrics.v3.MetricsService/StreamMetrics",
                                             request_serializer=lambda message: message.SerializeToString(),
                                             response_deserializer=pb.StreamMetricsResponse.FromString)
        self._reports = reports.future(self._report(pb, node))

    def _acknowledge(self, pb):
        try:
            for answer in self._answers:
                self._out.put(pb.DeltaDiscoveryRequest(type_url=answer.type_url, response_nonce=answer.nonce))
        except grpc.RpcError:
            pass

    def _report(self, pb, node):
        yield pb.StreamMetricsMessage(identifier=pb.StreamIdentifier(node=pb.Node(id=node)))
        while not self._end.wait(0.25):
            yield pb.StreamMetricsMessage()

    def stop(self):
        self._end.set()
        self._answers.cancel()
        self._out.put(None)
        self._channel.close()


def ask(port: int, metadata: dict, tls=None):
    """One call as an Envoy makes it for a gated request, with these headers; (the call, the channel to be closed)."""
    pb = messages()
    target = f"127.0.0.1:{port}"
    if tls is None:
        channel = grpc.insecure_channel(target)
    else:
        key, chain, ca = ((tls / name).read_bytes() for name in ("tls.key", "tls.crt", "ca.crt"))
        channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(ca, key, chain),
                                      options=[("grpc.ssl_target_name_override", "flyball")])
    call = channel.stream_stream("/envoy.service.ext_proc.v3.ExternalProcessor/Process",
                                 request_serializer=lambda message: message.SerializeToString(),
                                 response_deserializer=pb.ProcessingResponse.FromString)
    out = queue.SimpleQueue()
    out.put(pb.ProcessingRequest(request_headers=pb.HttpHeaders()))
    return call(iter(out.get, None), metadata=tuple(metadata.items()), timeout=30), channel
