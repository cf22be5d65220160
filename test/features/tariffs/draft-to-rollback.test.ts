import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { TariffVersionState } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { QuoteShipmentRequestSchema } from "../../../gen/shipments/v1/quote_pb.js";
import { ANY_TIME, BOOKING, COVERED_ROUTE, RPC_ROUTE } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";
import { draftsOf, refused } from "../../support/tariff-drafts.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";

const json = await startService();
const other = await startReplica(json.databaseUrl);
const database = await connectTo(json.databaseUrl);
const { key } = await json.addOperator("operator");
const drafts = draftsOf(json, key);
const grpc = other.grpcClient(key, TariffService);
const { apiKey } = await json.addWorkspace();

const { zones: ZONES, source: _, ...FEES } = SAMPLE_TARIFF as Record<string, any>;
const feesWith = (base_fee: string) => ({ ...FEES, base_fee });

async function quotedBaseFee(service: TestService): Promise<number> {
  const { body } = await service.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE });
  return body.base_fee;
}

const untilQuotedEverywhere = (fee: number) =>
  eventually(`both replicas to quote ${fee}`, async () => {
    const fees = await Promise.all([json, other].map(quotedBaseFee));
    return fees.every((it) => it === fee);
  });

/** The time of the database in so many seconds, which is what scheduled versions go by. */
async function inSeconds(seconds: number): Promise<Date> {
  const { rows } = await database.query("select now() + make_interval(secs => $1) as at", [
    seconds,
  ]);
  return rows[0].at;
}

const audited = async () =>
  (
    await database.query(
      `select action, subject from audit_entry
       where actor = 'operator' order by id`,
    )
  ).rows.map(({ action, subject }) => `${action} ${subject}`);

test("a tariff goes from draft to check, replay, publication, schedule, calling off and roll back on two replicas, by JSON and gRPC", async () => {
  // A draft by JSON, with zones in two pieces, one by each protocol.
  const created = await drafts.call("POST", "tariff_drafts", {
    name: " Summer ",
    fees: feesWith("7.00"),
  });
  const draft = created.body.data.id;
  expect(created).toMatchObject({ status: 201, body: { data: { zones_bytes: 0 } } });
  const bytes = Buffer.from(JSON.stringify(ZONES));
  const first = await drafts.upload(draft, bytes.subarray(0, 1_001));
  expect(first).toMatchObject({ status: 200, body: { data: { zones_bytes: 1_001 } } });
  const { data: whole } = await grpc.uploadTariffZones({
    draft: BigInt(draft),
    etag: first.body.data.etag,
    offset: 1_001n,
    data: bytes.subarray(1_001),
  });
  const { geojson } = await grpc.getTariffDraftZones({ draft: BigInt(draft) });
  expect(Buffer.from(geojson).toString()).toBe(bytes.toString());

  const check = await drafts.call("POST", `tariff_drafts/${draft}/check`);
  expect(check).toMatchObject({
    status: 200,
    body: { faults: [], zones: 5, tiers: 3, same_as_in_force: false, etag: whole!.etag },
  });
  await json.request("/v1/shipments", { apiKey, body: BOOKING });
  const replayed = await grpc.replayTariff({
    draft: BigInt(draft),
    routes: [create(QuoteShipmentRequestSchema, RPC_ROUTE)],
  });
  expect(replayed).toMatchObject({
    etag: whole!.etag,
    inForce: 1,
    shipments: { routes: 1, servedByBoth: 1 },
    routes: [{ inForce: { baseFee: 5 }, draft: { baseFee: 7 } }],
  });

  // Published by gRPC, with the etag that was checked.
  const published = await grpc.publishTariff({
    draft: BigInt(draft),
    etag: check.body.etag,
    replaces: 1,
    note: "Summer",
  });
  expect(published).toMatchObject({
    published: true,
    data: {
      version: 2,
      state: TariffVersionState.IN_FORCE,
      fees: { baseFee: "7.00" },
      zones: 5,
      note: "Summer",
      author: "Test operator",
      replaces: 1,
    },
  });
  await untilQuotedEverywhere(7);
  expect(await drafts.call("GET", `tariff_drafts/${draft}`)).toMatchObject(
    refused(404, undefined, "There is no such draft."),
  );

  // Scheduled by JSON, as a copy of version 2; nothing else can be published meanwhile.
  const copy = await drafts.call("POST", "tariff_drafts", {
    name: "Autumn",
    from_version: 2,
    fees: feesWith("8.00"),
  });
  const autumn = copy.body.data.id;
  const later = await inSeconds(3_600);
  expect(await drafts.publish(autumn, 2, { effective_at: later.toISOString() })).toMatchObject({
    status: 201,
    body: {
      published: true,
      data: { version: 3, state: "scheduled", effective_at: later.toISOString(), replaces: 2 },
    },
  });
  const winter = (await drafts.begin({ ...SAMPLE_TARIFF, base_fee: "9.00" }, "Winter")).id;
  const scheduledText = `Version 3 takes effect at ${later.toISOString()}. Wait until then, or call it off.`;
  expect(await drafts.publish(winter, 2)).toMatchObject(refused(409, "tariff", scheduledText));
  expect(await rpcError(grpc.rollBackTariff({ version: 1, replaces: 2 }))).toMatchObject({
    code: "Aborted",
    message: scheduledText,
    details: { ErrorInfo: { reason: "TARIFF_SCHEDULED" } },
  });
  expect(await Promise.all([json, other].map(quotedBaseFee))).toEqual([7, 7]);

  // Called off; then another is scheduled, and takes effect in both.
  expect(await grpc.callOffTariff({ version: 3 })).toMatchObject({
    data: { version: 3, state: TariffVersionState.CALLED_OFF },
  });
  const soon = await inSeconds(1.5);
  expect(
    await grpc.publishTariff({
      draft: BigInt(winter),
      replaces: 2,
      effectiveAt: timestampFromMs(soon.getTime()),
    }),
  ).toMatchObject({ data: { version: 4, state: TariffVersionState.SCHEDULED, replaces: 2 } });
  await untilQuotedEverywhere(9);
  expect(await drafts.call("POST", "tariff_versions/4/call_off")).toMatchObject(
    refused(422, "version", "Version 4 is in force; only one that is scheduled can be called off."),
  );

  // And back.
  expect(
    await drafts.call("POST", "tariff_versions/2/roll_back", { replaces: 2, note: "too dear" }),
  ).toMatchObject({ status: 409, body: { errors: { replaces: [expect.any(String)] } } });
  expect(
    await drafts.call("POST", "tariff_versions/2/roll_back", { replaces: 4, note: "too dear" }),
  ).toMatchObject({
    status: 201,
    body: { published: true, data: { version: 5, repeats: 2, replaces: 4, note: "too dear" } },
  });
  await untilQuotedEverywhere(7);

  const { data: versions } = await grpc.listTariffVersions({});
  expect(versions.map(({ version, state }) => [version, TariffVersionState[state]])).toEqual([
    [5, "IN_FORCE"],
    [4, "REPLACED"],
    [3, "CALLED_OFF"],
    [2, "REPLACED"],
    [1, "REPLACED"],
  ]);
  const three = (await drafts.call("GET", "tariff_versions/3")).body.data;
  expect(three).toEqual({
    version: 3,
    state: "called_off",
    fees: feesWith("8.00"),
    zones: 5,
    note: null,
    author: "Test operator",
    replaces: 2,
    repeats: null,
    honours_quotes: true,
    published_at: ANY_TIME,
    effective_at: later.toISOString(),
    called_off_at: ANY_TIME,
  });
  const { text } = await drafts.call("GET", "tariff_versions/5/zones");
  expect(text).toBe(bytes.toString());
  expect(await audited()).toEqual([
    `CreateTariffDraft tariff_draft/${draft}`,
    `UploadTariffZones tariff_draft/${draft}`,
    `UploadTariffZones tariff_draft/${draft}`,
    "PublishTariff tariff_version/2",
    `CreateTariffDraft tariff_draft/${autumn}`,
    "PublishTariff tariff_version/3",
    `CreateTariffDraft tariff_draft/${winter}`,
    `UploadTariffZones tariff_draft/${winter}`,
    "CallOffTariff tariff_version/3",
    "PublishTariff tariff_version/4",
    "RollBackTariff tariff_version/5",
  ]);
});
