import static io.opentelemetry.api.common.AttributeKey.longArrayKey;
import static io.opentelemetry.api.common.AttributeKey.stringArrayKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.logs.Logger;
import io.opentelemetry.api.logs.LoggerProvider;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.LongCounter;
import io.opentelemetry.api.metrics.LongHistogram;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.metrics.Aggregation;
import io.opentelemetry.sdk.metrics.InstrumentSelector;
import io.opentelemetry.sdk.metrics.SdkMeterProviderBuilder;
import io.opentelemetry.sdk.metrics.View;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * An instrumented program: sends logs, spans and metrics as OTEL_EXPORTER_OTLP_* say, and prints what it sent as JSON.
 *
 * <p>Argument: http or grpc.
 */
public class OtelApp {
  static final Attributes ATTRIBUTES =
      Attributes.builder()
          .put("text", "größer ✓")
          .put("int", Long.MIN_VALUE)
          .put("double", 0.1)
          .put("yes", true)
          .put(stringArrayKey("list"), List.of("a", "b\"c"))
          .put(longArrayKey("numbers"), List.of(1L, 2L))
          .build();
  static final Attributes ROUTE = Attributes.of(stringKey("route"), "/cart");

  public static void main(String[] args) {
    OpenTelemetrySdk sdk = openSdk(args[0]);
    LoggerProvider loggers = sdk.getLogsBridge();
    Tracer tracer =
        sdk.tracerBuilder("tracer").setInstrumentationVersion("0.1").setSchemaUrl("https://schema/traces").build();
    Meter meter =
        sdk.meterBuilder("meter").setInstrumentationVersion("3.0").setSchemaUrl("https://schema/metrics").build();
    Logger logger =
        loggers.loggerBuilder("logger").setInstrumentationVersion("2.0").setSchemaUrl("https://schema/logs").build();

    Span linked = tracer.spanBuilder("linked").setSpanKind(SpanKind.PRODUCER).startSpan();
    linked.end();
    LongCounter counter = meter.counterBuilder("requests").setUnit("1").setDescription("described").build();
    DoubleHistogram duration =
        meter
            .histogramBuilder("request.duration")
            .setUnit("ms")
            .setExplicitBucketBoundariesAdvice(List.of(10.0, 50.0))
            .build();
    LongHistogram size = meter.histogramBuilder("payload.size").ofLongs().build();
    meter.gaugeBuilder("temperature").build().set(-1.25, Attributes.of(stringKey("room"), "a"));

    Instant now = Instant.now();
    Span span =
        tracer
            .spanBuilder("GET /cart")
            .setSpanKind(SpanKind.SERVER)
            .setAllAttributes(ATTRIBUTES)
            .addLink(linked.getSpanContext(), Attributes.of(stringKey("reason"), "queue"))
            .startSpan();
    try (Scope scope = span.makeCurrent()) {
      span.addEvent("cache miss", Attributes.of(stringKey("key"), "cart:1"));
      span.setStatus(StatusCode.ERROR, "no such cart");
      // In a span that is sampled, so they have exemplars.
      counter.add(3, ROUTE);
      duration.record(20, ROUTE);
      size.record(4);
      logger
          .logRecordBuilder()
          .setTimestamp(now)
          .setObservedTimestamp(now)
          .setSeverity(Severity.WARN)
          .setSeverityText("warning")
          .setEventName("cart.missing")
          .setBody(
              Value.of(
                  KeyValue.of("user", Value.of("ada")),
                  KeyValue.of("raw", Value.of(new byte[] {0, 1})),
                  KeyValue.of("tries", Value.of(Value.of(1), Value.of(2.5), Value.empty()))))
          .setAllAttributes(ATTRIBUTES)
          .setAttribute("nested", Value.of(Map.of("a", Value.of(Value.of(Map.of("b", Value.of("c")))))))
          .emit();
    }
    span.end();
    flush(sdk);

    SpanData sent = ((ReadableSpan) span).toSpanData();
    Map<String, Object> resource = new TreeMap<>();
    sent.getResource().getAttributes().forEach((key, value) -> resource.put(key.getKey(), value));
    System.out.println(
        toJson(
            Map.of(
                "resource", resource,
                "linked", describe(((ReadableSpan) linked).toSpanData()),
                "span", describe(sent),
                "now", String.valueOf(TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano()),
                "body", "{\"user\":\"ada\",\"raw\":\"AAE=\",\"tries\":[1,2.5,null]}",
                "schemaUrl", sent.getResource().getSchemaUrl(),
                // The API has no attributes of scopes.
                "scopeAttributes", Map.of())));
  }

  static OpenTelemetrySdk openSdk(String protocol) {
    return AutoConfiguredOpenTelemetrySdk.builder()
        .addPropertiesSupplier(
            () ->
                Map.of(
                    "otel.exporter.otlp.protocol", protocol.equals("grpc") ? "grpc" : "http/protobuf",
                    "otel.exporter.otlp.metrics.temporality.preference", "delta",
                    "otel.metric.export.interval", "600000"))
        .addMeterProviderCustomizer((meters, config) -> useExponentialHistogram(meters))
        .disableShutdownHook()
        .build()
        .getOpenTelemetrySdk();
  }

  /** Instead of a shutdown, which cancels requests for metrics after 5 seconds: too short for a busy machine. */
  static void flush(OpenTelemetrySdk sdk) {
    CompletableResultCode sent =
        CompletableResultCode.ofAll(
            List.of(
                sdk.getSdkTracerProvider().forceFlush(),
                sdk.getSdkLoggerProvider().forceFlush(),
                sdk.getSdkMeterProvider().forceFlush()));
    if (!sent.join(1, TimeUnit.MINUTES).isSuccess()) throw new IllegalStateException("not sent");
  }

  static SdkMeterProviderBuilder useExponentialHistogram(SdkMeterProviderBuilder meters) {
    return meters.registerView(
        InstrumentSelector.builder().setName("payload.size").build(),
        View.builder().setAggregation(Aggregation.base2ExponentialBucketHistogram()).build());
  }

  static Map<String, Object> describe(SpanData span) {
    return Map.of(
        "traceId", span.getTraceId(),
        "spanId", span.getSpanId(),
        "traceFlags", span.getSpanContext().getTraceFlags().asByte(),
        "start", String.valueOf(span.getStartEpochNanos()),
        "duration", span.getEndEpochNanos() - span.getStartEpochNanos(),
        "events", span.getEvents().stream().map(event -> String.valueOf(event.getEpochNanos())).toList());
  }

  static String toJson(Object value) {
    if (value instanceof Map<?, ?> map)
      return map.entrySet().stream()
          .map(entry -> toJson(entry.getKey()) + ":" + toJson(entry.getValue()))
          .collect(Collectors.joining(",", "{", "}"));
    if (value instanceof List<?> list)
      return list.stream().map(OtelApp::toJson).collect(Collectors.joining(",", "[", "]"));
    if (value instanceof String text) return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    return String.valueOf(value);
  }
}
