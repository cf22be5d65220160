import { beforeEach, expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { startService } from "../../support/service.ts";
import { draftsOf } from "../../support/tariff-drafts.ts";

const MAX_BYTES = 64 * 1024 * 1024;

let draft: number;

const service = await startService();
const { key } = await service.addOperator("operator");
const as = service.as(key);
const drafts = draftsOf(service, key);

beforeEach(async () => {
  draft = (await data(as.createTariffDraft({ name: "Spring" }))).id;
});

const zones = async () => (await as.getTariffDraftZones({ draft })).text;

test("zones can be uploaded as a whole, appended at the end, and restarted at offset 0", async () => {
  expect(await zones()).toBe("");
  await drafts.upload(draft, '{"a":');
  expect((await data(drafts.upload(draft, "1}", "?offset=5"))).zones_bytes).toBe(7);
  expect(await zones()).toBe('{"a":1}');
  await drafts.upload(draft, "[]", "?offset=0");
  expect(await zones()).toBe("[]");
});

test.each([1, 4, 6, MAX_BYTES])(
  "rejects an upload at offset %i to zones of 5 bytes, which stay unchanged",
  async (at) => {
    await drafts.upload(draft, "[1,2]");
    const text = "offset must be 0 to start over, or 5, the number of bytes uploaded so far.";
    const uploading = drafts.upload(draft, "x", `?offset=${at}`);
    await expectRefused(uploading, "FIELD_INVALID", { offset: text });
    expect(await zones()).toBe("[1,2]");
  },
);

test("an upload repeated with its idempotency key is applied once, and other bytes with the key are rejected", async () => {
  const send = (data: string) =>
    service.request(`/admin/v1/tariff_drafts/${draft}/zones`, {
      apiKey: key,
      method: "PUT",
      body: data,
      headers: { "idempotency-key": `zones ${draft}`.replace(" ", "-") },
    });
  const first = await send("[1]");
  expect((await send("[1]")).body).toEqual(first.body);
  expect((await send("[2]")).body.errors).toHaveProperty("idempotency_key");
  expect(await zones()).toBe("[1]");
});
