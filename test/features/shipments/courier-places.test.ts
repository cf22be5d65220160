import { expect, test } from "vitest";
import { runStatement } from "../../../src/db/statement.ts";
import { purgePlaces } from "../../../src/features/shipments/courier-places.ts";
import { data, expectRefused, invalidFields } from "../../support/answers.ts";
import { ANY_TIME, book, bookAnd, IMPOSSIBLE_REFERENCE, NO_REFERENCE, takeStep } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey, id } = await service.addWorkspace();
const as = service.as(apiKey);
const { body: made } = await as.createApiKey({ name: "Fleet", scope: "courier" });
const courier = service.as(made.api_key);

const HERE = { lat: 40.7, lng: -73.96 };
const THERE = { lat: 40.69, lng: -73.95 };
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();

const placeOf = async (shipment: string) => (await as.getCourierPlace({ shipment })).body.data;
const age = (seconds: number, shipment: string) =>
  runStatement(
    service.app.em,
    `update courier_place set measured_at = $3
     where workspace_id = $1 and shipment_reference = $2`,
    [id, shipment, ago(seconds)],
  );

test("stores the latest courier location of each paid, undelivered shipment and leaves the shipment unchanged", async () => {
  const [coming, going] = [await bookAnd(service, apiKey, ["pay"]), await bookAnd(service, apiKey, ["pay", "advance"])];
  const [unpaid, foreign] = [
    await book(service, apiKey),
    await bookAnd(service, (await service.addWorkspace()).apiKey, ["pay"]),
  ];
  const { results } = (
    await courier.reportPlaces({
      places: [
        { shipment: coming["reference"], ...HERE },
        { shipment: going["reference"], ...HERE, measured_at: ago(60) },
        { shipment: going["reference"], ...THERE, measured_at: ago(30) },
        { shipment: unpaid["reference"], ...HERE },
        { shipment: foreign["reference"], ...HERE },
        { shipment: NO_REFERENCE, ...HERE },
        { shipment: "mine", ...HERE },
      ],
    })
  ).body;
  const taken = ({ reference: shipment, status, payment_status, etag }: typeof coming) => ({
    shipment,
    status,
    payment_status,
    etag,
    error: null,
  });
  const refused = (shipment: string, code: string, message: string, errors: object[] = []) => ({
    shipment,
    status: null,
    payment_status: null,
    etag: null,
    error: { code, message, errors },
  });
  const state = "The shipment cannot be given a courier location because it is pending.";
  const missing = ["SHIPMENT_NOT_FOUND", "Shipment not found."] as const;
  expect(results).toEqual([
    taken(coming),
    taken(going),
    taken(going),
    refused(unpaid["reference"], "SHIPMENT_STATE", state, [{ field: "shipment", text: state }]),
    refused(foreign["reference"], ...missing),
    refused(NO_REFERENCE, ...missing),
    refused("mine", "SHIPMENT_NOT_FOUND", IMPOSSIBLE_REFERENCE.message),
  ]);
  expect(await placeOf(coming["reference"])).toEqual({ ...HERE, measured_at: ANY_TIME });
  expect(await placeOf(going["reference"])).toMatchObject(THERE);
  expect(await data(as.getShipment({ shipment: coming["reference"] }))).toEqual(coming);
  await expectRefused(as.getCourierPlace({ shipment: unpaid["reference"] }), "PLACE_NOT_FOUND");
});

test("ignores a location that is older than the stored one or less than five seconds newer", async () => {
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
  const report = (place: object) => courier.reportPlaces({ places: [{ shipment, ...place }] });
  await report({ ...HERE, measured_at: "9999-12-31T23:59:59.999999999Z" });
  await report(THERE);
  expect(await placeOf(shipment)).toMatchObject(HERE);
  await age(6, shipment);
  await report({ ...THERE, measured_at: ago(60) });
  expect(await placeOf(shipment)).toMatchObject(HERE);
  await report(THERE);
  expect(await placeOf(shipment)).toMatchObject(THERE);
});

test("a location belongs to the current courier, not to a previous one", async () => {
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
  await courier.reportPlaces({ places: [{ shipment, ...HERE }] });
  await data(courier.setCourier({ shipment, name: "Ada" }));
  await data(courier.setCourier({ shipment, name: "Ada", vehicle: "Van" }));
  expect(await placeOf(shipment)).toMatchObject(HERE);
  await data(courier.setCourier({ shipment, name: "Bob" }));
  await expectRefused(as.getCourierPlace({ shipment }), "PLACE_NOT_FOUND");
  await courier.reportPlaces({ places: [{ shipment, ...THERE }] });
  await data(courier.removeCourier({ shipment }));
  await expectRefused(as.getCourierPlace({ shipment }), "PLACE_NOT_FOUND");
});

test("a location expires after an hour, and no location is accepted after the delivery", async () => {
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay", "advance"]);
  const places = [{ shipment, ...HERE }];
  await courier.reportPlaces({ places });
  await takeStep(service, apiKey, shipment, "advance");
  const { results } = (await courier.reportPlaces({ places })).body;
  expect(results[0].error.code).toBe("SHIPMENT_STATE");
  await age(3_601, shipment);
  await expectRefused(as.getCourierPlace({ shipment }), "PLACE_NOT_FOUND");
  expect(await purgePlaces(service.app.em)).toBeGreaterThanOrEqual(1);
  const left = await runStatement(
    service.app.em,
    "select from courier_place where workspace_id = $1 and shipment_reference = $2",
    [id, shipment],
  );
  expect(left).toEqual([]);
});

test("rejects invalid locations by field", async () => {
  const invalid = (places: object[]) => invalidFields(courier.reportPlaces({ places } as any));
  expect(await invalid([])).toEqual(["places"]);
  expect(await invalid([{ shipment: NO_REFERENCE, lat: 91 }])).toEqual(["places[0].lat", "places[0].lng"]);
  const many = Array.from({ length: 101 }, () => ({ shipment: NO_REFERENCE, ...HERE }));
  expect(await invalid(many)).toEqual(["places"]);
});
