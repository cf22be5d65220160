import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { noteError } from "./clients.ts";

const CODES: Readonly<Record<number, Code>> = {
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.NotFound,
  409: Code.Aborted,
  429: Code.ResourceExhausted,
  503: Code.Unavailable,
};

/**
 * Fetches the text of a document, such as the zones of a tariff version. The browser may serve it from its cache.
 *
 * @param workspace the document's workspace; omitted for the platform's documents
 * @throws ConnectError from the service
 */
export async function getDocument(path: string, signal: AbortSignal, workspace?: bigint): Promise<string> {
  const headers: HeadersInit = workspace === undefined ? {} : { "x-workspace": String(workspace) };
  return (await send(path, { signal, headers })).text();
}

/**
 * Uploads a document, or a chunk of one, unchanged. Returns the response's JSON.
 *
 * @throws ConnectError from the service
 */
export async function putChunk(path: string, contentType: string, chunk: Blob): Promise<unknown> {
  const headers = { "content-type": contentType };
  return (await send(path, { method: "PUT", headers, body: chunk })).json();
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    // Without `Sec-Fetch-Site`, as on plain HTTP, the service recognizes a GET of its own page by the referrer.
    const response = await fetch(path, { referrerPolicy: "same-origin", ...init });
    if (response.ok) return response;
    throw await connectErrorOf(response);
  } catch (error) {
    if (!init.signal?.aborted) noteError(error);
    throw error;
  }
}

async function connectErrorOf(response: Response): Promise<ConnectError> {
  const code = CODES[response.status] ?? Code.InvalidArgument;
  const { message, errors = {} } = await bodyOf(response);
  const fieldViolations = Object.entries(errors).flatMap(([field, texts]) =>
    texts.map((description) => ({ field, description })),
  );
  const details = [{ desc: BadRequestSchema, value: { fieldViolations } }];
  return new ConnectError(message, code, undefined, details);
}

/** Body of an error response. */
export interface Refusal {
  readonly message: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/** Parses an error response. A proxy's error page may not be JSON. */
async function bodyOf(response: Response): Promise<Refusal> {
  try {
    return (await response.json()) as Refusal;
  } catch {
    return { message: `The service returned status ${response.status}.` };
  }
}
