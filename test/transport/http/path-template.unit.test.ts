import { expect, test } from "vitest";
import { parsePathTemplate, type Segment } from "../../../src/transport/http/routes.ts";

const literal = (text: string): Segment => ({ kind: "literal", text });
const variable = (field: string): Segment => ({ kind: "variable", field });

test.each<[template: string, segments: Segment[]]>([
  ["/v1", [literal("v1")]],
  ["/v1/shipments", [literal("v1"), literal("shipments")]],
  ["/v1/{shipment}", [literal("v1"), variable("shipment")]],
  ["/{a}/x/{b_2}", [variable("a"), literal("x"), variable("b_2")]],
  ["/~a-b._1", [literal("~a-b._1")]],
])("parses the path template %s into its segments", (template, segments) => {
  expect(parsePathTemplate(template)).toEqual(segments);
});

test.each([
  ["no leading slash", "v1/shipments"],
  ["nothing at all", ""],
  ["an empty segment", "/v1//shipments"],
  ["a trailing slash", "/v1/shipments/"],
  ["a wildcard", "/v1/*"],
  ["a deep wildcard", "/v1/**"],
  ["a custom verb", "/v1/shipments:cancel"],
  ["a verb after a variable", "/v1/{shipment}:cancel"],
  ["a variable with a pattern", "/v1/{shipment=shipments/*}"],
  ["a nested field", "/v1/{shipment.reference}"],
  ["a variable within a segment", "/v1/x{shipment}"],
  ["an unclosed variable", "/v1/{shipment"],
  ["an empty variable", "/v1/{}"],
  ["a field name in capitals", "/v1/{Shipment}"],
  ["a percent sign", "/v1/a%20b"],
  ["a query", "/v1/shipments?x"],
  ["the same field twice", "/v1/{a}/{a}"],
])("refuses the path template %s with an error that names it", (_, template) => {
  expect(() => parsePathTemplate(template)).toThrow(`the path template ${template} `);
});
