import { expect, test } from "vitest";
import { demoEnvironment } from "../../src/commands/serve.ts";
import { readConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/variables.ts";

test.each([
  [{}, "http://127.0.0.1:8080"],
  [{ PORT: "8090" }, "http://127.0.0.1:8090"],
  [{ PORT: "0" }, undefined],
  [{ PORT: "8090", PUBLIC_URL: "https://book.example.org" }, "https://book.example.org"],
])("with %j the demo links to %s", (environment, address) => {
  expect(readConfig(demoEnvironment(environment)).publicUrl).toBe(address);
});

test.each([
  [{}, "http://127.0.0.1:9090"],
  [{ GRPC_PORT: "9191" }, "http://127.0.0.1:9191"],
  [{ GRPC_PORT: "0" }, undefined],
  [{ PUBLIC_GRPC_URL: "https://grpc.example.org" }, "https://grpc.example.org"],
])("with %j the demo's guides call gRPC at %s", (environment, address) => {
  expect(readConfig(demoEnvironment(environment)).publicGrpcUrl).toBe(address);
});

test.each(["PORT", "GRPC_PORT"])("reports an invalid %s of the demo as the only error", (name) => {
  const read = () => readConfig(demoEnvironment({ [name]: "abc" }));
  expect(read).toThrow(new ConfigError(`${name}: must be a whole number from 0 to 65535; it is "abc"`));
});

test.each([
  [undefined, true],
  ["", true],
  ["true", true],
  ["false", false],
])("with WEBHOOK_ALLOW_LOOPBACK_HTTP %j the demo allows http to this machine: %s", (set, allowed) => {
  const environment = set === undefined ? {} : { WEBHOOK_ALLOW_LOOPBACK_HTTP: set };
  const { webhookAllowLoopbackHttp } = readConfig(demoEnvironment(environment));
  expect(webhookAllowLoopbackHttp).toBe(allowed);
});
