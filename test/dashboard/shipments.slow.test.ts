import { beforeAll, describe, expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { bookAnd, takeStep } from "../support/bookings.ts";
import { connectTo } from "../support/database.ts";
import { insertCustomers, insertPendingAndCancelled, insertShipments } from "../support/insert-shipments.ts";
import {
  chooseFilter,
  describeDashboard,
  expectWellShown,
  holdBack,
  openAsMember,
  openFilter,
  rowsOf,
  tabTo,
  type TestPage,
} from "./browser.ts";

/** Distance of the first row from the top of the page's content. */
const FIRST_ROW = `document.querySelector("tbody tr").getBoundingClientRect().top -
  document.querySelector("main").getBoundingClientRect().top`;

/** Number of additional shipments, slightly more than two pages. */
const MANY = 120;

describeDashboard("shipments", (dashboard) => {
  let reference: string;

  beforeAll(async () => {
    const { workspace } = dashboard;
    await insertPendingAndCancelled(dashboard.service.databaseUrl, {
      workspace: workspace.id,
      count: MANY,
      createdAt: "timestamptz '2026-01-01 00:00Z' + i * interval '1 hour'",
    });
    const fields = { external_reference: "order 7", metadata: { gate: "B" } };
    const paid = await bookAnd(dashboard.service, workspace.apiKey, ["pay"], fields);
    reference = paid["reference"];
  });

  async function openList(query = ""): Promise<TestPage> {
    const page = await openAsMember(dashboard, `/shipments${query}`);
    await page.getByRole("heading", { name: "Shipments", level: 1 }).waitFor();
    return page;
  }

  const rows = (page: TestPage) => rowsOf(page, "Shipments");

  describe("the list", () => {
    test("shows the newest first, fifty per page", async () => {
      const page = await openList();
      await expect.poll(() => rows(page).count()).toBe(50);
      const first = rows(page).first();
      await expect
        .poll(() => first.getByRole("cell").allTextContents())
        .toEqual([
          "",
          `${reference}order 7`,
          "To pick up",
          "Ada Lovelace",
          "1 Times Square, New York New York→ 95 Prospect Park West, Brooklyn Kings",
          expect.stringMatching(/^(now|\d+ (min|sec)\. ago)\$12\.69$/),
        ]);
      await expect.poll(() => first.locator("data").getAttribute("title")).toBe("12.69 USD");
      await expectWellShown(page, "shipments");
    });

    test("is filtered, with the filters in the URL, and unfiltered", async () => {
      const page = await openList();
      await chooseFilter(page, "Status", "Cancelled");
      await expect.poll(() => rows(page).count()).toBe(40);
      await expect.poll(() => new URL(page.url()).search).toBe("?status=5");
      await openFilter(page, "External reference");
      await page.getByLabel("External reference").fill("nothing has this");
      await page.keyboard.press("Enter");
      await page.getByText("No shipments match").waitFor();
      await expect.poll(() => new URL(page.url()).search).toBe("?status=5&external_reference=nothing+has+this");
      await expectWellShown(page, "shipments-none");
      await page.goBack();
      await expect.poll(() => rows(page).count()).toBe(40);
      await expect
        .poll(() => page.locator(".chip").allInnerTexts())
        .toEqual([expect.stringMatching(/^Status: Cancelled/)]);
      await page.getByRole("button", { name: "Remove filter Status" }).click();
      await expect.poll(() => rows(page).count()).toBe(50);
    });

    test("is filtered by a customer found by name", async () => {
      const page = await openList();
      await openFilter(page, "Customer");
      await page.getByLabel("Find customer").fill("lovelace");
      await page.getByRole("option", { name: "Ada Lovelace ada@example.org" }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await expect.poll(() => rows(page).count()).toBe(1);
      await page.locator("summary", { hasText: "Customer: Ada Lovelace" }).waitFor();
    });

    test("has queues with counts and totals, and quick days, which match the other filters", async () => {
      const page = await openList();
      const queues = page.getByRole("navigation", { name: "Queues" });
      const queue = (name: string) => queues.getByRole("link", { name });
      const totals = page.locator(".totals");
      await expect
        .poll(() => queues.getByRole("link").allTextContents())
        .toEqual(["All", "To pay80", "To pick up1", "In transit0", "Refund due0", "Failed payments0"]);
      // Canceled shipments cost 0, as on the overview.
      const whole = "121 shipments · $1,027.89 excluding 40 cancelled";
      await expect.poll(() => totals.textContent()).toBe(whole);
      await chooseFilter(page, "Booked", "Today");
      await expect.poll(() => rows(page).count()).toBe(1);
      await expect.poll(() => totals.textContent()).toBe("1 shipment · $12.69");
      await expect.poll(() => queue("To pay").textContent()).toBe("To pay0");
      await queue("To pay").click();
      await page.getByText("No shipments match").waitFor();
      await expect.poll(() => queue("To pay").getAttribute("aria-current")).toBe("page");
      await queue("To pick up").click();
      await rows(page).getByText(reference).waitFor();
      await expect.poll(() => new URL(page.url()).search).toBe("?days=today&status=2");
      await expectWellShown(page, "shipments-queue");
      // Typed days replace the clicked ones, and vice versa.
      await openFilter(page, "Booked");
      await page.getByLabel("Booked from").fill("2026-01-02");
      await page.keyboard.press("Escape");
      await page.waitForURL(/[?]status=2&from=2026-01-02$/);
      await page.locator("summary", { hasText: "Booked: Jan 2, 2026 – " }).waitFor();
      await chooseFilter(page, "Booked", "This month");
      await page.waitForURL(/[?]status=2&days=month$/);
      await chooseFilter(page, "Booked", "Any day");
      await page.waitForURL(/[?]status=2$/);
      await expect.poll(() => page.locator(".chip").count()).toBe(0);
    });

    test("starts high on the page and shows each queue's own columns", async () => {
      const page = await openList();
      const queues = page.getByRole("navigation", { name: "Queues" });
      const top = () => page.evaluate<number>(FIRST_ROW);
      for (const width of [1024, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await expect.poll(top).toBeLessThanOrEqual(180);
      }
      const heads = () => page.getByRole("columnheader").allInnerTexts();
      for (const [queue, columns] of [
        ["To pay", ["", "Booked ↑", "Shipment", "Customer", "From, to", "Total"]],
        ["To pick up", ["", "Pickup ↑", "Shipment", "Customer", "From, to", "Courier", "Parcel"]],
      ] as const) {
        await queues.getByRole("link", { name: queue }).click();
        await expect.poll(heads).toEqual(columns);
      }
      // Fewer columns leave room for the addresses and their zones.
      await page.setViewportSize({ width: 1024, height: 900 });
      await expect.poll(heads).toEqual(["", "Pickup ↑", "Shipment", "From, to", "Courier"]);
      const zones = rows(page).first().locator(".zone-chip:visible");
      await expect.poll(() => zones.allInnerTexts()).toEqual(["New York", "Kings"]);
      for (const [queue, done] of [
        ["In transit", "No shipments in transit"],
        ["Refund due", "No refunds due"],
        ["Failed payments", "No failed payments"],
      ] as const) {
        await queues.getByRole("link", { name: queue }).click();
        await page.getByText(done).waitFor();
      }
      await expectWellShown(page, "shipments-nothing-failed");
    });

    test("of shipments in transit shows waiting times, couriers, failed attempts and arrivals", async () => {
      const own = await dashboard.service.addWorkspace();
      const { reference: shipment } = await bookAnd(dashboard.service, own.apiKey, ["pay", "advance"], {
        recipient_name: "Grace Hopper",
      });
      const as = dashboard.service.as(own.apiKey);
      const eta = new Date(Date.now() + 150 * 60_000).toISOString();
      await data(as.setCourier({ shipment, name: "Ada Byron" }));
      await data(as.recordAttempt({ shipment, reason: "nobody_there" }));
      await data(as.reportProgress({ shipment, dropoff_eta: eta }));
      const page = await openAsMember(dashboard, "/shipments?status=3", { workspace: own });
      const texts = [
        "",
        "ASAP Waiting 1 min",
        shipment,
        "Grace Hopper Kings95 Prospect Park West, Brooklyn",
        "Ada Byron1 failed",
        expect.stringMatching(/^\d+:\d\d [AP]Min 2 hr\.$/),
      ];
      await expect.poll(() => rows(page).first().getByRole("cell").allTextContents()).toEqual(texts);
      await expectWellShown(page, "shipments-in-transit");
    });

    test("shows one delay per shipment, which includes the ETA, as on all other pages", async () => {
      const own = await dashboard.service.addWorkspace();
      const { reference: shipment } = await bookAnd(dashboard.service, own.apiKey, ["pay", "advance"]);
      const makeLate = (late: string) =>
        dashboard.service.app.em.execute(
          `update shipment set windows = jsonb_build_object('pickup', null, 'dropoff', jsonb_build_object(
            'start', now() - interval '210 min', 'end', now() - interval '150 min', 'timeZone', 'UTC', 'feeMinor', 0))
          where reference = ?`,
          [late],
        );
      await makeLate(shipment);
      const as = dashboard.service.as(own.apiKey);
      const setEta = (minutes: number) => {
        const eta = new Date(Date.now() + minutes * 60_000).toISOString();
        return data(as.reportProgress({ shipment, dropoff_eta: eta }));
      };
      await setEta(60);
      const page = await openAsMember(dashboard, "/shipments?status=2", { workspace: own });
      await page.getByRole("link", { name: "In transit" }).click();
      const delays = () => page.locator("tbody .late").allTextContents();
      await expect.poll(delays).toEqual(["3 hr"]);
      await page.getByRole("link", { name: "Needs attention" }).click();
      await expect.poll(delays).toEqual(["3 hr"]);
      await setEta(-60);
      await page.reload();
      await expect.poll(delays).toEqual(["2 hr"]);
      await page.getByRole("link", { name: shipment }).click();
      await page.locator(".stop", { hasText: /Late 2 hrExpected .* \(1 hr\. ago\)/ }).waitFor();
      // Without a pickup window, the delay of the dropoff is shown before the pickup.
      const { reference } = await bookAnd(dashboard.service, own.apiKey, ["pay"]);
      await makeLate(reference);
      await page.goto(`/w/${own.id}/shipments?status=2`);
      await expect.poll(() => rows(page).first().getByRole("cell").nth(1).textContent()).toBe("ASAP Late 2 hr");
    });

    test("is sorted with the keyboard, with more options in a queue", async () => {
      const own = await dashboard.service.addWorkspace();
      const sql = await connectTo(dashboard.service.databaseUrl);
      const customer = String(await insertCustomers(sql, own.id, 1));
      const made = await insertShipments(sql, {
        workspace: own.id,
        count: 60,
        customer,
        createdAt: "timestamptz '2026-01-01 00:00Z' + i * interval '1 hour'",
        totalMinor: "1000 + i * 7 % 60",
        windows: `case when i <> 9 then jsonb_build_object('dropoff', null, 'pickup', jsonb_build_object(
          'start', '2026-12-01T10:' || lpad((i * 11 % 60)::text, 2, '0') || ':00.000Z',
          'end', '2026-12-01T12:00:00.000Z', 'timeZone', 'America/New_York', 'feeMinor', 0)) end`,
        salt: `sorted ${own.id}`,
      });
      const page = await openAsMember(dashboard, "/shipments", { workspace: own });
      const top = () => rows(page).first().getByRole("link").textContent();
      await expect.poll(top).toBe(made.at(-1));
      const head = (name: string) => page.getByRole("columnheader", { name }).getByRole("link", { name });
      await expect
        .poll(() => page.getByRole("columnheader").getByRole("link").allInnerTexts())
        .toEqual(["Booked, total ↓"]);
      await head("Booked").press("Enter");
      await page.waitForURL("**/shipments?order_by=created_at");
      await expect.poll(top).toBe(made[0]);
      // The key leads to the next page in the same order, but not to a queue.
      await page.keyboard.press("n");
      await expect.poll(top).toBe(made[50]);
      await page.getByRole("navigation", { name: "Queues" }).getByRole("link", { name: "To pay" }).press("Enter");
      await page.waitForURL("**/shipments?status=1");
      // The shipment that has waited longest comes first.
      await expect.poll(top).toBe(made[0]);
      await page.locator("summary", { hasText: "Columns" }).press("Enter");
      await page.getByRole("checkbox", { name: "Pickup" }).press("Space");
      await page.keyboard.press("Escape");
      for (const [name, first] of [
        ["Pickup", made[8]],
        ["Pickup", made[48]],
        ["Total", made[16]],
        ["Total", made[59]],
      ] as const) {
        await head(name).press("Enter");
        await expect.poll(async () => [name, await top()]).toEqual([name, first]);
      }
      const sorted = page.getByRole("columnheader", { name: "Total" });
      await expect.poll(() => sorted.getAttribute("aria-sort")).toBe("ascending");
      const columns = "shipment.pickup.total";
      await page.goto(`/w/${own.id}/shipments?status=1&order_by=total&columns=${columns}&customer=${customer}`);
      await expect.poll(top).toBe(made[0]);
      await rows(page).first().getByText("Tue, Dec 1").waitFor();
    });

    test("counts shipments that need attention separately and updates the count", async () => {
      const own = await dashboard.service.addWorkspace();
      const sql = await connectTo(dashboard.service.databaseUrl);
      const customer = String(await insertCustomers(sql, own.id, 1));
      const [failed] = await insertShipments(sql, {
        workspace: own.id,
        count: 1,
        customer,
        paymentDetails: `jsonb '{"checkout": null, "processing": false, "error": "The card was declined.",
          "refundError": null, "refundedMinor": 0, "dispute": null}'`,
        salt: `failed ${own.id}`,
      });
      await insertShipments(sql, {
        workspace: own.id,
        count: 1_000,
        customer,
        salt: `more ${own.id}`,
      });
      const page = await openAsMember(dashboard, "/shipments?status=1", { workspace: own });
      const queue = (name: string) => page.getByRole("navigation", { name: "Queues" }).getByRole("link", { name });
      await expect.poll(() => queue("To pay").textContent()).toBe("To pay1,000+");
      const totals = page.locator(".totals");
      // No total is displayed if it would cover only the newest shipments.
      await expect.poll(() => totals.textContent()).toBe("1,000+ shipments");
      await queue("Failed payments").focus();
      await page.keyboard.press("Enter");
      await rows(page).getByText(failed!).waitFor();
      await expect.poll(() => rows(page).count()).toBe(1);
      await rows(page).getByText("The card was declined.").waitFor();
      await expectWellShown(page, "shipments-failed");
      await takeStep(dashboard.service, own.apiKey, failed!, "cancel");
      await page.getByText("No failed payments").waitFor();
      await expect.poll(() => queue("Failed payments").textContent()).toBe("Failed payments0");
    });

    test("is saved under a name, opened, renamed and deleted with the keyboard", async () => {
      const own = await dashboard.service.addWorkspace();
      const page = await openAsMember(dashboard, "/shipments", { workspace: own });
      const saved = page.locator("summary", { hasText: "Saved" });
      const link = (name: string) =>
        page.getByRole("navigation", { name: "Saved views" }).getByRole("link", { name, exact: true });
      const press = async (name: string) => {
        await saved.press("Enter");
        await page.getByRole("button", { name }).press("Enter");
      };
      const typeName = async (name: string) => {
        await page.getByRole("dialog").getByLabel("Name").fill(name);
        await page.keyboard.press("Enter");
        await page.getByRole("dialog").waitFor({ state: "detached" });
      };
      await page.getByText("No shipments yet").waitFor();
      await page.getByText("No saved views.").waitFor({ state: "attached" });
      const left = (await saved.boundingBox())!.x;
      await page.getByRole("navigation", { name: "Queues" }).getByRole("link", { name: "To pay" }).click();
      await page.getByText("No shipments to pay").waitFor();
      expect((await saved.boundingBox())!.x).toBe(left);
      await page.goto(`/w/${own.id}/shipments?status=1&order_by=total+desc&page_token=&days=today`);
      await page.locator(".chip").waitFor();
      expect((await saved.boundingBox())!.x).toBe(left);
      await press("Save view");
      await typeName("Due today");
      await page.getByText("Saved: Due today").waitFor();
      await page.getByRole("navigation", { name: "Queues" }).getByRole("link", { name: "All" }).press("Enter");
      await expect.poll(() => saved.innerText()).toBe("Saved");
      await press("Save view");
      await typeName("Today");
      // Test mode behaves the same.
      await page.goto(`/w/${own.twin.id}/shipments`);
      await saved.press("Enter");
      await expectWellShown(page, "shipments-saved");
      await link("Due today").press("Enter");
      await page.waitForURL("**/shipments?days=today&order_by=total+desc&status=1");
      await press("Rename view Due today");
      await page.getByRole("dialog").getByLabel("Name").fill("TODAY");
      await page.keyboard.press("Enter");
      await page.getByText("You have saved another filter under this name.").waitFor();
      await typeName("Due now");
      // Undoes the deletion, first with the key.
      for (const undo of [
        () => page.keyboard.press("z"),
        () => page.getByRole("button", { name: "Undo" }).press("Enter"),
      ]) {
        await press("Delete view Due now");
        await page.getByText("View “Due now” deleted.").waitFor();
        await expect.poll(() => saved.innerText()).toBe("Saved");
        await undo();
        await page.getByText("Saved: Due now").waitFor();
      }
    });

    test("is filtered by a typed day once it is complete, with one history entry", async () => {
      const page = await openList();
      await expect.poll(() => rows(page).count()).toBe(50);
      const requests: string[] = [];
      page.on("framenavigated", () => requests.push(new URL(page.url()).search));
      await openFilter(page, "Booked");
      await tabTo(page, page.getByLabel("Booked from"));
      await page.keyboard.type("01012026");
      await page.waitForURL("**?from=2026-01-01");
      // Enter closes the filter. While a filter has the focus, it stays open.
      await page.keyboard.press("Enter");
      await expect.poll(() => page.locator("details[open]").count()).toBe(0);
      await page.goBack();
      await expect.poll(() => page.locator(".chip").count()).toBe(0);
      expect(requests).toEqual(["?from=2026-01-01", ""]);
      // An invalid day is reported when its field loses the focus.
      await openFilter(page, "Booked");
      await tabTo(page, page.getByLabel("Booked from"));
      await page.keyboard.type("01010026");
      await page.getByLabel("Booked until").focus();
      await page.getByText("“0026-01-01” was ignored").waitFor();
    });

    test("is filtered by days in the workspace's time zone, and reports invalid URL parameters", async () => {
      const page = await openList("?from=2026-01-02&to=2026-01-02");
      // Both days are inclusive, and the test booked one shipment per hour.
      await expect.poll(() => rows(page).count()).toBe(24);
      await page.goto(`/w/${dashboard.workspace.id}/shipments?status=99&from=2026-02-31&customer=ada&payment_status=1`);
      await expect.poll(() => rows(page).count()).toBe(50);
      await expect
        .poll(() => page.getByRole("status").locator("p").allTextContents())
        .toEqual([
          "“99” was ignored: Status must be To pay, To pick up, In transit, Delivered, Cancelled, or Returned.",
          "“ada” was ignored: Customer must be a whole number.",
          "“2026-02-31” was ignored: Booked from must be a day such as 2026-11-01.",
        ]);
      await page.locator("summary", { hasText: "Payment: To pay" }).waitFor();
      await expectWellShown(page, "shipments-left-out");
      await page.goto(`/w/${dashboard.workspace.id}/shipments?status=pending&payment_status=PAID`);
      await page.getByText("No shipments match").waitFor();
      const chips = page.locator(".chip summary");
      await expect.poll(() => chips.allInnerTexts()).toEqual(["Status: To pay", "Payment: Paid"]);
      await page.goto(`/w/${dashboard.workspace.id}/shipments?page_token=x`);
      await page.getByText("This page does not exist with these filters.").waitFor();
      await page.getByRole("button", { name: "Show first page" }).click();
      await expect.poll(() => rows(page).count()).toBe(50);
    });

    test("is paged with the keyboard in both directions, and each page has a URL", async () => {
      const page = await openList();
      await expect.poll(() => rows(page).count()).toBe(50);
      const focused = () => page.evaluate("document.activeElement.textContent");
      // Compares references, because other texts in a row, such as the relative booking time, change over time.
      const topmost = () => rows(page).first().getByRole("link").textContent();
      const first = await topmost();
      const { requested, release } = await holdBack(page, "ListShipments");
      await page.keyboard.press("n");
      await requested;
      // While the next page loads, the cursor of the page after it is unknown.
      await page.keyboard.press("n");
      release();
      await expect.poll(topmost).not.toBe(first);
      await expect.poll(focused).toBe(await topmost());
      await page.keyboard.press("n");
      await expect.poll(() => rows(page).count()).toBe(MANY + 1 - 100);
      await page.reload();
      await expect.poll(() => rows(page).count()).toBe(MANY + 1 - 100);
      // Presses a key as soon as the previous page appears.
      await page.evaluate(`new MutationObserver((_, observer) => {
        if (document.querySelectorAll("tbody tr").length !== 50) return;
        observer.disconnect();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "p", bubbles: true }));
      }).observe(document.body, { childList: true, subtree: true })`);
      await page.keyboard.press("p");
      await expect.poll(topmost).toBe(first);
      await expect.poll(focused).toBe(first);
      // The focus stays on the button even when it is disabled.
      const next = page.getByRole("button", { name: "Next" });
      for (const count of [50, MANY + 1 - 100]) {
        const before = await topmost();
        await next.press("Enter");
        await expect.poll(topmost).not.toBe(before);
        await expect.poll(() => rows(page).count()).toBe(count);
      }
      await expect.poll(focused).toBe("Next →");
    });

    test("opens a shipment with all its parts by keyboard, and returns to the same list", async () => {
      const page = await openList();
      await expect.poll(() => rows(page).count()).toBe(50);
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("k");
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/shipments/${reference}`);
      await page.getByRole("heading", { name: reference }).waitFor();
      const map = page.getByRole("application", { name: /^Route of the shipment/ });
      await expect
        .poll(() => map.getAttribute("aria-label"))
        .toBe(
          "Route of the shipment. Pickup at 40.758, -73.9855. Dropoff at 40.6782, -73.9442. " +
            "Zones: Bronx, Kings, New York, Queens, Richmond",
        );
      expect(await page.locator(".page-header .own-line").innerText()).toBe("Ada Lovelace · $12.69 · order 7");
      const facts = await page.locator("dl").allInnerTexts();
      for (const fact of ["ada@example.org", "gate"]) {
        expect(facts.join("\n")).toContain(fact);
      }
      await expect
        .poll(() => page.locator("table.sum tr").allInnerTexts())
        .toEqual(["Distance, 9.532 km\t$11.44", "Weight, 2.5 kg\t$1.25", "Total\t$12.69"]);
      await expect.poll(() => page.locator(".timeline li > span").allTextContents()).toEqual(["Paid", "Booked"]);
      await expectWellShown(page, "shipment");
      await page.goBack();
      await expect.poll(() => rows(page).count()).toBe(50);
      await expect.poll(() => page.locator(":focus").textContent()).toContain(reference);
      await rows(page).first().getByRole("checkbox").focus();
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/shipments/${reference}`);
    });

    test("keeps its position while shipments open next to it, with the open one in the URL", async () => {
      const page = await openList();
      await page.setViewportSize({ width: 1440, height: 900 });
      await expect.poll(() => rows(page).count()).toBe(50);
      const peek = page.getByRole("region", { name: "Opened beside the list" });
      const openedOf = () => new URL(page.url()).searchParams.get("open");
      const second = (await rows(page).nth(1).locator("code").textContent())!;
      await rows(page).first().getByRole("link").click();
      await peek.getByRole("heading", { name: reference }).waitFor();
      await peek.getByRole("heading", { name: "Timeline" }).waitFor();
      await expect.poll(openedOf).toBe(reference);
      await expect.poll(() => rows(page).count()).toBe(50);
      await expectWellShown(page, "shipments-peek");
      await page.keyboard.press("j");
      await peek.getByRole("heading", { name: second }).waitFor();
      await expect.poll(openedOf).toBe(second);
      await page.reload();
      await peek.getByRole("heading", { name: second }).waitFor();
      // The keys start from the open shipment, regardless of the focus.
      await peek.getByRole("button", { name: "Copy reference" }).focus();
      await page.keyboard.press("k");
      await peek.getByRole("heading", { name: reference }).waitFor();
      await page.goBack();
      await peek.waitFor({ state: "detached" });
      await rows(page).nth(1).getByRole("link").focus();
      await page.keyboard.press("Space");
      await peek.getByRole("heading", { name: second }).waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/shipments/${second}`);
      await page.goBack();
      await peek.getByRole("heading", { name: second }).waitFor();
      await expect.poll(() => rows(page).count()).toBe(50);
      await page.keyboard.press("Escape");
      await peek.waitFor({ state: "detached" });
      await expect.poll(() => page.locator(":focus").textContent()).toBe(second);
      // On a narrow screen, a click opens the shipment's page.
      await page.setViewportSize({ width: 1024, height: 900 });
      await rows(page).nth(1).getByRole("link").click();
      await page.waitForURL(`**/shipments/${second}`);
    });

    test("has an empty state in a new workspace", async () => {
      const workspace = await dashboard.service.addWorkspace();
      const page = await openAsMember(dashboard, "/shipments", { workspace });
      await page.getByText("No shipments yet").waitFor();
      await expectWellShown(page, "shipments-new");
    });
  });

  test("reports a lost connection and recovers automatically", async () => {
    const page = await openList();
    await expect.poll(() => rows(page).count()).toBe(50);
    await page.context().setOffline(true);
    await chooseFilter(page, "Status", "Cancelled");
    await page.getByText("This page reconnects automatically").waitFor();
    await expectWellShown(page, "shipments-offline");
    await page.context().setOffline(false);
    await expect.poll(() => rows(page).count()).toBe(40);
    await expect.poll(() => page.getByText("This page reconnects automatically").count()).toBe(0);
  });
});
