import { expect, test, vi } from "vitest";
import { countyTariff } from "../../support/county-tariff.ts";
import { COVERED_ROUTE } from "../../support/bookings.ts";
import { startService } from "../../support/service.ts";
import { draftsOf } from "../../support/tariff-drafts.ts";

const service = await startService();
const drafts = draftsOf(service, (await service.addOperator("operator")).key);
const { apiKey } = await service.addWorkspace();

test("quotes continue while 3,191 counties are checked and published", async () => {
  const draft = await drafts.begin(countyTariff() as any);
  const parse = vi.spyOn(JSON, "parse");
  let ended = false;
  const publishing = drafts.publish(draft.id, 1).finally(() => {
    ended = true;
  });
  let quotes = 0;
  while (!ended) {
    expect((await service.as(apiKey).quoteShipment(COVERED_ROUTE)).status).toBe(200);
    quotes++;
  }
  const longest = Math.max(...parse.mock.calls.map(([text]) => text.length));
  parse.mockRestore();

  expect((await publishing).body).toMatchObject({
    published: true,
    data: { version: 2, zones: 3_191 },
  });
  // A quote takes about a millisecond. If quotes waited for the publication, there would be only a few.
  expect(quotes).toBeGreaterThan(10);
  expect(longest).toBeLessThan(32 * 1024);
});
