import { connect } from "node:http2";

/** What came back of a call made by hand. */
export interface RawRpcAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly trailers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Posts these bytes to a path of the gRPC door, with headers that no client would send. */
export function rawRpc(
  grpcUrl: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Promise<RawRpcAnswer> {
  return new Promise((resolve, reject) => {
    const session = connect(grpcUrl).on("error", reject);
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
    stream.end(body);
  });
}

/** A message as gRPC frames it: flags, length, bytes. */
export function frame(message: Uint8Array, flags = 0): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
