import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runProcess, startCommand, type Environment } from "../support/command.ts";
import { createDatabase, connectTo } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { OF_PROCESS, spawnService } from "../support/service-process.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const database = await createDatabase();

const FREE_PORTS = { HOST: "127.0.0.1", PORT: "0", GRPC_PORT: "0" };

/** Starts the service and expects it to fail with exactly this message and without a log. */
async function expectFailure(environment: Environment, sentence: string): Promise<void> {
  const ended = await runProcess(["serve"], { ...FREE_PORTS, ...environment });
  const { code, stderr } = ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: `${sentence}\n` });
}

function databaseUrl(change: (url: URL) => void): string {
  const url = new URL(database.url);
  change(url);
  return url.href;
}

async function listenSomewhere(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function unusedFolder(): string {
  const parent = makeTemporaryFolder("start");
  onTestFinished(() => rmSync(parent, { recursive: true, maxRetries: 10 }));
  return join(parent, "data");
}

test.each(["PORT", "GRPC_PORT", "OPERATIONS_PORT"])(
  "a start fails before it creates a data folder and names %s if the port is in use",
  async (name) => {
    const port = await listenSomewhere(createServer());
    const folder = unusedFolder();
    await expectFailure(
      { DATA_DIR: folder, [name]: String(port) },
      `port ${port} on 127.0.0.1 is in use: stop the program that uses it, or set ${name} to another port`,
    );
    expect(existsSync(folder)).toBe(false);
  },
);

test("a start on a port that another program does not share fails and explains port sharing", async () => {
  const port = await listenSomewhere(createServer());
  const environment = { DATABASE_URL: database.url, REUSE_PORT: "true", OPERATIONS_PORT: "0" };
  const ended = await runProcess(["serve"], {
    ...FREE_PORTS,
    ...environment,
    GRPC_PORT: `${await freePort()}`,
    PORT: `${port}`,
  });
  expect(ended).toMatchObject({
    code: 1,
    stderr: `port ${port} on 127.0.0.1 is in use: stop the program that uses it, or set PORT to another port; processes that share it must run under the same account, each with REUSE_PORT=true\n`,
  });
});

test("a start with an address of another machine fails and names HOST", () =>
  expectFailure(
    { DATABASE_URL: database.url, HOST: "192.0.2.1" },
    "HOST: 192.0.2.1 is not an address of this machine",
  ));

test("a start with a missing database fails and explains the fix", async () => {
  const url = databaseUrl((it) => (it.pathname += "_none"));
  await expectFailure(
    { DATABASE_URL: url },
    `cannot use the database: database "${new URL(url).pathname.slice(1)}" does not exist; create it, or name another in DATABASE_URL`,
  );
});

test("a start with a wrong password fails and explains the fix", async () => {
  const url = databaseUrl((it) => (it.password = "wrong"));
  await expectFailure(
    { DATABASE_URL: url },
    `cannot use the database: password authentication failed for user "${new URL(url).username}"; correct the user and password in DATABASE_URL`,
  );
});

test("a start with an unknown database host fails instead of retrying forever", () =>
  expectFailure(
    { DATABASE_URL: "postgres://nobody@nowhere.invalid/none" },
    "cannot use the database: there is no host nowhere.invalid; correct the host in DATABASE_URL",
  ));

test("a start with a PostgreSQL older than 15 fails and names the version", async () => {
  const port = await listenSomewhere(createOldPostgres("140012"));
  await expectFailure(
    { DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/none` },
    `cannot use the database: 127.0.0.1:${port} is PostgreSQL 14, and the service needs 15 or newer; set DATABASE_URL to one`,
  );
});

/** Starts a server that speaks enough of PostgreSQL's protocol to respond to every statement with a version. */
function createOldPostgres(version: string): Server {
  const message = (type: string, body: string) => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, Buffer.from(body, "latin1")]);
  };
  const ready = message("Z", "I");
  const column = "server_version_num\0\0\0\0\0\0\0\0\0\0\u0019\u00FF\u00FF\u00FF\u00FF\u00FF\u00FF\0\0";
  const row = `\0\u0001\0\0\0${String.fromCharCode(version.length)}${version}`;
  const answer = [message("T", `\0\u0001${column}`), message("D", row), message("C", "SHOW\0"), ready];
  return createServer((socket) => {
    socket.once("data", () => {
      socket.write(Buffer.concat([message("R", "\0\0\0\0"), ready]));
      socket.on("data", () => socket.write(Buffer.concat(answer)));
    });
    socket.on("error", () => undefined);
  });
}

test("a start with a database user that cannot create tables fails and names the privilege", async () => {
  const client = await connectTo(database.url);
  const user = `visitor_${Date.now()}`;
  await client.query(`create role ${user} login password 'visitor'`);
  onTestFinished(async () => {
    await client.query(`drop role ${user}`);
    await client.end();
  });
  const fresh = await createDatabase();
  const owner = await connectTo(fresh.url);
  await owner.query("drop table applied_migration");
  await owner.end();
  const url = new URL(fresh.url);
  [url.username, url.password] = [user, "visitor"];
  await expectFailure(
    { DATABASE_URL: url.href },
    "cannot use the database: permission denied for schema public, which requires CREATE; grant the privilege to the user in DATABASE_URL, or migrate as the owner of the tables",
  );
});

test("a start with a data folder of another PostgreSQL version fails and explains the fix", async () => {
  const folder = unusedFolder();
  mkdirSync(join(folder, "postgres"), { recursive: true });
  writeFileSync(join(folder, "postgres/PG_VERSION"), "12\n");
  const { code, stderr } = await runProcess(["serve"], { ...FREE_PORTS, DATA_DIR: folder });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^no embedded PostgreSQL in \S+: \S+ was created by PostgreSQL 12, but this is PostgreSQL 18: move the data with pg_dump, or use another DATA_DIR\n$/,
  );
});

test.each([
  ["that never responds", () => undefined],
  ["that closes every connection", (socket: Socket) => void socket.end()],
])("waits for a database %s and names its address", async (_, answer) => {
  const port = await listenSomewhere(createServer(answer));
  const served = spawnService({ DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/none` });
  const line = await eventually("a warning in the log", () => served.log().find(({ level }) => level === "warn"));
  expect(line.msg).toMatch(
    new RegExp(
      `^waiting for the database: 127.0.0.1:${port} (does not respond|closes the connection at once); check DATABASE_URL$`,
    ),
  );
  served.process.kill("SIGTERM");
  expect(await served.ended).toMatchObject({ code: 0, stderr: "" });
});

test("waits for a database that is down and logs it in one line without a stack trace", async () => {
  const served = spawnService({ DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" });
  const line = await eventually("a warning in the log", () => served.log().find(({ level }) => level === "warn"));
  expect(line).toEqual({
    ...OF_PROCESS,
    level: "warn",
    time: expect.any(Number),
    msg: "waiting for the database: no server listens at 127.0.0.1:1; start PostgreSQL there, or correct DATABASE_URL",
  });
  served.process.kill("SIGTERM");
  expect(await served.ended).toMatchObject({ code: 0, stderr: "" });
  expect(served.log().map(({ msg }) => msg)).toEqual(["starting", line.msg, "shutting down"]);
});

test("SIGTERM during the start of the embedded database stops the service and the database", async () => {
  const folder = unusedFolder();
  const starting = startCommand(["serve"], { ...FREE_PORTS, DATA_DIR: folder });
  await eventually("the start", () => existsSync(folder));
  starting.process.kill("SIGTERM");
  expect(await starting.ended).toMatchObject({ code: 0, stderr: "" });
  expect(existsSync(join(folder, "postgres/postmaster.pid"))).toBe(false);
});
