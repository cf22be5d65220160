import { setTimeout as sleep } from "node:timers/promises";
import { diag, DiagLogLevel } from "@opentelemetry/api";
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
  type Resource,
} from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  TracerProvider,
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import { createClientAddress } from "../pipeline/client-address.ts";
import type { Tracer } from "../pipeline/call.ts";
import type { TraceAttempt } from "../pipeline/tracer.ts";
import { createStartRequest, createTraceAttempt } from "./attempt-spans.ts";
import { createCallTracer } from "./call-spans.ts";
import { createTimeOfDay, createEventCauses } from "./trace-context.ts";
import { createExporter, createFailureLog, type FailureLog } from "./exporter.ts";
import { createBeginTransaction } from "./transaction-spans.ts";

export interface Tracing {
  readonly tracer: Tracer;
  readonly traceAttempt: TraceAttempt;
  /** Exports pending spans within half a second. */
  close(): Promise<void>;
}

/** Export queue of spans. Times are in milliseconds. */
const QUEUE = {
  // Spans above this number are dropped. A span takes 2 to 3 KiB.
  maxQueueSize: 4_096,
  maxExportBatchSize: 512,
} as const;
const CLOSE_MS = 500;

/**
 * Starts OpenTelemetry tracing. Import this module only if tracing is enabled, because it loads the
 * SDK. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` name the service.
 */
export function startTracing(options: {
  readonly url: string;
  readonly sampler: SamplerName;
  /** Sampling ratio from 0 to 1, used by ratio samplers. */
  readonly ratio: number;
  readonly databaseUrl: string;
  readonly trustedProxies: readonly string[];
  readonly version: string;
  readonly instance: string;
  readonly log: Logger;
  readonly delayMs?: number;
}): Tracing {
  const failures = createFailureLog(options.log);
  reportBy(failures);
  const exporter = createExporter(options.url, failures);
  const provider = new TracerProvider({
    sampler: createSampler(options.sampler, options.ratio),
    resource: describeService(options),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        ...QUEUE,
        scheduledDelayMillis: options.delayMs ?? 1_000,
      }),
    ],
  });
  const otel = provider.getTracer("shipments", options.version);
  const timeOfDay = createTimeOfDay();
  const causes = createEventCauses();
  const clientAddress = createClientAddress(options.trustedProxies);
  const beginTransaction = createBeginTransaction(otel, timeOfDay, options.databaseUrl);
  const startRequest = createStartRequest(otel, timeOfDay);
  const deps = { otel, timeOfDay, causes, beginTransaction, startRequest, clientAddress };
  return {
    tracer: createCallTracer(deps),
    traceAttempt: createTraceAttempt(startRequest, causes),
    async close() {
      const sent = provider.shutdown().catch((error: unknown) => failures.warn(String(error)));
      await Promise.race([sent, sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

/** Logs messages of the SDK, such as dropped spans and invalid variables. */
function reportBy({ warn }: FailureLog): void {
  const logger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

function ignore(): void {}

/** Returns the resource attributes of the service. Attributes in the environment take precedence. */
function describeService({ version, instance }: { version: string; instance: string }): Resource {
  const detectors = [resourceAttributesEnvDetector, serviceNameEnvDetector];
  const service = resourceFromAttributes({
    "service.name": "shipments",
    "service.version": version,
    "service.instance.id": instance,
  });
  return defaultResource().merge(service).merge(detectResources({ detectors }));
}

/** Names of samplers in `OTEL_TRACES_SAMPLER`. */
export type SamplerName = `${"" | "parentbased_"}${"always_on" | "always_off" | "traceidratio"}`;

/** Creates a sampler. Parent-based samplers follow the caller's decision. */
function createSampler(name: SamplerName, ratio: number): Sampler {
  const root = createRootSampler(name, ratio);
  return name.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

function createRootSampler(name: SamplerName, ratio: number): Sampler {
  if (name.endsWith("always_on")) return new AlwaysOnSampler();
  return name.endsWith("always_off") ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}
