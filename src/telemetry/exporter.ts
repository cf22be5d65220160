import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";

/** The SDK's code for an export that is done. */
const SUCCESS = 0;

/**
 * Builds what sends spans by OTLP over HTTP, as JSON. It reads `OTEL_EXPORTER_OTLP_HEADERS`,
 * `_TIMEOUT`, `_COMPRESSION` and `_CERTIFICATE` by itself. What cannot be sent in time is dropped.
 */
export function createExporter(url: string, failures: FailureLog): SpanExporter {
  const exporter = new OTLPTraceExporter({ url });
  return {
    export(spans, done) {
      exporter.export(spans, ({ error }) => {
        if (error !== undefined) {
          failures.warn(`${spans.length} spans were dropped: ${reasonOf(error)}`);
        }
        // The SDK would log every failure with its stack.
        done({ code: SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/** A connection that no address of a name took has a code, and no message. */
function reasonOf(error: Error): string {
  const { code } = error as { code?: string };
  return error.message || (code ?? error.name);
}

/** Warns of what goes wrong with exporting, once in a while. */
export interface FailureLog {
  warn(message: string): void;
}

const REPEAT_MS = 60_000;

/**
 * Builds a log that says at most one thing a minute, and then how many it has left out: a receiver
 * that is down fails every batch.
 */
export function createFailureLog(
  log: Pick<Logger, "warn">,
  nowMs: () => number = () => performance.now(),
): FailureLog {
  let saidMs = -Infinity;
  let unsaid = 0;
  return {
    warn(message) {
      if (nowMs() - saidMs < REPEAT_MS) {
        unsaid++;
        return;
      }
      log.warn({ notLogged: unsaid }, `tracing: ${message}`);
      saidMs = nowMs();
      unsaid = 0;
    },
  };
}
