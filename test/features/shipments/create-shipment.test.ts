import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  CreateShipmentRequestSchema,
  type CreateShipmentRequestValid,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { RefusalReason } from "../../../src/domain/refusal.ts";
import { createGroupCommit } from "../../../src/db/group-commit.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { createTariffTasks } from "../../../src/features/tariffs/tasks/run-tariff-task.ts";
import { createSlots } from "../../../src/features/slots/slots.ts";
import { createVersionFees } from "../../../src/features/tariffs/versions/version-fees.ts";
import { createTariffCache } from "../../../src/features/tariffs/versions/tariff-cache.ts";
import { createBookShipment } from "../../../src/features/shipments/create-shipment.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { BOOKING, RPC_BOOKING, BOOKED_SHIPMENT } from "../../support/bookings.ts";
import { callOf } from "../../support/call-of.ts";
import { TEST_MS } from "../../support/limits.ts";
import { sharedService, startService, type TestWorkspace } from "../../support/service.ts";
import { worldTariff } from "../../support/tariffs.ts";

const service = await sharedService();

const book = (apiKey: string, changes: object = {}) => service.as(apiKey).createShipment({ ...BOOKING, ...changes });

/** Books and returns the linked customer. */
const customerOf = async (apiKey: string, changes: object = {}) => (await data(book(apiKey, changes))).customer;

function rows(sql: string, { id }: TestWorkspace): Promise<any[]> {
  return service.app.em.fork().execute(sql, [id]);
}

test("a booking returns 201 with the whole shipment", async () => {
  const { apiKey } = await service.addWorkspace();
  const { status, body } = await book(apiKey);
  expect({ status, body }).toStrictEqual({
    status: 201,
    body: { data: { ...BOOKED_SHIPMENT, updated_at: body.data.created_at } },
  });
});

test("shipment references are unique and not consecutive", async () => {
  const { apiKey } = await service.addWorkspace();
  const answers = await Promise.all(Array.from({ length: 20 }, () => book(apiKey)));
  const references = answers.map(({ body }) => body.data.reference as string);
  expect(new Set(references).size).toBe(20);
  const firstHalves = new Set(references.map((reference) => reference.slice(4, 10)));
  expect(firstHalves.size).toBe(20);
});

test("each booking records its tariff version", async () => {
  const workspace = await service.addWorkspace();
  await book(workspace.apiKey);
  expect(await rows("select tariff_version as version from shipment where workspace_id = ?", workspace)).toEqual([
    { version: 1 },
  ]);
});

describe("a booking is linked to a customer of the workspace", () => {
  test("a new one if none has that name and email", async () => {
    const { apiKey } = await service.addWorkspace();
    const ada = await customerOf(apiKey);
    const others = [
      await customerOf(apiKey, { customer_name: "Ada King" }),
      await customerOf(apiKey, { customer_name: "ada lovelace" }),
      await customerOf(apiKey, { customer_email: "ada@example.com" }),
    ];
    expect(new Set([ada, ...others].map(({ id }) => id)).size).toBe(4);
  });

  test("the one with the same name in another Unicode form, which both forms find", async () => {
    const { apiKey } = await service.addWorkspace();
    const names = ["Jos\u00e9 Ortega", "Jose\u0301 Ortega", "\u202eJos\u00e9\u202c Ortega"];
    const ids: number[] = [];
    for (const customer_name of names) {
      const { id, name } = await customerOf(apiKey, { customer_name });
      expect(name).toBe("Jos\u00e9 Ortega");
      ids.push(id);
    }
    expect(new Set(ids).size).toBe(1);
    for (const text of names) {
      const { body } = await service.as(apiKey).searchShipments({ text });
      expect(body.customers).toMatchObject([{ id: ids[0] }]);
    }
  });

  test("none if the name has no visible characters", async () => {
    const { apiKey } = await service.addWorkspace();
    for (const customer_name of ["\u200b", "\u2060", "\u00ad", "\u3000\ufeff"]) {
      const text = "customer_name is required.";
      await expectRefused(book(apiKey, { customer_name }), "FIELD_INVALID", {
        customer_name: text,
      });
    }
  });

  test("the one with the same name and email, ignoring case", async () => {
    const { apiKey } = await service.addWorkspace();
    const ada = await customerOf(apiKey, { customer_email: "Ada@Example.org" });
    const again = await customerOf(apiKey, {
      customer_name: ` ${BOOKING.customer_name} `,
      customer_email: "aDA@eXAMPLE.ORG",
    });
    expect(ada.email).toBe("Ada@Example.org");
    expect(again).toEqual(ada);
  });

  test("the one in customer_id, whose name and email stay unchanged", async () => {
    const { apiKey } = await service.addWorkspace();
    const ada = await customerOf(apiKey);
    const eve = { customer_name: "Eve", customer_email: "eve@example.org" };
    await customerOf(apiKey, eve);
    expect(await customerOf(apiKey, { ...eve, customer_id: ada.id })).toEqual(ada);
  });

  test.each([0, -1, 999_999_999, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
    "ignoring an unknown customer_id: %d",
    async (customer_id) => {
      const { apiKey } = await service.addWorkspace();
      const ada = await customerOf(apiKey);
      expect(await customerOf(apiKey, { customer_id })).toEqual(ada);
    },
  );

  test("ignoring an unknown customer_id that only gRPC can represent", async () => {
    const { apiKey } = await service.addWorkspace();
    const ada = await customerOf(apiKey);
    for (const customerId of [2n ** 63n - 1n, -(2n ** 63n)]) {
      const booking = { ...RPC_BOOKING, customerId };
      const { data: booked } = await service.grpcClient(apiKey).createShipment(booking);
      expect(booked?.customer?.id).toBe(BigInt(ada.id));
    }
  });

  test("whose customer_id_number stays until another is given", async () => {
    const { apiKey } = await service.addWorkspace();
    const numbers = [];
    for (const changes of [
      {},
      { customer_id_number: "A1" },
      {},
      { customer_id_number: "B2" },
      { customer_id_number: "" },
    ]) {
      numbers.push((await customerOf(apiKey, changes)).id_number);
    }
    expect(numbers).toEqual([null, "A1", "A1", "B2", "B2"]);
  });

  test("whose customer_id_number also stays if customer_id is given", async () => {
    const workspace = await service.addWorkspace();
    const { id } = await customerOf(workspace.apiKey, { customer_id_number: "A1" });
    const eve = { customer_name: "Eve", customer_email: "eve@example.org" };
    const changed = { ...eve, customer_id: id, customer_id_number: "C3" };
    expect((await customerOf(workspace.apiKey, changed)).id_number).toBe("C3");
    expect(await rows("select name, id_number from customer where workspace_id = ?", workspace)).toEqual([
      { name: BOOKING.customer_name, id_number: "C3" },
    ]);
  });

  test("that is created once by 30 concurrent bookings", async () => {
    const workspace = await service.addWorkspace();
    const bookings = Array.from({ length: 30 }, (_, i) =>
      book(workspace.apiKey, {
        customer_email: i % 2 === 0 ? "new@example.org" : "NEW@example.org",
        customer_id_number: String(i),
      }),
    );
    const answers = await Promise.all(bookings);
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(201));
    expect(
      await rows(
        `select count(*)::int as shipments, count(distinct customer_id)::int as customers,
           (select count(*)::int from customer where workspace_id = shipment.workspace_id) as made
         from shipment where workspace_id = ? group by workspace_id`,
        workspace,
      ),
    ).toEqual([{ shipments: 30, customers: 1, made: 1 }]);
  });
});

describe("a rejected booking returns every reason and stores nothing", () => {
  const coverage = "The dropoff point is outside the coverage zones, 8643 km from the nearest one.";
  const weight = "No pricing tier covers 999 kg; weights above 0 kg and up to 50 kg are served.";
  const provider = "The workspace has no payment provider connected. Connect one before booking.";
  const AWAY = { dropoff_lat: 0, dropoff_lng: 0 };
  const HEAVY = { weight_kg: 999 };

  test.each<[changes: object, hasProvider: boolean, reason: RefusalReason, errors: Record<string, string>]>([
    [AWAY, true, "ROUTE_NOT_COVERED", { coverage }],
    [HEAVY, true, "WEIGHT_NOT_SERVED", { weight_kg: weight }],
    [{}, false, "PAYMENT_PROVIDER_NOT_CONNECTED", { payment_provider: provider }],
    [{ ...AWAY, ...HEAVY }, true, "ROUTE_NOT_COVERED", { coverage, weight_kg: weight }],
    [AWAY, false, "ROUTE_NOT_COVERED", { coverage, payment_provider: provider }],
    [{ ...AWAY, ...HEAVY }, false, "ROUTE_NOT_COVERED", { coverage, weight_kg: weight, payment_provider: provider }],
  ])("%j, with a payment provider: %j", async (changes, hasProvider, reason, errors) => {
    const workspace = await service.addWorkspace({
      paymentProvider: hasProvider ? "manual" : undefined,
    });
    await expectRefused(book(workspace.apiKey, changes), reason, errors);
    expect(await rows("select 1 from shipment where workspace_id = ?", workspace)).toEqual([]);
    expect(await rows("select 1 from customer where workspace_id = ?", workspace)).toEqual([]);
  });
});

test("a booking uses the tariff in force even if this replica has cached an older one", async () => {
  const { app, databaseUrl, addWorkspace } = await startService();
  const { id: workspaceId } = await addWorkspace();
  const tasks = createTariffTasks(databaseUrl);
  const tariffs = createTariffCache({ em: app.em, tasks, log: { warn: () => undefined } });
  const createGroup = createGroupCommit(app.em, () => () => undefined, TEST_MS);
  const versionFees = createVersionFees(app.em);
  const quoteKeys = { byId: () => undefined };
  const slots = createSlots(app.em);
  const deps = { createGroup, tariffs, versionFees, slots, quoteKeys, now: () => new Date() };
  const bookDirectly = async () => {
    const request = create(CreateShipmentRequestSchema, RPC_BOOKING);
    const valid = request as CreateShipmentRequestValid;
    const { data } = await createBookShipment(deps, () => undefined)(valid, callOf(workspaceId));
    return [data?.currency, data?.total];
  };

  expect(await bookDirectly()).toEqual(["USD", 12.69]);
  const newer = worldTariff({ currency: "JPY", base_fee: "700" });
  expect(await publishDocument(app.em, newer)).toMatchObject({ version: 2 });
  expect(tariffs.currentVersion()).toBe(1);
  expect(await bookDirectly()).toEqual(["JPY", 700]);
});
