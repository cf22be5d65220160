import {
  SpanKind,
  SpanStatusCode,
  type Attributes,
  type SpanContext,
  type Tracer as OtelTracer,
} from "@opentelemetry/api";
import type { AttemptSpan, TraceAttempt, TracedAttempt } from "../pipeline/tracer.ts";
import { contextBelow, traceHeaders, type TimeOfDay, type EventCauses } from "./trace-context.ts";

/** Starts the span of a request to another service, as a child of the parent span if there is one. */
export type StartRequest = (
  method: string,
  url: string,
  parent: SpanContext | undefined,
  attributes?: Attributes,
) => AttemptSpan;

/**
 * Creates the tracing of requests, following OpenTelemetry's semantic conventions for HTTP client spans, 1.45. Records
 * only the host of the URL, because receivers put secrets into paths.
 */
export function createStartRequest(otel: OtelTracer, timeOfDay: TimeOfDay): StartRequest {
  return (method, url, parent, attributes) => {
    const options = {
      kind: SpanKind.CLIENT,
      startTime: timeOfDay(performance.now()),
      attributes: { "http.request.method": method, ...serverAttributes(url), ...attributes },
    };
    const span = otel.startSpan(method, options, contextBelow(parent));
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

export function createTraceAttempt(startRequest: StartRequest, causes: EventCauses): TraceAttempt {
  return (attempt) => startRequest("POST", attempt.url, causes.get(attempt), attributesOf(attempt));
}

function attributesOf({ workspace, webhook, eventId, attempts }: TracedAttempt): Attributes {
  return {
    ...(attempts === 0 ? {} : { "http.request.resend_count": attempts }),
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
