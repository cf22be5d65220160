import type { HandlerContext } from "@connectrpc/connect";
import { refuse, type Refusal } from "../../domain/refusal.ts";

/** How a protocol says how long its caller waits. */
interface TimeoutHeader {
  readonly name: string;
  readonly subject: string;
  readonly form: RegExp;
  /** The form in words. */
  readonly words: string;
}

/** `Timeout` of the gRPC protocol over HTTP/2. */
const GRPC: TimeoutHeader = {
  name: "grpc-timeout",
  subject: "grpc_timeout",
  form: /^\d{1,8}[HMSmun]$/,
  words: "1 to 8 digits and a unit, one of H, M, S, m, u and n",
};

/** `Timeout` of the Connect protocol. */
const CONNECT: TimeoutHeader = {
  name: "connect-timeout-ms",
  subject: "connect_timeout_ms",
  form: /^\d{1,10}$/,
  words: "1 to 10 digits",
};

/** The refusal of a call whose timeout is not of its protocol's form; undefined when it is. */
export function malformedTimeoutError({
  protocolName,
  requestHeader,
}: Pick<HandlerContext, "protocolName" | "requestHeader">): Refusal | undefined {
  const { name, subject, form, words } = protocolName === "connect" ? CONNECT : GRPC;
  const value = requestHeader.get(name);
  if (value === null || form.test(value)) return undefined;
  return refuse("FIELD_INVALID", `${name} must be ${words}.`, { subject });
}
