import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BEFORE_ANY_RELEASE, hasCode, nameOfLastRelease } from "./last-release.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

test.runIf(hasCode(BEFORE_ANY_RELEASE))(
  "the last release is the highest version before this commit whose code can run beside it",
  () => {
    const folder = makeTemporaryFolder("tags");
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const options = ["--quiet", "--bare", "--shared", "--no-tags"];
    execFileSync("git", ["clone", ...options, resolve("."), folder]);
    const tag = (name: string, commit: string) =>
      execFileSync("git", ["tag", name, commit], { cwd: folder });
    expect(nameOfLastRelease(folder)).toBe(BEFORE_ANY_RELEASE);
    tag("v0.1.0", `${BEFORE_ANY_RELEASE}^`);
    expect(nameOfLastRelease(folder)).toBe(BEFORE_ANY_RELEASE);
    tag("v0.9.0", BEFORE_ANY_RELEASE);
    tag("v0.10.0-rc.1", "HEAD^");
    tag("v0.10.0", "HEAD^");
    tag("v0.11.0", "HEAD");
    expect(nameOfLastRelease(folder)).toBe("v0.10.0");
  },
);
