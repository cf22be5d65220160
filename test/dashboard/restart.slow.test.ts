import { expect, test } from "vitest";
import { book } from "../support/bookings.ts";
import { connectTo } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { insertShipments } from "../support/insert-shipments.ts";
import { startReplica, startService, type StartedService } from "../support/service.ts";
import { describeDashboard, openAsMember, rowsOf } from "./browser.ts";

let started: StartedService;
/** Fixed port outside the ephemeral range, which other connections use. */
const port = await freePort();

async function start(): Promise<StartedService> {
  started = await startService({ dashboard: true, port });
  return started;
}

describeDashboard(
  "a restart of the service",
  (dashboard) => {
    test("is reported, and a list recovers automatically, even if its first response is lost and there are no events", async () => {
      const { service, workspace } = dashboard;
      const { customer } = await book(service, workspace.apiKey);
      const page = await openAsMember(dashboard, "/shipments");
      await page.clock.install();
      await page.reload();
      const rows = rowsOf(page, "Shipments");
      await expect.poll(() => rows.count()).toBe(1);
      await started.close();
      await page.getByText("This page reconnects automatically").waitFor();
      let state: "down" | "up" | "lost" = "down";
      await page.route("**/ListShipments", async (route) => {
        if (state === "down") await route.abort();
        else if (state === "lost") await route.continue();
        else state = "lost";
      });
      await startReplica(service.databaseUrl, { dashboard: true, port });
      // Changes the database directly, so that there is no event.
      const sql = await connectTo(service.databaseUrl);
      await insertShipments(sql, {
        workspace: workspace.id,
        count: 1,
        customer: String(customer.id),
      });
      state = "up";
      const afterSecond = async () => {
        await page.clock.fastForward(1_000);
        return rows.count();
      };
      await expect.poll(afterSecond).toBe(2);
      expect(state).toBe("lost");
      await expect.poll(() => page.getByText("This page reconnects automatically").count()).toBe(0);
    });
  },
  start,
);
