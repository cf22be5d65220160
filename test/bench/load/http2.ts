import { once } from "node:events";
import { connect } from "node:net";
import type { Connection, Load } from "./load.ts";

/** Of RFC 9113, section 6. */
const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 };
const END_STREAM = 0x1;
const ACK = 0x1;
const END_HEADERS = 0x4;
const FRAME_HEADER_BYTES = 9;
/** The most that a window can be: 2 GiB, more than any load receives on a connection. */
const MAX_WINDOW = 0x7fff_ffff;
/** Entries that every HPACK table begins with (RFC 7541, appendix A). */
const STATIC_ENTRIES = 61;

type Http2Request = Extract<Load["request"], { protocol: "HTTP/2" }>;

/** What is known of the answer to a request in flight. */
interface Stream {
  readonly done: (fault?: string) => void;
  hasMessage: boolean;
}

/**
 * Opens an HTTP/2 connection for unary gRPC calls, so many at a time. As little of the protocol as
 * servers need: Node's own client takes more of the machine than they do. Whether a call succeeded
 * is told by its message: an error comes without one, in trailers alone.
 */
export async function openHttp2(
  port: number,
  { headers }: Http2Request,
  streams: number,
): Promise<Connection> {
  const socket = connect(port, "127.0.0.1").setNoDelay();
  await once(socket, "connect");
  socket.write(preface());
  const inFlight = new Map<number, Stream>();
  let lastStream = -1;
  const settle = (id: number, fault?: string) => {
    const done = inFlight.get(id)?.done;
    inFlight.delete(id);
    done?.(fault);
  };
  const fail = (fault: string) => [...inFlight.keys()].forEach((id) => settle(id, fault));
  const onFrame = (type: number, flags: number, id: number, payload: Buffer) => {
    const stream = inFlight.get(id);
    const hasEnded = (flags & END_STREAM) !== 0;
    if (type === FRAME.data && stream !== undefined) stream.hasMessage ||= payload.length > 5;
    if (type === FRAME.headers && hasEnded) settle(id, stream?.hasMessage ? undefined : "refused");
    if (type === FRAME.data && hasEnded) settle(id, "an answer without trailers");
    if (type === FRAME.reset) settle(id, "the call was reset");
    if (type === FRAME.goAway) fail("the connection was closed");
    if ((type === FRAME.settings || type === FRAME.ping) && (flags & ACK) === 0) {
      socket.write(frame(type, ACK, 0, type === FRAME.ping ? payload : Buffer.alloc(0)));
    }
  };
  socket.on("data", eachFrame(onFrame));
  socket.on("error", (error) => fail(error.message));
  socket.on("close", () => fail("the connection was closed"));
  const [firstBlock, laterBlock] = headerBlocks(headers);
  return {
    sends: Array.from({ length: streams }, () => (body, done) => {
      const block = lastStream < 0 ? firstBlock : laterBlock;
      lastStream += 2;
      inFlight.set(lastStream, { done, hasMessage: false });
      const asked = frame(FRAME.headers, END_HEADERS, lastStream, block);
      socket.write(Buffer.concat([asked, frame(FRAME.data, END_STREAM, lastStream, body)]));
    }),
    close: () => socket.destroy(),
  };
}

function preface(): Buffer {
  const initialWindow = Buffer.alloc(6);
  initialWindow.writeUInt16BE(4, 0);
  initialWindow.writeUInt32BE(MAX_WINDOW, 2);
  const increment = Buffer.alloc(4);
  increment.writeUInt32BE(MAX_WINDOW - 65_535);
  return Buffer.concat([
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    frame(FRAME.settings, 0, 0, initialWindow),
    frame(FRAME.windowUpdate, 0, 0, increment),
  ]);
}

function frame(type: number, flags: number, id: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(id, 5);
  payload.copy(bytes, FRAME_HEADER_BYTES);
  return bytes;
}

/** Cuts what is received into frames. */
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
 * The headers in HPACK (RFC 7541): for the first call of a connection as literals that are added to
 * the server's table, for later ones as what stands there, the last added first.
 */
function headerBlocks(headers: Http2Request["headers"]): readonly [Buffer, Buffer] {
  const literals = headers.flatMap(([name, value]) => [0x40, ...literal(name), ...literal(value)]);
  const indices = headers.map((_, i) => 0x80 | (STATIC_ENTRIES + headers.length - i));
  return [Buffer.from(literals), Buffer.from(indices)];
}

function literal(text: string): number[] {
  if (text.length > 126) throw new Error(`${text} is longer than its length fits into a byte`);
  return [text.length, ...Buffer.from(text)];
}
