import pg from "pg";
import { expect, test } from "vitest";
import { databaseUrlError, parseDatabaseUrl, hostText } from "../../src/db/database-url.ts";
import { createOrm } from "../../src/db/orm.ts";
import { assertTarget } from "../../src/db/server-status.ts";
import { createDatabase } from "../support/database.ts";

const ONE = "must be an address such as postgres://user:password@host:5432/database";
const SEVERAL = "must be an address such as postgres://user:password@first:5432,second:5432/database";
const PARAMETERS = "must name several hosts and their ports before the database, not by host= or port=";
const SSL_MODE = "must have a supported sslmode: disable, no-verify, prefer, require, verify-ca, verify-full";

function escaped(fixes: string): string {
  return `must have special characters in its user and password escaped: write ${fixes}`;
}

test("returns a URL with one host unchanged", () => {
  const url = "postgres://ada:s%2Cecret@db.example:5433/shipments?sslmode=require";
  expect(parseDatabaseUrl(url)).toEqual({ urls: [url], target: undefined });
});

test("splits a URL with several hosts into one URL per host", () => {
  const url = "postgresql://ada:a,b@a.example:5433,b.example,[::1]:5434/shipments?sslmode=require";
  const rest = "/shipments?sslmode=require";
  expect(parseDatabaseUrl(url)).toEqual({
    urls: [
      `postgresql://ada:a,b@a.example:5433${rest}`,
      `postgresql://ada:a,b@b.example${rest}`,
      `postgresql://ada:a,b@[::1]:5434${rest}`,
    ],
    target: "read-write",
  });
  expect(hostText(url)).toBe("a.example:5433, b.example:5432, [::1]:5434");
});

test.each([
  ["postgres://a,b/db?target_session_attrs=primary", "primary"],
  ["postgres://a,b/db?target_session_attrs=read-write", "read-write"],
  ["postgres://a/db?target_session_attrs=read-write", "read-write"],
  ["postgres://a/db?target_session_attrs=any", undefined],
  ["postgres://a/db?host=/run/postgresql&port=5433", undefined],
  ["postgres://u:p@ss%23@a/db?user=ada@corp&application_name=a/b@c", undefined],
])("reads the required server state from %s", (url, target) => {
  expect(databaseUrlError(url)).toBe(undefined);
  expect(parseDatabaseUrl(url).target).toBe(target);
});

test.each([
  ["postgres://u:hidden@a:port/db", ONE],
  ["postgres://u:hidden@a:1,b:port/db", `${SEVERAL}, and host 2 of 2 is not`],
  ["postgres://u:hidden@a:1,b:70000,c/db", `${SEVERAL}, and host 2 of 3 is not`],
  ["postgres://u:hidden@,b/db", `${SEVERAL}, and host 1 of 2 is not`],
  ["postgres://u:hidden@a,b", `${SEVERAL}, and host 1 of 2 is not`],
  ["postgres://u:hid/den@a,b/db", escaped("/ as %2F")],
  ["postgres://u:1#2@a/db", escaped("# as %23")],
  ["postgres://u:1/2@a/db", escaped("/ as %2F")],
  ["postgres://u:1?2@a/db", escaped("? as %3F")],
  ["postgres://u:50%@a/db", escaped("% as %25")],
  ["postgres://u:#50%/?@a/db?sslmode=require", escaped("# as %23, / as %2F, ? as %3F, % as %25")],
  ["postgres://u:hidden@c/db?host=a,b", PARAMETERS],
  ["postgres://u:hidden@c/db?port=1,2", PARAMETERS],
  ["postgres://u:hidden@a,b/db?host=c", PARAMETERS],
  ["postgres://u:hidden@a:1,b:2/db?port=3", PARAMETERS],
  [
    "postgres://u:hidden@a,b/db?target_session_attrs=standby",
    "must have the target_session_attrs read-write or primary, since the service writes",
  ],
  [
    "postgres://u:hidden@a,b/db?target_session_attrs=any",
    "must have the target_session_attrs read-write or primary, since the service writes",
  ],
  ["postgres://u:hidden@a/db?sslmode=on", SSL_MODE],
  ["postgres://u:hidden@a,b/db?sslmode=allow", SSL_MODE],
  ["postgres://u:hidden@a/db?sslmode=", SSL_MODE],
  [
    "postgres://u:hidden@a/db?sslmode=verify-full&sslrootcert=/nowhere/ca.pem",
    "must name a readable file in sslrootcert",
  ],
])("explains an invalid URL without printing it: %s", (url, error) => {
  expect(databaseUrlError(url)).toBe(error);
});

test("every connection of the pool uses the URL's parameters", async () => {
  const database = await createDatabase();
  const orm = createOrm(`${database.url}?options=-c%20work_mem%3D5MB`, { entities: [] });
  expect(await orm.em.execute("show work_mem")).toEqual([{ work_mem: "5MB" }]);
  await orm.close();
});

test("connects to the only reachable host in a URL with several hosts", async () => {
  const database = await createDatabase();
  const { host } = new URL(database.url);
  const orm = createOrm(database.url.replace(host, `127.0.0.1:1,${host}`), { entities: [] });
  expect(await orm.em.execute("select 1 as one")).toEqual([{ one: 1 }]);
  await orm.close();
});

test("accepts a read-only server as primary, and refuses writes", async () => {
  const database = await createDatabase();
  const client = new pg.Client(database.url);
  await client.connect();
  await assertTarget(client, "read-write", database.url);
  await client.query("set default_transaction_read_only = on");
  await assertTarget(client, "primary", database.url);
  await expect(assertTarget(client, "read-write", database.url)).rejects.toThrow(
    `${new URL(database.url).host} has default_transaction_read_only on`,
  );
  await client.end();
});
