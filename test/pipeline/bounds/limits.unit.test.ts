import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MAX_CONNECTIONS, MAX_CONNECTIONS_OF_ACCOUNT } from "../../../src/db/orm.ts";
import { CALL_LIMITS, DATABASE_CONNECTIONS, SERVER_LIMITS } from "../../../src/pipeline/bounds/limits.ts";

const SOURCE = join(import.meta.dirname, "../../../src");

test("the guide lists the limits of the code", () => {
  const guide = readFileSync(join(SOURCE, "docs/operations.md"), "utf8");
  const [, section = ""] = /^## Bounds$(.*?)^## /ms.exec(guide) ?? [];
  const items = section.split("\n").filter((line) => line.startsWith("- "));
  const limits = [...SERVER_LIMITS, ...CALL_LIMITS];
  expect(items).toEqual(limits.map(({ what, bound, beyond }) => `- ${what}: ${bound}; ${beyond}`));
});

test.each([...SERVER_LIMITS, ...CALL_LIMITS])("the limit for $what is enforced in $where", ({ where }) => {
  expect(existsSync(join(SOURCE, where))).toBe(true);
});

test("the database connection limits match the list", () => {
  const { ofProcess, ofAccount } = DATABASE_CONNECTIONS;
  expect([MAX_CONNECTIONS, MAX_CONNECTIONS_OF_ACCOUNT]).toEqual([ofProcess, ofAccount]);
});
