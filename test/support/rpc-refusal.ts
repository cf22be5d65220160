import { Code, ConnectError } from "@connectrpc/connect";
import { toJson } from "@bufbuild/protobuf";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
} from "../../gen/google/rpc/error_details_pb.js";

/** A refusal at the gRPC door as plain values, whole. */
export interface RpcRefusal {
  readonly code: string;
  readonly message: string;
  /** Every detail, in protobuf's JSON, by the last part of its type. */
  readonly details: Readonly<Record<string, unknown>>;
}

const DETAILS = [ErrorInfoSchema, BadRequestSchema, PreconditionFailureSchema, RetryInfoSchema];

/** What a call is refused with; fails when it is answered. */
export async function rpcRefusal(call: Promise<unknown>): Promise<RpcRefusal> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConnectError)) throw new Error(`no refusal: ${String(error)}`);
  const details = Object.fromEntries(
    DETAILS.flatMap((schema) =>
      error.findDetails(schema).map((it) => [schema.name, toJson(schema, it)]),
    ),
  );
  if (Object.keys(details).length !== error.details.length) throw new Error("unknown details");
  return { code: Code[error.code], message: error.rawMessage, details };
}
