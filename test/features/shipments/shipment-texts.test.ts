import { getOption } from "@bufbuild/protobuf";
import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { field as rules } from "../../../gen/buf/validate/validate_pb.js";
import {
  CreateShipmentResponseSchema,
  UpdateShipmentResponseSchema,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { ANY_TIME, book, BOOKED_SHIPMENT, BOOKING, RPC_BOOKING } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { sharedService } from "../../support/service.ts";
import { hasForm, sampleText, SHIPMENT_TEXTS, UPDATED_TEXTS } from "../../support/shipment-texts.ts";

const service = await sharedService();

test("all texts of a booking except the external reference can be changed", () => {
  const fixed = SHIPMENT_TEXTS.map(({ name }) => name).filter((name) => !UPDATED_TEXTS.includes(name));
  expect(fixed).toEqual(["external_reference"]);
});

describe.each(SHIPMENT_TEXTS.map((field) => [field.name, field] as const))("%s", (name, field) => {
  const { value } = getOption(field, rules).type as { value: { maxLen: bigint } };
  const longest = hasForm(name) ? sampleText(name, 1) : "x".repeat(Number(value.maxLen));

  test("is stored trimmed and returned by every read, up to its maximum length", async () => {
    const { apiKey } = await service.addWorkspace();
    const read = async (path: string) => service.request(`/v1/shipments${path}`, { apiKey });
    const booked = await book(service, apiKey, { [name]: ` ${longest} ` });
    const { reference } = booked;
    expect(booked).toEqual({ ...BOOKED_SHIPMENT, [name]: longest });
    expect((await read(`/${reference}`)).body.data).toEqual(booked);
    expect((await read("")).body.data).toEqual([booked]);
    const events = (await read(`/${reference}/events`)).body.data;
    expect(events.map(({ data }: any) => data)).toEqual([booked]);
    const lines = parse((await read("/export")).text, { columns: true });
    expect(lines).toMatchObject([{ [name]: longest }]);

    const body = { ...BOOKING, [name]: `${longest} x` };
    const refused = await service.request("/v1/shipments", { apiKey, body });
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, [name]]);
    expect((await book(service, apiKey, { [name]: " " }))[name]).toBeNull();
  });

  test("can be booked, changed and cleared over gRPC, and stays if it is omitted", async () => {
    const { apiKey } = await service.addWorkspace();
    const grpc = service.grpcClient(apiKey);
    const created = await grpc.createShipment({
      ...RPC_BOOKING,
      [field.localName]: sampleText(name, 1),
    });
    const booked = inDialect(CreateShipmentResponseSchema, created).data;
    expect(booked).toEqual({ ...BOOKED_SHIPMENT, [name]: sampleText(name, 1) });
    const update = async (changes: object) => {
      const updated = await grpc.updateShipment({ shipment: booked.reference, ...changes });
      return inDialect(UpdateShipmentResponseSchema, updated).data;
    };
    const changed = (etag: string) => ({ ...booked, updated_at: ANY_TIME, etag });
    const moved = { pickup_address: "2 Times Square" };
    expect(await update({ pickupAddress: moved.pickup_address })).toEqual({
      ...changed("2"),
      ...moved,
    });
    if (!UPDATED_TEXTS.includes(name)) return;
    const values: readonly (readonly [string, string | null])[] = [
      [sampleText(name, 2), sampleText(name, 2)],
      ["", null],
    ];
    for (const [i, [sent, kept]] of values.entries()) {
      const answer = await update({ [field.localName]: sent });
      expect(answer).toEqual({ ...changed(String(i + 3)), ...moved, [name]: kept });
    }
  });
});
