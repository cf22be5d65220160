import { expect, test } from "vitest";
import { data } from "../support/answers.ts";
import { bookAnd } from "../support/bookings.ts";
import { startMailServer } from "../support/mail-server.ts";
import { startService, type TestWorkspace } from "../support/service.ts";
import {
  chooseMore,
  describeDashboard,
  expectWellShown,
  holdBack,
  openAsMember,
  pressInDialog,
  rowsOf,
  untilMapDrawn,
} from "./browser.ts";

describeDashboard(
  "couriers",
  (dashboard) => {
    const open = (workspace: TestWorkspace, path = "/couriers", role = "member") =>
      openAsMember(dashboard, path, { workspace, role });

    test("are added, edited and archived by members", async () => {
      const workspace = await dashboard.service.addWorkspace();
      const page = await open(workspace);
      await page.getByText("No couriers yet").waitFor();
      await expectWellShown(page, "couriers-none");
      await page.getByRole("button", { name: "Add courier" }).click();
      await page.getByLabel("Name").fill("Ada Byron");
      await page.getByLabel("Phone").fill("212");
      await pressInDialog(page, "Add courier");
      await page.getByText("must be a phone number with a country code").waitFor();
      await expectWellShown(page, "courier-refused");
      await page.getByLabel("Phone").fill("+12125550123");
      await pressInDialog(page, "Add courier");
      await page.getByRole("heading", { name: "Ada Byron", level: 1 }).waitFor();
      await page.getByText("No stops left").waitFor();

      await chooseMore(page, "Edit");
      await page.getByLabel("Vehicle").fill("Cargo bike");
      await page.getByLabel("Phone").fill("");
      await pressInDialog(page, "Save changes");
      await page.getByText("Cargo bike").waitFor();
      const as = dashboard.service.as(workspace.apiKey);
      const [courier] = await data(as.listCouriers({}));
      expect(courier).toMatchObject({ name: "Ada Byron", vehicle: "Cargo bike", phone: null });

      await chooseMore(page, "Archive");
      const archived = await holdBack(page, "ArchiveCourier");
      await page.getByText("can no longer be assigned").waitFor();
      await pressInDialog(page, "Archive courier");
      await archived.requested;
      await page.keyboard.press("Escape");
      archived.release();
      // The dialog was closed, so the page stays open.
      await page.getByText("Archived", { exact: true }).first().waitFor();
      expect(await page.locator("summary[aria-label=More]").count()).toBe(0);
      expect(await data(as.listCouriers({}))).toEqual([]);

      await page.goto(`/w/${workspace.id}/couriers`);
      const created = await holdBack(page, "CreateCourier");
      await page.getByRole("button", { name: "Add courier" }).click();
      await page.getByLabel("Name").fill("Grace");
      await pressInDialog(page, "Add courier");
      await created.requested;
      await page.keyboard.press("Escape");
      created.release();
      await rowsOf(page, "Couriers").getByText("Grace").waitFor();
      await page.getByText("Courier added.").waitFor();
      expect(new URL(page.url()).pathname).toBe(`/w/${workspace.id}/couriers`);
    });

    test("show their stops in order and update as shipments are delivered", async () => {
      const workspace = await dashboard.service.addWorkspace();
      const { service } = dashboard;
      const { apiKey } = workspace;
      const as = service.as(apiKey);
      const { id: courier } = await data(
        as.createCourier({ name: "Ada Byron", phone: "+12125550123", vehicle: "Cargo bike" }),
      );
      await as.createCourier({ name: "Grace Hopper" });
      const shipments = [];
      for (const sequence of [2, 3, 1]) {
        const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
        shipments.push({ shipment, sequence });
      }
      await as.assignCourier({ courier, shipments });
      const [second, third, first] = shipments.map(({ shipment }) => shipment as string);
      const { reference: unordered } = await bookAnd(service, apiKey, ["pay"]);
      await as.setCourier({ shipment: unordered, courier_id: courier });
      // The service lists a stop that is left from an earlier day before the others.
      const aged =
        "update shipment set created_at = now() - interval '2 days' where workspace_id = ? and reference = ?";
      await service.app.em.execute(aged, [workspace.id, unordered]);
      const page = await open(workspace);
      const cells = rowsOf(page, "Couriers").first().getByRole("cell");
      await expect
        .poll(() => cells.allTextContents())
        .toEqual(["Ada Byron", "+12125550123", "Cargo bike", "4", "1", "0", "—"]);
      await expectWellShown(page, "couriers");

      await page.getByRole("link", { name: "Ada Byron" }).click();
      const stops = rowsOf(page, "Shipments").locator(".row-link code");
      await expect.poll(() => stops.allTextContents()).toEqual([first, second, third, unordered]);
      await expect
        .poll(() => rowsOf(page, "Shipments").first().getByRole("cell").allTextContents())
        .toEqual(["1", expect.stringMatching(/^1 Times Square, New York.*Waiting/), first, "To pick up"]);
      expect(await page.locator("tr.group").allTextContents()).toEqual(["Not in order yet"]);
      expect(await page.locator("tr.group + tr code").textContent()).toBe(unordered);
      await untilMapDrawn(page);
      const mark = page.getByRole("list", { name: "In view, largest first" }).getByRole("button");
      await expect.poll(() => mark.allTextContents()).toEqual(["×4"]);
      await expectWellShown(page, "courier");
      for (const _ of ["picked up", "delivered"]) await as.advanceShipment({ shipment: first });
      await expect.poll(() => stops.allTextContents()).toEqual([second, third, unordered]);
      await expect.poll(() => page.locator(".figures dd.value").allTextContents()).toEqual(["3", "1", "1"]);
      await page.setViewportSize({ width: 390, height: 800 });
      const tops = () =>
        page.locator(".figures > div").evaluateAll((all) => all.map((it) => it.getBoundingClientRect().top));
      await expect.poll(async () => new Set(await tops()).size).toBe(1);
      await page.setViewportSize({ width: 1024, height: 720 });
      await page.goBack();
      const link = await page.getByRole("link", { name: "Grace Hopper" }).elementHandle();
      await link!.focus();
      const place = await link!.boundingBox();
      expect(await page.locator(".beside").count()).toBe(0);
      await as.reportPlaces({ places: [{ shipment: second, lat: 40.7, lng: -73.98 }] });
      const location = page.getByRole("button", { name: "Ada Byron" });
      await expect.poll(() => location.textContent()).toBe("AB");
      // The map appears below the same table, which keeps its place and the focus.
      expect(await link!.boundingBox()).toEqual(place);
      expect(await link!.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(true);
      await location.click();
      await page.getByText("3 left, seen").waitFor();
      await expectWellShown(page, "couriers-map");

      const viewer = await open(workspace, `/couriers/${courier}`, "viewer");
      await expect.poll(() => rowsOf(viewer, "Shipments").locator("code").count()).toBe(3);
      expect(await viewer.locator("summary[aria-label=More]").count()).toBe(0);
    });

    test("are assigned on a shipment's page, which adds the shipment to the end of their run", async () => {
      const workspace = await dashboard.service.addWorkspace();
      const { apiKey, id } = workspace;
      const as = dashboard.service.as(apiKey);
      const { id: courier } = await data(as.createCourier({ name: "Ada Byron", phone: "+12125550123" }));
      await as.createCourier({ name: "Grace Hopper", vehicle: "Cargo bike" });
      const [first, second, other] = await Promise.all(
        Array.from({ length: 3 }, async () => {
          const { reference } = await bookAnd(dashboard.service, apiKey, ["pay"]);
          return reference as string;
        }),
      );
      await as.assignCourier({ courier, shipments: [{ shipment: first, sequence: 4 }] });
      const page = await open(workspace, "/shipments");
      const listed = page.waitForResponse("**/ListCouriers");
      await page.goto(`/w/${workspace.id}/shipments/${second}`);
      await listed;
      const button = page.getByRole("button", { name: "Assign courier", exact: true });
      await button.waitFor();
      const { release, calls } = await holdBack(page, "ListCouriers");
      await button.click();
      await page.getByRole("dialog").getByText("Loading couriers").waitFor();
      release();
      await page.getByLabel("Courier", { exact: true }).waitFor();
      expect(calls).toHaveLength(1);
      const choices = page.getByLabel("Courier", { exact: true }).getByRole("option");
      const texts = ["Choose a courier", "Grace Hopper · 0 shipments left · Cargo bike", "Ada Byron · 1 shipment left"];
      expect(await choices.allTextContents()).toEqual(texts);
      await expectWellShown(page, "shipment-assign");
      await pressInDialog(page, "Assign courier");
      await page.getByText("Choose a courier.").waitFor();
      await page.getByLabel("Courier", { exact: true }).selectOption(courier);
      await pressInDialog(page, "Assign courier");
      await page.getByText("1 shipment is assigned.").waitFor();
      await page.locator(".stops").getByRole("link", { name: "Ada Byron" }).waitFor();
      const assigned = await data(as.getShipment({ shipment: second }));
      expect(assigned.courier).toEqual({
        name: "Ada Byron",
        phone: "+12125550123",
        vehicle: null,
        external_id: null,
        courier_id: courier,
        sequence: 5,
      });
      expect(await data(as.getRun({ courier }))).toEqual({
        courier,
        courier_name: "Ada Byron",
        workspace_name: "Test",
        time_zone: "UTC",
        shipments: [await data(as.getShipment({ shipment: first })), assigned],
        can_reorder: false,
        wants_location: true,
      });

      await page.goto(`/w/${id}/shipments/${other}`);
      await page.getByRole("button", { name: "Assign courier", exact: true }).click();
      await page.getByRole("button", { name: "Courier not in the list" }).click();
      await page.getByLabel("Name").fill("Mary Jackson");
      await pressInDialog(page, "Save courier");
      await page.locator(".stops").getByText("Mary Jackson").waitFor();
      expect((await data(as.getShipment({ shipment: other }))).courier).toEqual({
        name: "Mary Jackson",
        phone: null,
        vehicle: null,
        external_id: null,
        courier_id: null,
        sequence: null,
      });
    });

    test("have a link that is shown once, opens their page and can be revoked", async () => {
      const workspace = await dashboard.service.addWorkspace();
      const as = dashboard.service.as(workspace.apiKey);
      const { id: courier } = await data(as.createCourier({ name: "Ada Byron" }));
      const page = await open(workspace, `/couriers/${courier}`);
      await page.getByText("No active links").waitFor();
      expect(await page.getByRole("button", { name: "Email link" }).count()).toBe(0);
      await page.getByRole("button", { name: "Create link" }).click();
      await page.getByLabel("Expires after").selectOption("7 days");
      await pressInDialog(page, "Create link");
      const dialog = page.getByRole("dialog", { name: "The courier’s link" });
      await dialog.getByRole("img", { name: "QR code for the link" }).waitFor();
      const url = await dialog.locator("pre").innerText();
      expect(url.startsWith(`${new URL(page.url()).origin}/c#`)).toBe(true);
      await expectWellShown(page, "courier-link");
      await pressInDialog(page, "Done");
      await expect.poll(() => rowsOf(page, "Links").count()).toBe(1);
      await expectWellShown(page, "courier-links");
      const exchange = () =>
        page.request.post("/c/session", {
          data: { token: new URL(url).hash.slice(1) },
          headers: { origin: new URL(url).origin },
        });
      expect((await exchange()).status()).toBe(200);

      const viewer = await open(workspace, `/couriers/${courier}`, "viewer");
      await expect.poll(() => rowsOf(viewer, "Links").count()).toBe(1);
      expect(await viewer.getByRole("button", { name: /link/ }).count()).toBe(0);

      await page.getByRole("button", { name: "Revoke link" }).click();
      await pressInDialog(page, "Revoke link");
      await page.getByText("No active links").waitFor();
      expect((await exchange()).status()).toBe(403);

      await as.updateCourier({ courier, email: "ada@example.org" });
      await page.reload();
      await page.getByRole("button", { name: "Email link" }).click();
      await page.getByRole("dialog", { name: "Email link to ada@example.org" }).waitFor();
      await expectWellShown(page, "courier-email");
      await pressInDialog(page, "Email link");
      await page.getByText("Email queued.").waitFor();
      await expect
        .poll(() =>
          rowsOf(page, "Links")
            .getByRole("cell", { name: /Queued|Sent/ })
            .count(),
        )
        .toBe(1);
      await expectWellShown(page, "courier-emailed");
    });
  },
  async () => {
    const mail = { smtpUrl: (await startMailServer()).url, from: "Shipments <no-reply@example.org>" };
    return startService({ dashboard: true, publicUrl: "http://book.example.org", mail });
  },
);
