import { expect, test } from "vitest";
import { SESSION_COOKIE } from "../../../src/pipeline/credentials/session-cookie.ts";

const OWN = "a".repeat(43);
const PLANTED = "b".repeat(43);

test.each([
  [`session=${OWN}`, { http: OWN, https: undefined }],
  [`theme=dark; __Host-session=${OWN}; language=en`, { http: undefined, https: OWN }],
  [`session=${PLANTED}; __Host-session=${OWN}`, { http: PLANTED, https: OWN }],
  [`__Host-session=${OWN}; session=${PLANTED}`, { http: PLANTED, https: OWN }],
  [`__Secure-session=${PLANTED}`, { http: undefined, https: undefined }],
  [`my-session=${OWN}`, { http: undefined, https: undefined }],
  [`session=${OWN}x; __Host-session=${OWN}x`, { http: undefined, https: undefined }],
  ["", { http: undefined, https: undefined }],
  [undefined, { http: undefined, https: undefined }],
])("the cookie header %o contains the session %o", (cookie, session) => {
  const read = { http: SESSION_COOKIE.read(cookie, false), https: SESSION_COOKIE.read(cookie, true) };
  expect(read).toEqual(session);
});
