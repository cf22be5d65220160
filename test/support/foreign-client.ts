import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { TEST_MS } from "./limits.ts";
import { rpcError, type RpcError } from "./rpc-error.ts";

/** The interpreter for which Debian installs `python3-grpcio`, regardless of PATH. */
const PYTHON = "/usr/bin/python3";
const SCRIPT = fileURLToPath(new URL("../transport/grpc/foreign_client.py", import.meta.url));

/** Whether Python with grpcio is installed. */
export const HAS_GRPCIO = spawnSync(PYTHON, ["-c", "import grpc"]).status === 0;

/** A call to make with grpcio. */
export interface ForeignCall {
  readonly kind?: "unary" | "stream" | "bidi";
  readonly path: string;
  /** Encoded request message. */
  readonly message: Uint8Array;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly timeoutSeconds?: number;
  readonly compression?: "gzip" | "deflate";
  /** Whether the call uses a separate connection. */
  readonly alone?: boolean;
}

/** Result of a call as grpcio reports it. */
export interface ForeignResult {
  readonly headers: Headers;
  readonly messages: readonly Buffer[];
  /** grpcio's name of the status, such as `OK` or `UNIMPLEMENTED`. */
  readonly code: string;
  /** Status message. */
  readonly text: string;
  /** Error from the trailers, with details. `undefined` on success. */
  readonly error: RpcError | undefined;
}

/** A line that the script prints. Its fields determine its type. */
interface Line {
  readonly call: number;
  readonly headers?: [string, string][];
  readonly message?: string;
  readonly code?: string;
  readonly details?: string;
  readonly trailers?: [string, string][];
}

type Pending = { -readonly [K in keyof ForeignResult]?: ForeignResult[K] } & { messages: Buffer[] };

/**
 * Makes all calls concurrently with grpcio. Resolves when all have completed.
 *
 * @param onMessage called with each message that any call receives
 * @throws Error if the script fails
 */
export async function callByGrpcio(
  grpcUrl: string,
  calls: readonly ForeignCall[],
  onMessage: (message: Buffer) => void = () => undefined,
): Promise<ForeignResult[]> {
  const python = spawn(PYTHON, [SCRIPT], { stdio: ["pipe", "pipe", "pipe"] });
  let errors = "";
  python.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => python.once("close", resolve));
  python.stdin.end(JSON.stringify({ target: new URL(grpcUrl).host, calls: calls.map(written) }));
  const answers = calls.map((): Pending => ({ headers: new Headers(), messages: [] }));
  for await (const text of createInterface(python.stdout)) {
    const line = JSON.parse(text) as Line;
    await note(answers[line.call]!, line, onMessage);
  }
  if ((await ended) !== 0) throw new Error(`the Python client failed: ${errors}`);
  return answers as ForeignResult[];
}

function written(call: ForeignCall) {
  return {
    kind: call.kind ?? "unary",
    path: call.path,
    message: Buffer.from(call.message).toString("base64"),
    metadata: Object.entries(call.metadata ?? {}),
    timeoutSeconds: call.timeoutSeconds ?? TEST_MS / 1_000,
    compression: call.compression ?? null,
    alone: call.alone ?? false,
  };
}

async function note(answer: Pending, line: Line, onMessage: (message: Buffer) => void) {
  if (line.headers !== undefined) answer.headers = new Headers(line.headers);
  if (line.message !== undefined) {
    const message = Buffer.from(line.message, "base64");
    answer.messages.push(message);
    onMessage(message);
  }
  if (line.code === undefined) return;
  answer.code = line.code;
  answer.text = line.details ?? "";
  const error = findTrailerError(new Headers(line.trailers));
  if (error !== undefined) answer.error = await rpcError(Promise.reject(error));
}
