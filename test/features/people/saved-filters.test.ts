import { expect, test } from "vitest";
import type { MemberRole } from "../../../src/domain/roles.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { signIn } from "../../support/browser.ts";
import { connectTo } from "../../support/database.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const workspace = await service.addWorkspace();
const elsewhere = await service.addWorkspace();

/** Signs in a new member of a workspace. Returns the member's calls for filters. */
async function newPerson(name: string, { apiKey } = workspace, role: MemberRole = "viewer") {
  const email = `${name}.filters@example.org`;
  const { request } = await signIn(service, apiKey, { email, role, name });
  const call = (method: string, { id = workspace.id, filter = "" as number | "" }, body?: object) =>
    request(`/account/v1/workspaces/${id}/saved_filters${filter && `/${filter}`}`, {
      method,
      body,
    });
  return {
    email,
    list: (id?: number) => call("GET", { id }),
    post: (body: object, id?: number) => call("POST", { id }, body),
    save: (named: string, query = "") => data(call("POST", {}, { name: named, query })),
    rename: (filter: number, named: string, id?: number) => call("PATCH", { id, filter }, { name: named }),
    remove: (filter: number, id?: number) => call("DELETE", { id, filter }),
  };
}

test("a person saves, replaces, renames and deletes private filters", async () => {
  const [ada, grace] = [await newPerson("ada"), await newPerson("grace")];
  const late = await ada.save("Late", "days=today&status=2");
  const own = { id: expect.any(Number), shared: false, shared_by: null };
  expect(late).toEqual({ ...own, name: "Late", query: "days=today&status=2" });
  const all = await ada.save(" all ");
  expect(all).toEqual({ ...own, name: "all", query: "" });
  expect((await ada.list()).body).toEqual({ data: [all, late], next_page_token: "" });
  expect(await data(grace.list())).toEqual([]);
  // Names of filters are compared without case, even between people.
  const replaced = await ada.save("LATE", "failed=true");
  expect(replaced).toEqual({ ...late, name: "LATE", query: "failed=true" });
  const hers = await grace.save("late");

  expect(await data(ada.rename(late.id, "Zzz"))).toEqual({ ...replaced, name: "Zzz" });
  expect((await ada.rename(late.id, "zzz")).status).toBe(200);
  await expectRefused(ada.rename(late.id, "ALL"), "SAVED_FILTER_NAME_TAKEN");
  for (const id of [hers.id, 2 ** 50]) {
    await expectRefused(ada.rename(id, "Mine"), "SAVED_FILTER_NOT_FOUND");
    await expectRefused(ada.remove(id), "SAVED_FILTER_NOT_FOUND");
  }
  expect((await ada.remove(late.id)).status).toBe(200);
  await expectRefused(ada.remove(late.id), "SAVED_FILTER_NOT_FOUND");
  expect(await data(ada.list())).toEqual([all]);
  expect(await data(grace.list())).toEqual([hers]);
});

test("the whole workspace sees shared filters, which admins can delete", async () => {
  const own = await service.addWorkspace();
  const [mary, vic, ann] = [
    await newPerson("mary", own, "member"),
    await newPerson("vic", own, "viewer"),
    await newPerson("ann", own, "admin"),
  ];
  const share = (name: string, shared = true) =>
    data(mary.post({ name, query: "status=1&columns=booked.total", shared }, own.id));
  await vic.post({ name: "Zoo" }, own.id);
  const [late, dear] = [await share("Late"), await share("Dear")];
  const listed = async (person: typeof vic) =>
    (await data(person.list(own.id))).map((it: any) => [it.name, it.shared, it.shared_by]);
  expect(await listed(vic)).toEqual([
    ["Zoo", false, null],
    ["Dear", true, "mary"],
    ["Late", true, "mary"],
  ]);
  expect(await listed(mary)).toEqual([
    ["Dear", true, null],
    ["Late", true, null],
  ]);
  await expectRefused(vic.post({ name: "Mine", shared: true }, own.id), "FIELD_INVALID", {
    shared: "shared requires the role member in the workspace. Your role is viewer.",
  });
  for (const call of [vic.remove(dear.id, own.id), ann.rename(dear.id, "Ours", own.id)]) {
    await expectRefused(call, "SAVED_FILTER_NOT_FOUND");
  }
  expect((await ann.remove(dear.id, own.id)).status).toBe(200);
  expect(await share("Late", false)).toEqual({ ...late, shared: false });
  expect(await listed(vic)).toEqual([["Zoo", false, null]]);
  await expectRefused(ann.remove(late.id, own.id), "SAVED_FILTER_NOT_FOUND");
});

test("a member who becomes a viewer can rename their own filters but not shared ones", async () => {
  const own = await service.addWorkspace();
  const mary = await newPerson("rename", own, "member");
  const shared = await data(mary.post({ name: "Late", shared: true }, own.id));
  const kept = await data(mary.post({ name: "Mine" }, own.id));
  await newPerson("rename", own, "viewer");
  await expectRefused(mary.rename(shared.id, "Later", own.id), "FIELD_INVALID", {
    shared: "shared requires the role member in the workspace. Your role is viewer.",
  });
  expect(await data(mary.rename(kept.id, "Own", own.id))).toEqual({ ...kept, name: "Own" });
  expect((await data(mary.list(own.id))).map(({ name }: { name: string }) => name)).toEqual(["Late", "Own"]);
});

test("a workspace can share up to 50 filters, regardless of its number of members", async () => {
  const own = await service.addWorkspace();
  const [one, other] = [await newPerson("one", own, "member"), await newPerson("other", own, "member")];
  for (let i = 0; i < 50; i++) await data(one.post({ name: `View ${i}`, shared: true }, own.id));
  await expectRefused(other.post({ name: "More", shared: true }, own.id), "SAVED_FILTER_LIMIT");
  await data(other.post({ name: "More" }, own.id));
  await data(one.post({ name: "View 7", query: "status=2", shared: true }, own.id));
  expect(await data(other.list(own.id))).toHaveLength(51);
});

test("rejects invalid filters by field", async () => {
  const person = await newPerson("wrong");
  for (const [fields, field] of [
    [{ query: "status=1" }, "name"],
    [{ name: "   " }, "name"],
    [{ name: "n".repeat(61) }, "name"],
    [{ name: "n", query: "q".repeat(1_001) }, "query"],
  ] as const) {
    expect(Object.keys((await person.post(fields)).body.errors)).toEqual([field]);
  }
  await person.save("n".repeat(60), "q".repeat(1_000));
});

test("only members have filters in a workspace, and not in its test twin", async () => {
  const person = await newPerson("member");
  const { id: filter } = await person.save("Mine");
  // A session from another workspace's link is valid only there, regardless of the person's other memberships.
  const there = await newPerson("member", elsewhere);
  for (const call of [
    ...[elsewhere.id, workspace.twin.id, 2 ** 50].flatMap((id) => [
      person.list(id),
      person.post({ name: "n" }, id),
      person.rename(filter, "n", id),
      person.remove(filter, id),
    ]),
    there.list(),
  ]) {
    expect((await call).body.message).toBe("You are not a member of a workspace with this id.");
  }
  expect(await data(person.list())).toMatchObject([{ id: filter, name: "Mine" }]);
  expect(await data(there.list(elsewhere.id))).toEqual([]);
});

test("a member's filters are deleted when the membership ends", async () => {
  const left = await newPerson("left");
  await left.save("Mine");
  const as = service.as(workspace.apiKey);
  const { person } = (await data(as.listMembers())).find(({ email }: any) => email === left.email);
  await as.removeMember({ person });
  expect(await data((await newPerson("left")).list())).toEqual([]);
});

test("a person with 50 filters can still replace one", async () => {
  const person = await newPerson("many");
  await person.save("Filter 0");
  const database = await connectTo(service.databaseUrl);
  await database.query(
    `insert into saved_filter (workspace_id, person_id, name, query)
     select workspace_id, person_id, 'Filter ' || i, '' from saved_filter, generate_series(1, 49) i
     where person_id = (select id from person where email = $1)`,
    [person.email],
  );
  await expectRefused(person.post({ name: "More" }), "SAVED_FILTER_LIMIT");
  expect(await data(person.list())).toHaveLength(50);
  expect(await person.save("FILTER 0", "failed=true")).toMatchObject({ query: "failed=true" });
});
