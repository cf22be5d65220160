import { pino } from "pino";
import { expect, test } from "vitest";
import { createDatabaseContact } from "../../src/server/database-contact.ts";

/** Creates a database contact on a test clock. Also returns its log. */
function createContact() {
  const time = { ms: 0 };
  const lines: unknown[] = [];
  const log = pino({ base: undefined, timestamp: false }, { write: (it) => lines.push(JSON.parse(it)) });
  const contact = createDatabaseContact({ log, nowMs: () => time.ms, config: {} });
  const fail = (error: Error) => contact.log.warn({ err: error, table: "api_key" }, "not recorded");
  return { ...contact, fail, lines, at: (ms: number) => void (time.ms = ms) };
}

const refused = () =>
  Object.assign(
    new AggregateError([
      Object.assign(new Error("connect"), { code: "ECONNREFUSED", address: "::1", port: 5432 }),
      Object.assign(new Error("connect"), {
        code: "ECONNREFUSED",
        address: "127.0.0.1",
        port: 5432,
      }),
    ]),
    { code: "ECONNREFUSED" },
  );
const deadlock = () => Object.assign(new Error("deadlock detected"), { code: "40P01" });

test("logs an outage with its error once, briefly every ten seconds, and at its end", () => {
  const { at, fail, reached, lines } = createContact();
  for (const ms of [0, 5_000, 10_000, 20_000]) {
    at(ms);
    fail(refused());
  }
  at(21_000);
  reached();
  const line = { level: 40, table: "api_key", during: "not recorded", msg: "database unavailable" };
  const reason = "no server listens at ::1:5432, no server listens at 127.0.0.1:5432";
  expect(lines).toEqual([
    { ...line, err: expect.objectContaining({ stack: expect.any(String) }), notLogged: 0 },
    { ...line, reason, notLogged: 1 },
    { ...line, reason, notLogged: 0 },
    { level: 30, seconds: 21, notLogged: 0, msg: "database reached" },
  ]);
});

test("logs a reconnection only after an outage", () => {
  const { at, fail, reached, lines } = createContact();
  at(60_000);
  reached();
  fail(deadlock());
  at(120_000);
  reached();
  expect(lines).toMatchObject([{ err: { message: "deadlock detected" } }]);
});
