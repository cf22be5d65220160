import { describe, expect, test } from "vitest";
import { type ActCall, type ActKind, ACTS, allowedActs, isSuperseded } from "../../src/courier/run/acts.ts";
import { isLate, requiredProof, type Shipment } from "../../src/courier/run/shipment.ts";
import { stopsOf, tasksNow } from "../../src/courier/run/stops.ts";
import { shipment } from "./shipment.ts";

const FAILED = { end: "dropoff", reason: "refused", note: null, attempted_at: "2026-11-28T10:00:00Z" } as const;

describe("actions", () => {
  test.each<[string, Partial<Shipment>, ActKind[]]>([
    ["awaiting pickup", {}, ["arrive_pickup", "pick_up", "fail"]],
    ["at the pickup", { stage: "at_pickup" }, ["pick_up", "fail"]],
    ["in transit", { status: "in_transit", stage: null }, ["arrive_dropoff", "deliver", "fail"]],
    ["at the dropoff", { status: "in_transit", stage: "at_dropoff" }, ["deliver", "fail"]],
    [
      "after a failed delivery",
      { status: "in_transit", stage: null, attempts: [FAILED] },
      ["arrive_dropoff", "deliver", "fail", "return"],
    ],
    [
      "after a failed pickup",
      { status: "in_transit", stage: "at_dropoff", attempts: [{ ...FAILED, end: "pickup" }] },
      ["deliver", "fail"],
    ],
    ["unpaid", { status: "pending", stage: null }, []],
    ["delivered", { status: "delivered", stage: null }, []],
    ["returned", { status: "returned", stage: null }, []],
    ["cancelled", { status: "cancelled", stage: null }, []],
  ])("available for a shipment %s", (_, state, acts) => {
    expect(allowedActs(shipment(state))).toEqual(acts);
  });

  test("are sent as calls in order", () => {
    expect(ACTS.deliver.calls({ pin: "1234", received_by: "Grace", note: "" }, shipment())).toEqual([
      { name: "proof", body: { pin: "1234", received_by: "Grace" } },
      { name: "advance", body: { from: "in_transit" } },
    ]);
    expect(ACTS.deliver.calls({}, shipment())).toEqual([{ name: "advance", body: { from: "in_transit" } }]);
    expect(ACTS.fail.calls({ reason: "refused", note: "Angry dog", photo: "AA==" }, shipment())).toEqual([
      { name: "attempts", body: { reason: "refused", note: "Angry dog", from: "awaiting_pickup" } },
    ]);
  });

  const ADVANCE: ActCall = { name: "advance", body: { from: "awaiting_pickup" } };
  const FAIL: ActCall = { name: "attempts", body: { reason: "refused", from: "awaiting_pickup" } };
  const ARRIVE: ActCall = { name: "progress", body: { stage: "at_pickup" } };
  test.each<[ActCall, Partial<Shipment>, boolean]>([
    [ADVANCE, { status: "in_transit" }, true],
    [ADVANCE, { status: "delivered" }, true],
    [ADVANCE, { status: "awaiting_pickup" }, false],
    [ADVANCE, { status: "cancelled" }, false],
    [ADVANCE, { status: "returned" }, true],
    [{ name: "advance", body: { from: "in_transit" } }, { status: "returned" }, false],
    [ARRIVE, { stage: "at_pickup" }, true],
    [ARRIVE, { status: "in_transit" }, true],
    [ARRIVE, { status: "returned" }, true],
    [ARRIVE, { status: "cancelled" }, false],
    [{ name: "return", body: {} }, { status: "returned" }, true],
    [{ name: "return", body: {} }, { status: "delivered" }, false],
    [{ name: "proof", body: {} }, { status: "delivered" }, false],
    [FAIL, { status: "in_transit" }, true],
    [FAIL, { status: "returned" }, true],
    [FAIL, { status: "cancelled" }, false],
    // Queued by an earlier version of the page.
    [{ name: "attempts", body: {} }, { status: "delivered" }, false],
  ])("a refused %o of a shipment with %o needs no record: %s", (call, state, isOver) => {
    expect(isSuperseded(call, shipment({ stage: null, ...state }))).toBe(isOver);
  });
});

describe("stops", () => {
  const A = { pickup_address: "A", pickup_lat: 1 };
  const textOf = (shipments: readonly Shipment[]) =>
    stopsOf(shipments).map(({ tasks }) => tasks.map(({ shipment: it, end }) => `${end} ${it.reference}`));

  test("group pickups at the same location and keep the order of dropoffs", () => {
    const run = ["1", "2", "3"].map((reference) =>
      shipment({ reference, ...A, dropoff_address: `B${reference === "3" ? "1" : reference}` }),
    );
    expect(textOf(run)).toEqual([["pickup 1", "pickup 2", "pickup 3"], ["dropoff 1", "dropoff 3"], ["dropoff 2"]]);
  });

  test("merge a dropoff and a pickup at the same location, but never deliver before the pickup", () => {
    const there = shipment({ reference: "1", ...A, dropoff_address: "B", dropoff_lat: 2 });
    const back = shipment({
      reference: "2",
      pickup_address: " b",
      pickup_lat: 2,
      dropoff_address: "A",
      dropoff_lat: 1,
    });
    const stops = stopsOf([there, back]);
    expect(textOf([there, back])).toEqual([["pickup 1"], ["dropoff 1", "pickup 2"], ["dropoff 2"]]);
    expect(tasksNow(stops[1]!).map(({ end }) => end)).toEqual(["pickup"]);
  });

  test("omit completed shipments and completed pickups", () => {
    expect(textOf([shipment({ reference: "1", status: "in_transit" }), shipment({ status: "delivered" })])).toEqual([
      ["dropoff 1"],
    ]);
  });

  const window = { start: "2026-11-28T10:00:00Z", end: "2026-11-28T11:00:00Z", time_zone: "UTC" };
  test.each<[string, Partial<Shipment>, string, boolean]>([
    ["within its window", { dropoff_window: window }, "10:59", false],
    ["after its window", { dropoff_window: window }, "11:01", true],
    ["expected after its window", { dropoff_window: window, dropoff_eta: "2026-11-28T11:05:00Z" }, "10:30", true],
    [
      "that has arrived",
      { dropoff_window: window, dropoff_eta: "2026-11-28T11:05:00Z", stage: "at_dropoff" },
      "10:30",
      false,
    ],
    ["without a window", {}, "12:00", false],
    ["expected later", { dropoff_eta: "2026-11-28T09:00:00Z" }, "08:59", false],
    ["expected earlier", { dropoff_eta: "2026-11-28T09:00:00Z" }, "09:01", true],
    ["that has arrived late", { dropoff_eta: "2026-11-28T09:00:00Z", stage: "at_dropoff" }, "09:01", false],
  ])("a shipment %s is late: %4$s", (_, fields, time, late) => {
    const moving = shipment({ status: "in_transit", stage: null, ...fields });
    expect(isLate(moving, "dropoff", Date.parse(`2026-11-28T${time}:00Z`))).toBe(late);
  });

  test("leaving at the door requires a photo, and a waiver removes every requirement", () => {
    const left = { dropoff_handover: "leave_at_door" } as const;
    expect(requiredProof(shipment(left))).toBe("photo");
    expect(requiredProof(shipment({ dropoff_verification: "pin" }))).toBe("pin");
    expect(requiredProof(shipment({ dropoff_verification: "pin", proof: { waived: "Lost" } }))).toBe("none");
  });
});
