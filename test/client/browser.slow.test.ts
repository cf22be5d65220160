import { join } from "node:path";
import { build, type Rolldown } from "vite";
import { expect, test } from "vitest";
import type * as Library from "../../src/client/client.ts";
import { RPC_BOOKING } from "../support/bookings.ts";
import { describeDashboard } from "../dashboard/browser.ts";

const CLIENT = join(import.meta.dirname, "../../src/client/built/client.js");

/** Bundles the library into a script that defines the global `library`. */
async function libraryScript(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      rolldownOptions: {
        input: CLIENT,
        preserveEntrySignatures: "strict",
        output: { format: "iife", name: "library" },
      },
    },
  });
  const [chunk] = (built as Rolldown.RolldownOutput).output;
  return `${chunk.code};globalThis.library = library;`;
}

describeDashboard("the client library", (dashboard) => {
  test("a browser requests a quote, books and follows events", async () => {
    const { service, workspace, newPage } = dashboard;
    const page = await newPage();
    await page.goto("/docs");
    await page.evaluate(await libraryScript());
    const seen = await page.evaluate(
      async ([url, key, booking]) => {
        const { createClient } = (globalThis as unknown as { library: typeof Library }).library;
        const client = createClient({ url, key });
        const { total } = await client.shipments.quoteShipment(booking);
        const { data } = await client.shipments.createShipment(booking);
        const { value } = await client.events.follow({ after: 0 }).next();
        const isSame = value!.shipment === data!.reference;
        return { total, booked: data!.total, type: value!.type, isSame };
      },
      [service.httpUrl, workspace.twin.apiKey, RPC_BOOKING] as const,
    );
    expect(seen).toEqual({ total: 12.69, booked: 12.69, type: "shipment.created", isSame: true });
  });
});
