import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from "@opentelemetry/sdk-trace";

/** Which traces are recorded, by the names of OpenTelemetry's `OTEL_TRACES_SAMPLER`. */
export type SamplerName = `${"" | "parentbased_"}${"always_on" | "always_off" | "traceidratio"}`;

/**
 * Builds a sampler. Those based on the parent do as its caller does where a call brings a trace.
 *
 * @param ratio the part of traces to record, from 0 to 1, for samplers by ratio
 */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  const root = createRootSampler(name, ratio);
  return name.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

function createRootSampler(name: SamplerName, ratio: number): Sampler {
  if (name.endsWith("always_on")) return new AlwaysOnSampler();
  return name.endsWith("always_off") ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}
