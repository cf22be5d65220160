import { Counter, Gauge, Histogram, type Registry } from "@prometheus-io/client";
import { Code } from "@connectrpc/connect";
import type { Logger } from "pino";
import type { TickBatcher } from "./tick-batcher.ts";

/** One request under observation, from its first line to its last byte. */
export interface Exchange {
  readonly requestId: string;
  readonly startedMs: number;
  /** `shipments.v1.ShipmentService/QuoteShipment`; undefined until a route is found. */
  rpc: string | undefined;
  workspaceId: number | undefined;
  /** How the call ended, as a gRPC code; undefined until known. 0 is success. */
  code: Code | 0 | undefined;
}

/** Watches calls: a log line and two metrics for each. Never sees a key or a body. */
export interface Observer {
  begin(requestId: string): Exchange;
  /**
   * Call once, when the answer has gone out or the caller has. `httpStatus` 0 when there was none.
   */
  end(exchange: Exchange, httpStatus: number): void;
  /** How many calls have begun and not ended. */
  underWay(): number;
}

/** In seconds: a quote takes well under a millisecond, a booking a few. */
const DURATION_BUCKETS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

/** The names of the codes, lower case with underscores, as gRPC's own tables write them. */
const CODE_NAMES: ReadonlyMap<number, string> = new Map([
  [0, "ok"],
  ...Object.entries(Code)
    .filter((entry): entry is [string, Code] => typeof entry[1] === "number")
    .map(([name, code]): [number, string] => [
      code,
      name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase(),
    ]),
]);

function nameOf(code: Code | 0): string {
  return CODE_NAMES.get(code) ?? "unknown";
}

/** Builds an observer that counts into `registry` and logs to `log`. */
export function createObserver(log: Logger, registry: Registry, tickBatcher: TickBatcher): Observer {
  const labelNames = ["method", "code"] as const;
  const requests = new Counter({
    name: "shipments_requests_total",
    help: "Calls answered, by method and gRPC code.",
    labelNames,
    registers: [registry],
  });
  const durations = new Histogram({
    name: "shipments_request_duration_seconds",
    help: "Time from a call's first line to its answer, by method and gRPC code.",
    labelNames,
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
  // Looking labels up costs more than counting; there are few pairs of them.
  const counters = new Map<string, Map<Code | 0, (seconds: number) => void>>();
  function counterOf(method: string, code: Code | 0): (seconds: number) => void {
    const ofMethod = counters.getOrInsertComputed(method, () => new Map());
    return ofMethod.getOrInsertComputed(code, () => {
      const request = requests.labels(method, nameOf(code));
      const duration = durations.labels(method, nameOf(code));
      return (seconds) => {
        request.inc();
        duration.observe(seconds);
      };
    });
  }

  function record(exchange: Exchange, durationMs: number, httpStatus: number): void {
    const code = exchange.code ?? Code.Canceled;
    counterOf(exchange.rpc ?? "none", code)(durationMs / 1000);
    log.info(
      {
        requestId: exchange.requestId,
        method: exchange.rpc,
        workspace: exchange.workspaceId,
        code: nameOf(code),
        status: httpStatus,
        durationMs: Math.round(durationMs * 1000) / 1000,
      },
      "call",
    );
  }

  let underWay = 0;
  new Gauge({
    name: "shipments_requests_under_way",
    help: "Calls that have begun and not ended.",
    registers: [registry],
    collect() {
      this.set(underWay);
    },
  });
  return {
    begin(requestId) {
      underWay++;
      return {
        requestId,
        startedMs: performance.now(),
        rpc: undefined,
        workspaceId: undefined,
        code: undefined,
      };
    },
    end(exchange, httpStatus) {
      const durationMs = performance.now() - exchange.startedMs;
      underWay--;
      tickBatcher.record(() => record(exchange, durationMs, httpStatus));
    },
    underWay: () => underWay,
  };
}
