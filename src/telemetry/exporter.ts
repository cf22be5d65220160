import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";

/** The SDK's code for a completed export. */
const SUCCESS = 0;

/**
 * Creates an exporter of spans over OTLP/HTTP as JSON. The exporter itself reads `OTEL_EXPORTER_OTLP_HEADERS`,
 * `_TIMEOUT`, `_COMPRESSION` and `_CERTIFICATE`. Drops spans that cannot be sent in time.
 */
export function createExporter(url: string, failures: FailureLog): SpanExporter {
  const exporter = new OTLPTraceExporter({ url });
  return {
    export(spans, done) {
      exporter.export(spans, ({ error }) => {
        if (error !== undefined) {
          failures.warn(`${spans.length} spans were dropped: ${reasonOf(error)}`);
        }
        // Reports success even after a failure, because the SDK would log every failure with its stack.
        done({ code: SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/** Returns the reason for a failure. If connections to several addresses fail, the error has a code but no message. */
function reasonOf(error: Error): string {
  const { code } = error as { code?: string };
  return error.message || (code ?? error.name);
}

/** Log of export failures, with a limited rate. */
export interface FailureLog {
  warn(message: string): void;
}

const REPEAT_MS = 60_000;

/**
 * Creates a log that writes at most one message per minute, with the number of omitted messages.
 * Without the limit, an unreachable receiver would cause a message for every batch.
 */
export function createFailureLog(log: Pick<Logger, "warn">, nowMs: () => number = () => performance.now()): FailureLog {
  let loggedMs = -Infinity;
  let unlogged = 0;
  return {
    warn(message) {
      if (nowMs() - loggedMs < REPEAT_MS) {
        unlogged++;
        return;
      }
      log.warn({ notLogged: unlogged }, `tracing: ${message}`);
      loggedMs = nowMs();
      unlogged = 0;
    },
  };
}
