import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeTemporaryFolder } from "./support/temporary-folder.ts";

/** Returns which program `src/cli.js` runs in a repository that has these programs. Each program prints its name. */
function runIn(...programs: readonly string[]) {
  const folder = makeTemporaryFolder("which-program");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const name of ["src/commands", "src/built"]) mkdirSync(join(folder, name), { recursive: true });
  copyFileSync("src/cli.js", join(folder, "src/cli.js"));
  for (const path of programs) {
    const source = `export const runProgram = (argv) => console.log("${path}", ...argv.slice(2));`;
    writeFileSync(join(folder, path), source);
  }
  const command = [join(folder, "src/cli.js"), "serve", "--demo"];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: "utf8" });
  return { status, stdout, stderr };
}

test("a command runs the built program, whatever the state of the sources", () => {
  expect(runIn("src/built/program.js", "src/commands/program.ts")).toEqual({
    status: 0,
    stdout: "src/built/program.js serve --demo\n",
    stderr: "",
  });
});

test("without a build a command runs the sources and logs it", () => {
  expect(runIn("src/commands/program.ts")).toEqual({
    status: 0,
    stdout: "src/commands/program.ts serve --demo\n",
    stderr: "Nothing is built: the program runs from its sources. To build it, run: npm run build\n",
  });
});
