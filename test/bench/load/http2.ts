import { once } from "node:events";
import { connect } from "node:net";
import type { Connection, Load } from "./load.ts";

/** HTTP/2 frame types (RFC 9113, section 6). */
const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 };
const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4 };
const FRAME_HEADER_BYTES = 9;
/** Maximum flow-control window: 2 GiB. */
const MAX_WINDOW = 0x7fff_ffff;
/** Number of static entries in every HPACK table (RFC 7541, appendix A). */
const STATIC_ENTRIES = 61;

type Http2Request = Extract<Load["request"], { protocol: "HTTP/2" }>;

/**
 * Opens an HTTP/2 connection for a number of concurrent unary gRPC calls. Implements only the necessary parts of the
 * protocol, because Node's client uses more CPU than the servers. A call that returns only trailers counts as failed.
 */
export async function openHttp2(port: number, { headers }: Http2Request, streams: number): Promise<Connection> {
  const socket = connect(port, "127.0.0.1").setNoDelay();
  await once(socket, "connect");
  socket.write(preface());
  const inFlight = new Map<number, { done: (fault?: string) => void; hasMessage: boolean }>();
  const settle = (id: number, fault?: string) => {
    const done = inFlight.get(id)?.done;
    inFlight.delete(id);
    done?.(fault);
  };
  const fail = (fault: string) => [...inFlight.keys()].forEach((id) => settle(id, fault));
  const onFrame = (type: number, flags: number, id: number, payload: Buffer) => {
    const stream = inFlight.get(id);
    const hasEnded = (flags & FLAG.endStream) !== 0;
    if (type === TYPE.data && stream !== undefined) stream.hasMessage ||= payload.length > 0;
    if (type === TYPE.headers && hasEnded) settle(id, stream?.hasMessage ? undefined : "refused");
    if (type === TYPE.data && hasEnded) settle(id, "a response without trailers");
    if (type === TYPE.reset) settle(id, "the stream was reset");
    if (type === TYPE.goAway) fail("the server closed the connection");
    if ((type === TYPE.settings || type === TYPE.ping) && (flags & FLAG.ack) === 0) {
      socket.write(frame(type, FLAG.ack, 0, type === TYPE.ping ? payload : Buffer.alloc(0)));
    }
  };
  socket.on("data", eachFrame(onFrame));
  socket.on("error", (error) => fail(error.message));
  socket.on("close", () => fail("the connection was closed"));
  const [firstBlock, laterBlock] = headerBlocks(Object.entries(headers));
  let id = -1;
  return {
    sends: Array.from({ length: streams }, () => (body, done) => {
      const block = id < 0 ? firstBlock : laterBlock;
      id += 2;
      inFlight.set(id, { done, hasMessage: false });
      const head = frame(TYPE.headers, FLAG.endHeaders, id, block);
      socket.write(Buffer.concat([head, frame(TYPE.data, FLAG.endStream, id, body)]));
    }),
    close: () => socket.destroy(),
  };
}

/** Returns a client preface that sets the maximum windows. */
function preface(): Buffer {
  const initialWindow = Buffer.from([0, 4, 0, 0, 0, 0]);
  initialWindow.writeUInt32BE(MAX_WINDOW, 2);
  const increment = Buffer.alloc(4);
  increment.writeUInt32BE(MAX_WINDOW - 65_535);
  return Buffer.concat([
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    frame(TYPE.settings, 0, 0, initialWindow),
    frame(TYPE.windowUpdate, 0, 0, increment),
  ]);
}

function frame(type: number, flags: number, id: number, payload: Buffer): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(id, 5);
  return Buffer.concat([header, payload]);
}

/** Splits received data into frames. */
function eachFrame(
  onFrame: (type: number, flags: number, id: number, payload: Buffer) => void,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= FRAME_HEADER_BYTES) {
      const end = FRAME_HEADER_BYTES + rest.readUIntBE(0, 3);
      if (rest.length < end) return;
      const id = rest.readUInt32BE(5) & MAX_WINDOW;
      onFrame(rest[3]!, rest[4]!, id, rest.subarray(FRAME_HEADER_BYTES, end));
      rest = rest.subarray(end);
    }
  };
}

/**
 * Encodes headers with HPACK (RFC 7541). The first block is for a connection's first call: its
 * literals are added to the server's table. The second block is for later calls and references
 * these entries, which are numbered from the last added.
 */
function headerBlocks(headers: [name: string, value: string][]): readonly [Buffer, Buffer] {
  const literals = headers.flatMap(([name, value]) => [0x40, ...literal(name), ...literal(value)]);
  const indices = headers.map((_, i) => 0x80 | (STATIC_ENTRIES + headers.length - i));
  return [Buffer.from(literals), Buffer.from(indices)];
}

function literal(text: string): number[] {
  if (text.length > 126) throw new Error(`${text} is too long for a length of one byte`);
  return [text.length, ...Buffer.from(text)];
}
