import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { afterAll, describe, expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { createDatabase } from "../support/database.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

describe.skipIf(!hasOpenssl)("a PostgreSQL with TLS", async () => {
  const folder = makeTemporaryFolder("tls");
  const authority = join(folder, "localhost.pem");
  const proxies = new Map<string, TlsProxy>();

  const database = await createDatabase();
  for (const name of ["localhost", "db.example.org"]) {
    proxies.set(name, await startTlsProxy(new URL(database.url), folder, name));
  }
  afterAll(async () => {
    for (const proxy of proxies.values()) proxy.close();
    rmSync(folder, { recursive: true });
  });

  /** Connects to localhost with a certificate for `name`. @returns the error, and whether TLS was used */
  async function tryWith(parameters: string, name = "localhost") {
    const proxy = proxies.get(name)!;
    const url = new URL(database.url);
    url.host = `localhost:${proxy.port}`;
    const before = proxy.encrypted();
    const fault = await migrate(`${url.href}?${parameters}`).then(
      () => undefined,
      (error: Error) => error.message,
    );
    return { fault, encrypted: proxy.encrypted() > before };
  }

  test.each([
    ["", false],
    ["sslmode=disable", false],
    ["sslmode=no-verify", true],
    ["sslmode=verify-full&sslrootcert=AUTHORITY", true],
    ["sslmode=require&sslrootcert=AUTHORITY", true],
  ])("is connected to as sslmode specifies: %s", async (parameters, encrypted) => {
    const result = await tryWith(parameters.replace("AUTHORITY", authority));
    expect(result).toEqual({ fault: undefined, encrypted });
  });

  test.each(["verify-full", "verify-ca", "require", "prefer"])(
    "is refused with sslmode=%s if its certificate is not trusted, with the fix",
    async (mode) => {
      const { fault } = await tryWith(`sslmode=${mode}`);
      expect(fault).toMatch(
        /^cannot use the database: self-signed certificate.*; set sslrootcert in DATABASE_URL to its CA certificate$/,
      );
    },
  );

  test("is refused if its certificate has another host name", async () => {
    const trusted = join(folder, "db.example.org.pem");
    const { fault } = await tryWith(`sslmode=verify-full&sslrootcert=${trusted}`, "db.example.org");
    expect(fault).toMatch(
      /^cannot use the database: Hostname\/IP does not match .*; use the certificate's host name in DATABASE_URL$/,
    );
  });
});

/** First message of a client that requests TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

interface TlsProxy {
  readonly port: number;
  /** Returns the number of encrypted connections so far. */
  encrypted(): number;
  close(): void;
}

/** Starts a TLS proxy with a self-signed certificate in front of a PostgreSQL. */
async function startTlsProxy({ hostname, port }: URL, folder: string, name: string): Promise<TlsProxy> {
  const [keyFile, certificate] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
  const options = "-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=database";
  execFileSync(
    "openssl",
    ["req", ...options.split(" "), "-addext", `subjectAltName=DNS:${name}`].concat([
      "-keyout",
      keyFile,
      "-out",
      certificate,
    ]),
    { stdio: "ignore" },
  );
  const [key, cert] = [readFileSync(keyFile), readFileSync(certificate)];
  let encrypted = 0;
  const server = createServer((socket) => {
    const database = connect(Number(port), hostname);
    const end = () => void (socket.destroy(), database.destroy());
    for (const it of [socket, database]) it.on("error", end).on("close", end);
    socket.once("data", (first: Buffer) => {
      if (!first.equals(SSL_REQUEST)) {
        database.write(first);
        socket.pipe(database).pipe(socket);
        return;
      }
      socket.write("S");
      const secure = new TLSSocket(socket, { isServer: true, key, cert });
      secure.on("error", end).on("secure", () => encrypted++);
      secure.pipe(database).pipe(secure);
    });
  });
  await once(server.listen(0, "localhost"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    encrypted: () => encrypted,
    close: () => server.close(),
  };
}
