import { resolve } from "node:path";
import { expect, test } from "vitest";
import { typedCommand } from "../../src/commands/typed-command.ts";

test.each([
  ["npm run --silent shipments --", "/clone/src/cli.js", { npm_lifecycle_event: "shipments" }],
  ["npx shipment-booking", "/p/node_modules/.bin/shipment-booking", { npm_command: "exec" }],
  ["shipment-booking", "/usr/bin/shipment-booking", {}],
  ["shipments", "/usr/bin/shipments", { npm_lifecycle_event: "start" }],
  ["node src/cli.js", resolve("src/cli.js"), {}],
  ["node ../cli.js", resolve("../cli.js"), { npm_command: "exec" }],
])("usage texts start with %s", (typed, script, env) => {
  expect(typedCommand(script, env)).toBe(typed);
});
