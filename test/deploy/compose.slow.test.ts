import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../src/config/config.ts";
import { documentedVariables } from "../support/documented-variables.ts";

const FILE = "src/deploy/compose.yaml";

/** The Compose file with the defaults of its variables filled in. */
const { services, volumes } = parse(readFileSync(FILE, "utf8").replaceAll(/\$\{[A-Z_]+:-([^}]*)\}/g, "$1"), {
  merge: true,
});
const collector = parse(readFileSync("src/deploy/collector.yaml", "utf8"));
const replicas = [services["shipments-1"], services["shipments-2"]];

/** Installed commands that can read a Compose file without a daemon. */
const readers = [["docker", "compose"], ["podman-compose"]].filter(
  ([file, ...args]) => spawnSync(file!, [...args, "version"]).status === 0,
);

test.runIf(readers.length > 0)("readers of Compose files accept it", () => {
  for (const [file, ...args] of readers) {
    const { status, stderr } = spawnSync(file!, [...args, "-f", FILE, "config"], {
      encoding: "utf8",
    });
    expect({ file, status, stderr }).toMatchObject({ status: 0 });
  }
});

test("two replicas differ only in their ports, which are open to this machine only", () => {
  const [first, second] = replicas.map((replica) => ({ ...replica, ports: "apart" }));
  expect(second).toEqual(first);
  expect(replicas.map(({ ports }) => ports)).toEqual([
    ["127.0.0.1:8080:8080", "127.0.0.1:9090:9090", "127.0.0.1:9100:9100"],
    ["127.0.0.1:8081:8080", "127.0.0.1:9091:9090", "127.0.0.1:9101:9100"],
  ]);
});

test("the service accepts its environment, which points to the other containers", () => {
  const { environment } = replicas[0];
  expect(documentedVariables()).toEqual(expect.arrayContaining(Object.keys(environment)));
  expect(readConfig(environment)).toMatchObject({ host: "0.0.0.0", port: 8080, grpcPort: 9090 });
  expect(environment.DATABASE_URL).toBe("postgres://shipments:demo@postgres:5432/shipments");
  expect(services.postgres.environment).toEqual({
    POSTGRES_USER: "shipments",
    POSTGRES_PASSWORD: "demo",
  });
  expect(environment.REDIS_URL).toBe("redis://valkey:6379");
  const { endpoint } = collector.receivers.otlp.protocols.http;
  expect(endpoint.replace("0.0.0.0", "http://collector")).toBe(environment.OTEL_EXPORTER_OTLP_ENDPOINT);
});

test("replicas start after one migration by the same image", () => {
  for (const { depends_on } of replicas) {
    expect(depends_on).toEqual({
      migrate: { condition: "service_completed_successfully" },
      valkey: { condition: "service_healthy" },
    });
  }
  expect(replicas[0]).toMatchObject({ pull_policy: "never" });
  const building = Object.keys(services).filter((name) => services[name].build !== undefined);
  expect(building).toEqual(["migrate"]);
  const { image, command, depends_on } = services.migrate;
  expect({ image, command, depends_on }).toEqual({
    image: replicas[0].image,
    command: ["migrate"],
    depends_on: { postgres: { condition: "service_healthy" } },
  });
});

test("the service runs without privileges and with a read-only file system", () => {
  for (const service of [...replicas, services.migrate]) {
    expect(service).toMatchObject({
      read_only: true,
      tmpfs: ["/tmp"],
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
    });
  }
});

test("third-party images are pinned to a version, and data is kept in named volumes", () => {
  for (const name of ["postgres", "valkey", "collector"]) {
    expect(services[name].image).toMatch(/^docker\.io\/.+:\d/);
  }
  expect(services.postgres.volumes).toEqual(["postgres:/var/lib/postgresql"]);
  expect(Object.keys(volumes)).toEqual(["postgres"]);
});
