import { createRegistry, fromBinary, toJson, type JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../../gen/google/rpc/error_details_pb.js";

const DETAILS = createRegistry(file_google_rpc_error_details);

/** What an RPC's error says, in plain values. */
export interface ErrorFacts {
  readonly code: keyof typeof Code;
  readonly message: string;
  /** The details in protobuf's JSON, by their type's short name. */
  readonly details: Readonly<Record<string, JsonValue>>;
}

/** The error that a call must end with, and everything it says. */
export async function errorFacts(call: Promise<unknown>): Promise<ErrorFacts> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConnectError)) throw new Error(`no RPC error but ${String(error)}`);
  const details = error.details.map((detail): [string, JsonValue] => {
    if ("desc" in detail) throw new Error("an error that did not come over the wire");
    const desc = DETAILS.getMessage(detail.type);
    if (desc === undefined) throw new Error(`an unknown detail ${detail.type}`);
    return [desc.name, toJson(desc, fromBinary(desc, detail.value))];
  });
  return {
    code: Code[error.code] as keyof typeof Code,
    message: error.rawMessage,
    details: Object.fromEntries(details),
  };
}
