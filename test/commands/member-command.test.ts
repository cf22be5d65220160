import { expect, test } from "vitest";
import { signInByPath } from "../support/browser.ts";
import { runCommand, runJson } from "../support/command.ts";
import { sharedService } from "../support/service.ts";

const PATH = /^\/sign-in#token=[\w-]{43}$/;

const service = await sharedService();
const workspace = await service.addWorkspace();
const environment = { DATABASE_URL: service.databaseUrl };

const invite = (...args: string[]) => ["member", "invite", "--workspace", ...args];
const inviteJson = (email: string, ...args: string[]) =>
  runJson(invite(String(workspace.id), "--email", email, ...args), environment);

test("member invite makes the first member an admin and later ones viewers by default", async () => {
  const first = await inviteJson("ada.invited@example.org", "--name", "Ada");
  expect(first).toEqual({
    member: {
      person: expect.any(Number),
      email: "ada.invited@example.org",
      name: "Ada",
      role: "admin",
    },
    sign_in_path: expect.stringMatching(PATH),
  });
  expect((await inviteJson("bob@example.org")).member).toMatchObject({
    name: "bob",
    role: "viewer",
  });
  expect((await inviteJson("eve@example.org", "--role", "member")).member.role).toBe("member");
  const again = await inviteJson("ADA.invited@example.org");
  expect(again.member).toEqual(first.member);
  const signedIn = await signInByPath(service, again.sign_in_path);
  const headers = { "x-workspace": String(workspace.id) };
  const { body } = await signedIn.request("/v1/members", { headers });
  expect(body.data.map((it: { email: string }) => it.email)).toEqual([
    "ada.invited@example.org",
    "bob@example.org",
    "eve@example.org",
  ]);
});

test("member invite without --json prints the whole link, for this machine or the public address", async () => {
  const args = invite(String(workspace.id), "--email", "link@example.org", "--role", "viewer");
  const lines = (address: string) =>
    new RegExp(`^Member \\d+: link, link@example.org, viewer\n.*once.*\n${address}/sign-in#token=[\\w-]{43}\n$`);
  const here = await runCommand(args, { ...environment, PORT: "8123" });
  expect(here.stdout).toMatch(lines("http://127.0.0.1:8123"));
  const there = await runCommand(args, { ...environment, PUBLIC_URL: "https://book.example.org" });
  expect(there.stdout).toMatch(lines("https://book.example.org"));
});

test.each([
  [["1"]],
  [["1", "--email", "no email"]],
  [["0", "--email", "a@example.org"]],
  [["1", "--email", "a@b.c", "--role", "x"]],
])("member invite %j is wrong usage", async (args) => {
  const { code, stdout } = await runCommand(invite(...args), environment);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
});
