import { connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";

/** Response to a handwritten call. */
export interface RawGrpcResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly trailers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Headers by name. A list repeats the header. */
export type RawHeaders = Readonly<Record<string, string | string[]>>;

/** Options for sending the body. By default it is sent whole. */
interface SendOptions {
  /** Size of each chunk, in bytes. */
  readonly pieceBytes?: number;
  /** Whether the body is ended. `false` leaves it open. */
  readonly ends?: boolean;
  /** Flow-control window for the response, in bytes. */
  readonly windowBytes?: number;
}

/** Posts bytes to a path on the gRPC server, with arbitrary headers. */
export function rawGrpc(
  grpcUrl: string,
  path: string,
  headers: RawHeaders,
  body: Uint8Array,
  { pieceBytes = Infinity, ends = true, windowBytes = 65_535 }: SendOptions = {},
): Promise<RawGrpcResponse> {
  return new Promise((resolve, reject) => {
    // Node's types lack these options.
    const options = {
      strictSingleValueFields: false,
      settings: { initialWindowSize: windowBytes },
    };
    const session = connect(grpcUrl, options);
    session.on("error", reject);
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    const answer = { status: 0, headers: {}, trailers: {}, text: "" };
    stream.on("response", (received) => {
      answer.status = received[":status"] as number;
      answer.headers = received;
    });
    stream.on("trailers", (received) => (answer.trailers = received));
    stream.on("data", (chunk: Buffer) => (answer.text += chunk.toString("latin1")));
    stream.on("error", reject);
    stream.on("close", () => {
      session.close();
      resolve(answer);
    });
    const send = async () => {
      for (let at = 0; at < body.length; at += pieceBytes) {
        if (at > 0) await sleep(1);
        if (!stream.destroyed) stream.write(body.subarray(at, at + pieceBytes));
      }
      if (ends) stream.end();
    };
    send().catch(reject);
  });
}

/** Returns a gRPC frame: flags, length, message. */
export function frame(message: Uint8Array, flags = 0): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
