import { getOption } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { for_courier_links } from "../../../gen/shipments/v1/options_pb.js";
import { data, expectRefused } from "../../support/answers.ts";
import { auditEntriesOf } from "../../support/audit.ts";
import { ANY_TIME, bookAnd, NO_SHIPMENT } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { describedMethods } from "../../support/described-services.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { purgeCourierLinks } from "../../../src/features/couriers/courier-links.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";

const service = await startService();
const sql = await connectTo(service.databaseUrl);

/** Returns the calls of a new workspace with a courier, a link and the sign-in of a device. */
async function newCourier() {
  const { apiKey, id, twin } = await service.addWorkspace();
  const as = service.as(apiKey);
  const courier = (await data(as.createCourier({ name: "Ada", locale: "fr" }))).id as string;
  const newLink = async (fields: object = {}) => {
    const { body } = await as.createCourierLink({ courier, ...fields });
    return { ...body.data, token: body.path.slice(3) as string };
  };
  const assign = async (sequence?: number, more: object = {}, steps: ("pay" | "advance")[] = ["pay"]) => {
    const { reference } = await bookAnd(service, apiKey, steps, more);
    await as.assignCourier({ courier, shipments: [{ shipment: reference, sequence }] });
    return reference as string;
  };
  return { apiKey, id, twin, as, courier, newLink, assign };
}

const open = (token: string, headers: Record<string, string> = {}, { httpUrl }: TestService = service) =>
  fetch(`${httpUrl}/c/session`, {
    method: "POST",
    body: JSON.stringify({ token }),
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", ...headers },
  });

/** Opens a link and returns the calls of the device. */
async function signIn(token: string) {
  const opened = await open(token);
  expect(opened.status).toBe(200);
  const cookie = opened.headers.get("set-cookie")!.split(";")[0]!;
  return (path: string, body?: object, at: TestService = service, more = {}) =>
    at.request(path, { headers: { cookie, "sec-fetch-site": "same-origin", ...more }, ...(body && { body }) });
}

const INVALID = "This link is not valid: it has expired, was revoked, or is incomplete.";
const ENDED =
  "The credential is not known, was revoked or has expired. Send the workspace's API key as Authorization: Bearer shp_... or X-Api-Key: shp_....";

test("a link is shown once, opens a session in a cookie, and is audited, listed and revoked", async () => {
  const { as, id, courier } = await newCourier();
  const { status, body } = await as.createCourierLink({ courier });
  const link = {
    id: expect.stringMatching(/^col_[0-9a-f]{24}$/),
    courier,
    created_by: expect.stringMatching(/^api key .{4}$/),
    created_at: ANY_TIME,
    expires_at: ANY_TIME,
    devices: 0,
    last_used_at: null,
    email_status: null,
  };
  expect([status, body]).toEqual([201, { data: link, path: expect.stringMatching(/^\/c#[0-9a-z]+\.[\w-]{43}$/) }]);
  const days = (Date.parse(body.data.expires_at) - Date.parse(body.data.created_at)) / 86_400_000;
  expect(days).toBe(14);
  const { rows } = await sql.query("select row_to_json(l)::text as text from courier_link l where courier_id = $1", [
    courier,
  ]);
  const token = body.path.slice(3);
  expect(rows[0].text).not.toContain(token.split(".")[1]);

  const opened = await open(token);
  expect([opened.status, await opened.json()]).toEqual([
    200,
    {
      courier: { id: courier, name: "Ada", locale: "fr" },
      workspace: { name: "Test" },
      expires_at: body.data.expires_at,
    },
  ]);
  expect(opened.headers.get("set-cookie")).toMatch(
    /^courier=[0-9a-z]+\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Expires=[^;]+ GMT$/,
  );
  expect(await data(as.listCourierLinks({ courier }))).toEqual([{ ...body.data, devices: 1, last_used_at: ANY_TIME }]);
  expect((await auditEntriesOf(service, id)).at(-1)).toEqual({
    actor: "courier",
    actor_name: "Ada",
    operator_id: null,
    action: "OpenCourierLink",
    subject: `courier/${courier}`,
    changes: [{ field: "link", before: null, after: body.data.id }],
    request_id: expect.any(String),
  });
  await data(as.revokeCourierLink({ courier, link: body.data.id }));
  expect(await data(as.listCourierLinks({ courier }))).toEqual([]);
  await expectRefused(as.revokeCourierLink({ courier, link: body.data.id }), "COURIER_LINK_NOT_FOUND");
});

test("a link that is revoked, expired, wrong or belongs to an archived courier is rejected", async () => {
  const { as, courier, newLink } = await newCourier();
  const [revoked, expired, archived] = [await newLink(), await newLink(), await newLink()];
  await as.revokeCourierLink({ courier, link: revoked.id });
  await sql.query("update courier_link set ends_at = now() where id = $1", [expired.id]);
  const refused = async (token: string, headers = {}) => {
    const answer = await open(token, headers);
    return [answer.status, await answer.json(), answer.headers.get("set-cookie")];
  };
  const first = await refused(revoked.token, { "x-request-id": "same" });
  expect(first).toMatchObject([403, { message: INVALID, code: "COURIER_LINK_INVALID" }, null]);
  for (const token of [expired.token, `${archived.token.slice(0, -1)}_`, "none", ""]) {
    expect(await refused(token, { "x-request-id": "same" })).toEqual(first);
  }
  expect((await refused(archived.token, { "sec-fetch-site": "cross-site" }))[1]).toMatchObject({ code: "CROSS_SITE" });
  await data(as.archiveCourier({ courier }));
  expect(await refused(archived.token, { "x-request-id": "same" })).toEqual(first);
});

test("a courier has up to 5 links and 5 devices, and a sixth device signs out the least recently used one", async () => {
  const { as, courier, newLink } = await newCourier();
  const links = [];
  for (let i = 0; i < 5; i++) links.push(await newLink());
  await expectRefused(as.createCourierLink({ courier }), "COURIER_LINK_LIMIT");
  const devices = [];
  for (let i = 0; i < 6; i++) devices.push(await signIn(links[i % 2]!.token));
  const statuses = await Promise.all(devices.map(async (device) => (await device("/v1/couriers/me/run")).status));
  expect(statuses).toEqual([401, 200, 200, 200, 200, 200]);
});

test("attempts to guess a link are limited by client address", async () => {
  const own = await startReplica(service.databaseUrl);
  const guess = async () => (await open("none", {}, own)).status;
  const statuses = await Promise.all(Array.from({ length: 80 }, guess));
  expect(new Set(statuses)).toEqual(new Set([403, 429]));
});

test("a revoked link ends its sessions on every replica", async () => {
  const { as, courier, newLink } = await newCourier();
  const link = await newLink();
  const device = await signIn(link.token);
  const replica = await startReplica(service.databaseUrl);
  for (const at of [service, replica]) expect((await device("/v1/couriers/me/run", undefined, at)).status).toBe(200);
  await as.revokeCourierLink({ courier, link: link.id });
  for (const at of [service, replica]) {
    const ended = await eventually("the session to end", async () => {
      const answer = await device("/v1/couriers/me/run", undefined, at);
      return answer.status === 401 && answer;
    });
    expect(ended.body).toEqual(errorBody(ENDED));
  }
});

test("expired links are deleted with their devices", async () => {
  const { newLink } = await newCourier();
  const link = await newLink();
  await signIn(link.token);
  await sql.query("update courier_link set ends_at = now() - interval '1 hour' where id = $1", [link.id]);
  await purgeCourierLinks(service.app.em);
  const { rows } = await sql.query("select 1 from courier_session where link_id = $1", [link.id]);
  expect(rows).toEqual([]);
});

test("a run lists the courier's open stops in order, then those completed today, without fields hidden from couriers", async () => {
  const { as, id, courier, newLink, assign } = await newCourier();
  const [third, first, second, done, old, tomorrow] = [
    await assign(),
    await assign(1),
    await assign(2, {}, ["pay", "advance"]),
    await assign(3),
    await assign(4),
    await assign(5),
  ];
  for (const shipment of [done, old]) for (let i = 0; i < 2; i++) await as.advanceShipment({ shipment });
  await sql.query("update shipment set delivered_at = now() - interval '25 hours' where reference = $1", [old]);
  const later = JSON.stringify({ pickup: { start: new Date(Date.now() + 2 * 86_400_000).toISOString(), end: "" } });
  await sql.query("update shipment set windows = $2 where reference = $1", [tomorrow, later]);
  const device = await signIn((await newLink()).token);
  const { body } = await device("/v1/couriers/me/run");
  const { shipments, ...run } = body.data;
  const names = { courier_name: "Ada", workspace_name: "Test", time_zone: "UTC" };
  expect(run).toEqual({ courier, ...names, can_reorder: false, wants_location: true });
  expect(shipments.map(({ reference }: any) => reference)).toEqual([first, second, third, done]);
  const shown = await device(`/v1/shipments/${first}`);
  expect(shipments[0]).toEqual(shown.body.data);
  expect(shown.body.data).toMatchObject({ total: 0, customer: { email: "" }, metadata: {}, tracking_url: null });
  const seen = await data(as.getRun({ courier }));
  expect(seen.shipments.map(({ reference }: any) => reference)).toEqual([first, second, third, done]);
  await expectRefused(as.getRun({ courier: "me" }), "COURIER_NOT_FOUND");
  const { body: other } = await device(`/v1/couriers/cou_${id}/run`);
  expect(other).toEqual(errorBody("Courier not found, or the courier is archived."));
});

test("stops left from earlier days come first until they are ordered again", async () => {
  const { as, courier, assign } = await newCourier();
  const [today, booked, due] = [await assign(1), await assign(2), await assign(3, {}, ["pay", "advance"])];
  const [start, end] = ["2026-01-01T10:00:00.000Z", "2026-01-01T11:00:00.000Z"];
  const windows = JSON.stringify({ pickup: { start, end, timeZone: "UTC", feeMinor: 0 }, dropoff: null });
  await sql.query(
    `update shipment set created_at = now() - interval '2 days', windows = case reference when $2 then $3::json end,
       progress = jsonb_set(progress::jsonb, '{courier,sequencedAtMs}', '1') where reference in ($1, $2)`,
    [booked, due, windows],
  );
  const order = async () => {
    const { shipments } = await data(as.getRun({ courier }));
    return shipments.map(({ reference }: { reference: string }) => reference);
  };
  expect(await order()).toEqual([booked, due, today]);
  const shipments = [today, booked, due].map((shipment, i) => ({ shipment, sequence: i + 1 }));
  const before = await data(as.getShipment({ shipment: booked }));
  const { body } = await as.assignCourier({ courier, shipments });
  expect(body.results.map(({ error }: { error: unknown }) => error)).toEqual([null, null, null]);
  expect(await order()).toEqual([today, booked, due]);
  // The courier and the position are the same, so the shipment has no new event.
  expect(await data(as.getShipment({ shipment: booked }))).toEqual(before);
  const events = await data(as.listShipmentEvents({ shipment: booked }));
  const assigned = events.filter(({ type }: { type: string }) => type === "shipment.courier_assigned");
  expect(assigned).toHaveLength(1);
});

test("a courier reorders own stops if the workspace allows it", async () => {
  const { as, apiKey, courier, newLink, assign } = await newCourier();
  const [first, second] = [await assign(1), await assign(2)];
  const { reference: foreign } = await bookAnd(service, apiKey, ["pay"]);
  const { token } = await newLink();
  const shipments = [second, foreign, first].map((shipment, i) => ({ shipment, sequence: i + 1 }));
  const denied = await (await signIn(token))("/v1/shipments/courier/batch", { courier, shipments });
  expect([denied.status, denied.code]).toEqual([403, "SCOPE_INSUFFICIENT"]);
  await data(as.updateWorkspace({ couriers_reorder_stops: true, couriers_share_location: false }));
  const device = await signIn(token);
  const { body } = await device("/v1/shipments/courier/batch", { courier, shipments });
  expect(body.results.map(({ error }: any) => error?.code)).toEqual([undefined, "SHIPMENT_NOT_FOUND", undefined]);
  const { body: run } = await device("/v1/couriers/me/run");
  expect(run.data).toMatchObject({
    can_reorder: true,
    wants_location: false,
    shipments: [{ reference: second }, { reference: first }],
  });
  const { id: other } = await data(as.createCourier({ name: "Grace" }));
  const given = await device("/v1/shipments/courier/batch", { courier: other, shipments });
  expect([given.status, given.code]).toEqual([403, "SCOPE_INSUFFICIENT"]);
});

test("a courier can access only assigned shipments, through the page's methods", async () => {
  const { as, apiKey, id, newLink, assign } = await newCourier();
  const own = await assign();
  const { reference: foreign } = await bookAnd(service, apiKey, ["pay"]);
  const device = await signIn((await newLink()).token);
  const calls: [path: string, body?: object][] = [
    ["", undefined],
    ["/advance", {}],
    ["/return", {}],
    ["/progress", { stage: "at_pickup" }],
    ["/attempts", { reason: "refused" }],
    ["/proof", { received_by: "Ada" }],
  ];
  for (const [path, body] of calls) {
    const { status, body: refusal } = await device(`/v1/shipments/${foreign}${path}`, body);
    expect([status, refusal], path).toEqual([404, NO_SHIPMENT]);
  }
  const places = [own, foreign].map((shipment) => ({ shipment, lat: 40.7, lng: -73.9 }));
  const { body } = await device("/v1/courier_places", { places });
  expect(body.results.map(({ error }: any) => error?.code)).toEqual([undefined, "SHIPMENT_NOT_FOUND"]);
  await as.removeCourier({ shipment: own });
  expect((await device(`/v1/shipments/${own}`)).status).toBe(404);

  const allowed = (await describedMethods("workspace")).filter((method) => getOption(method, for_courier_links));
  expect(allowed.map(({ name }) => name).sort()).toEqual([
    "AdvanceShipment",
    "AssignCourier",
    "GetRun",
    "GetShipment",
    "RecordAttempt",
    "RecordProof",
    "ReportPlaces",
    "ReportProgress",
    "ReturnShipment",
  ]);
  const denied = await device("/v1/shipments");
  expect([denied.status, denied.body]).toEqual([
    403,
    errorBody("ListShipments cannot be called with a courier's link."),
  ]);
  const cross = await device("/v1/couriers/me/run", undefined, service, { "sec-fetch-site": "cross-site" });
  expect(cross.code).toBe("CROSS_SITE");
  // A member's page names a workspace, so the courier's cookie of the same browser is not used.
  const member = await device("/v1/couriers/me/run", undefined, service, { "x-workspace": String(id) });
  expect(member.status).toBe(401);
});

test("a location that arrives during a reassignment is refused", async () => {
  const { as, newLink, assign } = await newCourier();
  const shipment = await assign();
  const device = await signIn((await newLink()).token);
  await sql.query("begin");
  await sql.query(
    `update shipment set progress = jsonb_set(progress, '{courier,courierId}', '"cou_other"') where reference = $1`,
    [shipment],
  );
  const reported = device("/v1/courier_places", { places: [{ shipment, lat: 40.7, lng: -73.9 }] });
  let isAnswered = false;
  void reported.finally(() => (isAnswered = true));
  await eventually("the report to wait", async () => {
    const { rows } = await sql.query("select from pg_locks where not granted");
    return isAnswered || rows.length > 0;
  });
  await sql.query("commit");
  const { results } = (await reported).body;
  expect(results[0].error?.code).toBe("SHIPMENT_NOT_FOUND");
  await expectRefused(as.getCourierPlace({ shipment }), "PLACE_NOT_FOUND");
});

test("actions from a day offline are recorded once, with their original times", async () => {
  const { as, courier, newLink, assign } = await newCourier();
  const shipment = await assign();
  await sql.query("update shipment set created_at = now() - interval '1 day' where reference = $1", [shipment]);
  const device = await signIn((await newLink()).token);
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const times = [at(300), at(240), at(180), at(-60)];
  const act = (path: string, body: object) => data(device(`/v1/shipments/${shipment}/${path}`, body));
  const pickedUp = { from: "awaiting_pickup", occurred_at: times[0] };
  await act("advance", pickedUp);
  const again = await device(`/v1/shipments/${shipment}/advance`, pickedUp);
  expect([again.code, again.body.message]).toEqual([
    "SHIPMENT_STATE",
    "The shipment is in transit, not awaiting pickup.",
  ]);
  // Another phone has picked the shipment up.
  const notPickedUp = { reason: "nobody_there", from: "awaiting_pickup", occurred_at: times[1] };
  const attempt = await device(`/v1/shipments/${shipment}/attempts`, notPickedUp);
  expect([attempt.code, attempt.body.message]).toEqual([again.code, again.body.message]);
  for (let i = 0; i < 2; i++) await act("attempts", { ...notPickedUp, from: "in_transit" });
  await act("proof", { received_by: "Grace", occurred_at: times[2] });
  const delivered = await act("advance", { from: "in_transit", occurred_at: times[3] });
  expect(delivered).toMatchObject({
    status: "delivered",
    attempts: [{ attempted_at: times[1] }],
    proof: { recorded_at: times[2] },
  });
  // A phone's clock may be ahead.
  expect(Date.parse(delivered.delivered_at)).toBeLessThanOrEqual(Date.now());
  const events = await data(as.listShipmentEvents({ shipment }));
  const by = { actor: null, api_key: null, courier: { id: courier, name: "Ada" } };
  expect(events.slice(4, 7)).toMatchObject([
    { type: "shipment.in_transit", timestamp: times[0], ...by },
    { type: "shipment.attempt_failed", timestamp: times[1], ...by },
    { type: "shipment.proof_recorded", timestamp: times[2], ...by },
  ]);
  const old = await device(`/v1/shipments/${shipment}/return`, { occurred_at: at(31 * 24 * 60) });
  expect(old.body.errors).toEqual({ occurred_at: ["occurred_at must be within the last 30 days."] });
});
