import { gunzipSync } from "node:zlib";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "./eventually.ts";
import { whenOver } from "./when-over.ts";

/** A span received over OTLP. */
interface ReceivedSpan {
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  readonly traceId: string;
  readonly spanId: string;
  /** Parent span's id, `undefined` for the root span. */
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  readonly statusMessage: string | undefined;
  /** Ids of linked spans. */
  readonly links: readonly string[];
  readonly startedNs: bigint;
  readonly endedNs: bigint;
  /** The service's resource attributes. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A span with its children, sorted by start time. */
type SpanTree = Pick<ReceivedSpan, "name" | "kind" | "attributes"> & {
  readonly isError?: true;
  readonly children?: readonly SpanTree[];
};

/** A receiver of OTLP/HTTP JSON traces on a free local port. */
export interface OtlpReceiver {
  /** Value of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** Waits for the span that has this request id. */
  spanOf(requestId: string): Promise<ReceivedSpan>;
  /** Waits until a call's trace has this many spans, and returns their tree. */
  treeOf(requestId: string, spans: number): Promise<SpanTree>;
  close(): Promise<void>;
}

/** Starts a receiver that responds to every request with a status, 200 by default. */
export async function startOtlpReceiver(status = 200): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { url: path = "", headers } = request;
    requests.push({ path, headers });
    const json = headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
    spans.push(...decode(JSON.parse(json.toString())));
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const spanOf = (requestId: string) =>
    eventually(`the span of ${requestId}`, () =>
      spans.find(({ attributes }) => attributes["shipments.request_id"] === requestId),
    );
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    requests,
    spanOf,
    async treeOf(requestId, count) {
      const { traceId } = await spanOf(requestId);
      const found = await eventually(`${count} spans of the trace of ${requestId}`, () => {
        const ofTrace = spans.filter((span) => span.traceId === traceId);
        return ofTrace.length >= count && ofTrace;
      });
      const ids = new Set(found.map(({ spanId }) => spanId));
      const roots = found.filter((span) => !ids.has(span.parentSpanId ?? ""));
      if (roots.length !== 1) throw new Error(`the trace has ${roots.length} root spans`);
      return treeBelow(roots[0]!, found);
    },
    close: whenOver(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    }),
  };
}

function treeBelow(span: ReceivedSpan, all: readonly ReceivedSpan[]): SpanTree {
  const { name, kind, attributes, isError, spanId } = span;
  const children = all
    .filter(({ parentSpanId }) => parentSpanId === spanId)
    .sort((a, b) => Number(a.startedNs - b.startedNs))
    .map((child) => treeBelow(child, all));
  return {
    name,
    kind,
    attributes,
    ...(isError ? { isError } : {}),
    ...(children.length === 0 ? {} : { children }),
  };
}

/** Span kinds by their number in OTLP. */
const KINDS = [undefined, "internal", "server", "client"] as const;
/** Number of `STATUS_CODE_ERROR` in OTLP. */
const ERROR = 2;

function decode(body: any): ReceivedSpan[] {
  return body.resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    scopeSpans.flatMap(({ spans }: any) =>
      spans.map((span: any) => ({
        name: span.name,
        kind: KINDS[span.kind as number],
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId || undefined,
        traceState: span.traceState || undefined,
        attributes: decodeAttributes(span.attributes),
        isError: span.status?.code === ERROR,
        statusMessage: span.status?.message,
        links: (span.links ?? []).map(({ spanId }: any) => spanId),
        startedNs: BigInt(span.startTimeUnixNano),
        endedNs: BigInt(span.endTimeUnixNano),
        resource: decodeAttributes(resource.attributes),
      })),
    ),
  );
}

function decodeAttributes(attributes: any[] = []): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [[type, plain]] = Object.entries(value) as [[string, unknown]];
      return [key, type === "intValue" ? Number(plain) : plain];
    }),
  );
}
