import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { REPLACED } from "../../src/db/migrate.ts";
import { FIRST_RELEASE, hasCode, nameOfLastRelease } from "./last-release.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

test("the upgrade guide names the commit that older databases must start first", () => {
  expect(readFileSync("src/docs/deployment.md", "utf8")).toContain(`\`${REPLACED.commit}\``);
});

test.runIf(hasCode(FIRST_RELEASE))("the last release is the highest version before this commit", () => {
  const folder = makeTemporaryFolder("tags");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const options = ["--quiet", "--bare", "--shared", "--no-tags"];
  execFileSync("git", ["clone", ...options, resolve("."), folder]);
  const tag = (name: string, commit: string) => execFileSync("git", ["tag", name, commit], { cwd: folder });
  expect(nameOfLastRelease(folder)).toBe(FIRST_RELEASE);
  tag("v0.0.9", `${FIRST_RELEASE}^`);
  expect(nameOfLastRelease(folder)).toBe(FIRST_RELEASE);
  tag("v0.9.0", FIRST_RELEASE);
  tag("v0.10.0-rc.1", "HEAD^");
  tag("v0.10.0", "HEAD^");
  tag("v0.11.0", "HEAD");
  expect(nameOfLastRelease(folder)).toBe("v0.10.0");
});
