import { beforeAll, expect, test } from "vitest";
import { BOOKING } from "../support/bookings.ts";
import { scheduleOf } from "../support/schedules.ts";
import { draftsOf, type Drafts } from "../support/tariff-drafts.ts";
import { SAMPLE_TARIFF, square, worldTariff, zonesOf } from "../support/tariffs.ts";
import {
  chooseMore,
  describeDashboard,
  enter,
  expectUsable,
  expectWellShown,
  holdBack,
  openAsOperator,
  pressInDialog,
  type TestPage,
  WITHOUT_POINTER,
} from "./browser.ts";

/** Names of the sample tariff's zones. */
const COUNTIES = ["Bronx", "Kings", "New York", "Queens", "Richmond"];

describeDashboard("a tariff draft", (dashboard) => {
  let drafts: Drafts;
  let reference: string;

  beforeAll(async () => {
    const { key } = await dashboard.service.addOperator("operator");
    drafts = draftsOf(dashboard.service, key);
    const { apiKey } = await dashboard.service.addWorkspace();
    const booked = await dashboard.service.request("/v1/shipments", { apiKey, body: BOOKING });
    reference = booked.body.data.reference;
  });

  const inForce = async () => (await drafts.call("GET", "tariff")).body.data;
  const tier = (page: TestPage, number: number) => page.getByRole("group", { name: `Tier ${number}`, exact: true });
  const upload = async (page: TestPage, zones: unknown, name = "zones.geojson") => {
    const buffer = Buffer.from(typeof zones === "string" ? zones : JSON.stringify(zones));
    const file = { name, mimeType: "application/geo+json", buffer };
    await page.getByRole("button", { name: "Import…" }).click();
    await page.getByLabel("GeoJSON file").setInputFiles(file);
    await pressInDialog(page, "Import");
    await page.getByText(`Imported ${name}.`).waitFor();
  };
  const draftIn = async (page: TestPage) => {
    const id = new URL(page.url()).pathname.split("/").at(-1);
    return (await drafts.call("GET", `tariff_drafts/${id}`)).body.data;
  };

  /** Records and accepts the browser's confirmation dialogs. */
  const noteAsked = (page: TestPage) => {
    const questions: string[] = [];
    page.on("dialog", (dialog) => {
      questions.push(dialog.type());
      void dialog.accept();
    });
    return questions;
  };

  test("is created empty or as a copy, edited, imported, checked, replayed, published and rolled back", async () => {
    const page = await openAsOperator(dashboard, "/platform/drafts");
    await page.getByText("No drafts").waitFor();
    await expectWellShown(page, "drafts-none");

    await page.getByRole("button", { name: "New draft" }).click();
    await page.getByLabel("Name").fill("Spring");
    await page.getByLabel("Fees and zones").selectOption("As in version 1");
    await expectWellShown(page, "drafts-new");
    await page.getByRole("button", { name: "Create draft" }).click();
    await page.getByRole("heading", { name: "Spring" }).waitFor();
    expect(await draftIn(page)).toMatchObject({ name: "Spring", from_version: 1 });
    await page.getByRole("application", { name: /Zones: Bronx/ }).waitFor();

    // The draft has three errors: overlapping tiers, an amount that is not a number, and a zone that crosses itself.
    await page.getByLabel("Minimum charge").fill("a lot");
    await page.getByLabel("Per kilometer").fill("2,40");
    await page.getByRole("button", { name: "Add tier" }).click();
    await expect.poll(() => tier(page, 4).getByLabel("Over, kg").inputValue()).toBe("50");
    await tier(page, 4).getByLabel("To, kg").fill("100");
    await tier(page, 4).getByLabel("Flat fee").fill("8.00");
    await tier(page, 4).getByLabel("Per kg").fill("0.3");
    await tier(page, 4).getByLabel("Over, kg").fill("49");
    await page.getByText("There are unsaved changes.").waitFor();
    // Only changed fields show the value in force. A tier that is new has none.
    await tier(page, 2).getByLabel("Flat fee").fill("1.75");
    const hints = page.locator(".hint", { hasText: "In force: $" });
    await expect.poll(() => hints.allTextContents()).toEqual(["In force: $5.00", "In force: $1.20", "In force: $1.50"]);
    await tier(page, 2).getByLabel("Flat fee").fill("1.5");
    await expect.poll(() => hints.allTextContents()).toEqual(["In force: $5.00", "In force: $1.20"]);
    await expectWellShown(page, "draft-changed", ["360-dark"]);
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("Draft saved.").waitFor();
    const bowtie: [number, number][][] = [
      [
        [-74, 40],
        [-73, 41],
        [-73, 40],
        [-74, 41],
        [-74, 40],
      ],
    ];
    await upload(page, zonesOf(square(-75, 40, -73, 42), bowtie));
    await page.getByRole("button", { name: "Check draft" }).click();
    await page.getByText("3 errors: 2 in fees and tiers, 1 in zones.").waitFor();
    await page.getByRole("button", { name: "Show first" }).click();
    await page.locator("input:focus[value='a lot'], input:focus[name=base_fee]").waitFor();
    const described = await page.getByLabel("Minimum charge").getAttribute("aria-describedby");
    // The error precedes the hint.
    const leastError = page.locator(`[id="${described!.split(" ")[0]}"]`);
    await expect
      .poll(() => leastError.textContent())
      .toBe('Must be a decimal string of 0 or more, such as "5.00"; it is "a lot".');
    await expect
      .poll(() => tier(page, 4).locator(".field-error").allTextContents())
      .toEqual([
        "Must be at least 50, the end of the previous tier; it is 49; put the tiers in ascending order and without overlap.",
      ]);
    const faults = page.getByRole("list", { name: "Errors in the zones" });
    await expect
      .poll(() => faults.getByRole("listitem").allTextContents())
      .toEqual([expect.stringMatching(/^Zone 2: The outer ring crosses itself/)]);
    await faults.getByRole("button", { name: "Show on the map" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("?check=on&zone=1");
    await expectWellShown(page, "draft-faults");

    // Fixes the errors. Saving sorts the tiers.
    await tier(page, 4).getByLabel("Over, kg").fill("5");
    await tier(page, 4).getByLabel("To, kg").fill("20");
    await tier(page, 2).getByLabel("Over, kg").fill("50");
    await tier(page, 2).getByLabel("To, kg").fill("100");
    await page.getByLabel("Minimum charge").fill("6.00");
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("1 error: 1 in zones.").waitFor();
    await upload(page, zonesOf(square(-75, 40, -73, 42)), "put-right.geojson");
    const isClean = page.getByText("No errors, 4 tiers and 1 zone. It can be published.");
    await isClean.waitFor();
    // The check covers the saved draft only.
    const charge = page.getByLabel("Minimum charge");
    const saved = await charge.inputValue();
    await charge.fill("a lot");
    await page.getByText("Checks use the saved version.").waitFor();
    expect(await isClean.count()).toBe(0);
    await charge.fill(saved);
    await isClean.waitFor();
    const { base_fee, rate_per_km, tiers } = (await draftIn(page)).fees;
    expect({ base_fee, rate_per_km, tiers: tiers.map(({ min_kg }: any) => min_kg) }).toEqual({
      base_fee: "6.00",
      rate_per_km: "2.40",
      tiers: [0, 5, 20, 50],
    });

    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByText("Largest changes").waitFor();
    const counts = page.locator("dl", { hasText: "Served by neither" }).locator("dd");
    await expect.poll(async () => (await counts.allTextContents()).slice(0, 5)).toEqual(["1", "1", "0", "0", "0"]);
    const largest = page.getByRole("table", { name: "Largest changes" });
    await expect
      .poll(() => largest.locator("tbody td").allTextContents())
      .toEqual([reference, expect.stringMatching(/^\d+$/), "$12.69", "$24.13", "+$11.44"]);
    const bars = page.getByRole("table", { name: "Shipments by price change" });
    await expect.poll(() => bars.getByRole("row").last().textContent()).toBe("Above +50 %1");
    await expectWellShown(page, "draft-replayed");

    await page.getByRole("button", { name: "Publish…" }).click();
    await page.getByLabel("Note").fill("Fuel is dearer.");
    await expectWellShown(page, "draft-publish");
    await page.getByRole("button", { name: "Publish now" }).click();
    await page.getByText("Version 2 is in force.").waitFor();
    expect(await inForce()).toMatchObject({
      version: 2,
      note: "Fuel is dearer.",
      author: "Grace Hopper",
      zones: 1,
      honours_quotes: true,
    });

    await page.getByRole("table", { name: "Versions" }).getByRole("link", { name: "1" }).click();
    await chooseMore(page, "Roll back to this…");
    await page.getByLabel("Note").fill("Too dear.");
    await page.getByLabel("Honor earlier quotes").uncheck();
    await expectWellShown(page, "tariff-roll-back");
    await page.getByRole("button", { name: "Roll back now" }).click();
    await page.getByText("Version 3 is in force.").waitFor();
    expect(await inForce()).toMatchObject({
      version: 3,
      repeats: 1,
      note: "Too dear.",
      zones: 5,
      honours_quotes: false,
    });
  });

  test("publishing over a version that is no longer in force warns and can continue", async () => {
    const { version } = await inForce();
    const draft = await drafts.begin({ ...SAMPLE_TARIFF, base_fee: "7.00" }, "Mine");
    const page = await openAsOperator(dashboard, `/platform/drafts/${draft.id}`);
    await page.getByRole("heading", { name: "Mine" }).waitFor();
    const other = await drafts.begin({ ...SAMPLE_TARIFF, base_fee: "8.00" }, "Another’s");
    await drafts.publish(other.id, version);
    await page.getByRole("button", { name: "Publish…" }).click();
    await page.getByRole("button", { name: "Publish now" }).click();
    await page.getByText(`Version ${version + 1} is now in force, not ${version}.`).waitFor();
    await page.getByText(`It replaces version ${version + 1}.`).waitFor();
    await page.getByRole("link", { name: "Check the tariff now in force" }).waitFor();
    await expectWellShown(page, "draft-publish-replaced");
    await page.getByRole("button", { name: "Publish now" }).click();
    await page.getByText(`Version ${version + 2} is in force.`).waitFor();
    expect((await inForce()).fees.base_fee).toBe("7.00");
  });

  test.each(WITHOUT_POINTER)(
    "is saved, checked, replayed and found in the audit log, %s",
    async (_, options, press) => {
      const { id } = await drafts.begin(SAMPLE_TARIFF, "Pressed");
      const schedules = { schedules: [scheduleOf()], default_schedule: "" };
      await drafts.call("PATCH", `tariff_drafts/${id}`, { schedules });
      const page = await openAsOperator(dashboard, `/platform/drafts/${id}`, "operator", options);
      const button = (name: string) => page.getByRole("button", { name, exact: true });
      await press(page, page.getByLabel("Minimum charge"));
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type("9.00");
      if (press === enter) {
        await page.getByText("There are unsaved changes.").waitFor();
        await page.getByLabel("Name", { exact: true }).focus();
        let stops = 0;
        const isReached = () => button("Save draft").and(page.locator(":focus")).count();
        for (; (await isReached()) === 0 && stops <= 40; stops++) await page.keyboard.press("Tab");
        expect(stops).toBeLessThanOrEqual(40);
      }
      await press(page, button("Save draft"));
      // The pressed button disappears, and the next button in the bar gets the focus.
      await page.locator("button:focus", { hasText: "Check draft" }).waitFor();
      expect((await draftIn(page)).fees.base_fee).toBe("9.00");
      await press(page, button("Check draft"));
      await page.getByText("No errors, 3 tiers and 5 zones. It can be published.").waitFor();
      await press(page, button("Replay"));
      await page.getByText("Served by both").waitFor();
      await expectUsable(page);
      await press(page, button("Publish…"));
      await press(page, page.getByRole("dialog").getByRole("button", { name: "Cancel" }));
      const navigation = button("Navigation");
      if (await navigation.isVisible()) await press(page, navigation);
      await press(page, page.getByRole("link", { name: "Audit log" }));
      const entry = page.getByRole("table", { name: "Changes" }).locator("tbody tr").first();
      await press(page, entry.locator("summary"));
      await entry.getByText("9.00").first().waitFor();
      await expectUsable(page);
    },
  );

  test("concurrent changes are not overwritten without confirmation", async () => {
    const draft = await drafts.begin(worldTariff(), "Shared");
    const page = await openAsOperator(dashboard, `/platform/drafts/${draft.id}`);
    await page.getByLabel("Minimum charge").fill("1.00");
    await drafts.call("PATCH", `tariff_drafts/${draft.id}`, { name: "Theirs" });
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("Someone else has changed this draft.").waitFor();
    expect((await draftIn(page)).fees.base_fee).toBe("0");
    await page.getByRole("button", { name: "Discard my changes" }).click();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Theirs");
    await page.getByLabel("Minimum charge").fill("2.00");
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("Draft saved.").waitFor();
    expect(await draftIn(page)).toMatchObject({ name: "Theirs", fees: { base_fee: "2.00" } });
  });

  test("keeps typed text and the focus while it is being saved", async () => {
    const draft = await drafts.begin(SAMPLE_TARIFF, "Busy");
    const page = await openAsOperator(dashboard, `/platform/drafts/${draft.id}`);
    const { requested, release } = await holdBack(page, "UpdateTariffDraft");
    await page.getByLabel("Minimum charge").fill("9.00");
    const tier = page.getByLabel("Flat fee").first();
    await tier.press("Enter");
    await requested;
    await tier.fill("8.75");
    release();
    await page.getByText("Draft saved.").waitFor();
    await page.getByText("There are unsaved changes.").waitFor();
    await expect.poll(() => tier.inputValue()).toBe("8.75");
    await expect.poll(() => tier.and(page.locator(":focus")).count()).toBe(1);
    expect((await draftIn(page)).fees.base_fee).toBe("9.00");
    await tier.press("Enter");
    await page.getByText("Saved. Run a check to find all errors.").waitFor();
    expect((await draftIn(page)).fees.tiers[0].flat_fee).toBe("8.75");
  });

  test("asks before leaving with unsaved changes", async () => {
    const draft = await drafts.begin(SAMPLE_TARIFF, "Half done");
    const page = await openAsOperator(dashboard, `/platform/drafts/${draft.id}`);
    const charge = page.getByLabel("Minimum charge");
    const link = page.getByRole("link", { name: "Health" });
    const health = page.getByRole("heading", { name: "Health", level: 1 });
    const questions = noteAsked(page);
    const change = async () => {
      await charge.click();
      await page.keyboard.type("1");
      await page.getByText("There are unsaved changes.").waitFor();
    };
    // Leaving an unchanged page needs no confirmation. The history then has a later page.
    await charge.waitFor();
    await link.click();
    await health.waitFor();
    await page.goBack();
    await change();
    const typed = await charge.inputValue();
    const goForward = () => page.evaluate("history.forward()");
    const signOut = async () => {
      await page.getByRole("button", { name: "Workspace and account" }).click();
      await page.getByRole("button", { name: "Sign out" }).click();
    };
    const goByKeys = async () => {
      await page.evaluate("document.activeElement.blur()");
      await page.keyboard.type("gh");
    };
    for (const leave of [() => link.click(), goByKeys, goForward, signOut]) {
      await leave();
      await page.getByRole("dialog", { name: "Leave without saving?" }).waitFor();
      await pressInDialog(page, "Stay");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await expect.poll(() => charge.inputValue()).toBe(typed);
    }
    await page.reload();
    expect(questions).toEqual(["beforeunload"]);
    await expect.poll(() => charge.inputValue()).not.toBe(typed);
    await change();
    await goForward();
    await page.getByRole("dialog", { name: "Leave without saving?" }).waitFor();
    await expectWellShown(page, "draft-leave");
    await pressInDialog(page, "Leave without saving");
    await health.waitFor();
    await page.goBack();
    await change();
    await link.click();
    await pressInDialog(page, "Leave without saving");
    await health.waitFor();
    await page.reload();
    expect(questions).toEqual(["beforeunload"]);
  });

  test("does not ask before leaving without unsaved changes or without a session", async () => {
    const draft = await drafts.begin(SAMPLE_TARIFF, "Done");
    const page = await openAsOperator(dashboard, `/platform/drafts/${draft.id}`);
    const charge = page.getByLabel("Minimum charge");
    const questions = noteAsked(page);
    await charge.click();
    await page.keyboard.type("1");
    await page.getByRole("button", { name: "Save draft" }).click();
    await page.getByText("Saved. Run a check to find all errors.").waitFor();
    await page.getByRole("link", { name: "Drafts" }).first().click();
    await page.getByRole("link", { name: "Done", exact: true }).click();
    await charge.click();
    await page.keyboard.type("2");
    await page.getByText("There are unsaved changes.").waitFor();
    await page.context().clearCookies();
    // Clicks the button only if the page has not already detected the change.
    await page.evaluate("document.querySelector('.page-bar button')?.click()");
    await page.getByText("Your session has expired.").waitFor();
    await page.reload();
    expect(questions).toEqual([]);
  });

  test("shows an error of a tier in its row", async () => {
    const draft = await drafts.begin(worldTariff(), "Half");
    const page = await openAsOperator(dashboard, `/platform/drafts/${draft.id}`);
    await tier(page, 1).getByLabel("To, kg").fill("");
    await page.getByRole("button", { name: "Save draft" }).click();
    await tier(page, 1).locator(".field-error").waitFor();
    await expect.poll(() => tier(page, 1).getByLabel("To, kg").getAttribute("aria-invalid")).toBe("true");
  });

  test("imports a file of many megabytes in chunks, and shows it only on request", async () => {
    const draft = await drafts.begin(worldTariff(), "Large");
    const page = await openAsOperator(dashboard, `/platform/drafts/${draft.id}`);
    const zones = { ...zonesOf(square(0, 0, 1, 1)), padding: "x".repeat(9_000_000) };
    const offsets: string[] = [];
    page.on("request", (request) => {
      if (request.method() !== "PUT") return;
      offsets.push(new URL(request.url()).searchParams.get("offset")!);
    });
    await page.getByRole("button", { name: "Import…" }).click();
    await pressInDialog(page, "Import");
    await page.getByText("Choose a file or paste a text first.").waitFor();
    await pressInDialog(page, "Cancel");
    await upload(page, zones);
    expect(offsets).toEqual(Array.from({ length: 9 }, (_, i) => String(i * 1024 * 1024)));
    expect((await draftIn(page)).zones_bytes).toBe(JSON.stringify(zones).length);
    await page.getByText("The zones take 9 MB").waitFor();
    await page.getByRole("button", { name: "Show them on the map" }).click();
    await page.getByRole("application", { name: /Zones: .*Zone 1/ }).waitFor();
  });

  test("reports zones that are not GeoJSON", async () => {
    const draft = await drafts.begin(worldTariff(), "Broken");
    const page = await openAsOperator(dashboard, `/platform/drafts/${draft.id}?check=on`);
    await upload(page, "{ no json", "broken.geojson");
    await page.getByText("The zones are not a valid GeoJSON FeatureCollection").waitFor();
    const faults = page.getByRole("list", { name: "Errors in the zones" });
    await faults.getByText("Must be JSON text in UTF-8").waitFor();
  });

  test("is deleted after confirmation", async () => {
    const draft = await drafts.begin(worldTariff(), "Gone");
    const page = await openAsOperator(dashboard, `/platform/drafts/${draft.id}`);
    await chooseMore(page, "Delete…");
    await page.getByRole("button", { name: "Delete draft" }).click();
    await page.getByText("Draft Gone deleted.").waitFor();
    expect((await drafts.call("GET", `tariff_drafts/${draft.id}`)).status).toBe(404);
    await page.goto(`/platform/drafts/${draft.id}`);
    await page.getByText("This draft does not exist").waitFor();
  });

  test("a viewer sees everything, including its faults and a replay, and can change nothing", async () => {
    const tiers = [{ min_kg: 5, max_kg: 1, flat_fee: "0", rate_per_kg: "0" }];
    const draft = await drafts.begin({ ...SAMPLE_TARIFF, tiers }, "Seen");
    const path = `/platform/drafts/${draft.id}?check=on&replay=10`;
    const page = await openAsOperator(dashboard, path, "viewer");
    await page.getByRole("application", { name: /Draft zones/ }).waitFor();
    for (const name of COUNTIES) {
      await page.getByRole("button", { name, exact: true }).waitFor();
    }
    await page.getByRole("list", { name: "Errors in fees and tiers" }).waitFor();
    const allowed = /^(Check again|Show first|Replay|Try again|Zoom in|Zoom out|Show all|Skip.*)$/;
    const main = page.getByRole("main");
    const buttons = await main.getByRole("button").allTextContents();
    const others = buttons.map((text) => text.replace(/^[+−⤢]/, "")).filter((it) => !allowed.test(it));
    expect(others).toEqual(COUNTIES);
    await expect.poll(() => main.getByRole("textbox").count()).toBe(1);
    await expectWellShown(page, "draft-viewer");
    await page.goto("/platform/drafts?new=1");
    await page.getByRole("table", { name: "Drafts" }).waitFor();
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await expect.poll(() => page.getByRole("button", { name: "New draft" }).count()).toBe(0);
    await expectWellShown(page, "drafts");
  });
});
