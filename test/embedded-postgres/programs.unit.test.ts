import { expect, test } from "vitest";
import { assertPlainPath } from "../../src/embedded-postgres/programs.ts";

test.each(['/a"b', "/a`b", "/a$b"])("refuses to run PostgreSQL under %s and names the path", (path) => {
  expect(() => assertPlainPath(path)).toThrow(
    `PostgreSQL cannot run from ${path}: move the service to a path without ", \` and $, or set DATABASE_URL`,
  );
});

test("runs PostgreSQL under a path with spaces and letters of any language", () => {
  expect(() => assertPlainPath("/home/ada's/Überblick (1)\\b/native")).not.toThrow();
});
