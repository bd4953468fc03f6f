"""An external scaler for KEDA's gRPC protocol, as a process of its own: what it answers stands in a file.

As a program: external_scaler.py PORT STATE-FILE PROTO-FOLDER [CERT KEY]. Debian packages: python3-grpcio,
python3-protobuf, protobuf-compiler. In the tests' process there is only `ExternalScaler`, so that gRPC's threads are
not forked.
"""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time

PROTO = """syntax = "proto3";
package externalscaler;
message ScaledObjectRef { string name = 1; string namespace = 2; map<string, string> scalerMetadata = 3; }
message IsActiveResponse { bool result = 1; }
message MetricSpec { string metricName = 1; int64 targetSize = 2; double targetSizeFloat = 3; }
message GetMetricSpecResponse { repeated MetricSpec metricSpecs = 1; }
message GetMetricsRequest { ScaledObjectRef scaledObjectRef = 1; string metricName = 2; }
message MetricValue { string metricName = 1; int64 metricValue = 2; double metricValueFloat = 3; }
message GetMetricsResponse { repeated MetricValue metricValues = 1; }
"""  # written from KEDA 2.20's definition, so that the server does not share flyball's copy


class ExternalScaler:
    """One running server. `set(active=, value=, target=, hang=)` holds from the next call, and for streams at once.

    `calls()` is what was asked so far: {"method", "name", "namespace", "metadata", "metric"} each.
    """

    def __init__(self, serving=None):
        from . import ports, processes, wait  # not for the server's process
        folder = processes.fresh_folder("external-scaler")
        (folder / "externalscaler.proto").write_text(PROTO)
        done = processes.run(["/usr/bin/protoc", f"-I{folder}", f"--python_out={folder}", "externalscaler.proto"])
        if done.returncode != 0:
            raise SystemError(f"protoc (Debian package protobuf-compiler): {done.stderr}")
        self._state, self._calls = folder / "state.json", folder / "calls.jsonl"
        self._values = {"active": False, "value": 0, "target": 10, "hang": False}
        self.set()
        port = ports.free()
        self.address = f"127.0.0.1:{port}"
        self.process = processes.Process("external-scaler", [
            "/usr/bin/python3", __file__, port, self._state, folder, *([serving.cert, serving.key] if serving else [])])
        wait.until(lambda: self.process.must_live() and "serving" in self.process.text(), "external scaler", 90)

    def set(self, **values):
        self._values.update(values)
        fresh = self._state.with_suffix(".new")
        fresh.write_text(json.dumps(self._values))
        os.replace(fresh, self._state)

    def calls(self, method: str) -> list:
        lines = self._calls.read_text().splitlines() if self._calls.exists() else []
        return [call for call in map(json.loads, lines) if call["method"] == method]

    def stop(self):
        self.process.kill()


class _Service:
    """The four calls. Floats win over integers in clients; only floats are given here."""

    def __init__(self, messages, state: pathlib.Path):
        self._messages, self._state = messages, state
        self._calls, self._lock = state.with_name("calls.jsonl"), threading.Lock()

    def _now(self) -> dict:
        return json.loads(self._state.read_text())

    def _called(self, method: str, ref, metric: str = "") -> dict:
        with self._lock, open(self._calls, "a", encoding="utf-8") as log:
            log.write(json.dumps({"method": method, "name": ref.name, "namespace": ref.namespace,
                                  "metadata": dict(ref.scalerMetadata), "metric": metric}) + "\n")
        state = self._now()
        if state["hang"]:
            time.sleep(60)
        return state

    def is_active(self, ref, _):
        return self._messages.IsActiveResponse(result=self._called("IsActive", ref)["active"])

    def stream(self, ref, context):
        self._called("StreamIsActive", ref)
        last = None
        while context.is_active():
            active = self._now()["active"]
            if active != last:
                last = active
                yield self._messages.IsActiveResponse(result=active)
            time.sleep(0.01)

    def spec(self, ref, _):
        target = self._called("GetMetricSpec", ref)["target"]
        return self._messages.GetMetricSpecResponse(
            metricSpecs=[self._messages.MetricSpec(metricName="jobs", targetSizeFloat=target)])

    def metrics(self, request, _):
        value = self._called("GetMetrics", request.scaledObjectRef, request.metricName)["value"]
        return self._messages.GetMetricsResponse(
            metricValues=[self._messages.MetricValue(metricName=request.metricName, metricValueFloat=value)])


def _serve(port: str, state: str, folder: str, cert: str = "", key: str = ""):
    import concurrent.futures
    import grpc
    sys.path.insert(0, folder)
    import externalscaler_pb2 as messages
    service = _Service(messages, pathlib.Path(state))
    unary, ref = grpc.unary_unary_rpc_method_handler, messages.ScaledObjectRef.FromString

    def out(message):
        return message.SerializeToString()
    handlers = {
        "IsActive": unary(service.is_active, ref, out),
        "StreamIsActive": grpc.unary_stream_rpc_method_handler(service.stream, ref, out),
        "GetMetricSpec": unary(service.spec, ref, out),
        "GetMetrics": unary(service.metrics, messages.GetMetricsRequest.FromString, out)}
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(64))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("externalscaler.ExternalScaler", handlers),))
    where = f"127.0.0.1:{port}"
    if cert:
        pair = tuple(pathlib.Path(p).read_bytes() for p in (key, cert))
        server.add_secure_port(where, grpc.ssl_server_credentials([pair]))
    else:
        server.add_insecure_port(where)
    server.start()
    print("serving", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    _serve(*sys.argv[1:])
