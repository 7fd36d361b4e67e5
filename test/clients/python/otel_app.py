"""An instrumented program: sends logs, spans and metrics as OTEL_EXPORTER_OTLP_* say, and prints what it sent as JSON.

Argument: http or grpc.
"""

import json
import sys
import time

from opentelemetry import trace
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, PeriodicExportingMetricReader
from opentelemetry.sdk.metrics.view import ExponentialBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, SpanKind, Status, StatusCode

if sys.argv[1] == "grpc":
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
else:
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

ATTRIBUTES = {"text": "größer ✓", "int": -(2**63), "double": 0.1, "yes": True, "list": ["a", 'b"c'], "numbers": [1, 2]}

resource = Resource.create()
tracers = TracerProvider(resource=resource)
tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
loggers = LoggerProvider(resource=resource)
loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
exporter = OTLPMetricExporter(preferred_temporality={Counter: AggregationTemporality.DELTA, Histogram: AggregationTemporality.DELTA})
meters = MeterProvider(
    resource=resource,
    metric_readers=[PeriodicExportingMetricReader(exporter, export_interval_millis=600_000)],
    views=[View(instrument_name="payload.size", aggregation=ExponentialBucketHistogramAggregation())],
)

tracer = tracers.get_tracer("tracer", "0.1", schema_url="https://schema/traces", attributes={"scope": "yes"})
meter = meters.get_meter("meter", "3.0", schema_url="https://schema/metrics", attributes={"scope": "yes"})
logger = loggers.get_logger("logger", "2.0", schema_url="https://schema/logs", attributes={"scope": "yes"})

linked = tracer.start_span("linked", kind=SpanKind.PRODUCER)
linked.end()
counter = meter.create_counter("requests", unit="1", description="described")
duration = meter.create_histogram("request.duration", unit="ms", explicit_bucket_boundaries_advisory=[10, 50])
size = meter.create_histogram("payload.size")
meter.create_gauge("temperature").set(-1.25, {"room": "a"})
now = time.time_ns()
with tracer.start_as_current_span(
    "GET /cart",
    kind=SpanKind.SERVER,
    attributes=ATTRIBUTES,
    links=[Link(linked.get_span_context(), {"reason": "queue"})],
) as span:
    span.add_event("cache miss", {"key": "cart:1"})
    span.set_status(Status(StatusCode.ERROR, "no such cart"))
    # In a span that is sampled, so they have exemplars.
    counter.add(3, {"route": "/cart"})
    duration.record(20, {"route": "/cart"})
    size.record(4)
    logger.emit(
        LogRecord(
            timestamp=now,
            observed_timestamp=now,
            severity_number=SeverityNumber.WARN,
            severity_text="warning",
            body={"user": "ada", "raw": b"\x00\x01", "tries": [1, 2.5, None]},
            attributes={**ATTRIBUTES, "nested": {"a": [{"b": "c"}]}},
            event_name="cart.missing",
            context=trace.set_span_in_context(span),
        )
    )

for provider in (tracers, loggers, meters):
    provider.shutdown()


def describe(item):
    context = item.get_span_context()
    return {
        "traceId": f"{context.trace_id:032x}",
        "spanId": f"{context.span_id:016x}",
        "traceFlags": int(context.trace_flags),
        "start": str(item.start_time),
        "duration": item.end_time - item.start_time,
        "events": [str(event.timestamp) for event in item.events],
    }


attributes = {key: list(value) if isinstance(value, tuple) else value for key, value in resource.attributes.items()}
body = '{"user":"ada","raw":"AAE=","tries":[1,2.5,null]}'
print(json.dumps({"resource": attributes, "linked": describe(linked), "span": describe(span), "now": str(now), "body": body}))
