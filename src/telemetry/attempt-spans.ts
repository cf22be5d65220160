import {
  SpanKind,
  SpanStatusCode,
  type Attributes,
  type Tracer as OtelTracer,
} from "@opentelemetry/api";
import type { TraceAttempt, TracedAttempt } from "../pipeline/tracer.ts";
import { contextBelow, traceHeaders, type TimeOfDay, type EventCauses } from "./trace-context.ts";

/**
 * Builds what traces attempts, by OpenTelemetry's semantic conventions for HTTP client spans, 1.45.
 * The URL is left out but for its host: receivers are known to put secrets in it.
 */
export function createTraceAttempt(
  otel: OtelTracer,
  timeOfDay: TimeOfDay,
  causes: EventCauses,
): TraceAttempt {
  return (attempt) => {
    const options = {
      kind: SpanKind.CLIENT,
      startTime: timeOfDay(performance.now()),
      attributes: attributesOf(attempt),
    };
    const span = otel.startSpan("POST", options, contextBelow(causes.get(attempt)));
    return {
      headers: traceHeaders(span),
      end({ status, error }) {
        if (status !== undefined) span.setAttribute("http.response.status_code", status);
        if (status === undefined || status >= 400) {
          span.setAttribute("error.type", status === undefined ? "_OTHER" : String(status));
          span.setStatus({
            code: SpanStatusCode.ERROR,
            ...(error === undefined ? {} : { message: error }),
          });
        }
        span.end(timeOfDay(performance.now()));
      },
    };
  };
}

function attributesOf(attempt: TracedAttempt): Attributes {
  const { workspace, webhook, eventId, attempts, url } = attempt;
  return {
    "http.request.method": "POST",
    ...(attempts === 0 ? {} : { "http.request.resend_count": attempts }),
    ...serverAttributes(url),
    "shipments.workspace": workspace,
    "shipments.webhook": webhook,
    "shipments.event": eventId,
  };
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function serverAttributes(text: string): Attributes {
  if (!URL.canParse(text)) return {};
  const { protocol, hostname, port } = new URL(text);
  return {
    "server.address": hostname.replace(/^\[|\]$/g, ""),
    "server.port": port === "" ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port),
  };
}
