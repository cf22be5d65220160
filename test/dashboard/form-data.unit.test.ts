import { expect, test } from "vitest";
import {
  CreateOperatorRequestSchema,
  UpdateOperatorRequestSchema,
} from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { RollBackTariffRequestSchema } from "../../gen/shipments/admin/v1/tariff_service_pb.js";
import { UpdateWorkspaceLimitsRequestSchema } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { RecordPaymentRequestSchema } from "../../gen/shipments/v1/shipment_service_pb.js";
import { CreateWebhookRequestSchema } from "../../gen/shipments/v1/webhook_service_pb.js";
import { requestOf } from "../../src/dashboard/ui/form-data.ts";

function formOf(...fields: readonly (readonly [name: string, value: string])[]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
}

test("a request contains a form's fields by name and omits empty ones", () => {
  const form = formOf(["name", " Ada "], ["email", " "], ["role", "2"], ["when", "now"]);
  expect(requestOf(CreateOperatorRequestSchema, form)).toEqual({ name: "Ada", role: 2 });
});

test("an update contains empty texts and omits empty choices", () => {
  const form = formOf(["name", ""], ["email", " "], ["role", ""]);
  expect(requestOf(UpdateOperatorRequestSchema, form)).toEqual({ name: "", email: "" });
});

test("a list contains every checked box, and a boolean's box is true", () => {
  const form = formOf(["types", "shipment.paid"], ["types", "shipment.created"]);
  expect(requestOf(CreateWebhookRequestSchema, form)).toEqual({
    types: ["shipment.paid", "shipment.created"],
  });
  expect(requestOf(RollBackTariffRequestSchema, formOf(["honours_quotes", "on"]))).toEqual({
    honoursQuotes: true,
  });
});

test.each([
  ["12", { rate: 12 }],
  ["", {}],
  ["1.5", { rate: 0 }],
  ["4294967296", { rate: 0 }],
  ["many", { rate: 0 }],
])("a whole number typed as “%s” in a message is sent as %o", (text, quote) => {
  const form = formOf(["quote.rate", text]);
  expect(requestOf(UpdateWorkspaceLimitsRequestSchema, form)).toEqual({ quote });
});

test("an amount accepts a point or a comma, and anything else is NaN", () => {
  const amounts = ["12,5", "0.25", "a lot"].map(
    (text) => requestOf(RecordPaymentRequestSchema, formOf(["amount", text])).amount,
  );
  expect(amounts).toEqual([12.5, 0.25, Number.NaN]);
});
