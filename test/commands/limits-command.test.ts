import { beforeEach, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/domain/rate-limit.ts";
import { runCommand, runJson } from "../support/command.ts";
import { createDatabase } from "../support/database.ts";

const database = await createDatabase();
const environment = { DATABASE_URL: database.url };
let workspace: string;

beforeEach(async () => {
  const created = await runJson(["workspace", "create", "--name", "Acme"], environment);
  workspace = String(created.workspace.id);
});

const limits = (verb: "set" | "show", ...args: string[]) =>
  runJson(["limits", verb, "--workspace", workspace, ...args], environment);

test("a workspace has the default limits until its operator sets others for each class", async () => {
  const id = Number(workspace);
  expect(await limits("show")).toEqual({ workspace: id, limits: DEFAULT_LIMITS });
  const quote = { rate: 5, burst: 7 };
  expect(await limits("set", "--class", "quote", "--rate", "5", "--burst", "7")).toEqual({
    workspace: id,
    limits: { ...DEFAULT_LIMITS, quote },
  });
  const write = { rate: 3, burst: 6 };
  await limits("set", "--class", "write", "--rate", "3");
  expect(await limits("show")).toEqual({
    workspace: id,
    limits: { ...DEFAULT_LIMITS, quote, write },
  });
});

test.each([
  ["an unknown class", ["--class", "everything", "--rate", "1"]],
  ["no rate", ["--class", "read"]],
  ["a rate of zero", ["--class", "read", "--rate", "0"]],
  ["a burst beyond the maximum", ["--class", "read", "--rate", "1", "--burst", "1000001"]],
])("limits set refuses %s as wrong usage", async (_, args) => {
  const set = ["limits", "set", "--workspace", workspace, ...args];
  const { code, stdout } = await runCommand(set, environment);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
});
