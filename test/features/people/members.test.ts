import { expect, test } from "vitest";
import { data } from "../../support/answers.ts";
import { ANY_TIME } from "../../support/bookings.ts";
import { signInByPath, type SignedIn } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { startService, type TestWorkspace } from "../../support/service.ts";

const PUBLIC_URL = "http://book.example.org";
const server = await startMailServer();
const service = await startService({
  publicUrl: PUBLIC_URL,
  mail: { smtpUrl: server.url, from: "Shipments <no-reply@example.org>" },
});

const invite = async ({ apiKey }: TestWorkspace, email: string, name?: string) =>
  (await service.as(apiKey).inviteMember({ email, name })).body;

const addWorkspaces = () => Promise.all([service.addWorkspace(), service.addWorkspace()]);

/** Signs in with the link from the last of `count` invitations by email. */
async function signInByMail(email: string, count: number): Promise<SignedIn> {
  const mails = await eventually(`${count} emails to ${email}`, () => {
    const sent = server.mails.filter(({ to }) => to.includes(email));
    return sent.length === count && sent;
  });
  const path = /\/sign-in#token=[\w-]{43}/.exec(mails.at(-1)!.text)![0];
  return signInByPath(service, path);
}

const listOf = ({ apiKey }: TestWorkspace) => data(service.as(apiKey).listMembers());

const rename = ({ request }: SignedIn, name: string) =>
  data(request("/account/v1/account", { method: "PATCH", body: { name } }));

const member = (email: string, name: string, lastSignedInAt: unknown) => ({
  person: expect.any(Number),
  email,
  name,
  role: "viewer",
  created_at: ANY_TIME,
  last_signed_in_at: lastSignedInAt,
});

test("an invitation reveals neither the name nor the last sign-in known to another workspace", async () => {
  const email = "ada@example.org";
  const [first, second] = await addWorkspaces();
  const invited = await invite(first, email, "Ada of the first");
  await signInByPath(service, invited.sign_in_path);
  const inFirst = [member(email, "Ada of the first", ANY_TIME)];
  expect(await listOf(first)).toEqual(inFirst);

  const again = await invite(second, email);
  const pending = member(email, "ada", null);
  expect(again.data).toEqual(pending);
  expect(await listOf(second)).toEqual([pending]);
  const { updateMember } = service.as(second.apiKey);
  const { person } = again.data;
  expect(await data(updateMember({ person, role: "member" }))).toEqual({
    ...pending,
    role: "member",
  });

  const bound = await signInByPath(service, again.sign_in_path);
  expect((await data(bound.request("/account/v1/account"))).name).toBe("ada");
  const signedIn = { ...pending, role: "member", last_signed_in_at: ANY_TIME };
  expect(await listOf(second)).toEqual([signedIn]);
  await signInByMail(email, 2);
  expect(await listOf(second)).toEqual([signedIn]);
  expect(await listOf(first)).toEqual(inFirst);
});

test("a workspace sees the name that a person chose after the person has signed in independently", async () => {
  const email = "grace@example.org";
  const [first, second] = await addWorkspaces();
  await invite(first, email, "G. H.");
  const own = await signInByMail(email, 1);
  expect((await data(own.request("/account/v1/account"))).name).toBe("G. H.");
  expect((await rename(own, "Grace Hopper")).name).toBe("Grace Hopper");
  expect(await listOf(first)).toEqual([member(email, "Grace Hopper", ANY_TIME)]);

  const invited = await invite(second, email, "The admiral");
  await rename(own, "Grace B. Hopper");
  expect(await listOf(second)).toEqual([member(email, "The admiral", null)]);
  const bound = await signInByPath(service, invited.sign_in_path);
  expect((await data(bound.request("/account/v1/account"))).name).toBe("The admiral");
  expect(await listOf(second)).toEqual([member(email, "The admiral", ANY_TIME)]);
  await signInByMail(email, 2);
  for (const workspace of [first, second]) {
    expect(await listOf(workspace)).toEqual([member(email, "Grace B. Hopper", ANY_TIME)]);
  }
});

test("a name changed through a workspace's link is not shown to other workspaces", async () => {
  const email = "joan@example.org";
  const [first, second] = await addWorkspaces();
  const bound = await signInByPath(service, (await invite(first, email)).sign_in_path);
  expect((await rename(bound, "Joan of the first")).name).toBe("Joan of the first");
  await invite(second, email, "Joan Clarke");
  await signInByMail(email, 2);
  expect(await listOf(first)).toEqual([member(email, "Joan of the first", ANY_TIME)]);
  expect(await listOf(second)).toEqual([member(email, "Joan Clarke", ANY_TIME)]);
});

test("a shared filter shows its creator's name as known to the workspace", async () => {
  const email = "mary@example.org";
  const [first, second] = await addWorkspaces();
  await invite(first, email);
  const own = await signInByMail(email, 1);
  await rename(own, "Mary Somerville");
  const { data: invited } = await invite(second, email, "M. S.");
  await service.as(second.apiKey).updateMember({ person: invited.person, role: "member" });
  const path = `/account/v1/workspaces/${second.id}/saved_filters`;
  const body = { name: "Late", query: "days=today", shared: true };
  await data(own.request(path, { body }));
  const { sign_in_path: link } = await invite(second, "reader@example.org");
  const reader = await signInByPath(service, link);
  const sharedBy = async () => (await data(reader.request(path))).map((it: { shared_by: string }) => it.shared_by);
  expect(await sharedBy()).toEqual(["M. S."]);
  await signInByMail(email, 2);
  expect(await sharedBy()).toEqual(["Mary Somerville"]);
});
