// An instrumented program: sends logs, spans and metrics as OTEL_EXPORTER_OTLP_* say, and prints what it sent as JSON.
//
// Argument: http or grpc.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otellog "go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func delta(sdkmetric.InstrumentKind) metricdata.Temporality { return metricdata.DeltaTemporality }

func openExporters(ctx context.Context, protocol string) (*otlptrace.Exporter, sdklog.Exporter, sdkmetric.Exporter) {
	if protocol == "grpc" {
		return must(otlptracegrpc.New(ctx)), must(otlploggrpc.New(ctx)),
			must(otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithTemporalitySelector(delta)))
	}
	return must(otlptracehttp.New(ctx)), must(otlploghttp.New(ctx)),
		must(otlpmetrichttp.New(ctx, otlpmetrichttp.WithTemporalitySelector(delta)))
}

type sent struct {
	TraceID  string   `json:"traceId"`
	SpanID   string   `json:"spanId"`
	Flags    int      `json:"traceFlags"`
	Start    string   `json:"start"`
	Duration int64    `json:"duration"`
	Events   []string `json:"events"`
}

func describe(span trace.Span) sent {
	ended := span.(sdktrace.ReadOnlySpan)
	events := []string{}
	for _, event := range ended.Events() {
		events = append(events, fmt.Sprint(event.Time.UnixNano()))
	}
	return sent{
		TraceID:  span.SpanContext().TraceID().String(),
		SpanID:   span.SpanContext().SpanID().String(),
		Flags:    int(span.SpanContext().TraceFlags()),
		Start:    fmt.Sprint(ended.StartTime().UnixNano()),
		Duration: ended.EndTime().UnixNano() - ended.StartTime().UnixNano(),
		Events:   events,
	}
}

func main() {
	ctx := context.Background()
	res := must(resource.Merge(resource.Default(), resource.Empty()))
	spans, logs, metrics := openExporters(ctx, os.Args[1])
	tracers := sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithBatcher(spans))
	loggers := sdklog.NewLoggerProvider(sdklog.WithResource(res), sdklog.WithProcessor(sdklog.NewBatchProcessor(logs)))
	exponential := sdkmetric.Stream{Aggregation: sdkmetric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}}
	meters := sdkmetric.NewMeterProvider(
		sdkmetric.WithResource(res),
		sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics, sdkmetric.WithInterval(10*time.Minute))),
		sdkmetric.WithView(sdkmetric.NewView(sdkmetric.Instrument{Name: "payload.size"}, exponential)),
	)

	scope := attribute.String("scope", "yes")
	tracer := tracers.Tracer("tracer", trace.WithInstrumentationVersion("0.1"), trace.WithSchemaURL("https://schema/traces"),
		trace.WithInstrumentationAttributes(scope))
	meter := meters.Meter("meter", metric.WithInstrumentationVersion("3.0"), metric.WithSchemaURL("https://schema/metrics"),
		metric.WithInstrumentationAttributes(scope))
	logger := loggers.Logger("logger", otellog.WithInstrumentationVersion("2.0"), otellog.WithSchemaURL("https://schema/logs"),
		otellog.WithInstrumentationAttributes(scope))

	_, linked := tracer.Start(ctx, "linked", trace.WithSpanKind(trace.SpanKindProducer))
	linked.End()
	counter := must(meter.Int64Counter("requests", metric.WithUnit("1"), metric.WithDescription("described")))
	duration := must(meter.Float64Histogram("request.duration", metric.WithUnit("ms"), metric.WithExplicitBucketBoundaries(10, 50)))
	size := must(meter.Int64Histogram("payload.size"))
	temperature := must(meter.Float64Gauge("temperature"))
	temperature.Record(ctx, -1.25, metric.WithAttributes(attribute.String("room", "a")))

	now := time.Now()
	inSpan, span := tracer.Start(ctx, "GET /cart", trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(
			attribute.String("text", "größer ✓"),
			attribute.Int64("int", math.MinInt64),
			attribute.Float64("double", 0.1),
			attribute.Bool("yes", true),
			attribute.StringSlice("list", []string{"a", `b"c`}),
			attribute.Int64Slice("numbers", []int64{1, 2}),
		),
		trace.WithLinks(trace.Link{
			SpanContext: linked.SpanContext(),
			Attributes:  []attribute.KeyValue{attribute.String("reason", "queue")},
		}))
	span.AddEvent("cache miss", trace.WithAttributes(attribute.String("key", "cart:1")))
	span.SetStatus(codes.Error, "no such cart")
	route := metric.WithAttributes(attribute.String("route", "/cart"))
	// In a span that is sampled, so they have exemplars.
	counter.Add(inSpan, 3, route)
	duration.Record(inSpan, 20, route)
	size.Record(inSpan, 4)
	var record otellog.Record
	record.SetTimestamp(now)
	record.SetObservedTimestamp(now)
	record.SetSeverity(otellog.SeverityWarn)
	record.SetSeverityText("warning")
	record.SetEventName("cart.missing")
	// Without a null: this exporter sends the text INVALID for it.
	record.SetBody(otellog.MapValue(
		otellog.String("user", "ada"),
		otellog.Bytes("raw", []byte{0, 1}),
		otellog.Slice("tries", otellog.Int64Value(1), otellog.Float64Value(2.5)),
	))
	record.AddAttributes(
		otellog.String("text", "größer ✓"),
		otellog.Int64("int", math.MinInt64),
		otellog.Float64("double", 0.1),
		otellog.Bool("yes", true),
		otellog.Slice("list", otellog.StringValue("a"), otellog.StringValue(`b"c`)),
		otellog.Slice("numbers", otellog.Int64Value(1), otellog.Int64Value(2)),
		otellog.Map("nested", otellog.Slice("a", otellog.MapValue(otellog.String("b", "c")))),
	)
	logger.Emit(inSpan, record)
	span.End()

	for _, shutdown := range []func(context.Context) error{tracers.Shutdown, loggers.Shutdown, meters.Shutdown} {
		if err := shutdown(ctx); err != nil {
			log.Fatal(err)
		}
	}

	attributes := map[string]any{}
	for _, pair := range res.Attributes() {
		attributes[string(pair.Key)] = pair.Value.AsInterface()
	}
	output := map[string]any{
		"resource": attributes, "linked": describe(linked), "span": describe(span), "now": fmt.Sprint(now.UnixNano()),
		"body":      `{"user":"ada","raw":"AAE=","tries":[1,2.5]}`,
		"schemaUrl": res.SchemaURL(),
	}
	fmt.Println(string(must(json.Marshal(output))))
}
