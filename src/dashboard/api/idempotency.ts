import type { CallOptions } from "@connectrpc/connect";
import { useState } from "preact/hooks";

/**
 * Options for the one change that a form or a dialog makes, the same as long as it is shown: sent
 * twice, such as after a lost answer, the change is made once.
 */
export function useIdempotency(): CallOptions {
  const [options] = useState(() => ({ headers: { "idempotency-key": randomKey() } }));
  return options;
}

/** `crypto.randomUUID` is there over https alone. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
