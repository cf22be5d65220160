import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { problemOf } from "../../src/dashboard/api/problem.ts";
import { refuse } from "../../src/domain/refusal.ts";
import { connectError } from "../../src/transport/connect/connect-error.ts";

test("a refusal's texts stand at the fields that they are about", () => {
  const error = connectError(
    refuse("FIELD_INVALID", "must be a latitude", { subject: "pickup_lat" }),
  );
  expect(problemOf(error)).toMatchObject({
    code: Code.InvalidArgument,
    reason: "FIELD_INVALID",
    fields: { pickup_lat: ["must be a latitude"] },
  });
});

test("a precondition's text stands at its subject", () => {
  const error = connectError(refuse("SHIPMENT_STATE", "It is delivered.", { subject: "shipment" }));
  expect(problemOf(error)).toMatchObject({
    code: Code.FailedPrecondition,
    reason: "SHIPMENT_STATE",
    fields: { shipment: ["It is delivered."] },
  });
});

test("a service that cannot be reached is called that, not by the browser's words", () => {
  const error = ConnectError.from(new TypeError("Failed to fetch"));
  expect(problemOf(error)).toMatchObject({ message: "The service cannot be reached.", fields: {} });
});
