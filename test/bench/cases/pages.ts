import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { insertCustomers, insertShipments } from "../../support/insert-shipments.ts";
import { measureAll, type Bench } from "../contest.ts";
import { createEmptyDatabase, query, type Account } from "../database.ts";
import { spreads, table } from "../figures.ts";
import { interrupted, startProduct } from "../processes.ts";
import { SETTINGS } from "../settings.ts";

/** Where Debian puts its browser. */
const CHROMIUM = "/usr/bin/chromium-headless-shell";
const CUSTOMERS = 200_000;
/** Seconds between two bookings: a million shipments are those of about three months. */
const EVERY_SECONDS = 8;
/** How many shipments are on a page of the dashboard's list. */
const PAGE_SIZE = 50;
const POLL_MS = 200;

/** A page of the dashboard, or what is done on one. */
interface View {
  readonly name: string;
  readonly path: string;
  /** What there is when its content is. */
  readonly content: string;
}

/** What one round saw, in milliseconds. */
interface Times {
  /** In a browser that was never there before. */
  readonly coldMs: number;
  /** In one that was: it has the program, and asks for the figures alone. */
  readonly warmMs: number;
}

/**
 * How long it takes from the start of a navigation until the content of a page stands, in a workspace with a
 * million shipments and 200,000 customers, one of whom has 20,000 shipments.
 */
export async function pages({ databases }: Bench): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const { url, accounts } = await createEmptyDatabase(owned, databases);
  const account = accounts[0]!;
  const busy = await fill(url, account.workspace);
  const server = await startProduct(owned, { DATABASE_URL: url });
  await untilDaysAreCounted(url);
  const at = `http://127.0.0.1:${server.ports.http}`;
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  owned.defer(() => browser.close());
  const session = await signIn(browser, at, account);
  const open = () => browser.newContext({ baseURL: at, storageState: session });
  const views = viewsOf(account.workspace, busy, await nextPageToken(at, account));
  const rounds = await measureAll(views, (view) => measureView(open, view));
  const searches = await measureAll(["SHP-0", "order 12", "12 main", "customer 77"], (text) =>
    measureSearch(open, account.workspace, text),
  );
  const exported = await measureAll([""], () => measureExport(at, account));
  const rows = [
    ...views.map(({ name }, i) => [name, ...spreads(rounds[i]!, { coldMs: 0, warmMs: 0 })]),
    ["search, from the last key", "", ...spreads(searches.flat(), { warmMs: 0 })],
    ["export, to its first byte", "", ...spreads(exported[0]!, { warmMs: 0 })],
  ];
  return table(["", "cold, ms", "warm, ms"], rows);
}

function viewsOf(workspace: number, busy: number, token: string): View[] {
  const rows = "table tbody tr";
  const view = (name: string, path: string, content = rows) => {
    return { name, path: `/w/${workspace}${path}`, content };
  };
  return [
    // What the browser and the machine take by themselves.
    { name: "the page to sign in, which asks for nothing", path: "/sign-in", content: "main" },
    view("shipments", "/shipments"),
    view("their next page", `/shipments?page_token=${encodeURIComponent(token)}`),
    view("a queue", "/shipments?status=2"),
    view("shipments of a customer who has 20,000", `/shipments?customer=${busy}`),
    view("customers", "/customers"),
    view("that customer", `/customers/${busy}`),
    view("overview of 30 days", "", "dl.figures"),
    view("attention", "/attention", ".attention-list li"),
  ];
}

/** Fills a workspace, and gives the customer who has every fiftieth shipment. */
async function fill(url: string, workspace: number): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const count = SETTINGS.manyShipments;
  try {
    // Neither triggers nor foreign keys: the keys are right.
    await client.query("set session_replication_role = replica");
    await client.query("set synchronous_commit = off");
    const busy = await insertCustomers(client, workspace, CUSTOMERS);
    await insertShipments(client, {
      workspace,
      count,
      customer: `${busy} + case when i % 50 = 0 then 0 else (hashint4(i)::bigint & 2147483647) % ${CUSTOMERS} end`,
      createdAt: `now() - (${count} - i) * interval '${EVERY_SECONDS} seconds'`,
      externalReference: "case when i % 2 = 0 then 'order ' || i end",
      pickupAddress: "i % 300 || ' Main Street, New York'",
      dropoffAddress: "hashint4(i) & 1023 || ' Avenue ' || i % 30 || ', Brooklyn, New York'",
      status: `case when i % 20 = 7 then 'cancelled' when i > ${count} - 2000 then 'pending'
        when i > ${count} - 5000 then 'awaiting_pickup' when i > ${count} - 9000 then 'in_transit' else 'delivered' end`,
      paymentStatus: `case when i % 20000 = 7 then 'refund_pending' when i % 20 = 7 then 'refunded'
        when i > ${count} - 2000 then 'awaiting_payment' else 'paid' end`,
    });
    await client.query("vacuum analyze");
    return busy;
  } finally {
    await client.end();
  }
}

/** Waits until the service has counted all days of before, which it does in the background after an upgrade. */
async function untilDaysAreCounted(url: string): Promise<void> {
  const left = "select 1 from booking_roll_up where fill_before is not null";
  const begun = "select 1 from booking_roll_up";
  while ((await query(url, begun)).length === 0 || (await query(url, left)).length > 0) {
    await sleep(POLL_MS, undefined, { signal: interrupted });
  }
}

async function ask(at: string, { apiKey }: Account, path: string, body?: object) {
  const response = await fetch(`${at}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response;
}

async function nextPageToken(at: string, account: Account): Promise<string> {
  const response = await ask(at, account, `/v1/shipments?page_size=${PAGE_SIZE}`);
  return ((await response.json()) as { next_page_token: string }).next_page_token;
}

/** Invites an admin and has them sign in; gives what a browser then knows. */
async function signIn(browser: Browser, at: string, account: Account) {
  const member = { email: "ada@example.org", role: "admin", name: "Ada" };
  const invited = await ask(at, account, "/v1/members", member);
  const context = await browser.newContext({ baseURL: at });
  const page = await context.newPage();
  await page.goto(((await invited.json()) as { sign_in_path: string }).sign_in_path);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Pages", exact: true }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

type OpenContext = () => Promise<BrowserContext>;

async function measureView(open: OpenContext, { path, content }: View): Promise<Times> {
  const context = await open();
  try {
    const page = await context.newPage();
    const coldMs = await timeTo(page, path, content);
    await page.goto("about:blank");
    return { coldMs, warmMs: await timeTo(page, path, content) };
  } finally {
    await context.close();
  }
}

/** From the start of the navigation, as the page itself has the time. */
async function timeTo(page: Page, path: string, content: string): Promise<number> {
  await page.goto(path, { waitUntil: "commit" });
  return timeOnce(page, content);
}

/** Once something is there, the milliseconds since the page's navigation began, or since a mark. */
async function timeOnce(page: Page, content: string, since = "0"): Promise<number> {
  await page.locator(content).first().waitFor();
  return page.evaluate<number>(`performance.now() - ${since}`);
}

/** From the last key until results stand. */
async function measureSearch(open: OpenContext, workspace: number, text: string) {
  const context = await open();
  try {
    const page = await context.newPage();
    await page.goto(`/w/${workspace}/attention`);
    await page.locator("button.open-search").click();
    const box = page.getByRole("combobox", { name: "Search" });
    await box.waitFor();
    await page.evaluate("addEventListener('input', () => performance.mark('typed'), true)");
    await box.fill(text);
    const found =
      '[aria-label="Shipments"] a[role=option], [aria-label="Customers"] a[role=option]';
    const typed = "performance.getEntriesByName('typed').at(-1).startTime";
    return { warmMs: await timeOnce(page, found, typed) };
  } finally {
    await context.close();
  }
}

async function measureExport(at: string, account: Account) {
  const begunMs = performance.now();
  const { body } = await ask(at, account, "/v1/shipments/export");
  const reader = body!.getReader();
  await reader.read();
  const warmMs = performance.now() - begunMs;
  await reader.cancel();
  return { warmMs };
}
