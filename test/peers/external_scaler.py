#!/usr/bin/python3
"""An external scaler that speaks KEDA's protocol, for tests: it does what lines of JSON on stdin say.

  external_scaler.py [--cert FILE --key FILE [--client-ca FILE]] [--port N] [--gzip]

With --gzip it compresses its answers, whatever the client accepts. Prints `port N`, then `ok` for each command done, in order:
  {"spec": [{"name": "queue", "target": 5, "float": 2.5}]}    what GetMetricSpec answers from now on
  {"values": {"queue": [{"value": 3, "float": 0.5}]}}         what GetMetrics answers
  {"active": true}                                            what IsActive answers
  {"push": true}                                              one message on each open stream
  {"push": true, "padding": 5000}                             with so many bytes in a field that nobody knows
  {"end": true}                                               ends the open streams
  {"fail": "UNAVAILABLE"} {"fail": null}                      every call fails with that code
  {"hang": true} {"hang": false}                              calls get no answer while it does
  {"streams": 1}                                              waits until so many streams are open
  {"seen": true}                                              prints the last request as JSON instead of `ok`
  {"times": true}                                             prints how many seconds each GetMetrics was given, as [1, 2]
Ends with stdin. The messages are made by protoc from the .proto file; the methods are bound by name.
"""

import argparse
import concurrent.futures
import importlib
import json
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading

import grpc

PROTO = pathlib.Path(__file__).resolve().parents[2] / "scaler" / "triggers" / "external" / "module" / "external_scaler.proto"


def messages():
    """The module of message classes."""
    with tempfile.TemporaryDirectory(prefix="external-scaler-") as folder:
        subprocess.run(["protoc", f"-I{PROTO.parent}", f"--python_out={folder}", PROTO.name], check=True)
        sys.path.insert(0, folder)
        return importlib.import_module("external_scaler_pb2")


class Scaler:
    """The four methods, and what they are to answer."""

    def __init__(self, pb, gzip):
        self.pb, self.gzip = pb, gzip
        self.spec, self.values, self.active, self.failing = [], {}, False, None
        self.running = threading.Event()
        self.running.set()
        self.streams = set()
        self.changed = threading.Condition()
        self.seen = {}
        self.times = []

    def _enter(self, method, ref, context, **more):
        self.seen = {"method": method, "name": ref.name, "namespace": ref.namespace,
                     "metadata": dict(ref.scalerMetadata), **more}
        if self.gzip:
            context.set_compression(grpc.Compression.Gzip)
        self.running.wait()
        if self.failing:
            context.abort(getattr(grpc.StatusCode, self.failing), "as told")

    def is_active(self, request, context):
        self._enter("IsActive", request, context)
        return self.pb.IsActiveResponse(result=self.active)

    def get_metric_spec(self, request, context):
        self._enter("GetMetricSpec", request, context)
        return self.pb.GetMetricSpecResponse(metricSpecs=[
            self.pb.MetricSpec(metricName=s["name"], targetSize=s.get("target", 0), targetSizeFloat=s.get("float", 0))
            for s in self.spec])

    def get_metrics(self, request, context):
        self.times.append(int(context.time_remaining()))
        self._enter("GetMetrics", request.scaledObjectRef, context, metric=request.metricName)
        return self.pb.GetMetricsResponse(metricValues=[
            self.pb.MetricValue(metricName=request.metricName, metricValue=v.get("value", 0),
                                metricValueFloat=v.get("float", 0))
            for v in self.values.get(request.metricName, [])])

    def stream_is_active(self, request, context):
        self._enter("StreamIsActive", request, context)
        told = queue.Queue()
        context.add_callback(lambda: told.put(None))
        with self.changed:
            self.streams.add(told)
            self.changed.notify_all()
        try:
            while (active := told.get()) is not None:
                yield active
        finally:
            with self.changed:
                self.streams.discard(told)
                self.changed.notify_all()

    def message(self, active: bool, padding: int):
        """In field 15, which the protocol does not have."""
        more, size = b"", padding
        while size > 127:
            more, size = more + bytes([size & 127 | 128]), size >> 7
        unknown = b"\x7a" + more + bytes([size]) + bytes(padding) if padding else b""
        return self.pb.IsActiveResponse.FromString(self.pb.IsActiveResponse(result=active).SerializeToString() + unknown)

    def handlers(self):
        def unary(function, request, response):
            return grpc.unary_unary_rpc_method_handler(
                function, request_deserializer=request.FromString, response_serializer=response.SerializeToString)
        pb = self.pb
        return grpc.method_handlers_generic_handler("externalscaler.ExternalScaler", {
            "IsActive": unary(self.is_active, pb.ScaledObjectRef, pb.IsActiveResponse),
            "GetMetricSpec": unary(self.get_metric_spec, pb.ScaledObjectRef, pb.GetMetricSpecResponse),
            "GetMetrics": unary(self.get_metrics, pb.GetMetricsRequest, pb.GetMetricsResponse),
            "StreamIsActive": grpc.unary_stream_rpc_method_handler(
                self.stream_is_active, request_deserializer=pb.ScaledObjectRef.FromString,
                response_serializer=pb.IsActiveResponse.SerializeToString)})

    def obey(self, command: dict) -> str:
        for name in ("spec", "values", "active"):
            if name in command:
                setattr(self, name, command[name])
        if "fail" in command:
            self.failing = command["fail"]
        if "hang" in command:
            (self.running.clear if command["hang"] else self.running.set)()
        with self.changed:
            if "push" in command or "end" in command:
                for told in self.streams:
                    told.put(self.message(command["push"], command.get("padding", 0)) if "push" in command else None)
            if "end" in command:
                self.changed.wait_for(lambda: not self.streams, timeout=20)
            if "streams" in command:
                if not self.changed.wait_for(lambda: len(self.streams) == command["streams"], timeout=20):
                    return f"{len(self.streams)} streams"
        if "times" in command:
            return json.dumps(self.times)
        return json.dumps(self.seen, sort_keys=True) if "seen" in command else "ok"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--cert", "--key", "--client-ca"):
        parser.add_argument(flag, type=pathlib.Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--gzip", action="store_true")
    options = parser.parse_args()
    scaler = Scaler(messages(), options.gzip)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=32))
    server.add_generic_rpc_handlers((scaler.handlers(),))
    address = f"127.0.0.1:{options.port}"
    if options.cert:
        ca = options.client_ca.read_bytes() if options.client_ca else None
        port = server.add_secure_port(address, grpc.ssl_server_credentials(
            [(options.key.read_bytes(), options.cert.read_bytes())], ca, require_client_auth=ca is not None))
    else:
        port = server.add_insecure_port(address)
    server.start()
    print("port", port, flush=True)
    for line in sys.stdin:
        print(scaler.obey(json.loads(line)), flush=True)
    scaler.running.set()
    server.stop(0)


if __name__ == "__main__":
    main()
