import { z } from "zod";

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** Where traces go, and which. */
export interface TracingConfig {
  /** Where they are sent by OTLP over HTTP, path included. */
  readonly url: string;
  readonly sampler: (typeof SAMPLERS)[number];
  /** The part of traces to record, from 0 to 1, for samplers by ratio. */
  readonly ratio: number;
}

const endpoint = z
  .string()
  .refine(isHttpUrl, { error: "must be an address such as http://collector:4318" })
  .optional();
const protocol = z
  .literal("http/json", { error: "must be http/json: traces are sent in no other way" })
  .optional();

/**
 * OpenTelemetry's own variables, as far as they are read here. Its exporter reads others by itself:
 * headers, timeout, compression and certificates.
 */
export const TRACING_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_TRACES_EXPORTER: z.enum(["otlp", "none"], { error: "must be otlp or none" }).optional(),
  OTEL_SDK_DISABLED: z.stringbool({ error: "must be true or false" }).default(false),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS, { error: `must be one of ${SAMPLERS.join(", ")}` })
    .default("parentbased_always_on"),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .refine(isRatio, { error: "must be a number from 0 to 1" })
    .transform(Number)
    .default(1),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .regex(/^[^=,]+=[^=,]*(,[^=,]+=[^=,]*)*$/, "must be a list such as region=eu,team=shipping")
    .optional(),
};

type Variables = z.output<z.ZodObject<typeof TRACING_VARIABLES>>;

/** How calls are traced; undefined when they are not. */
export function readTracing(read: Variables): TracingConfig | undefined {
  if (read.OTEL_SDK_DISABLED || read.OTEL_TRACES_EXPORTER === "none") return undefined;
  const url =
    read.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? tracesUrl(read.OTEL_EXPORTER_OTLP_ENDPOINT);
  if (url === undefined) return undefined;
  return { url, sampler: read.OTEL_TRACES_SAMPLER, ratio: read.OTEL_TRACES_SAMPLER_ARG };
}

/** The endpoint of all signals has one path for each. */
function tracesUrl(endpointUrl: string | undefined): string | undefined {
  return endpointUrl === undefined ? undefined : `${endpointUrl.replace(/\/$/, "")}/v1/traces`;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function isRatio(text: string): boolean {
  const ratio = Number(text);
  return ratio >= 0 && ratio <= 1;
}
