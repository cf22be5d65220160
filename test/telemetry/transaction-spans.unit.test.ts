import { ROOT_CONTEXT } from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect, test } from "vitest";
import { refuse } from "../../src/domain/refusal.ts";
import { createTimeOfDay } from "../../src/telemetry/trace-context.ts";
import { createBeginTransaction } from "../../src/telemetry/transaction-spans.ts";

const URL_OF_DATABASE = "postgres://shipper:secret@[::1]:5433/a%20b";

/** Returns the span of a transaction that fails with this error. */
function spanOf(error: unknown, databaseUrl = URL_OF_DATABASE) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const otel = provider.getTracer("test");
  const begin = createBeginTransaction(otel, createTimeOfDay(), databaseUrl);
  begin(otel.startSpan("call", {}, ROOT_CONTEXT), []).end(error);
  const [{ attributes, status }] = exporter.getFinishedSpans() as [any];
  return { attributes, isError: status.code === 2, message: status.message };
}

const DATABASE = {
  "db.system.name": "postgresql",
  "db.namespace": "a b",
  "server.address": "::1",
  "server.port": 5433,
  "shipments.transaction.calls": 1,
};

test("a transaction span names its database, without the user", () => {
  expect(spanOf(undefined)).toEqual({ attributes: DATABASE, isError: false, message: undefined });
});

test("a transaction span names the database of several servers, and no server", () => {
  const several = "postgres://shipper:secret@first:5433,second/a%20b";
  expect(spanOf(undefined, several).attributes).toEqual({
    "db.system.name": "postgresql",
    "db.namespace": "a b",
    "shipments.transaction.calls": 1,
  });
});

test("a transaction that the database refuses has its SQLSTATE, and not the message with values", () => {
  const error = Object.assign(new Error("Key (email)=(ada@example.org) already exists."), {
    code: "23505",
  });
  const attributes = { ...DATABASE, "db.response.status_code": "23505", "error.type": "23505" };
  const expected = { attributes, isError: true, message: undefined };
  expect(spanOf(error)).toEqual(expected);
  expect(spanOf(new Error("rolled back", { cause: error }))).toEqual(expected);
});

test("a transaction that fails otherwise has the type of its error", () => {
  const attributes = { ...DATABASE, "error.type": "TypeError" };
  expect(spanOf(new TypeError("ada"))).toEqual({ attributes, isError: true, message: undefined });
});

test("a transaction that is rolled back because its call is refused is not an error", () => {
  const refusal = refuse("SHIPMENT_NOT_FOUND", "Shipment not found.");
  expect(spanOf(refusal)).toMatchObject({ attributes: DATABASE, isError: false });
});
