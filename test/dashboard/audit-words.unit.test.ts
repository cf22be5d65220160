import { expect, test } from "vitest";
import { ACTIONS, actWords, fieldWords, partsOf, subjectWords } from "../../src/dashboard/audit/audit-words.ts";
import { AUDIT_ACTIONS } from "../../src/features/audit/record-change.ts";

const NAME = { field: "name", before: "Shop", after: "Store" };
const SCOPE = { field: "scope", before: "full", after: "read_only" };
const change = (field: string) => ({ field, after: "1" });

test("exactly the actions of the audit log have a choice and a sentence", () => {
  expect(ACTIONS.map(([action]) => action).toSorted()).toEqual([...AUDIT_ACTIONS].toSorted());
  for (const [action] of ACTIONS) expect(actWords(action, []).join("")).not.toContain(action);
});

test.each([
  ["RenameWorkspace", [NAME], ["renamed ", ""]],
  ["UpdateApiKey", [NAME, SCOPE], ["changed the name and the scope of ", ""]],
  ["UpdateTariffDraft", ["a", "b", "c", "d"].map(change), ["changed much of ", ""]],
  ["UpdateOperator", ["role", "name", "email"].map(change), ["changed the role, the name and the email of ", ""]],
  ["UpdateMember", [], ["changed something of ", ""]],
  ["CheckPaymentConnection", [], ["checked the Stripe account of ", ", which had changed"]],
  ["SignIn", [change("link_made_by")], ["signed in with a link that another person created", undefined]],
  ["FoldWorkspace", [], ["performed FoldWorkspace on ", ""]],
] as const)("%s with %j is described as %j", (action, changes, words) => {
  expect(actWords(action, changes)).toEqual(words);
});

test.each([
  ["workspace/12", [], "workspace 12"],
  ["workspace/12", [NAME], "the workspace “Shop”"],
  ["api_key/key_1", [], "key key_1"],
  ["api_key/key_1", [{ field: "name", after: "Till" }], "the key “Till”"],
  ["tariff_version/7", [], "version 7 of the tariff"],
  ["tariff_draft/3", [], "draft 3"],
  ["person/5", [], "member 5"],
  ["fleet_car/5", [], "fleet car 5"],
] as const)("%s with %j is described as %j", (subject, changes, words) => {
  expect(subjectWords(subject, changes)).toBe(words);
});

test("a subject is described with its current name if known", () => {
  expect(subjectWords("person/5", [], "ada@example.org")).toBe("the member ada@example.org");
});

test("lists only the changed fields of a list", () => {
  const tier = { min_kg: 0, max_kg: 5, flat_fee: "" };
  const tiers = [tier, { ...tier, max_kg: 10 }];
  const change = { field: "tiers", before: JSON.stringify([tier]), after: JSON.stringify(tiers) };
  expect(partsOf(change)).toEqual([
    { field: "tiers.2.min_kg", before: undefined, after: "0" },
    { field: "tiers.2.max_kg", before: undefined, after: "10" },
    { field: "tiers.2.flat_fee", before: undefined, after: "" },
  ]);
  expect(partsOf({ ...change, after: "120 tiers" }).at(-1)).toEqual({
    field: "tiers",
    before: undefined,
    after: "120 tiers",
  });
  expect(partsOf(NAME)).toEqual([NAME]);
  const bracketed = { field: "name", before: "[Test] Shop", after: "{Shop}" };
  expect(partsOf(bracketed)).toEqual([bracketed]);
});

test("field names are readable words", () => {
  expect(["max_weight_kg", "ends_at", "api_key/key_1.ends_at"].map(fieldWords)).toEqual([
    "Max weight kg",
    "End",
    "API key key 1 ends at",
  ]);
});
