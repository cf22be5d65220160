import type { Locator, Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { SAMPLE_PICTURES } from "../../src/features/test-mode/sample-pictures.ts";
import { describeDashboard } from "../dashboard/browser.ts";
import { data } from "../support/answers.ts";
import { bookAnd } from "../support/bookings.ts";
import { CUTS, startNetwork } from "./network.ts";
import { startPhone } from "./phone.ts";

const STOPS = 10;
const HOUR_MS = 3_600_000;
const VERIFICATIONS = ["none", "photo", "signature", "pin"] as const;
const PHOTO = { name: "photo.jpg", mimeType: "image/jpeg", buffer: SAMPLE_PICTURES.photo };

describeDashboard("a courier's day", (dashboard) => {
  /** Books shipments, and assigns them to a new courier, who gets links. */
  async function startRun(count: number, clockOffsetMs = 0) {
    const { service, workspace } = dashboard;
    const as = service.as(workspace.apiKey);
    const references: string[] = [];
    for (let stop = 0; stop < count; stop++) {
      const fields = {
        dropoff_address: `${stop + 1} Prospect Park West, Brooklyn`,
        dropoff_verification: VERIFICATIONS[stop % VERIFICATIONS.length],
      };
      const { reference } = await bookAnd(service, workspace.apiKey, ["pay"], fields);
      references.push(reference);
    }
    const { id: courier } = await data(as.createCourier({ name: "Ada Byron" }));
    const shipments = references.map((shipment, index) => ({ shipment, sequence: index + 1 }));
    await as.assignCourier({ courier, shipments });
    const network = await startNetwork(service.httpUrl, clockOffsetMs);
    onTestFinished(network.close);
    const newLink = async () => network.url + (await as.createCourierLink({ courier })).body.path;
    const openPhone = async () => {
      const phone = await startPhone(await newLink(), clockOffsetMs);
      await nextStop(phone.page).waitFor();
      return phone;
    };
    return { as, courier, references, network, newLink, openPhone };
  }

  const nextStop = (page: Page): Locator => page.getByRole("region", { name: "Next stop" });
  const press = (page: Page, name: string) => page.getByRole("main").getByRole("button", { name }).last().tap();
  const follow = (page: Page, name: string) => nextStop(page).getByRole("link", { name }).tap();

  async function pickUp(page: Page, count: number): Promise<void> {
    await follow(page, `Picked up (${count})`);
    await page.getByText("Check what you received").waitFor();
    for (const box of await page.getByRole("checkbox").all()) await box.tap();
    await press(page, "Picked up");
  }

  /** Fills in the required proof, and records the delivery. */
  async function deliver(page: Page, verification: (typeof VERIFICATIONS)[number], pin: string): Promise<void> {
    await follow(page, "Delivered");
    if (verification === "pin")
      for (const digit of pin) await page.getByRole("button", { name: digit, exact: true }).tap();
    if (verification === "photo") {
      await page.locator("input[type=file]").setInputFiles(PHOTO);
      await page.getByRole("img", { name: "Photo" }).waitFor();
    }
    if (verification === "signature") await sign(page);
    await press(page, "Delivered");
  }

  async function sign(page: Page): Promise<void> {
    const { x, y } = (await page.getByRole("img", { name: "Signature of the recipient" }).boundingBox())!;
    await page.mouse.move(x + 20, y + 50);
    await page.mouse.down();
    await page.mouse.move(x + 120, y + 120, { steps: 4 });
    await page.mouse.up();
  }

  const unsent = (page: Page, count: number) =>
    page.getByText(`No connection. ${count} update${count === 1 ? "" : "s"} not sent.`).waitFor();

  /** Returns the types of the events from the courier's actions, in order. */
  async function actsOf(as: Awaited<ReturnType<typeof startRun>>["as"], shipment: string): Promise<string[]> {
    const { body } = await as.listShipmentEvents({ shipment });
    const types: string[] = body.data.map(({ type }: { type: string }) => type);
    return types.filter((type) => !/created|paid|awaiting|assigned|cancelled/.test(type));
  }

  test("is recorded exactly once, in order and with its times, while the network fails during every action", async () => {
    const { as, references, network, openPhone } = await startRun(STOPS, HOUR_MS);
    const phone = await openPhone();
    // Browsers write cookies with a delay.
    await phone.restart(`${network.url}/c`);
    let cuts = 0;
    /** Performs an action while the network fails. Returns the time of the action. */
    const cut = async (call: string, act: () => Promise<void>, count = 1) => {
      const failed = network.cutNext(CUTS[cuts++ % CUTS.length]!, call);
      await act();
      const at = Date.now();
      await failed;
      await unsent(phone.page, count);
      return at;
    };
    const reconnect = async () => {
      network.isDown = false;
      await phone.page.evaluate("dispatchEvent(new Event('online'))");
      await phone.page.locator(".banner").waitFor({ state: "detached" });
    };
    await cut("progress", () => press(phone.page, "Arrived"), STOPS);
    await reconnect();
    await cut("advance", () => pickUp(phone.page, STOPS), STOPS);
    network.isDown = false;
    await phone.restart(`${network.url}/c`, "kill");
    await phone.page.locator(".banner").waitFor({ state: "detached" });
    const times: number[] = [];
    for (const [stop, reference] of references.entries()) {
      await nextStop(phone.page).getByText(reference).waitFor();
      const verification = VERIFICATIONS[stop % VERIFICATIONS.length]!;
      const { dropoff_pin: pin } = await data(as.getShipment({ shipment: reference }));
      await cut("progress", () => press(phone.page, "Arrived"));
      await reconnect();
      // The delivery of every fifth shipment fails after its proof was sent.
      const call = verification === "none" || stop % 5 === 2 ? "advance" : "proof";
      times.push(await cut(call, () => deliver(phone.page, verification, pin)));
      await reconnect();
    }
    for (const [stop, reference] of references.entries()) {
      const proof = VERIFICATIONS[stop % VERIFICATIONS.length] === "none" ? [] : ["shipment.proof_recorded"];
      expect(await actsOf(as, reference)).toEqual([
        "shipment.at_pickup",
        "shipment.in_transit",
        "shipment.at_dropoff",
        ...proof,
        "shipment.delivered",
      ]);
      const { delivered_at: deliveredAt } = await data(as.getShipment({ shipment: reference }));
      // The time of the act by the service's clock, although the phone's clock is wrong by an hour.
      expect(Math.abs(Date.parse(deliveredAt) - times[stop]!)).toBeLessThan(HOUR_MS / 2);
    }
  });

  test("keeps actions while offline or signed out, and sends them after a new link", async () => {
    const { as, courier, references, network, newLink, openPhone } = await startRun(1);
    const { page } = await openPhone();
    network.isDown = true;
    await press(page, "Arrived");
    await unsent(page, 1);
    await page.reload();
    await nextStop(page).getByText(references[0]!).waitFor();
    const { body } = await as.listCourierLinks({ courier });
    for (const { id: link } of body.data) await as.revokeCourierLink({ courier, link });
    network.isDown = false;
    await page.getByText("Your link has expired. 1 update not sent. Ask your dispatcher for a new link.").waitFor();
    await page.goto(await newLink());
    await page.locator(".banner").waitFor({ state: "detached" });
    expect(await actsOf(as, references[0]!)).toEqual(["shipment.at_pickup"]);
  });

  test("sends no action as another courier whose link was opened without a response", async () => {
    const { as, references, network, openPhone } = await startRun(1);
    const { page } = await openPhone();
    network.isDown = true;
    await press(page, "Arrived");
    await unsent(page, 1);
    const { id: courier } = await data(as.createCourier({ name: "Grace Hopper" }));
    await as.assignCourier({ courier, shipments: [{ shipment: references[0]! }] });
    const { path } = (await as.createCourierLink({ courier })).body;
    await page.route("**/c/session", async (route) => {
      network.isDown = false;
      // The browser gets the cookie.
      await route.fetch();
      await route.abort();
    });
    await page.goto(network.url + path);
    await page.getByText("Grace Hopper").waitFor();
    expect(await actsOf(as, references[0]!)).toEqual([]);
    await page.getByText(/^1 update not sent\.$/).tap();
    await page.getByText("Recorded by another courier.").waitFor();
  });

  test("opens a link again while the run is refused", async () => {
    const { as, network, openPhone } = await startRun(1);
    const { page } = await openPhone();
    const { id: courier } = await data(as.createCourier({ name: "Grace Hopper" }));
    const { path } = (await as.createCourierLink({ courier })).body;
    let attempts = 0;
    await page.route("**/c/session", (route) => (++attempts === 1 ? route.abort() : route.continue()));
    const refusal = { status: 404, json: { code: "COURIER_NOT_FOUND", message: "" } };
    await page.route("**/v1/couriers/me/run", (route) => route.fulfill(refusal));
    await page.goto(network.url + path);
    await expect.poll(() => attempts).toBe(2);
  });

  test("starts with the stop that the courier chooses if the workspace allows it", async () => {
    const { as, references, openPhone } = await startRun(2);
    for (const shipment of references) await as.advanceShipment({ shipment });
    await as.updateWorkspace({ couriers_reorder_stops: true });
    const { page } = await openPhone();
    await nextStop(page).getByText(references[0]!).waitFor();
    await page.getByRole("link", { name: /2 Prospect Park West/ }).tap();
    await page.getByRole("button", { name: "Make next stop" }).tap();
    await nextStop(page).getByText(references[1]!).waitFor();

    // A call orders at most 100 shipments.
    const names = Array.from({ length: 150 }, (_, index) => `SHP-${index}`);
    const { data: run }: any = await page.evaluate(async () => (await fetch("/v1/couriers/me/run")).json());
    let shipments = names.map((name) => ({ ...run.shipments[0], reference: name, dropoff_address: name }));
    await page.route("**/v1/couriers/me/run", (route) => route.fulfill({ json: { data: { ...run, shipments } } }));
    const ordered: object[] = [];
    await page.route("**/v1/shipments/courier/batch", async (route) => {
      ordered.push(...route.request().postDataJSON().shipments);
      await route.fulfill({ json: { results: [] } });
    });
    await page.reload();
    await page.getByRole("link", { name: /SHP-149/ }).tap();
    await page.getByRole("button", { name: "Make next stop" }).tap();
    const inOrder = (expected: string[]) => expected.map((shipment, i) => ({ shipment, sequence: i + 1 }));
    await expect.poll(() => ordered).toEqual(inOrder(["SHP-149", ...names.slice(0, -1)]));

    // A shipment for the same place that is not picked up yet would make its pickup the next stop.
    const [first, waiting, chosen] = shipments as [object, object, object];
    shipments = [first, { ...waiting, status: "awaiting_pickup" }, { ...chosen, dropoff_address: "SHP-1" }];
    ordered.length = 0;
    await page.reload();
    await page.getByRole("link", { name: /SHP-1\b/ }).tap();
    await page.getByRole("button", { name: "Make next stop" }).tap();
    await expect.poll(() => ordered).toEqual(inOrder(["SHP-2", "SHP-0", "SHP-1"]));
  });

  test("reports that the phone cannot store an action, and records it once it can", async () => {
    const { as, references, openPhone } = await startRun(1);
    const { page } = await openPhone();
    await page.evaluate(`{
      const { add } = IDBObjectStore.prototype;
      IDBObjectStore.prototype.add = () => { throw new DOMException("full", "QuotaExceededError"); };
      globalThis.freeStorage = () => (IDBObjectStore.prototype.add = add);
    }`);
    const refused = () => page.getByText("This browser cannot store updates.").waitFor();
    await press(page, "Arrived");
    await refused();
    await follow(page, "Picked up");
    await press(page, "Picked up");
    await refused();
    await page.evaluate("freeStorage()");
    await press(page, "Picked up");
    await expect.poll(() => actsOf(as, references[0]!)).toEqual(["shipment.in_transit"]);
  });

  test("goes on after the browser has lost the database once", async () => {
    const { as, references, openPhone } = await startRun(1);
    const { page } = await openPhone();
    /** Closes the database at the next use, which a trigger causes. */
    const lose = (trigger: string) =>
      page.evaluate(`new Promise((resolve) => {
        const { transaction } = IDBDatabase.prototype;
        IDBDatabase.prototype.transaction = function () {
          IDBDatabase.prototype.transaction = transaction;
          resolve();
          this.close();
          return transaction.apply(this, arguments);
        };
        ${trigger};
      })`);
    // A synchronization.
    await lose("dispatchEvent(new Event('online'))");
    await press(page, "Arrived");
    await expect.poll(() => actsOf(as, references[0]!)).toEqual(["shipment.at_pickup"]);
    // A read.
    await lose("new BroadcastChannel('courier').postMessage(null)");
    await follow(page, "Picked up");
    await press(page, "Picked up");
    await expect.poll(() => actsOf(as, references[0]!)).toEqual(["shipment.at_pickup", "shipment.in_transit"]);
  });

  test("learns the clock when a response begins, because its body can take long", async () => {
    const { openPhone } = await startRun(1);
    const { page } = await openPhone();
    // Reading the run takes a minute.
    await page.addInitScript(`{
      const { json } = Response.prototype;
      Response.prototype.json = function () {
        const { now } = Date;
        if (this.url.endsWith("/run")) Date.now = () => now() + 60_000;
        return json.call(this);
      };
    }`);
    await page.reload();
    const read = (key: string): Promise<any> =>
      page.evaluate(`new Promise((resolve) => {
        indexedDB.open("courier").onsuccess = ({ target: { result: database } }) => {
          const request = database.transaction("values").objectStore("values").get("${key}");
          request.onsuccess = () => resolve(request.result);
        };
      })`);
    await expect.poll(async () => (await read("run")).loadedAt - Date.now()).toBeGreaterThan(30_000);
    expect((await read("clockOffsetMs")) ?? 0).toBe(0);
  });

  test("is synchronized once at a time, however often a link was opened", async () => {
    const { network, newLink } = await startRun(1);
    const { page } = await startPhone(`${network.url}/c`);
    await page.route("**/c/session", (route) => route.abort());
    const online = "dispatchEvent(new Event('online'))";
    await page.goto(await newLink());
    for (let tries = 0; tries < 3; tries++) {
      const failed = page.waitForEvent("requestfailed");
      await page.evaluate(online);
      await failed;
      await page.getByText("Your link opens when the network returns.").waitFor();
    }
    await page.unroute("**/c/session");
    await page.evaluate(online);
    await nextStop(page).waitFor();
    const count = `${online}; navigator.locks.query().then(({ held, pending }) => held.length + pending.length)`;
    expect(await page.evaluate(count)).toBe(1);
  });

  test("takes a signature under the pen after the phone was rotated", async () => {
    const { as, references, openPhone } = await startRun(3);
    const [, , shipment] = references as [string, string, string];
    await as.advanceShipment({ shipment });
    const { page } = await openPhone();
    await page.evaluate(`location.hash = "#/act/deliver/${shipment}"`);
    const field = page.getByRole("img", { name: "Signature of the recipient" });
    await field.waitFor();
    const { width, height } = page.viewportSize()!;
    await page.setViewportSize({ width: height, height: width });
    await sign(page);
    // `sign` ends at this point of the field.
    const inkAt = await field.evaluate((canvas: any) => {
      const [x, y] = [(120 * canvas.width) / canvas.offsetWidth, (120 * canvas.height) / canvas.offsetHeight];
      return canvas
        .getContext("2d")
        .getImageData(x - 5, y - 5, 10, 10)
        .data.some((value: number) => value < 128);
    });
    expect(inkAt).toBe(true);
  });

  test("begins when the service can be reached, even if the phone reports no return of the network", async () => {
    const { network, newLink } = await startRun(1);
    const { page } = await startPhone(`${network.url}/c`);
    await page.route("**/c/session", (route) => route.fulfill({ status: 503 }));
    await page.goto(await newLink());
    await page.getByText("Your link opens when the network returns.").waitFor();
    await page.unroute("**/c/session");
    await nextStop(page).waitFor();
    await page.getByText("Your link opens when the network returns.").waitFor({ state: "detached" });
  });

  test("opens a link once, even if the network returns while it is being opened", async () => {
    const { network, newLink } = await startRun(1);
    const { page } = await startPhone(`${network.url}/c`);
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    let count = 0;
    await page.route("**/c/session", async (route) => {
      count++;
      await released;
      // A second attempt fails.
      await (count === 1 ? route.continue() : route.abort());
    });
    const opening = page.waitForRequest("**/c/session");
    await page.goto(await newLink());
    await opening;
    await page.evaluate("dispatchEvent(new Event('online'))");
    release();
    await nextStop(page).waitFor();
    await page.evaluate("navigator.locks.request('courier', () => undefined)");
    expect(count).toBe(1);
    expect(await page.getByText("Your link opens when the network returns.").count()).toBe(0);
  });

  test("opens offline after a visit during a rollout, in which the worker got the page of another version", async () => {
    const { network, newLink, openPhone } = await startRun(1);
    network.isRollout = true;
    const { page } = await openPhone();
    const installed = "navigator.serviceWorker.getRegistration().then((it) => it?.installing == null)";
    await expect.poll(() => page.evaluate(installed)).toBe(true);
    network.isRollout = false;
    await page.goto(await newLink());
    await page.reload();
    await page.evaluate("navigator.serviceWorker.ready");
    network.isDown = true;
    await page.reload();
    await nextStop(page).waitFor();
  });

  test("shows the weight after a description that is written from right to left", async () => {
    const { as, references, openPhone } = await startRun(1);
    await as.updateShipment({ shipment: references[0]!, package_description: "זר פרחים" });
    const { page } = await openPhone();
    await nextStop(page).getByText("זר פרחים").waitFor();
    /** Returns the position of the first character of a text from the left. */
    const leftOf = (text: string): Promise<number> =>
      page.evaluate(`(() => {
        const nodes = document.createTreeWalker(document.querySelector(".task"), NodeFilter.SHOW_TEXT);
        while (!nodes.nextNode().data.includes("${text}"));
        const range = document.createRange();
        const start = nodes.currentNode.data.indexOf("${text}");
        range.setStart(nodes.currentNode, start);
        range.setEnd(nodes.currentNode, start + 1);
        return range.getBoundingClientRect().left;
      })()`);
    expect(await leftOf("2.5")).toBeGreaterThan(await leftOf("זר"));
  });

  test("waits for a photo that is still being scaled", async () => {
    const { as, references, openPhone } = await startRun(1);
    await as.advanceShipment({ shipment: references[0]! });
    const { page } = await openPhone();
    await page.evaluate(`{
      const { promise, resolve } = Promise.withResolvers();
      const create = createImageBitmap;
      globalThis.createImageBitmap = (...args) => promise.then(() => create(...args));
      globalThis.scale = resolve;
    }`);
    await follow(page, "Delivered");
    await page.locator("input[type=file]").setInputFiles(PHOTO);
    await press(page, "Delivered");
    await page.evaluate("scale()");
    await page.getByRole("img", { name: "Photo" }).waitFor();
    await press(page, "Delivered");
    const proof = async () => (await data(as.getShipment({ shipment: references[0]! }))).proof?.photo;
    await expect.poll(proof).toBe(true);
  });

  test("shows how many attempts are left after a wrong PIN", async () => {
    const { as, references, openPhone } = await startRun(1);
    const [shipment] = references as [string];
    await as.updateShipment({ shipment, dropoff_verification: "pin" });
    const { dropoff_pin: right } = await data(as.advanceShipment({ shipment }));
    const wrong = Array.from({ length: 4 }, (_, i) => String((Number(right) + 1 + i) % 10_000).padStart(4, "0"));
    for (const pin of wrong.slice(1)) await as.recordProof({ shipment, pin });
    const { page } = await openPhone();
    await deliver(page, "pin", wrong[0]!);
    await page.getByText("1 attempt left. After that, only your dispatcher can allow the delivery.").waitFor();
  });

  test("reports positions after the phone's clock was set back", async () => {
    const { network, openPhone } = await startRun(1);
    const { page } = await openPhone();
    const { origin } = new URL(network.url);
    await page.context().grantPermissions(["geolocation"], { origin });
    await page.context().setGeolocation({ latitude: 40.7, longitude: -73.9 });
    await page.clock.install();
    await page.reload();
    await page.getByText("Settings").tap();
    const reported = () => page.waitForRequest("**/v1/courier_places");
    const first = reported();
    await page.getByRole("checkbox").tap();
    await first;
    await page.clock.setSystemTime(Date.now() - HOUR_MS);
    const second = reported();
    await page.context().setGeolocation({ latitude: 40.8, longitude: -73.9 });
    await page.getByText("Location on").waitFor();
    await page.clock.runFor(20_000);
    await second;
  });

  test("reports positions for all shipments of a long run", async () => {
    const { as, references, network, openPhone } = await startRun(1);
    await as.advanceShipment({ shipment: references[0]! });
    const { page } = await openPhone();
    const { data: run }: any = await page.evaluate(async () => (await fetch("/v1/couriers/me/run")).json());
    const names = Array.from({ length: 150 }, (_, index) => `SHP-${index}`);
    const shipments = names.map((reference) => ({ ...run.shipments[0], reference }));
    await page.route("**/v1/couriers/me/run", (route) => route.fulfill({ json: { data: { ...run, shipments } } }));
    const counts: number[] = [];
    await page.route("**/v1/courier_places", async (route) => {
      counts.push(route.request().postDataJSON().places.length);
      await route.fulfill({ json: { results: [] } });
    });
    const { origin } = new URL(network.url);
    await page.context().grantPermissions(["geolocation"], { origin });
    await page.context().setGeolocation({ latitude: 40.7, longitude: -73.9 });
    await page.reload();
    await nextStop(page).getByText("SHP-149").waitFor();
    await page.getByText("Settings").tap();
    await page.getByRole("checkbox").tap();
    await expect.poll(() => counts.slice(0, 2)).toEqual([100, 50]);
  });

  test("on two devices is recorded once and shows the dispatcher's changes", async () => {
    const { as, references, network, openPhone } = await startRun(2);
    const phones = [await openPhone(), await openPhone()];
    network.isDown = true;
    for (const { page } of phones) {
      await pickUp(page, 2);
      await unsent(page, 2);
    }
    await as.cancelShipment({ shipment: references[1]! });
    network.isDown = false;
    for (const { page } of phones) {
      await page.getByText("1 update refused. Decide what to do.").tap();
      await page.getByText("It is now: Cancelled.").waitFor();
      page.on("dialog", (dialog) => void dialog.accept());
      await press(page, "Discard");
      await page.getByText("Everything is sent.").waitFor();
    }
    expect(await actsOf(as, references[0]!)).toEqual(["shipment.in_transit"]);
    expect(await actsOf(as, references[1]!)).toEqual([]);
  });
});
