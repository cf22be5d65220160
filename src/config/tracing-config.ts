import { z } from "zod";
import { addressLike, flag, parseVariables } from "./variables.ts";

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

function endpoint(pattern: RegExp) {
  return addressLike("http://collector:4318", ({ href }) => pattern.test(href)).optional();
}

const protocol = z.literal("http/json", { error: "must be http/json, the only supported protocol" }).optional();

/**
 * OpenTelemetry variables that the service reads. The exporter itself reads headers, timeout,
 * compression and certificates.
 */
const variables = z.object({
  // The service appends the path for traces.
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint(/^https?:[^?#]*$/),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint(/^https?:/),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_TRACES_EXPORTER: z.literal("otlp", { error: "must be otlp or none" }).optional(),
  OTEL_SDK_DISABLED: flag.optional(),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS, { error: `must be one of ${SAMPLERS.join(", ")}` })
    .default("parentbased_always_on"),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .refine((text) => Number(text) >= 0 && Number(text) <= 1, {
      error: "must be a number from 0 to 1",
    })
    .transform(Number)
    .default(1),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .regex(/^[^=,]+=[^=,]*(,[^=,]+=[^=,]*)*,?$/, "must be a list such as region=eu,team=shipping")
    .optional(),
});

const text = z.string().optional();

/**
 * OpenTelemetry variables without validation. They may be set for a whole cluster, so they are
 * validated only if tracing is enabled.
 */
export const TRACING_VARIABLES = Object.fromEntries(Object.keys(variables.shape).map((name) => [name, text])) as Record<
  keyof typeof variables.shape,
  typeof text
>;
type Environment = z.output<z.ZodObject<typeof TRACING_VARIABLES>>;

/** @throws ConfigError if tracing is enabled and a variable is invalid */
export function readTracing(env: Environment) {
  if (!isOn(env)) return undefined;
  const read = parseVariables(variables, env);
  const url = read.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? tracesUrl(read.OTEL_EXPORTER_OTLP_ENDPOINT);
  if (url === undefined) return undefined;
  return { url, sampler: read.OTEL_TRACES_SAMPLER, ratio: read.OTEL_TRACES_SAMPLER_ARG };
}

function isOn(env: Environment): boolean {
  if (flag.safeParse(env.OTEL_SDK_DISABLED).data === true) return false;
  if (env.OTEL_TRACES_EXPORTER === "none") return false;
  return Boolean(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT);
}

/** Returns the URL for traces. The common endpoint has one path per signal. */
function tracesUrl(endpointUrl: string | undefined): string | undefined {
  return endpointUrl === undefined ? undefined : `${endpointUrl.replace(/\/$/, "")}/v1/traces`;
}
