import { expect, test } from "vitest";
import { ATTEMPT_SECONDS, createAttemptSeal } from "../../src/oidc/attempt-seal.ts";

const ATTEMPT = {
  verifier: "verifier",
  state: "state",
  nonce: "nonce",
  returnTo: "/w/1?q=ä",
  session: "A".repeat(43),
};
const SECRET = "the client secret";

let nowMs = 0;
const seal = createAttemptSeal(SECRET, () => nowMs);

test("every replica with the client secret can open an attempt for ten minutes", () => {
  nowMs = 1_000;
  const sealed = seal.close(ATTEMPT);
  const replica = createAttemptSeal(SECRET, () => nowMs);
  nowMs = ATTEMPT_SECONDS * 1_000 + 999;
  expect(replica.open(sealed)).toEqual(ATTEMPT);
  nowMs = ATTEMPT_SECONDS * 1_000 + 1_000;
  expect(replica.open(sealed)).toBeUndefined();
});

test("an attempt cannot be read without the client secret, and differs each time", () => {
  const sealed = seal.close(ATTEMPT);
  expect(Buffer.from(sealed, "base64url").toString("latin1")).not.toContain("verifier");
  expect(seal.close(ATTEMPT)).not.toBe(sealed);
  expect(createAttemptSeal("another secret").open(sealed)).toBeUndefined();
});

test("an attempt with any changed byte does not open", () => {
  const bytes = Buffer.from(seal.close(ATTEMPT), "base64url");
  for (const at of bytes.keys()) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    expect(seal.open(changed.toString("base64url"))).toBeUndefined();
  }
});

test.each(["", "A", "not base64!", "A".repeat(37), "A".repeat(4_000)])("%j does not open", (text) => {
  expect(seal.open(text)).toBeUndefined();
});
