import { isFieldError } from "@bufbuild/protobuf/reflect";
import { Code, type ConnectError } from "@connectrpc/connect";
import { invalidField, Refusal, refuse } from "../../domain/refusal.ts";

/**
 * Returns the refusal for an error that Connect raised while reading a request: the request is too
 * large, of the wrong type, or JSON with a field of the wrong type. `undefined` for other errors.
 */
export function unreadableRequest({ code, cause }: ConnectError, maxBytes: number): Refusal | undefined {
  switch (code) {
    case Code.ResourceExhausted:
      return bodyTooLarge(maxBytes);
    case Code.InvalidArgument:
    case Code.Internal:
      return cause instanceof Refusal ? cause : (mistypedField(cause) ?? notOfThisRpc());
    default:
      return undefined;
  }
}

export function bodyTooLarge(maxBytes: number): Refusal {
  return refuse("BODY_TOO_LARGE", `The body is larger than ${maxBytes / 1024} KiB.`, {
    subject: "body",
  });
}

/** Returns the refusal of a JSON body that contains the same member twice, at the given path. */
export function duplicateMemberError(path: string): Refusal {
  const text = `The body has ${path} twice. Send each name once.`;
  return refuse("BODY_UNREADABLE", text, { subject: "body" });
}

export function notOfThisRpc(): Refusal {
  return refuse("BODY_UNREADABLE", "The request is not a message of this RPC.", {
    subject: "body",
  });
}

function mistypedField(error: unknown): Refusal | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!isFieldError(cause)) return undefined;
  const { name } = cause.field();
  return invalidField(name, "is of the wrong type.");
}
