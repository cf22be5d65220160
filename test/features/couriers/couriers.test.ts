import { expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { ANY_TIME, bookAnd, type ShipmentJson } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();

const ADA = {
  name: "Ada Byron",
  phone: "+12125550123",
  email: "ada@example.org",
  vehicle: "Cargo bike",
  external_id: "c-7",
  locale: "fr-CA",
  note: "Mornings only",
};

/** Returns the calls of a new workspace. */
async function newWorkspace() {
  const { apiKey, id } = await service.addWorkspace();
  return { apiKey, id, as: service.as(apiKey) };
}

test("a courier is created, read, listed, changed with its etag, and archived", async () => {
  const { as } = await newWorkspace();
  const { status, body } = await as.createCourier(ADA);
  const created = {
    id: expect.stringMatching(/^cou_[0-9a-f]{24}$/),
    ...ADA,
    etag: "1",
    created_at: ANY_TIME,
    updated_at: body.data.created_at,
    archived_at: null,
    figures: null,
  };
  expect([status, body]).toEqual([201, { data: created }]);
  const courier = body.data.id;
  const figures = { left: 0, late: 0, done: 0, last_seen_at: null, place: null };
  expect(await data(as.getCourier({ courier }))).toEqual({ ...body.data, figures });
  expect((await as.listCouriers({})).body).toEqual({ data: [body.data], next_page_token: "" });

  const update = (fields: object) => as.updateCourier({ courier, ...fields });
  const changed = await data(update({ etag: "1", name: "Ada King", note: "" }));
  expect(changed).toEqual({ ...created, name: "Ada King", note: null, etag: "2", updated_at: ANY_TIME });
  expect(await data(update({ name: "Ada King" }))).toEqual(changed);
  const stale = { etag: "etag is stale because the courier was changed. Read it again." };
  await expectRefused(update({ etag: "1", name: "Ada" }), "ETAG_STALE", stale);

  const archived = await data(as.archiveCourier({ courier }));
  expect(archived).toEqual({ ...changed, etag: "3", updated_at: ANY_TIME, archived_at: archived.updated_at });
  expect(await data(as.getCourier({ courier }))).toEqual({ ...archived, figures });
  expect(await data(as.listCouriers({}))).toEqual([]);
  expect(await data(as.listCouriers({ include_archived: true }))).toEqual([archived]);
  for (const call of [update({ name: "Ada" }), as.archiveCourier({ courier })]) {
    await expectRefused(call, "COURIER_NOT_FOUND");
  }
});

test("an external id belongs to at most one active courier and filters the list", async () => {
  const { as } = await newWorkspace();
  const { id } = await data(as.createCourier(ADA));
  const grace = await data(as.createCourier({ name: "Grace", external_id: "c-8" }));
  await expectRefused(as.createCourier({ name: "Other", external_id: "c-7" }), "COURIER_TAKEN");
  await expectRefused(as.updateCourier({ courier: grace.id, external_id: "c-7" }), "COURIER_TAKEN");
  expect(await data(as.listCouriers({ external_id: "c-8" }))).toEqual([grace]);
  await data(as.archiveCourier({ courier: id }));
  const again = await data(as.createCourier({ name: "Other", external_id: "c-7" }));
  expect(await data(as.listCouriers({ external_id: "c-7" }))).toEqual([again]);
});

test("lists each courier once, newest first, page by page", async () => {
  const { as } = await newWorkspace();
  const made: unknown[] = [];
  for (const name of ["A", "B", "C"]) made.unshift(await data(as.createCourier({ name })));
  const first = await as.listCouriers({ page_size: 2 });
  const second = await as.listCouriers({ page_size: 2, page_token: first.body.next_page_token });
  expect([...first.body.data, ...second.body.data]).toEqual(made);
  expect(second.body.next_page_token).toBe("");
});

test("a workspace can have up to 5,000 active couriers", async () => {
  const { as, id } = await newWorkspace();
  const { id: courier } = await data(as.createCourier({ name: "Ada" }));
  const sql = await connectTo(service.databaseUrl);
  await sql.query(
    `insert into courier (workspace_id, id, name, created_at, updated_at)
     select $1, 'cou_' || i, 'Ada', now(), now() from generate_series(2, 5000) i`,
    [id],
  );
  await expectRefused(as.createCourier({ name: "Grace" }), "COURIER_LIMIT");
  await data(as.archiveCourier({ courier }));
  await data(as.createCourier({ name: "Grace" }));
});

test("a shipment keeps its courier's details from the time of the assignment", async () => {
  const { as, apiKey } = await newWorkspace();
  const { id: courier_id } = await data(as.createCourier(ADA));
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
  const { name, phone, vehicle, external_id } = ADA;
  const details = { name, phone, vehicle, external_id };
  const assigned = await data(as.setCourier({ shipment, courier_id }));
  expect(assigned.courier).toEqual({ ...details, courier_id, sequence: null });
  await data(as.updateCourier({ courier: courier_id, name: "Ada King" }));
  expect(await data(as.getShipment({ shipment }))).toEqual(assigned);

  const both = "cannot be combined with courier_id. Send one or the other.";
  await expectRefused(as.setCourier({ shipment, courier_id, ...details }), "FIELD_INVALID", {
    name: `name ${both}`,
    phone: `phone ${both}`,
    vehicle: `vehicle ${both}`,
    external_id: `external_id ${both}`,
  });
  await expectRefused(as.setCourier({ shipment }), "FIELD_INVALID", { name: "name is required." });
  await expectRefused(as.setCourier({ shipment, courier_id: "cou_0" }), "COURIER_NOT_FOUND");
  const stale = { etag: "etag is stale because the shipment was changed. Read it again." };
  await expectRefused(as.setCourier({ shipment, name: "Grace", etag: "1" }), "ETAG_STALE", stale);
  await data(as.archiveCourier({ courier: courier_id }));
  await expectRefused(as.setCourier({ shipment, courier_id }), "COURIER_NOT_FOUND");
});

test("a courier's figures count the shipments that are open, late and completed today", async () => {
  const { as, apiKey, id } = await newWorkspace();
  const { id: courier } = await data(as.createCourier(ADA));
  const idle = await data(as.createCourier({ name: "Grace" }));
  const sql = await connectTo(service.databaseUrl);
  const set = (change: string, { reference }: ShipmentJson) =>
    sql.query(`update shipment set ${change} where workspace_id = $1 and reference = $2`, [id, reference]);
  const paid = () => bookAnd(service, apiKey, ["pay"]);
  const [waiting, aged, moving, delivered, returned, before, cancelled] = [
    await paid(),
    await paid(),
    await paid(),
    await paid(),
    await paid(),
    await paid(),
    await paid(),
  ] as const;
  const all = [waiting, aged, moving, delivered, returned, before, cancelled];
  const shipments = all.map(({ reference: shipment }) => ({ shipment }));
  await as.assignCourier({ courier, shipments });
  await set("created_at = now() - interval '241 minutes'", aged);
  for (const { reference: shipment } of [moving, delivered, returned, before]) await as.advanceShipment({ shipment });
  for (const { reference: shipment } of [delivered, before]) await as.advanceShipment({ shipment });
  await as.returnShipment({ shipment: returned["reference"] });
  await as.cancelShipment({ shipment: cancelled["reference"] });
  await set("delivered_at = now() - interval '1 day'", before);
  const window = `{"start": "2026-01-01T10:00:00Z", "end": "2026-01-01T11:00:00Z", "timeZone": "UTC", "feeMinor": 0}`;
  await set(`windows = '{"pickup": ${window}, "dropoff": null}'`, moving);
  const measured_at = new Date(Date.now() - 60_000).toISOString();
  await as.reportPlaces({ places: [{ shipment: moving["reference"], lat: 40.7, lng: -74, measured_at }] });

  const figures = { left: 3, late: 1, done: 2, last_seen_at: measured_at, place: { lat: 40.7, lng: -74, measured_at } };
  expect((await data(as.getCourier({ courier }))).figures).toEqual(figures);
  const late = `windows = '{"pickup": null, "dropoff": ${window}}'`;
  await set(late, moving);
  await set(late, waiting);
  const listed = await data(as.listCouriers({ figures: true }));
  expect(listed).toEqual([
    { ...idle, figures: { left: 0, late: 0, done: 0, last_seen_at: null, place: null } },
    expect.objectContaining({ id: courier, figures: { ...figures, late: 3 } }),
  ]);
});
