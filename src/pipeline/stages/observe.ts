import { Counter, Gauge, Histogram, type Registry } from "@prometheus-io/client";
import { Code } from "@connectrpc/connect";
import type { Logger } from "pino";
import { codeName, type Caller, type ReceivedCall } from "../call.ts";
import type { TickBatcher } from "./tick-batcher.ts";
import { readTraceparent } from "../call-headers.ts";
import { withoutSecrets } from "../../domain/without-secrets.ts";

/** Histogram buckets in seconds. A quote takes well under a millisecond, a booking a few milliseconds. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

function keyOf(caller: Caller | undefined): string | undefined {
  return caller === undefined || caller.audience === "person" ? undefined : caller.keyId;
}

const SHOWN_PATH = 200;

/** Removes secrets and unprintable characters from an unknown path, and shortens it for the log. */
function shownPath(path: string | undefined): string | undefined {
  return path && withoutSecrets(path.replace(/[^!-~]/g, "?")).slice(0, SHOWN_PATH);
}

function personOf(caller: Caller | undefined): number | undefined {
  if (caller?.audience === "workspace") return caller.member?.personId;
  return caller?.audience === "person" ? caller.personId : undefined;
}

/** Returns the trace id of a call, including a trace that only the caller records. `undefined` if there is none. */
function traceIdOf({ span, headers: { traceparent } }: ReceivedCall): string | undefined {
  if (span !== undefined) return span.traceId;
  return traceparent === undefined ? undefined : readTraceparent(traceparent)?.traceId;
}

/** Creates the record of calls: a log line and two metrics for each. It never contains keys or bodies. */
export function createObserver(options: {
  readonly log: Logger;
  readonly registry: Registry;
  readonly tickBatcher: TickBatcher;
  readonly endSignal: AbortSignal;
}) {
  const { log, registry, tickBatcher, endSignal } = options;
  const count = createCounters(registry);
  let inFlight = 0;
  registry.registerMetric(
    new Gauge({
      name: "shipments_requests_in_flight",
      help: "Calls in flight in this process.",
      registers: [],
      collect() {
        this.set(inFlight);
      },
    }),
  );

  function record(
    call: ReceivedCall,
    durationMs: number,
    { httpStatus, isCut }: { httpStatus: number; isCut: boolean },
  ): void {
    const code = call.code ?? Code.Canceled;
    const caller = call.admitted?.caller;
    const isTest = caller?.audience === "workspace" && caller.test;
    count(call.method ?? "none", code, isTest ? undefined : durationMs / 1000);
    log.info(
      {
        requestId: call.headers.requestId,
        method: call.method,
        path: call.method === undefined ? shownPath(call.path) : undefined,
        address: call.address,
        workspace: caller?.audience === "workspace" ? caller.workspaceId : undefined,
        operator: caller?.audience === "operator" ? caller.name : undefined,
        person: personOf(caller),
        key: keyOf(caller),
        test: isTest || undefined,
        traceId: traceIdOf(call),
        code: codeName(code),
        status: httpStatus,
        cut: isCut || undefined,
        durationMs: Math.round(durationMs * 1000) / 1000,
      },
      "call",
    );
  }

  return {
    begin: () => void inFlight++,
    /**
     * Records a call after the response was sent or the caller disconnected. Called once. `httpStatus` is
     * 0 without a response.
     */
    end(call: ReceivedCall, httpStatus: number): void {
      const durationMs = performance.now() - call.startedMs;
      inFlight--;
      const isCut = endSignal.aborted;
      if (isCut) call.code = Code.Unavailable;
      tickBatcher.record(() => record(call, durationMs, { httpStatus, isCut }));
    },
  };
}

/**
 * Creates counters of calls and durations by method and code. Test mode calls are counted separately,
 * without durations.
 */
function createCounters(registry: Registry): (method: string, code: Code | 0, seconds: number | undefined) => void {
  const labelNames = ["method", "code"] as const;
  const requests = new Counter({
    name: "shipments_requests_total",
    help: "Completed calls by method and gRPC code, without test mode.",
    labelNames,
    registers: [registry],
  });
  const testRequests = new Counter({
    name: "shipments_test_requests_total",
    help: "Completed calls in test mode, by method and gRPC code.",
    labelNames,
    registers: [registry],
  });
  const durations = new Histogram({
    name: "shipments_request_duration_seconds",
    help: "Time from a call's first line to its response, by method and gRPC code, without test mode.",
    labelNames,
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
  return (method, code, seconds) => {
    const labels = { method, code: codeName(code) };
    if (seconds === undefined) return testRequests.inc(labels);
    requests.inc(labels);
    durations.observe(labels, seconds);
  };
}
