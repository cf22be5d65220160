import { expect, test, vi } from "vitest";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { expectRefused } from "../../support/answers.ts";
import { startService } from "../../support/service.ts";
import { draftsOf } from "../../support/tariff-drafts.ts";
import { SAMPLE_TARIFF, square, worldTariff, zonesOf } from "../../support/tariffs.ts";

const service = await startService();
const { key } = await service.addOperator("viewer");
const { key: operator } = await service.addOperator("operator");
const drafts = draftsOf(service, operator);

const as = service.as(operator);
const check = (draft: number) => service.as(key).checkTariff({ draft });

const OPEN_RING: any = zonesOf([square(0, 0, 1, 1)[0]!.slice(0, 4)]);

test("returns every fault of a draft with its path, in the order of the document", async () => {
  const tier = { min_kg: 0, max_kg: 5, flat_fee: "0.00", rate_per_kg: "0.50" };
  const faulty = worldTariff({
    currency: "USD",
    base_fee: "5.001",
    rate_per_km: "-1",
    tiers: [tier, { ...tier, min_kg: 4, max_kg: 3, flat_fee: "" }],
    zones: OPEN_RING,
  });
  const draft = await drafts.begin(faulty);
  const { body } = await check(draft.id);
  expect({ ...body, faults: body.faults.map(({ path }: any) => path) }).toEqual({
    faults: [
      "base_fee",
      "rate_per_km",
      "tiers[1].min_kg",
      "tiers[1].max_kg",
      "tiers[1].flat_fee",
      expect.stringMatching(/^zones\[0\]\.geometry/),
    ],
    zones: 0,
    tiers: 0,
    same_as_in_force: false,
    etag: draft.etag,
    warnings: [],
  });
  expect(body.faults[3].text).toBe("must be above min_kg, which is 4; it is 3");
});

test("one check returns all faults, including an unknown currency and unstorable text", async () => {
  const draft = await drafts.begin(worldTariff({ currency: "XXX", base_fee: "5.001" }));
  const zones = JSON.stringify(OPEN_RING).replace('"Zone 1"', '"Z","x":"\\u0000"');
  await drafts.upload(draft.id, zones);
  const { faults } = (await check(draft.id)).body;
  const paths = ["currency", "base_fee", "zones[0].geometry", "zones.features[0].properties.x"];
  expect(faults.map(({ path }: any) => path)).toEqual(paths);
  const { body } = await drafts.publish(draft.id, 1);
  expect(Object.keys(body.errors)).toEqual(paths);
});

test("returns up to 100 faults, and publishing is rejected with the same ones by path", async () => {
  const features = Array.from({ length: 150 }, () => OPEN_RING.features[0]);
  const draft = await drafts.begin(worldTariff({ zones: { ...OPEN_RING, features } }));
  const { faults } = (await check(draft.id)).body;
  expect(faults).toHaveLength(100);
  const errors = faults.map(({ path, text }: any) => [path, `${path} ${text}`]);
  await expectRefused(drafts.publish(draft.id, 1), "TARIFF_FAULTY", Object.fromEntries(errors));
  // gRPC trailers have room for fewer errors than JSON.
  const byGrpc = service.as(operator, "grpc").publishTariff({ draft: draft.id, replaces: 1 });
  expect((await byGrpc).code).toBe("TARIFF_FAULTY");
});

test("reports whether a draft equals the tariff in force", async () => {
  const reversed = Object.fromEntries(
    Object.entries(SAMPLE_TARIFF)
      .filter(([name]) => name !== "source")
      .reverse(),
  );
  const other = await drafts.begin(reversed);
  // The sample has a property that callers cannot set.
  expect((await check(other.id)).body).toMatchObject({ faults: [], same_as_in_force: false });
  const { body } = await as.createTariffDraft({ name: "Copy", from_version: 1 });
  expect((await check(body.data.id)).body).toEqual({
    faults: [],
    zones: 5,
    tiers: 3,
    same_as_in_force: true,
    etag: body.data.etag,
    warnings: [],
  });
});

test.each<[what: string, data: string | Buffer | undefined, text: RegExp, path?: string]>([
  ["that are not JSON", '{"type":', /^must be JSON text in UTF-8: /],
  ["that are not UTF-8", Buffer.from([0x22, 0xff, 0x22]), /^must be JSON text in UTF-8: /],
  ["with two byte order marks", "\uFEFF\uFEFF{}", /^must be JSON text in UTF-8: /],
  ["with a duplicate member", '{"a":1,"a":2}', /^must be given once$/, "zones.a"],
  ["that were never uploaded", undefined, /^must be a GeoJSON object/],
])("zones %s are a fault that is found together with those of the fees", async (_, data, text, path = "zones") => {
  const draft = await drafts.begin(worldTariff({ base_fee: "-1" }));
  if (data !== undefined) await drafts.upload(draft.id, data);
  const id =
    data === undefined ? (await as.createTariffDraft({ name: "Bare", fees: draft.fees })).body.data.id : draft.id;
  expect((await check(id)).body.faults).toEqual([
    { path: "base_fee", text: expect.any(String) },
    { path, text: expect.stringMatching(text) },
  ]);
});

test("rejects zones with half of a surrogate pair in the parser's message over gRPC as over JSON", async () => {
  const { id: draft } = await drafts.begin(worldTariff());
  await drafts.upload(draft, "😀");
  const { message } = (await drafts.publish(draft, 1)).body;
  expect(message).toMatch(/^zones must be JSON text in UTF-8: .*. Upload it again$/);
  for (const protocol of ["json", "grpc"] as const) {
    const publishing = service.as(operator, protocol).publishTariff({ draft, replaces: 1 });
    await expectRefused(publishing, "TARIFF_FAULTY", { zones: message });
  }
});

test("a fault below a very long key has the first 300 characters of its path", async () => {
  const draft = await drafts.begin(worldTariff());
  const key = "k".repeat(1_000);
  const zones = JSON.stringify(zonesOf(square(0, 0, 1, 1)));
  await drafts.upload(draft.id, zones.replace('"Zone 1"', `"Z","${key}":"a\\u0000b"`));
  const path = `${`zones.features[0].properties.${key}`.slice(0, 300)}…`;
  const text = "must be text without NUL or lone surrogates";
  expect((await check(draft.id)).body.faults).toEqual([{ path, text }]);
});

test.each([
  ["NUL in a text", '"a\\u0000b"', "zones.features[0].properties.x"],
  ["half of a surrogate pair", '"\\ud800"', "zones.features[0].properties.x"],
  ["a number beyond all doubles", "1e999", "zones.features[0].properties.x"],
  ["nesting of 200 levels", "[".repeat(200) + "]".repeat(200), "document"],
])("%s is a fault because it cannot be stored", async (_, value, path) => {
  const draft = await drafts.begin(worldTariff());
  const zones = JSON.stringify(zonesOf(square(0, 0, 1, 1))).replace('"Zone 1"', `"Z","x":${value}`);
  await drafts.upload(draft.id, zones);
  expect((await check(draft.id)).body.faults).toEqual([{ path, text: expect.any(String) }]);
  expect((await drafts.publish(draft.id, 1)).status).toBe(422);
});

test("reports a document that the database cannot store as a fault, even if it has no other faults", async () => {
  const draft = await drafts.begin(worldTariff());
  const zones = JSON.stringify(zonesOf(square(0, 0, 1, 1))).replace('"Zone 1"', '"Z","x":1e-20000');
  await drafts.upload(draft.id, zones);
  const { status, body } = await drafts.publish(draft.id, 1);
  expect({ status, keys: Object.keys(body.errors) }).toEqual({ status: 422, keys: ["document"] });
});

test("checks a large draft like a small one, without parsing it in the main thread", async () => {
  const many = Array.from({ length: 1_000 }, (_, i) => square(i / 10, 0, i / 10 + 0.05, 1));
  const large = await drafts.begin(worldTariff({ zones: zonesOf(...many) }));
  const client = service.grpcClient(key, TariffService);
  const parse = vi.spyOn(JSON, "parse");
  const checked = await client.checkTariff({ draft: BigInt(large.id) });
  const longest = Math.max(0, ...parse.mock.calls.map(([text]) => text.length));
  parse.mockRestore();
  expect(longest).toBeLessThan(32 * 1024);
  expect(checked).toMatchObject({ faults: [], zones: 1_000, tiers: 1, etag: large.etag });
});

test("publishes zones with a byte order mark and another spelling of name, and warns of unnamed ones", async () => {
  const both: any = zonesOf(square(0, 0, 1, 1), square(2, 2, 3, 3));
  const [named, unnamed] = both.features;
  const features = [
    { ...named, properties: { Name: "Centre" } },
    { ...unnamed, properties: {} },
  ];
  const draft = await drafts.begin(worldTariff());
  await drafts.upload(draft.id, `\uFEFF${JSON.stringify({ type: "FeatureCollection", features })}`);
  const { body } = await check(draft.id);
  expect(body).toMatchObject({ faults: [], zones: 2 });
  expect(body.warnings).toEqual([
    {
      path: "zones[1].properties.name",
      text: 'is not set, so the zone is called "zone 2"; set name, Name, NAME or title',
    },
  ]);
  const { body: published } = await drafts.publish(draft.id, 1);
  expect(published.data).toMatchObject({ version: 2, zones: 2 });
});
