import { SpanKind, SpanStatusCode, type Attributes, type Span, type Tracer as OtelTracer } from "@opentelemetry/api";
import { parseDatabaseUrl } from "../db/database-url.ts";
import { Refusal } from "../domain/refusal.ts";
import type { WorkSpan } from "../pipeline/tracer.ts";
import { contextBelow, type TimeOfDay } from "./trace-context.ts";

/** Starts the span of a transaction, as a child of the first call's span. */
export type BeginTransaction = (first: Span, others: readonly Span[]) => WorkSpan;

/** Creates the tracing of transactions, following OpenTelemetry's semantic conventions for PostgreSQL, 1.45. */
export function createBeginTransaction(otel: OtelTracer, timeOfDay: TimeOfDay, databaseUrl: string): BeginTransaction {
  const database = databaseAttributes(databaseUrl);
  return (first, others) => {
    const options = {
      kind: SpanKind.CLIENT,
      startTime: timeOfDay(performance.now()),
      attributes: { ...database, "shipments.transaction.calls": others.length + 1 },
      links: others.map((other) => ({ context: other.spanContext() })),
    };
    const span = otel.startSpan("transaction", options, contextBelow(first.spanContext()));
    for (const other of others) {
      // A span may already have ended, because its caller did not wait.
      if (other.isRecording()) other.addLink({ context: span.spanContext() });
    }
    return {
      end(error) {
        if (error !== undefined && !isRefusal(error)) describeError(span, error);
        span.end(timeOfDay(performance.now()));
      },
    };
  };
}

function databaseAttributes(databaseUrl: string): Attributes {
  const attributes: Attributes = { "db.system.name": "postgresql" };
  const { urls } = parseDatabaseUrl(databaseUrl);
  if (!URL.canParse(urls[0]!)) return attributes;
  const { hostname, port, pathname } = new URL(urls[0]!);
  if (pathname.length > 1) attributes["db.namespace"] = decodeURIComponent(pathname.slice(1));
  // With several servers, the address is omitted because the server in use can change.
  if (hostname !== "" && urls.length === 1) {
    attributes["server.address"] = hostname.replace(/^\[|\]$/g, "");
    attributes["server.port"] = Number(port || 5432);
  }
  return attributes;
}

/** Whether an error is a refusal. A rollback because of a refusal is not a database error. */
function isRefusal(error: unknown): boolean {
  return error instanceof Refusal || (error instanceof Error && error.cause instanceof Refusal);
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Records an error without its message, because messages can contain values. */
function describeError(span: Span, error: unknown): void {
  const code = codeOf(error) ?? codeOf((error as { cause?: unknown }).cause);
  if (code !== undefined) span.setAttribute("db.response.status_code", code);
  span.setAttribute("error.type", code ?? (error instanceof Error ? error.name : "_OTHER"));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && SQLSTATE.test(code) ? code : undefined;
}
