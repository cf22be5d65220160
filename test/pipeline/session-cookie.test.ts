import { expect, test } from "vitest";
import { readSessionCookie } from "../../src/pipeline/session-cookie.ts";

const OWN = "a".repeat(43);
const PLANTED = "b".repeat(43);

test.each([
  [`session=${OWN}`, OWN],
  [`theme=dark; __Host-session=${OWN}; language=en`, OWN],
  [`session=${PLANTED}; __Host-session=${OWN}`, OWN],
  [`__Host-session=${OWN}; session=${PLANTED}`, OWN],
  [`my-session=${OWN}`, undefined],
  [`session=${OWN}x`, undefined],
  ["", undefined],
])("the session in %o is %o", (cookie, session) => {
  expect(readSessionCookie(cookie)).toBe(session);
});
