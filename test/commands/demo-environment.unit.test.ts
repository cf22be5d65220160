import { expect, test } from "vitest";
import { demoEnvironment } from "../../src/commands/serve.ts";
import { readConfig } from "../../src/config/config.ts";

test.each([
  [{}, "http://127.0.0.1:8080"],
  [{ PORT: "8090" }, "http://127.0.0.1:8090"],
  [{ PORT: "0" }, undefined],
  [{ PORT: "8090", PUBLIC_URL: "https://book.example.org" }, "https://book.example.org"],
])("with %j the links of the demo lead to %s", (environment, address) => {
  expect(readConfig(demoEnvironment(environment)).publicUrl).toBe(address);
});

test.each([
  [undefined, true],
  ["", true],
  ["true", true],
  ["false", false],
])(
  "with WEBHOOK_ALLOW_LOOPBACK_HTTP %j the demo allows http to this machine: %s",
  (set, allowed) => {
    const environment = set === undefined ? {} : { WEBHOOK_ALLOW_LOOPBACK_HTTP: set };
    const { webhookAllowLoopbackHttp } = readConfig(demoEnvironment(environment));
    expect(webhookAllowLoopbackHttp).toBe(allowed);
  },
);
