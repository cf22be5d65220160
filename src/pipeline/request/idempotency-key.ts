import { refuse } from "../../domain/refusal.ts";

const VISIBLE = /^[\x21-\x7e]{1,255}$/;

/**
 * The idempotency key a request carries, if any.
 *
 * @throws Refusal FIELD_INVALID when it is not 1 to 255 visible characters, or there are two
 */
export function readIdempotencyKey(values: readonly string[]): string | undefined {
  const [key, other] = values;
  if (key === undefined) return undefined;
  if (other === undefined && VISIBLE.test(key)) return key;
  throw refuse("FIELD_INVALID", "Idempotency-Key must be 1 to 255 visible characters, once.", {
    subject: "idempotency_key",
  });
}
