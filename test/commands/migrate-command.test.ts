import { expect, test } from "vitest";
import { runCommand, startCommand } from "../support/command.ts";
import { createUnmigratedDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

test("migrate waits for a database that starts later and logs it once", async () => {
  const database = await createUnmigratedDatabase();
  const proxy = await startTcpProxy(database.url);
  await proxy.goDown();
  const command = startCommand(["migrate", "--json"], { DATABASE_URL: proxy.url });
  await eventually("the log to report the wait", () => command.stderr() !== "");
  await proxy.comeBack();
  const { code, stdout, stderr } = await command.ended;
  const { host } = new URL(proxy.url);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `waiting for the database: no server listens at ${host}; start PostgreSQL there, or correct DATABASE_URL\n`,
  });
  expect(JSON.parse(stdout).applied).not.toEqual([]);
});

test("migrate does not wait for a database that does not exist", async () => {
  const database = await createUnmigratedDatabase();
  await database.drop();
  const { code, stdout, stderr } = await runCommand(["migrate"], { DATABASE_URL: database.url });
  const name = new URL(database.url).pathname.slice(1);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "",
    stderr: `cannot use the database: database "${name}" does not exist; create it, or name another in DATABASE_URL\n`,
  });
});
