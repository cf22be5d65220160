import { expect, test } from "vitest";
import type { RefusalReason } from "../../src/domain/refusal.ts";
import { data, expectRefused } from "../support/answers.ts";
import { book, BOOKING } from "../support/bookings.ts";
import { signIn } from "../support/browser.ts";
import { connectTo } from "../support/database.ts";
import type { Answer } from "../support/client.ts";
import type { Endpoints } from "../support/endpoints.ts";
import { insertBooked } from "../support/insert-booked.ts";
import { startReplica, startService } from "../support/service.ts";

const service = await startService();
const replica = await startReplica(service.databaseUrl);
const sql = await connectTo(service.databaseUrl);

/** Creates a resource with a unique number through one of the servers. */
type Create = (number: number, at: Endpoints) => Promise<Answer>;

/** Creates `count` resources and returns the function that creates more. */
async function filled(count: number, create: Create): Promise<Create> {
  await Promise.all(Array.from({ length: count }, (_, i) => data(create(-i, service))));
  return create;
}

/** Returns a function that creates filters as a workspace's members, taking turns. */
async function filterOf(people: readonly string[], shared: boolean): Promise<Create> {
  const { id, apiKey } = await service.addWorkspace();
  const signedIn = people.map((name) =>
    signIn(service, apiKey, { email: `${name}.${id}@example.org`, role: "member" }),
  );
  const members = await Promise.all(signedIn);
  return (number, at) => {
    const { cookie } = members[Math.abs(number) % members.length]!;
    return at.request(`/account/v1/workspaces/${id}/saved_filters`, {
      headers: { cookie, "sec-fetch-site": "same-origin" },
      body: { name: `Filter ${number + 100}`, shared },
    });
  };
}

interface LimitedResource {
  readonly reason: RefusalReason;
  readonly text?: Readonly<Record<string, string>>;
  /** Creates resources until the limit leaves room for one more. Returns the function that creates it. */
  leaveOne(): Promise<Create>;
}

const LIMITED: Readonly<Record<string, LimitedResource>> = {
  webhooks: {
    reason: "WEBHOOK_LIMIT",
    async leaveOne() {
      const { apiKey } = await service.addWorkspace();
      const url = "https://hooks.example/a";
      return filled(19, (_, at) => at.as(apiKey).createWebhook({ url }));
    },
  },
  "API keys": {
    reason: "API_KEY_LIMIT",
    text: { api_key: "The workspace has reached its limit of 10 keys. Revoke one first." },
    async leaveOne() {
      const { apiKey } = await service.addWorkspace();
      return filled(8, (number, at) => at.as(apiKey).createApiKey({ name: `Key ${number}` }));
    },
  },
  "keys of an operator": {
    reason: "API_KEY_LIMIT",
    text: { api_key: "The operator has 20 active keys, the maximum. Revoke one first." },
    async leaveOne() {
      const { id: operator, key } = await service.addOperator();
      return filled(18, (number, at) => at.as(key).createOperatorKey({ operator, name: `Key ${number}` }));
    },
  },
  members: {
    reason: "MEMBER_LIMIT",
    async leaveOne() {
      const { id, apiKey } = await service.addWorkspace();
      await sql.query(
        `with added as (
           insert into person (email, created_at)
           select 'm' || i || '@example.net', now() from generate_series(1, 199) as i returning id)
         insert into membership (workspace_id, person_id, role, created_at)
         select $1, id, 'viewer', now() from added`,
        [id],
      );
      return (number, at) => at.as(apiKey).inviteMember({ email: `n${number}@example.net` });
    },
  },
  "filters of a person": {
    reason: "SAVED_FILTER_LIMIT",
    leaveOne: async () => filled(49, await filterOf(["ada"], false)),
  },
  "filters that members share": {
    reason: "SAVED_FILTER_LIMIT",
    leaveOne: async () => filled(49, await filterOf(["ada", "grace", "mary"], true)),
  },
  "tariff drafts": {
    reason: "TARIFF_DRAFT_LIMIT",
    async leaveOne() {
      const { key } = await service.addOperator();
      return filled(49, (number, at) => at.as(key).createTariffDraft({ name: `Draft ${number}` }));
    },
  },
  simulations: {
    reason: "SIMULATION_LIMIT",
    async leaveOne() {
      const { id, apiKey } = (await service.addWorkspace()).twin;
      await insertBooked(sql, id, new Date().toISOString(), { count: 999 });
      await sql.query(
        `insert into simulation (workspace_id, shipment_reference, scenario, step_seconds, due_at, next_try_at)
         select workspace_id, reference, 'stuck', 86400, $2, $2 from shipment where workspace_id = $1`,
        [id, new Date(Date.now() + 86_400_000)],
      );
      // Books once on each replica, so that neither has to load the tariff later.
      await Promise.all([service, replica].map((at) => book(at, apiKey)));
      const simulation = { scenario: "stuck", step_seconds: 86_400 };
      return (_, at) => at.as(apiKey).createShipment({ ...BOOKING, simulation });
    },
  },
};

test.each(Object.entries(LIMITED))(
  "exactly one of 20 concurrent creations of %s on two replicas succeeds if the limit leaves room for one more",
  async (_, { reason, text, leaveOne }) => {
    const create = await leaveOne();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => create(i + 1, i % 2 === 0 ? service : replica)),
    );
    const refused = answers.filter(({ code }) => code !== undefined);
    expect(refused).toHaveLength(19);
    for (const answer of refused) await expectRefused(answer, reason, text);
  },
);
