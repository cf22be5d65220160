import type { ServerResponse } from "node:http";
import type { DescField, Message } from "@bufbuild/protobuf";
import type { ReceivedCall } from "../../pipeline/call.ts";
import { FILE_TYPES, fileFieldOf } from "../../pipeline/file-field.ts";
import { assertBefore } from "../../pipeline/stages/deadline.ts";
import type { DecodedRequest } from "../../pipeline/stages/execute.ts";
import type { Pipeline } from "../../pipeline/stages/pipeline.ts";
import type { UnaryExchange } from "../../pipeline/stages/serve-unary.ts";
import { isAnswerLost } from "../../pipeline/stages/simulate.ts";
import type { StreamRpc } from "../../pipeline/rpc.ts";
import { breakConnection, inChunks } from "../connections/write-response.ts";

/**
 * Sends the file that a stream yields. Before the first chunk, errors are sent as refusals. Later errors break the
 * connection, so that a partial file is not mistaken for a complete file.
 */
export async function serveFile(
  rpc: StreamRpc,
  exchange: Pick<UnaryExchange, "read" | "refuse">,
  target: {
    readonly call: ReceivedCall;
    readonly response: ServerResponse;
    readonly pipeline: Pipeline;
    readonly headersOf: (call: ReceivedCall) => readonly string[];
  },
): Promise<void> {
  const { call, response, pipeline, headersOf } = target;
  const leaving = new AbortController();
  response.once("close", () => leaving.abort());
  const field = fileFieldOf(rpc.method.output)!;
  try {
    const admitted = await pipeline.admit(rpc, call);
    const decode = await new Promise<() => DecodedRequest>((resolve, reject) => {
      exchange.read(resolve, reject);
    });
    const messages = pipeline.executeStream(rpc, decode(), admitted, leaving.signal);
    for await (const chunk of inChunks(bytesOf(messages, field))) {
      if (isAnswerLost(admitted)) return breakConnection(response.req.socket);
      assertBefore(call.deadlineMs);
      if (!response.headersSent) {
        response.writeHead(200, [
          "content-type",
          FILE_TYPES[field.name]!,
          "content-disposition",
          `attachment; filename="${fileNameOf(rpc, field)}"`,
          "cache-control",
          "no-store",
          "x-request-id",
          call.headers.requestId,
          ...headersOf(call),
        ]);
        if (response.req.method === "HEAD") break;
      }
      await write(response, chunk);
      if (response.destroyed) return;
    }
    call.code = 0;
    response.end();
  } catch (error) {
    const refusal = pipeline.refuseCall(error, call);
    if (response.headersSent) response.destroy();
    else exchange.refuse(refusal);
  }
}

/** Returns the file name for browsers: `shipments.csv` for `ExportShipments`. */
function fileNameOf({ method }: StreamRpc, { name }: DescField): string {
  return `${method.name.replace(/^Export/, "").toLowerCase()}.${name}`;
}

async function* bytesOf(messages: AsyncIterable<Message>, { localName }: DescField): AsyncIterable<Uint8Array> {
  for await (const message of messages) yield (message as unknown as Record<string, Uint8Array>)[localName]!;
}

/** Writes a chunk. Resolves when it was sent or the caller has disconnected. */
function write(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    response.once("close", resolve);
    response.write(bytes, () => {
      response.off("close", resolve);
      resolve();
    });
  });
}
