import { expect, test } from "vitest";
import { signIn, type SignedIn } from "../../support/browser.ts";
import { connectTo } from "../../support/database.ts";
import { errorBody } from "../../support/endpoints.ts";
import { startService } from "../../support/service.ts";

const service = await startService();
const workspace = await service.addWorkspace();
const elsewhere = await service.addWorkspace();

const pathIn = (id: number, filter?: number) =>
  `/account/v1/workspaces/${id}/saved_filters${filter === undefined ? "" : `/${filter}`}`;

async function list(person: SignedIn, id = workspace.id) {
  const { status, body } = await person.request(pathIn(id));
  expect([status, body.next_page_token]).toEqual([200, ""]);
  return body.data;
}

async function save(person: SignedIn, name: string, query = "status=1") {
  const { status, body } = await person.request(pathIn(workspace.id), { body: { name, query } });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}

function newPerson(name: string, { apiKey } = workspace): Promise<SignedIn> {
  return signIn(service, apiKey, { email: `${name}@example.org`, role: "viewer" });
}

test("a person saves, replaces, renames and deletes filters that nobody else sees", async () => {
  const ada = await newPerson("ada.filters");
  const grace = await newPerson("grace.filters");
  const late = await save(ada, "Late", "days=today&status=2");
  expect(late).toEqual({ id: expect.any(Number), name: "Late", query: "days=today&status=2" });
  const all = await save(ada, " all ", "");
  expect(all).toEqual({ id: expect.any(Number), name: "all", query: "" });
  expect(await list(ada)).toEqual([all, late]);
  expect(await list(grace)).toEqual([]);
  // A name of any case is the same, also of somebody else.
  const replaced = await save(ada, "LATE", "failed=true");
  expect(replaced).toEqual({ id: late.id, name: "LATE", query: "failed=true" });
  const hers = await save(grace, "late");
  expect(await list(ada)).toEqual([all, replaced]);

  const renaming = async (filter: number, name: string) => {
    const options = { method: "PATCH", body: { name } };
    return ada.request(pathIn(workspace.id, filter), options);
  };
  const renamed = { ...replaced, name: "Zzz" };
  expect(await renaming(late.id, "Zzz")).toMatchObject({ status: 200, body: { data: renamed } });
  expect(await renaming(late.id, "zzz")).toMatchObject({ status: 200 });
  expect(await renaming(late.id, "ALL")).toMatchObject({
    status: 409,
    body: errorBody("You have saved another filter under this name.", "name"),
  });
  const missing = {
    status: 404,
    body: errorBody("You have saved no filter with this id in the workspace."),
  };
  const removing = (filter: number) =>
    ada.request(pathIn(workspace.id, filter), { method: "DELETE" });
  for (const id of [hers.id, 2 ** 50, 0]) {
    expect(await renaming(id, "Mine")).toMatchObject(missing);
    expect(await removing(id)).toMatchObject(missing);
  }
  expect(await removing(late.id)).toMatchObject({ status: 200 });
  expect(await removing(late.id)).toMatchObject(missing);
  expect(await list(ada)).toEqual([all]);
  expect(await list(grace)).toEqual([hers]);
});

test("filters are refused by what is wrong with them", async () => {
  const person = await newPerson("wrong.filters");
  for (const [body, field] of [
    [{ query: "status=1" }, "name"],
    [{ name: "   " }, "name"],
    [{ name: "n".repeat(61) }, "name"],
    [{ name: "n", query: "q".repeat(1_001) }, "query"],
  ] as const) {
    const answer = await person.request(pathIn(workspace.id), { body });
    expect([answer.status, Object.keys(answer.body.errors)]).toEqual([422, [field]]);
  }
  expect(await save(person, "n".repeat(60), "q".repeat(1_000))).toBeTruthy();
});

test("only members have filters in a workspace, and not in its test twin", async () => {
  const person = await newPerson("member.filters");
  const filter = await save(person, "Mine");
  const refused = {
    status: 403,
    body: errorBody("You are no member of a workspace with this id."),
  };
  for (const id of [elsewhere.id, workspace.twin.id, 2 ** 50]) {
    expect(await person.request(pathIn(id))).toMatchObject(refused);
    expect(await person.request(pathIn(id), { body: { name: "n" } })).toMatchObject(refused);
    const one = pathIn(id, filter.id);
    const rename = { method: "PATCH", body: { name: "n" } };
    expect(await person.request(one, rename)).toMatchObject(refused);
    expect(await person.request(one, { method: "DELETE" })).toMatchObject(refused);
  }
  expect(await list(person)).toEqual([filter]);
  // A session of another workspace's link acts there alone, whatever else its person may do.
  const there = await newPerson("member.filters", elsewhere);
  expect(await there.request(pathIn(workspace.id))).toMatchObject(refused);
  expect(await list(there, elsewhere.id)).toEqual([]);
});

test("somebody who is no member any more has no filters, nor when they come back", async () => {
  const person = await newPerson("left.filters");
  await save(person, "Mine");
  const { apiKey } = workspace;
  const { body } = await service.request("/v1/members", { apiKey });
  const left = body.data.find((it: { email: string }) => it.email === "left.filters@example.org");
  const removed = await service.request(`/v1/members/${left.person}`, { apiKey, method: "DELETE" });
  expect(removed.status).toBe(200);
  expect(await list(await newPerson("left.filters"))).toEqual([]);
});

test("a person has 50 filters in a workspace and no more, however many are saved at once", async () => {
  const person = await newPerson("many.filters");
  await save(person, "Filter 0");
  const database = await connectTo(service.databaseUrl);
  await database.query(
    `insert into saved_filter (workspace_id, person_id, name, query)
     select workspace_id, person_id, 'Filter ' || i, '' from saved_filter, generate_series(1, 46) i
     where person_id = (select id from person where email = 'many.filters@example.org')`,
  );
  const names = Array.from({ length: 6 }, (_, i) => `More ${i}`);
  const answers = await Promise.all(
    names.map((name) => person.request(pathIn(workspace.id), { body: { name } })),
  );
  const text = "You have saved 50 filters in the workspace, and no more fit.";
  const refused = { status: 422, body: errorBody(text, "saved_filter") };
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(answer).toMatchObject(refused);
  }
  expect(await list(person)).toHaveLength(50);
  // What is there can be replaced all the same.
  expect(await save(person, "FILTER 0", "failed=true")).toMatchObject({ query: "failed=true" });
});
