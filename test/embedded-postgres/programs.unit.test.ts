import { expect, test } from "vitest";
import { assertPlainPath } from "../../src/embedded-postgres/programs.ts";

test.each(['/a"b', "/a`b", "/a$b"])("PostgreSQL under %s is refused by its path", (path) => {
  expect(() => assertPlainPath(path)).toThrow(
    `PostgreSQL cannot run from ${path}: move the service to a path without ", \` and $, or set DATABASE_URL`,
  );
});

test("PostgreSQL under a path with spaces and letters of any language runs", () => {
  expect(() => assertPlainPath("/home/ada's/Überblick (1)\\b/native")).not.toThrow();
});
