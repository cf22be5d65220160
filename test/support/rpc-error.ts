import { createRegistry, fromBinary, toJson, type JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.js";

const DETAILS = createRegistry(file_google_rpc_error_details);

/** An RPC error as plain values. */
export interface RpcError {
  readonly code: keyof typeof Code;
  readonly message: string;
  /** Details in protobuf JSON, by the last part of their type name. */
  readonly details: Readonly<Record<string, JsonValue>>;
}

/**
 * Returns the error of a failing call.
 *
 * @throws Error if the call succeeds, or if an error detail has an unknown type or occurs twice
 */
export async function rpcError(call: Promise<unknown>): Promise<RpcError> {
  return plainError(
    await call.then(
      () => undefined,
      (reason: unknown) => reason,
    ),
  );
}

/** Converts an RPC error to plain values. */
export function plainError(error: unknown): RpcError {
  if (!(error instanceof ConnectError)) throw new Error(`not an RPC error: ${String(error)}`);
  const details = Object.fromEntries(
    error.details.map((detail): [string, JsonValue] => {
      if ("desc" in detail) throw new Error("the error was not received over the network");
      const desc = DETAILS.getMessage(detail.type);
      if (desc === undefined) throw new Error(`unknown error detail ${detail.type}`);
      return [desc.name, toJson(desc, fromBinary(desc, detail.value))];
    }),
  );
  if (Object.keys(details).length !== error.details.length) throw new Error("duplicate error detail");
  return { code: Code[error.code] as keyof typeof Code, message: error.rawMessage, details };
}

/** Returns the expected error of a refusal with one violation, of the given field or subject if any. */
export function rpcRefusal(
  code: RpcError["code"],
  reason: string,
  message: string,
  subject?: string,
  metadata?: Record<string, string>,
): RpcError {
  const ErrorInfo = { reason, domain: "shipments.v1", ...(metadata && { metadata }) };
  const about =
    code === "FailedPrecondition"
      ? { PreconditionFailure: { violations: [{ type: reason, subject, description: message }] } }
      : { BadRequest: { fieldViolations: [{ field: subject, description: message }] } };
  const details = { ErrorInfo, ...(subject === undefined ? {} : about) } as RpcError["details"];
  return { code, message, details };
}
