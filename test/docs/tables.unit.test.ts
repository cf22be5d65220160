import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../src/commands/program.ts";
import { VARIABLE_NAMES } from "../../src/config/config.ts";
import { ACCOUNT_SERVICES, ADMIN_SERVICES, SERVICES } from "../../src/server/services.ts";
import { documentedVariables } from "../support/documented-variables.ts";

const FOLDER = "src/docs";
const GUIDES = new Map(
  readdirSync(FOLDER)
    .filter((name) => name.endsWith(".md"))
    .map((name) => [name, readFileSync(join(FOLDER, name), "utf8")]),
);
const operations = GUIDES.get("operations.md")!;

/** Returns the part of a guide between a second-level heading and the next one. */
function sectionOf(guide: string, heading: string): string {
  return guide.split(`\n## ${heading}\n`)[1]!.split("\n## ")[0]!;
}

describe("environment variables", () => {
  test("are all in a table or list of a guide", () => {
    const documented = documentedVariables();
    expect(VARIABLE_NAMES.filter((name) => !documented.includes(name))).toEqual([]);
  });

  test.each(VARIABLE_NAMES)("%s is in the table of the operations guide or in one that it links to", (name) => {
    const rows = sectionOf(operations, "Environment variables").match(/^\| `[A-Z].*$/gm)!;
    const row = rows.find((it) =>
      it
        .split("|")[1]!
        .split(",")
        .some((cell) => {
          const shown = cell.trim().replaceAll("`", "");
          return shown.endsWith("*") ? name.startsWith(shown.slice(0, -1)) : shown === name;
        }),
    );
    expect(row, name).toBeDefined();
    const [, guide] = /\]\(([\w-]+\.md)#?/.exec(row!) ?? [];
    if (row!.includes("_*`")) expect(GUIDES.get(guide!)).toMatch(new RegExp(`^(?:\\||-) \`${name}\``, "m"));
  });
});

/** Returns each runnable command with its options and those of its group. */
async function listCommands(): Promise<Map<string, string[]>> {
  const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()));
  const leaves = (command: Command, path: string): [string, string[]][] =>
    command.commands.length > 0
      ? command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`))
      : [[path, command.options.map(({ long }) => long!)]];
  return new Map(commands.flatMap((command) => leaves(command, command.name())));
}

/** Returns the commands in the guide. `tariff show | list --all` counts as two. */
function documentedCommands(): { readonly name: string; readonly line: string }[] {
  const [, list] = /```text\n(.*?)\n```/s.exec(sectionOf(operations, "Command line"))!;
  return list!.split("\n").flatMap((line) => {
    const [group, rest = ""] = line.split(/ (.*)/);
    const names = rest.split(" | ").map((it) => /^[a-z][a-z-]*/.exec(it)?.[0]);
    return names.map((name) => ({ name: name === undefined ? group! : `${group} ${name}`, line }));
  });
}

describe("commands", async () => {
  const commands = await listCommands();
  const documented = documentedCommands();

  test("match those in the guide", () => {
    const names = documented.map(({ name }) => name);
    expect(names.toSorted()).toEqual([...commands.keys()].toSorted());
  });

  test.each([...commands])("%s has all its options in its line", (name, options) => {
    const { line } = documented.find((it) => it.name === name)!;
    const missing = options.filter((it) => it !== "--json" && !line.includes(it));
    expect(missing).toEqual([]);
  });
});

const METHODS = [...SERVICES, ...ADMIN_SERVICES, ...ACCOUNT_SERVICES].flatMap((it) => it.methods);

test("every RPC is named in a guide", () => {
  const text = [...GUIDES.values()].join("\n");
  const unnamed = METHODS.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(text));
  expect(unnamed.map(String)).toEqual([]);
});

test("the architecture guide lists every feature", () => {
  const [, list] = /^ {2}features\/.*\n((?: {4}.*\n)+)/m.exec(GUIDES.get("architecture.md")!)!;
  expect(list!.match(/[\w-]+(?=\/)/g)!.toSorted()).toEqual(readdirSync("src/features").toSorted());
});
