import type { Endpoints } from "./endpoints.ts";

/** A sample in the Prometheus text format. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Metric {
  readonly type: string;
  readonly samples: Sample[];
}

const TYPE = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped)$/;
const HELP = /^# HELP [a-zA-Z_:][a-zA-Z0-9_:]* .+$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?[0-9.e+-]+|[+-]Inf|NaN)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/**
 * Parses the Prometheus text format 0.0.4 strictly. https://prometheus.io/docs/instrumenting/exposition_formats/
 *
 * @throws Error for an invalid line, or a sample without a TYPE line
 */
export function parsePrometheus(text: string): Map<string, Metric> {
  if (!text.endsWith("\n")) throw new Error("the last line has no line break");
  const metrics = new Map<string, Metric>();
  for (const line of text.split("\n")) {
    if (line === "" || HELP.test(line)) continue;
    const [, announced, type] = TYPE.exec(line) ?? [];
    if (announced !== undefined && type !== undefined) {
      if (metrics.has(announced)) throw new Error(`${announced} has two TYPE lines`);
      metrics.set(announced, { type, samples: [] });
      continue;
    }
    const sample = parseSample(line);
    const metric = metrics.get(sample.name) ?? metrics.get(sample.name.replace(/_(bucket|sum|count)$/, ""));
    if (metric === undefined) throw new Error(`no TYPE before: ${line}`);
    metric.samples.push(sample);
  }
  return metrics;
}

/** Returns the service's metric for the number of calls in flight. */
export async function callsInFlight(endpoints: Endpoints): Promise<number> {
  const { text } = await endpoints.request("/metrics");
  return Number(/^shipments_requests_in_flight (\d+)$/m.exec(text)?.[1]);
}

function parseSample(line: string): Sample {
  const [, name, labels = "", value] = SAMPLE.exec(line) ?? [];
  if (name === undefined) throw new Error(`invalid line: ${line}`);
  return { name, labels: parseLabels(labels), value: Number(value?.replace("Inf", "Infinity")) };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name, value] = LABEL.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new Error(`invalid labels: ${text}`);
    labels[name] = value;
  }
  return labels;
}
