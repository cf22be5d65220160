import { expect, test } from "vitest";
import { createCustomerRollUpQueue } from "../../../src/features/reports/roll-up-customers.ts";
import { purgeTestData } from "../../../src/features/test-mode/delete-test-data.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { book, bookAnd, takeStep } from "../../support/bookings.ts";
import { countCustomers, endRests } from "../../support/count-bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { insertShipments } from "../../support/insert-shipments.ts";
import { startService, type TestWorkspace } from "../../support/service.ts";
import { workOff } from "../../support/work-off.ts";

const service = await startService();
const sql = await connectTo(service.databaseUrl);

const countAll = () => countCustomers(sql, service.app.em);

function callerOf({ apiKey }: Pick<TestWorkspace, "apiKey">) {
  const caller = service.as(apiKey);
  /** Lists customers in an order, page by page. */
  const list = async (order_by: string, page_size = 100) => {
    const all: Record<string, any>[] = [];
    let page_token = "";
    do {
      const { body } = await caller.listCustomers({ order_by, page_size, page_token, figures: true });
      all.push(...body.data);
      page_token = body.next_page_token;
    } while (page_token !== "");
    return all;
  };
  const names = async (order_by: string, page_size?: number) =>
    (await list(order_by, page_size)).map(({ name }) => name as string);
  return { caller, list, names };
}

/** Books a shipment of a customer, pays it `paid` times, and leaves it unpaid if that is 0. */
async function bookFor({ apiKey }: Pick<TestWorkspace, "apiKey">, customer_name: string, paid: number) {
  const fields = { customer_name };
  if (paid === 0) return [await book(service, apiKey, fields)];
  const booked = [];
  for (let i = 0; i < paid; i++) booked.push(await bookAnd(service, apiKey, ["pay"], fields));
  return booked;
}

test("sorts customers by their last booking and by the amount that they have paid, page by page, with ties", async () => {
  const workspace = await service.addWorkspace();
  const { list, names } = callerOf(workspace);
  for (const [name, paid] of [
    ["Ada", 1],
    ["Bea", 0],
    ["Cleo", 2],
    ["Dora", 1],
    ["Ada", 0],
  ] as const) {
    await bookFor(workspace, name, paid);
  }
  await countAll();
  const byAge = await list("created_at desc");
  const sorted = (order: readonly string[]) => order.map((name) => byAge.find((it) => it["name"] === name));
  for (const page_size of [1, 2, 3, 100]) {
    expect(await list("last_booked_at desc", page_size)).toEqual(sorted(["Ada", "Dora", "Cleo", "Bea"]));
    expect(await list("last_booked_at", page_size)).toEqual(sorted(["Bea", "Cleo", "Dora", "Ada"]));
    expect(await list("paid desc", page_size)).toEqual(sorted(["Cleo", "Dora", "Ada", "Bea"]));
    expect(await list("paid", page_size)).toEqual(sorted(["Bea", "Ada", "Dora", "Cleo"]));
  }
  expect(await names("created_at desc")).toEqual(["Dora", "Cleo", "Bea", "Ada"]);
});

test("lists customers without bookings last, the newest first", async () => {
  const workspace = await service.addWorkspace();
  const { caller, names } = callerOf(workspace);
  const [ada] = await bookFor(workspace, "Ada", 0);
  for (const name of ["Bea", "Cleo", "Dora"]) {
    const [shipment] = await bookFor(workspace, name, 0);
    // The background counts some of the customers before they lose their shipment.
    if (name === "Cleo") await countAll();
    await data(caller.updateShipment({ shipment: shipment!["reference"], customer_id: ada!["customer"].id }));
  }
  await countAll();
  for (const order of ["last_booked_at desc", "last_booked_at", "paid desc", "paid"]) {
    for (const page_size of [1, 2, 4]) expect(await names(order, page_size)).toEqual(["Ada", "Dora", "Cleo", "Bea"]);
  }
});

test("an order follows payments and cancellations once they are counted, and figures are always exact", async () => {
  const workspace = await service.addWorkspace();
  const { list, names } = callerOf(workspace);
  const [shipment] = await bookFor(workspace, "Ada", 1);
  await bookFor(workspace, "Bea", 0);
  expect(await names("paid desc")).toHaveLength(2);
  await countAll();
  // Keeps the background of the service from counting.
  await sql.query("update customer_roll_up set rest_until = 'infinity' where workspace_id = $1", [workspace.id]);
  expect(await names("paid desc")).toEqual(["Ada", "Bea"]);
  await takeStep(service, workspace.apiKey, shipment!["reference"], "cancel");
  await bookFor(workspace, "Bea", 1);
  const revenue = async () => (await list("paid desc")).map(({ name, figures }) => [name, figures.revenue]);
  const exact = [
    ["Ada", []],
    ["Bea", [{ currency: "USD", paid: 12.69, awaiting_payment: 12.69 }]],
  ];
  expect(await revenue()).toEqual(exact);
  await countAll();
  expect(await revenue()).toEqual(exact.toReversed());
});

test("a merge moves the sums to the remaining customer at once", async () => {
  const workspace = await service.addWorkspace();
  const { caller, list, names } = callerOf(workspace);
  const [bea] = await bookFor(workspace, "Bea", 2);
  const [ada] = await bookFor(workspace, "Ada", 2);
  const [cleo] = await bookFor(workspace, "Cleo", 2);
  await countAll();
  expect(await names("paid desc")).toEqual(["Cleo", "Ada", "Bea"]);
  await data(caller.mergeCustomers({ customer: bea!["customer"].id, from: cleo!["customer"].id }));
  for (const order of ["paid desc", "last_booked_at desc"]) expect(await names(order)).toEqual(["Bea", "Ada"]);
  await countAll();
  expect(await names("paid desc")).toEqual(["Bea", "Ada"]);
  // The shipment's last event names the merged customer.
  await data(caller.updateShipment({ shipment: cleo!["reference"], customer_id: ada!["customer"].id }));
  await countAll();
  expect((await list("paid desc")).map(({ name, figures }) => [name, figures.revenue[0].paid])).toEqual([
    ["Ada", 38.07],
    ["Bea", 38.07],
  ]);
});

test("counts both customers after a merge that was refused during a count", async () => {
  const workspace = await service.addWorkspace();
  const { caller, names } = callerOf(workspace);
  const [ada] = await bookFor(workspace, "Ada", 1);
  const [bea] = await bookFor(workspace, "Bea", 2);
  const [from, customer] = [ada!["customer"].id, bea!["customer"].id];
  await countAll();
  await sql.query("update customer_roll_up set rest_until = 'infinity' where workspace_id = $1", [workspace.id]);
  // The merge is refused, because the notes of both customers are too long together.
  for (const id of [from, customer]) {
    await data(caller.updateCustomer({ customer: id, notes: String(id).padEnd(1_500, ".") }));
  }
  await bookFor(workspace, "Ada", 2);
  await endRests(sql);
  const other = await connectTo(service.databaseUrl);
  await other.query("begin");
  const lock = "select from customer where workspace_id = $1 and id = $2 for no key update";
  await other.query(lock, [workspace.id, customer]);
  const merging = caller.mergeCustomers({ customer, from });
  const unlocked = "select from customer where workspace_id = $1 and id = $2 for key share skip locked";
  await eventually("the merge to lock a customer", async () => {
    return (await sql.query(unlocked, [workspace.id, from])).rowCount === 0;
  });
  await workOff(createCustomerRollUpQueue(service.app.em));
  await other.query("commit");
  await merging;
  await countAll();
  expect(await names("paid desc")).toEqual(["Ada", "Bea"]);
});

test("does not count a customer again after events that change no figure", async () => {
  const workspace = await service.addWorkspace();
  const { names } = callerOf(workspace);
  const [ada] = await bookFor(workspace, "Ada", 1);
  await bookFor(workspace, "Bea", 2);
  await countAll();
  await sql.query(
    "update customer_figure set value = 9999 where workspace_id = $1 and customer_id = $2 and name = 'USD'",
    [workspace.id, ada!["customer"].id],
  );
  await takeStep(service, workspace.apiKey, ada!["reference"], "advance");
  await countAll();
  expect(await names("paid desc")).toEqual(["Ada", "Bea"]);
  await bookFor(workspace, "Ada", 0);
  await countAll();
  expect(await names("paid desc")).toEqual(["Bea", "Ada"]);
});

test("does not compare amounts in different currencies", async () => {
  const workspace = await service.addWorkspace();
  const { caller, names } = callerOf(workspace);
  const [bea] = await bookFor(workspace, "Bea", 1);
  await bookFor(workspace, "Ada", 2);
  const [cleo] = await bookFor(workspace, "Cleo", 0);
  const yen = { workspace: workspace.id, count: 2, currency: "'JPY'", totalMinor: "1000000", paymentStatus: "'paid'" };
  const status = "'in_transit'";
  for (const { customer } of [bea!, cleo!] as Record<string, any>[]) {
    await insertShipments(sql, { ...yen, status, customer: String(customer.id), salt: customer.name });
  }
  await sql.query("update shipment set currency = 'JPY' where workspace_id = $1 and customer_id = $2", [
    workspace.id,
    cleo!["customer"].id,
  ]);
  await countAll();
  expect(await names("paid desc")).toEqual(["Ada", "Bea", "Cleo"]);
  expect(await names("paid")).toEqual(["Bea", "Ada", "Cleo"]);
  await sql.query("update shipment set currency = 'JPY' where workspace_id = $1 and customer_id = $2", [
    workspace.id,
    bea!["customer"].id,
  ]);
  await data(caller.updateShipment({ shipment: bea!["reference"], recipient_name: "Bob" }));
  await countAll();
  expect(await names("paid desc")).toEqual(["Ada", "Cleo", "Bea"]);
});

/** Returns a test workspace whose counted order changes when its old shipments are purged. */
async function workspaceToPurge(): Promise<TestWorkspace> {
  const { twin } = await service.addWorkspace();
  const { names } = callerOf(twin);
  await bookFor(twin, "Ada", 2);
  const [bea] = await bookFor(twin, "Bea", 1);
  const old = { createdAt: "now() - interval '40 days'", status: "'in_transit'", paymentStatus: "'paid'" };
  await insertShipments(sql, { ...old, workspace: twin.id, count: 2, customer: String(bea!["customer"].id) });
  await countAll();
  expect(await names("paid desc")).toEqual(["Bea", "Ada"]);
  return twin;
}

test("counts customers of a test workspace, and again after old test data is purged", async () => {
  const twin = await workspaceToPurge();
  await purgeTestData(service.app.em, new Date());
  await countAll();
  expect(await callerOf(twin).names("paid desc")).toEqual(["Ada", "Bea"]);
});

test("counts customers again after a purge that fails", async () => {
  const twin = await workspaceToPurge();
  const { caller, names } = callerOf(twin);
  await data(caller.createCourier({ name: "Ada" }));
  await sql.query("update courier set created_at = now() - interval '40 days' where workspace_id = $1", [twin.id]);
  await sql.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before delete on courier for each row when (old.workspace_id = ${twin.id}) execute function refuse()`);
  await expect(purgeTestData(service.app.em, new Date())).rejects.toThrow("refused");
  await sql.query("drop trigger refuse on courier; drop function refuse");
  await countAll();
  expect(await names("paid desc")).toEqual(["Ada", "Bea"]);
});

test("recounts all customers if events were purged before they were counted", async () => {
  const workspace = await service.addWorkspace();
  const { caller, names } = callerOf(workspace);
  const [ada] = await bookFor(workspace, "Ada", 0);
  const [bea] = await bookFor(workspace, "Bea", 2);
  await countAll();
  await sql.query("delete from event where workspace_id = $1", [workspace.id]);
  // The former customer is unknown, because the shipment's earlier events are deleted.
  await data(caller.updateShipment({ shipment: bea!["reference"], customer_id: ada!["customer"].id }));
  await bookFor(workspace, "Ada", 1);
  await countAll();
  expect(await names("paid desc")).toEqual(["Ada", "Bea"]);
});

test("filters take precedence over an order by a figure, and a page token belongs to its order", async () => {
  const workspace = await service.addWorkspace();
  const { caller } = callerOf(workspace);
  for (const name of ["Ada", "Bea", "Cleo"]) await bookFor(workspace, name, 0);
  await countAll();
  const email = { email: "ada@example.org" };
  expect(await data(caller.listCustomers({ ...email, order_by: "last_booked_at" }))).toEqual(
    await data(caller.listCustomers(email)),
  );
  const { next_page_token: page_token } = (await caller.listCustomers({ order_by: "paid", page_size: 1 })).body;
  for (const order_by of ["paid desc", "last_booked_at", "name", "created_at desc"]) {
    await expectRefused(caller.listCustomers({ order_by, page_token }), "FIELD_INVALID", {
      page_token: "page_token is not the next_page_token of a page with these filters.",
    });
  }
});
