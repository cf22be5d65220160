import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ShipmentCountSchema } from "../../gen/shipments/v1/shipment_count_pb.js";
import { ShipmentStatus } from "../../gen/shipments/v1/shipment_pb.js";
import { listedText, totalText } from "../../src/dashboard/shipments/newest-shipments.ts";

const { DELIVERED, CANCELLED } = ShipmentStatus;

test("totals exclude cancelled shipments, per currency", () => {
  const shipments = [
    { total: 0.1, currency: "USD", status: DELIVERED },
    { total: 5, currency: "EUR", status: DELIVERED },
    { total: 0.2, currency: "USD", status: DELIVERED },
    { total: 7, currency: "USD", status: CANCELLED },
  ];
  expect(totalText(shipments)).toBe("$0.30 and €5.00");
});

const counted = (count: number, total: number, more = false) =>
  create(ShipmentCountSchema, { count, more, totals: [{ currency: "USD", total }] });

test.each([
  ["with some cancelled shipments", counted(3, 0.6), counted(1, 0.2), "$0.40"],
  ["without cancelled shipments", counted(3, 0.6), create(ShipmentCountSchema), "$0.60"],
  ["with only cancelled shipments", counted(3, 0.6), counted(3, 0.6), undefined],
  ["with more shipments than are counted", counted(1_000, 5, true), counted(1, 1), undefined],
])("the total of a list %s", (_, listed, cancelled, text) => {
  expect(listedText(listed, cancelled)).toBe(text);
});
