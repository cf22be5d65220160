import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { startStripe } from "../stripe/stand-in.ts";
import { book } from "../support/bookings.ts";
import { signIn } from "../support/browser.ts";
import { connectTo, createDatabase } from "../support/database.ts";
import { describedMethods, httpCalls } from "../support/described-services.ts";
import type { Answer } from "../support/client.ts";
import { startGeocoder } from "../support/geocoder.ts";
import { createMethodCalls } from "../support/method-calls.ts";
import { alterDatabase, announcePlans, plansIn, rowsAt, type PlanNode } from "../support/plans.ts";
import { startReceiver } from "../support/receiver.ts";
import { startReplica } from "../support/service.ts";
import { startStatementLog } from "../support/statement-log.ts";
import { stripeSettings } from "../support/stripe-service.ts";
import { addWebhook, untilAttempted } from "../support/webhooks.ts";

const database = await createDatabase();
const admin = await connectTo(database.url);
await announcePlans(admin);
// Excludes foreign keys, which lock the referenced rows with separate statements.
await alterDatabase(admin, "auto_explain.log_nested_statements = off");
const log = await startStatementLog(database.url);
const stripe = await startStripe({ livemode: true });
const service = await startReplica(log.url, {
  eventRetentionDays: 30,
  ...stripeSettings(stripe),
  ...(await startGeocoder("photon")).settings,
});
const workspace = await service.addWorkspace();
const calls = createMethodCalls(service, {
  workspace,
  stripe,
  operator: await service.addOperator(),
});
const person = await signIn(service, workspace.apiKey, { email: "p@example.org", role: "member" });

/** A workspace without webhooks whose bookings have not been counted yet. */
const quiet = await service.addWorkspace();
const POLLING = { timeout: 20_000 };

/** A webhook with two deliveries, enough for a second page. */
const { data: webhook } = await addWebhook(service, workspace.apiKey, await startReceiver());
const sent = { apiKey: workspace.apiKey, body: {} };
for (const _ of [1, 2]) await service.request(`/v1/webhooks/${webhook.id}/test`, sent);
const delivery = await untilAttempted(service, workspace.apiKey, webhook.id, 1);

const isRead = ({ idempotency }: DescMethod) => idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
const READS = (await Promise.all((["workspace", "operator", "person"] as const).map(describedMethods))).flatMap(
  (methods) => methods.filter(isRead),
);

/** Returns fields with which a call finds data. */
async function fieldsOf(method: DescMethod): Promise<Record<string, unknown>> {
  if (method.name === "ListSavedFilters") return { workspace: workspace.id };
  if (isOfPerson(method)) return {};
  const fields = await calls.validFields(method);
  if ("webhook" in fields) fields["webhook"] = webhook.id;
  if ("delivery" in fields) fields["delivery"] = delivery.id;
  return fields;
}

async function call(method: DescMethod, fields: Record<string, unknown>): Promise<Answer[]> {
  if (!isOfPerson(method)) return calls.call(method, fields);
  return Promise.all(httpCalls(method, fields).map(({ path }) => person.request(path)));
}

const isOfPerson = ({ parent }: DescMethod) => parent.typeName.startsWith("shipments.account.");

/** Calls a method successfully. Also reads the second page of a paginated list. */
async function read(method: DescMethod, fields: Record<string, unknown>): Promise<void> {
  const isPaged = method.input.fields.some(({ name }) => name === "page_token");
  const request = isPaged ? { ...fields, page_size: 1 } : fields;
  const answers = await call(method, request);
  const page_token = answers[0]?.body?.next_page_token;
  if (page_token) answers.push(...(await call(method, { ...request, page_token })));
  for (const { status, text } of answers) expect(status, text).toBeLessThan(300);
}

/** Returns the statements that wrote or locked rows while `work` ran, from PostgreSQL's log. */
async function writtenDuring(work: () => Promise<unknown>): Promise<string[]> {
  const before = log.notices.length;
  await work();
  return plansIn(log.notices.slice(before))
    .filter(({ nodes }) => nodes.some(writes))
    .map(({ statement }) => statement);
}

/** Whether a plan node writes or locks rows. */
function writes(node: PlanNode): boolean {
  if (node["Node Type"] === "LockRows") return rowsAt(node) > 0;
  return node["Node Type"] === "ModifyTable" && (node.Plans ?? []).some((it) => rowsAt(it) > 0);
}

test.each(READS.map((method) => [`${method.parent.typeName}/${method.name}`, method] as const))(
  "%s writes nothing",
  async (_, method) => {
    const fields = await fieldsOf(method);
    // Repeats the call to exclude background writes, which are occasional. A call's own writes occur every time.
    await expect
      .poll(async () => {
        await book(service, quiet.apiKey);
        return writtenDuring(() => read(method, fields));
      }, POLLING)
      .toEqual([]);
  },
);

test("detects the writes of a call", async () => {
  const path = `/v1/webhooks/${webhook.id}`;
  const { apiKey } = workspace;
  const written = await writtenDuring(() => service.request(path, { apiKey, method: "DELETE" }));
  expect(written).toEqual(expect.arrayContaining([expect.stringMatching(/^delete from "webhook"/)]));
});
