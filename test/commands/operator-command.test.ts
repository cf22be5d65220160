import { userInfo } from "node:os";
import { beforeEach, expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { signInByPath } from "../support/browser.ts";
import { runCommand, runJson, type Environment } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { startReplica } from "../support/service.ts";

let database: TestDatabase;
let environment: Environment;

beforeEach(async () => {
  database = await createDatabase();
  environment = { DATABASE_URL: database.url };
});

const KEY = /^sho_[0-9A-Za-z]{36}$/;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
const json = (...args: string[]) => runJson(args, environment);
const words = async (...args: string[]) => (await runCommand(args, environment)).stdout;
const refused = (stderr: string) => ({ code: 1, stdout: "", stderr });

const OWNER = ["--name", "Ada", "--kind", "person", "--email", "ada@example.org", "--role"];
const create = (role: string) => json("operator", "create", ...OWNER, role);

test("operator create prints the first key, which a running service accepts", async () => {
  const { operator, operator_key: key } = await create("owner");
  expect(key).toMatch(KEY);
  const keys = [{ name: null, last4: key.slice(-4), ends_at: null }];
  expect(operator).toEqual({
    id: expect.any(Number),
    name: "Ada",
    email: "ada@example.org",
    kind: "person",
    role: "owner",
    revoked_at: null,
    keys,
  });
  expect(await json("operator", "list")).toEqual({ operators: [operator] });
  const self = await data((await startReplica(database.url)).as(key).getSelf());
  expect(self).toMatchObject({ id: operator.id, name: "Ada", role: "owner" });
});

test("operator rotate and revoke expire keys, and operator list shows them", async () => {
  const first = await create("viewer");
  const at = ["--operator", String(first.operator.id)];
  const second = await json("operator", "rotate", ...at, "--overlap", "60");
  expect(second).toEqual({ operator_key: expect.stringMatching(KEY) });
  const [listed] = (await json("operator", "list")).operators;
  expect(listed.keys).toEqual([
    { name: null, last4: first.operator_key.slice(-4), ends_at: TIME },
    { name: null, last4: second.operator_key.slice(-4), ends_at: null },
  ]);
  const revoked = { ...first.operator, revoked_at: TIME, keys: [] };
  expect(await json("operator", "revoke", ...at)).toEqual({ operator: revoked });
  expect(await json("operator", "list")).toEqual({ operators: [] });
  expect(await json("operator", "list", "--all")).toEqual({ operators: [revoked] });
});

test("operator create-key, rotate and revoke-key change one key only", async () => {
  const first = await create("owner");
  const at = ["--operator", String(first.operator.id)];
  const last4Of = ({ operator_key: key }: { operator_key: string }) => key.slice(-4);
  const second = await json("operator", "create-key", ...at, "--name", "Laptop");
  expect(second).toEqual({ operator_key: expect.stringMatching(KEY) });
  const third = await json("operator", "rotate", ...at, "--last4", last4Of(second));
  const key = (name: string | null, last4: string) => ({ name, last4, ends_at: null });
  const kept = key(null, last4Of(first));
  const listed = async () => (await json("operator", "list")).operators[0].keys;
  expect(await listed()).toEqual([kept, key("Laptop", last4Of(third))]);
  const revoke = ["operator", "revoke-key", ...at, "--last4", last4Of(third)];
  expect(await json(...revoke)).toEqual({ operator: { ...first.operator, keys: [kept] } });
  expect(await runCommand(revoke, environment)).toEqual(
    refused(`Operator ${first.operator.id} has no active key that ends in ${last4Of(third)}.\n`),
  );
});

test("audit list shows the command line's actions, newest first", async () => {
  const { operator } = await create("viewer");
  await json("operator", "revoke", "--operator", String(operator.id));
  const { audit_entries: entries } = await json("audit", "list");
  const entry = (action: string) => ({
    id: expect.any(Number),
    created_at: TIME,
    actor: { kind: "command_line", name: userInfo().username, operator: null, api_key: null },
    action,
    subject: `operator/${operator.id}`,
    subject_name: operator.name,
    workspace: null,
    changes: expect.any(Array),
    request_id: null,
  });
  expect(entries).toEqual([entry("RevokeOperator"), entry("CreateOperator")]);
  expect(entries[0].changes).toEqual([{ field: "revoked_at", before: null, after: TIME }]);
  expect(await json("audit", "list", "--limit", "1")).toEqual({ audit_entries: [entries[0]] });
  const later = await json("audit", "list", "--after", String(entries[1].id));
  expect(later).toEqual({ audit_entries: [entries[0]] });
});

test("operator sign-in prints a link that signs in with the operator's role", async () => {
  const { operator } = await create("owner");
  const at = ["operator", "sign-in", "--operator", String(operator.id)];
  const { operator: same, sign_in_path: path } = await json(...at);
  expect(same).toEqual(operator);
  const service = await startReplica(database.url);
  const signedIn = await signInByPath(service, path);
  const { body } = await signedIn.request("/admin/v1/self");
  expect(body.data).toMatchObject({ id: operator.id, role: "owner" });
  expect(await words(...at)).toMatch(
    /^Operator 1: Ada, ada@example.org\n.*once.*\nhttp:\/\/127.0.0.1:8080\/sign-in#token=[\w-]{43}\n$/,
  );
});

test.each([
  [["create", "--name", "Ada", "--kind", "person", "--role", "owner"], "email is required for a person."],
  [["rotate", "--operator", "404"], "Operator not found."],
  [["sign-in", "--operator", "404"], "Operator not found."],
  [["revoke", "--operator", "404"], "Operator not found."],
])("operator %j is refused", async (args, reason) => {
  expect(await runCommand(["operator", ...args, "--json"], environment)).toEqual(refused(`${reason}\n`));
});

test("the command line cannot revoke the last owner", async () => {
  const { operator } = await create("owner");
  expect(await runCommand(["operator", "revoke", "--operator", String(operator.id)], environment)).toEqual(
    refused("The operator is the last owner. Make another operator an owner first.\n"),
  );
});

test.each([
  [["create", "--name", "Ada", "--kind", "robot", "--role", "owner"]],
  [["create", "--name", "Ada", "--kind", "machine", "--role", "king"]],
  [["create", "--name", "Ada", "--kind", "machine"]],
  [["rotate", "--operator", "0"]],
  [["rotate", "--operator", "1", "--overlap", "604801"]],
])("operator %j is wrong usage", async (args) => {
  const { code, stdout } = await runCommand(["operator", ...args], environment);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
});

test("without --json the commands print text, and a key only when it is created", async () => {
  expect(await words("operator", "list")).toBe("No operators yet.\n");
  expect(await words("audit", "list")).toBe("No changes yet.\n");
  expect(await words("operator", "create", ...OWNER, "viewer")).toMatch(
    /^Operator 1: Ada, viewer\nKey, shown only once: sho_\w{36}\n$/,
  );
  expect(await words("operator", "rotate", "--operator", "1")).toMatch(
    /^New key, shown only once: sho_\w{36}\nEvery other key of the operator has expired. With --overlap SECONDS, they would have remained valid for that time.\n$/,
  );
  expect(await words("operator", "rotate", "--operator", "1", "--overlap", "60")).toMatch(
    /^New key, shown only once: sho_\w{36}\nAll other keys of the operator expire in 60 seconds.\n$/,
  );
  expect(await words("operator", "list")).toMatch(
    /^1 {2}Ada {2}ada@example.org {2}viewer {2}\.\.\.\w{4} until \S+Z, \.\.\.\w{4}\n$/,
  );
  expect(await words("operator", "revoke", "--operator", "1")).toBe("Operator 1 is revoked.\n");
  expect(await words("operator", "list", "--all")).toMatch(/ {2}viewer {2}revoked \S+Z\n$/);
  expect(await words("audit", "list", "--limit", "1")).toMatch(
    /^\S+Z {2}\S+ \(command_line\) {2}RevokeOperator {2}operator\/1 {2}revoked_at: nothing -> \S+Z\n$/,
  );
});
