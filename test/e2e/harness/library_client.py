"""What programs do that are instrumented with the usual libraries, of which test/peers/build puts copies beside the peers.

  library_client.py exporter PORT          prometheus_client serves its page there until it is ended
  library_client.py otlp URL CA            the OpenTelemetry SDK sends its metrics there once
"""

import sys
import time


def exporter(port: str):
    import prometheus_client as client
    client.start_http_server(int(port), "127.0.0.1")
    client.Counter("asked", "Requests.", ["code"]).labels("200").inc(5)
    client.Gauge("jobs_waiting", "Jobs.").set(7)
    histogram = client.Histogram("asked_seconds", "Time.", buckets=(0.1, 1, 10))
    for value in (0.05, 0.5, 5, 50):
        histogram.observe(value)
    time.sleep(600)


def otlp(url: str, authority: str):
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=url, certificate_file=authority))
    provider = MeterProvider([reader], Resource.create({"service.name": "mail", "service.namespace": "shop", "service.instance.id": "a"}))
    meter = provider.get_meter("test")
    meter.create_counter("asked", unit="1").add(5, {"code": 200})
    meter.create_up_down_counter("jobs.waiting").add(7)
    histogram = meter.create_histogram("asked.duration", unit="s", explicit_bucket_boundaries_advisory=[0.1, 1, 10])
    for value in (0.05, 0.5, 5, 50):
        histogram.record(value)
    assert provider.force_flush()
    provider.shutdown()


if __name__ == "__main__":
    {"exporter": exporter, "otlp": otlp}[sys.argv[1]](*sys.argv[2:])
