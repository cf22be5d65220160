import { expect, test } from "vitest";
import { demoEnvironment } from "../../src/commands/serve.ts";
import { readConfig } from "../../src/config/config.ts";

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
