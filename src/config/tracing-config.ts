import { z } from "zod";
import { quoted } from "../domain/faults.ts";

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

const text = z.string().optional();

/**
 * OpenTelemetry's own variables, as far as they are read here. Its exporter reads others by itself:
 * headers, timeout, compression and certificates. They may be set for all services of a cluster, so
 * what they may be is asked only when calls are traced.
 */
export const TRACING_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: text,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: text,
  OTEL_EXPORTER_OTLP_PROTOCOL: text,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: text,
  OTEL_TRACES_EXPORTER: text,
  OTEL_SDK_DISABLED: text,
  OTEL_TRACES_SAMPLER: text,
  OTEL_TRACES_SAMPLER_ARG: text,
  OTEL_RESOURCE_ATTRIBUTES: text,
};

const flag = z.stringbool({ error: "must be true or false" });
const ENDPOINT_ERROR = { error: "must be an address such as http://collector:4318" };
const protocol = z
  .literal("http/json", { error: "must be http/json: traces are sent in no other way" })
  .optional();
/** The variables, when calls are traced. */
const variables = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().refine(isBaseUrl, ENDPOINT_ERROR).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().refine(isHttpUrl, ENDPOINT_ERROR).optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_TRACES_EXPORTER: z.literal("otlp", { error: "must be otlp or none" }).optional(),
  OTEL_SDK_DISABLED: flag.optional(),
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
    .regex(/^[^=,]+=[^=,]*(,[^=,]+=[^=,]*)*,?$/, "must be a list such as region=eu,team=shipping")
    .optional(),
});

type Given = z.output<z.ZodObject<typeof TRACING_VARIABLES>>;

/**
 * How calls are traced; undefined when they are not.
 *
 * @throws ConfigError when they are, and a variable cannot be followed
 */
export function readTracing(given: Given): TracingConfig | undefined {
  if (!isOn(given)) return undefined;
  const read = parseVariables(variables, given);
  const url =
    read.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? tracesUrl(read.OTEL_EXPORTER_OTLP_ENDPOINT);
  if (url === undefined) return undefined;
  return { url, sampler: read.OTEL_TRACES_SAMPLER, ratio: read.OTEL_TRACES_SAMPLER_ARG };
}

function isOn(given: Given): boolean {
  if (flag.safeParse(given.OTEL_SDK_DISABLED).data === true) return false;
  if (given.OTEL_TRACES_EXPORTER === "none") return false;
  return (
    (given.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? given.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined
  );
}

/** The endpoint of all signals has one path for each. */
function tracesUrl(endpointUrl: string | undefined): string | undefined {
  return endpointUrl === undefined ? undefined : `${endpointUrl.replace(/\/$/, "")}/v1/traces`;
}

/** Whether a path can be added to it, so that it has neither query nor fragment. */
function isBaseUrl(given: string): boolean {
  return isHttpUrl(given) && !/[?#]/.test(given);
}

function isHttpUrl(given: string): boolean {
  return URL.canParse(given) && /^https?:$/.test(new URL(given).protocol);
}

function isRatio(given: string): boolean {
  const ratio = Number(given);
  return ratio >= 0 && ratio <= 1;
}

/** What is wrong with the environment, said variable by variable. */
export class ConfigError extends Error {}

/** What the schema of a variable says of it where its value is not to be shown. */
export const SECRET = { secret: true };

/**
 * Reads variables by their schema.
 *
 * @throws ConfigError that names every variable at fault with its value, one a line
 */
export function parseVariables<T extends z.ZodRawShape>(
  schema: z.ZodObject<T>,
  given: Readonly<Record<string, string | undefined>>,
): z.output<z.ZodObject<T>> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const faults = read.error.issues.map(({ path, message }) => {
    const name = String(path[0]);
    const variable = schema.shape[name] as unknown as z.ZodType;
    // Other sentences quote what is wrong themselves.
    const isShown = message.startsWith("must") && !z.globalRegistry.get(variable)?.["secret"];
    return `${name}: ${message}${isShown ? `; it is ${shown(given[name]!)}` : ""}`;
  });
  throw new ConfigError(faults.join("\n"));
}

/** A value, without a user and password or a query, where it may be an address with a key. */
function shown(value: string): string {
  return quoted(value.replace(/^.*:.*@/s, "...@").replace(/\?.*$/s, "?..."));
}
