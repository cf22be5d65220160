import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { book } from "../support/bookings.ts";
import { countBookings } from "../support/count-bookings.ts";
import { CANCELLED, insertBooked, insertQuotes, PAID } from "../support/insert-booked.ts";
import { startReceiver } from "../support/receiver.ts";
import type { TestOperator } from "../support/service.ts";
import { addWebhook } from "../support/webhooks.ts";
import {
  chooseFilter,
  describeDashboard,
  expectWellShown,
  openAsOperator,
  openFilter,
  rowsOf,
  type TestPage,
} from "./browser.ts";

describeDashboard("platform reports", (dashboard) => {
  let owner: TestOperator;
  let sql: pg.Client;

  beforeAll(async () => {
    owner = await dashboard.service.addOperator();
    sql = new pg.Client(dashboard.service.databaseUrl);
    await sql.connect();
  });

  afterAll(() => sql.end());

  const open = (path: string) => openAsOperator(dashboard, path, "viewer");

  async function addNamed(name: string): Promise<number> {
    return (await data(dashboard.service.as(owner.key).createWorkspace({ name }))).id;
  }

  describe("the audit log", () => {
    const rows = (page: TestPage) => rowsOf(page, "Changes");

    test("shows the values of each change before and after, with filters in the URL", async () => {
      const id = await addNamed("Before");
      await dashboard.service.as(owner.key).renameWorkspace({ workspace: id, name: "After" });
      const page = await open(`/platform/audit?workspace=${id}`);
      await expect.poll(() => rows(page).count()).toBe(2);
      const [renamed] = await rows(page).all();
      await expect
        .poll(() => renamed!.getByRole("cell").allTextContents())
        .toEqual([
          expect.stringMatching(/^[A-Z][a-z]{2} \d+, \d+:\d\d:\d\d [AP]M$/),
          "Test owner (operator) renamed the workspace “Before”Name: “Before” before, now “After”",
        ]);
      await expect
        .poll(() => renamed!.locator("time").getAttribute("title"))
        .toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      await expectWellShown(page, "audit-log");

      await chooseFilter(page, "Action", "Workspace created");
      await expect.poll(() => rows(page).count()).toBe(1);
      await expect.poll(() => new URL(page.url()).search).toBe(`?workspace=${id}&action=CreateWorkspace`);
      await (await openFilter(page, "Operator")).getByRole("link").nth(1).click();
      await page.getByText("No changes match").waitFor();
      await page.getByRole("link", { name: "Show all changes" }).click();
      await openFilter(page, "Changed item");
      await page.getByLabel("Changed item").fill(`workspace/${id}`);
      await page.keyboard.press("Enter");
      await expect.poll(() => rows(page).count()).toBe(2);
      await openFilter(page, "Made");
      await page.getByLabel("Made until").fill("2026-01-01");
      await page.keyboard.press("Escape");
      await page.getByText("No changes match").waitFor();
      await expectWellShown(page, "audit-log-none");
    });

    test("links a change to its workspace and its operator", async () => {
      const id = await addNamed("Linked");
      await sql.query(
        `insert into audit_entry (created_at, actor, actor_name, action, subject, workspace_id, changes)
         values (now(), 'courier', 'Marta', 'OpenCourierLink', 'courier/cou_7', $1, '[]')`,
        [id],
      );
      await sql.query(
        `insert into courier (workspace_id, id, name, created_at, updated_at, version)
         values ($1, 'cou_7', 'Marta', now(), now(), 1)`,
        [id],
      );
      const page = await open(`/platform/audit?workspace=${id}`);
      const opened = "Marta (courier) opened a link of the courier Marta of the workspace “Linked”";
      await page.getByRole("cell", { name: opened }).waitFor();
      await rows(page).getByRole("link", { name: "Test owner" }).click();
      await page.waitForURL(`**/platform/operators/${owner.id}`);
      await page.goBack();
      await rows(page).getByRole("link", { name: "the workspace “Linked”" }).first().click();
      await page.getByRole("heading", { name: "Linked", level: 1 }).waitFor();
    });

    test("has quick date filters in the reader's days, also by keyboard", async () => {
      const midnight = "date_trunc('day', now() at time zone 'America/New_York')";
      await sql.query(
        `insert into audit_entry (created_at, actor, actor_name, action, subject, changes)
         select at at time zone 'America/New_York', 'command_line', name, 'PublishTariff', 'tariff_version/4711', '[]'
         from (values (${midnight}, 'early'), (${midnight} - interval '1 second', 'late')) as made (at, name)`,
      );
      const page = await open("/platform/audit?subject=tariff_version/4711");
      await expect.poll(() => rows(page).count()).toBe(2);
      const choose = async (day: string) => {
        await openFilter(page, "Made");
        await page.getByRole("link", { name: day, exact: true }).press("Enter");
      };
      await choose("Today");
      await expect.poll(() => rows(page).allInnerTexts()).toEqual([expect.stringMatching("early")]);
      await expect.poll(() => new URL(page.url()).search).toBe("?subject=tariff_version%2F4711&days=today");
      await choose("Yesterday");
      await expect.poll(() => rows(page).allInnerTexts()).toEqual([expect.stringMatching("late")]);
      await choose("Last 7 days");
      await expect.poll(() => rows(page).count()).toBe(2);
      await openFilter(page, "Made");
      await page.getByLabel("Made until").fill("2026-01-01");
      await page.keyboard.press("Escape");
      await page.getByText("No changes match").waitFor();
      await page.locator("summary", { hasText: "Made:  – Jan 1, 2026" }).waitFor();
      await choose("Any day");
      await expect.poll(() => rows(page).count()).toBe(2);
    });

    test("has pages", async () => {
      await sql.query(
        `insert into audit_entry (created_at, actor, actor_name, action, subject, changes)
         select now(), 'command_line', 'ops', 'PublishTariff', 'tariff_version/' || i, '[]'
         from generate_series(1, 60) as i`,
      );
      const page = await open("/platform/audit?action=PublishTariff");
      await expect.poll(() => rows(page).count()).toBe(50);
      await page.getByRole("button", { name: "Next" }).click();
      await expect.poll(() => rows(page).count()).toBeLessThan(50);
      await page.getByRole("button", { name: "Previous" }).click();
      await expect.poll(() => rows(page).count()).toBe(50);
    });
  });

  describe("health", () => {
    test("shows the state of each part in words and updates it", async () => {
      const page = await open("/platform/health");
      await page.getByText("1 of 1 up").waitFor();
      await page.getByText("Version 1", { exact: true }).waitFor();
      await page.getByText("None waiting").waitFor();
      await page.getByText("On time").waitFor();
      await page.getByText("PostgreSQL").waitFor();
      await expectWellShown(page, "health");
      await sql.query(
        `insert into replica (id, host_name, version, node_version, started_at, seen_at)
         values ('0198c0de-0000-4000-8000-000000000000', 'lost', '0.0.9', '26.1.0',
           now() - interval '2 hours', now() - interval '1 hour')`,
      );
      await page.getByText("1 of 2 up").waitFor();
      const lost = page.getByRole("row").filter({ hasText: "lost" });
      await lost.getByText("Not seen").waitFor();
      await expectWellShown(page, "health-replica-lost");
      await sql.query("update replica set seen_at = now() + interval '1 minute' where host_name = 'lost'");
      await page.getByText("2 of 2 up").waitFor();
      await page.getByText(/^Versions differ: /).waitFor();
      await sql.query("delete from replica where host_name = 'lost'");
    });

    test("shows no state as current while the service is unreachable", async () => {
      const page = await open("/platform/health");
      await page.getByText("Reachable").waitFor();
      await page.context().setOffline(true);
      await page.getByText("No response", { exact: true }).waitFor();
      await expectWellShown(page, "health-offline");
      await page.context().setOffline(false);
      await page.getByText("Reachable").waitFor();
    });

    test("shows overdue payment work", async () => {
      const { id, apiKey } = await dashboard.service.addWorkspace();
      const { reference } = await book(dashboard.service, apiKey);
      await sql.query(
        `insert into provider_payment (workspace_id, shipment_reference, provider, account, version, state,
           amount_minor, currency, success_url, cancel_url, expires_at, due_at, failures)
         values ($1, $2, 'stripe', 'acct_1', 1, 'open', 1269, 'USD', '', '', now(), now() + interval '1 hour', 9)`,
        [id, reference],
      );
      const page = await open("/platform/health");
      await page.getByText("1 payment or refund", { exact: true }).waitFor();
      const table = page.getByRole("table", { name: "Overdue payment tasks" });
      const cells = await table.locator("tbody td").allTextContents();
      expect(cells.slice(0, 3)).toEqual([reference, String(id), "9"]);
      await expectWellShown(page, "health-overdue");
      await table.getByRole("link").click();
      await page.waitForURL(`**/platform/workspaces/${id}`);
      await sql.query("delete from provider_payment");
    });

    test("shows a pending tariff and pending deliveries", async () => {
      const { apiKey } = await dashboard.service.addWorkspace();
      const receiver = await startReceiver((response) => response.writeHead(500).end());
      await addWebhook(dashboard.service, apiKey, { url: receiver.url });
      await book(dashboard.service, apiKey);
      await sql.query("update webhook_delivery set created_at = now() - interval '6 minutes'");
      await sql.query(
        `insert into tariff_version (version, document, digest, published_at, effective_at)
         select 2, document, digest, now(), '2099-01-01T12:00:00Z' from tariff_version where version = 1`,
      );
      const page = await open("/platform/health");
      await page.getByText("Version 2 from Jan 1, 2099").waitFor();
      await page.locator(".badge.attention", { hasText: /^[12] waiting$/ }).waitFor();
      await page.getByText("Oldest since").waitFor();
      await expectWellShown(page, "health-waiting");
      await receiver.close();
    });
  });

  describe("the overview", () => {
    test("sums up the bookings of all workspaces and lists the busiest ones", async () => {
      const busy = await addNamed("Busy");
      const calm = await addNamed("Calm");
      await insertBooked(sql, busy, "2026-03-02T12:00:00Z", { count: 3, ...PAID });
      await insertBooked(sql, busy, "2026-03-03T12:00:00Z", { count: 1, ...CANCELLED });
      await insertBooked(sql, calm, "2026-03-03T12:00:00Z", { count: 1 });
      await insertQuotes(sql, busy, "2026-03-03T12:00:00Z", 10);
      await countBookings(sql, dashboard.service.app.em);
      const page = await open("/platform?from=2026-03-01&to=2026-03-07");
      const table = page.getByRole("table", { name: "Busiest workspaces" });
      await table.waitFor();
      const cells = await table
        .locator("tbody tr")
        .evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
      expect(cells).toEqual([
        ["Busy", "4", "1", "$38.07"],
        ["Calm", "1", "0", "—"],
      ]);
      const revenue = page.locator(".figures > div").filter({ hasText: "Revenue" });
      await expect.poll(() => revenue.innerText()).toBe("Revenue, USD\n$38.07\nand $12.69 to pay");
      const bookings = page.getByRole("table", { name: "Bookings by day" });
      await expect
        .poll(() => bookings.locator("tbody tr").allTextContents())
        .toEqual(["Mar 2, 20263", "Mar 3, 20262", "Mar 4, 20260", "Mar 5, 20260", "Mar 6, 20260", "Mar 7, 20260"]);
      await page.getByText("All workspaces, by day in UTC").waitFor();
      await expectWellShown(page, "platform-overview");
      await table.getByRole("link", { name: "Busy" }).click();
      await page.getByRole("heading", { name: "Busy", level: 1 }).waitFor();
    });

    test("reports days without bookings", async () => {
      const page = await open("/platform?from=2025-03-01&to=2025-03-07");
      await page.getByText("No bookings on these days").waitFor();
      await expectWellShown(page, "platform-overview-none");
    });
  });
});
