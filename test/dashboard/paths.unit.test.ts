import { expect, onTestFinished, test, vi } from "vitest";
import { movedHref, paths, settingsHref } from "../../src/dashboard/routes/paths.ts";

test("a path contains its escaped parameters and a query of the given values", () => {
  expect(paths.shipment({ workspace: 7n, reference: "a/b ?" })).toBe("/w/7/shipments/a%2Fb%20%3F");
  expect(paths.shipments({ workspace: "7" }, { status: "1", customer: undefined, from: "", to: "a b" })).toBe(
    "/w/7/shipments?status=1&to=a+b",
  );
});

test("a link stays in the workspace of its page", () => {
  vi.stubGlobal("location", { pathname: "/w/8/customers/3" });
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(paths.shipments()).toBe("/w/8/shipments");
  expect(paths.shipment({ reference: "SHP-1" })).toBe("/w/8/shipments/SHP-1");
  expect(settingsHref("limits")).toBe("/w/8/settings#limits");
});

test.each([
  ["/w/7/shipments/SHP-1", { workspace: "7", reference: "SHP-1" }],
  ["/w/7/shipments/a%2Fb", { workspace: "7", reference: "a/b" }],
  ["/w/7/shipments/%E0%A4%A", { workspace: "7", reference: "%E0%A4%A" }],
  ["/w/7/shipments/", undefined],
  ["/w/7/shipments", undefined],
  ["/w/7/shipments/a/b", undefined],
  ["/w//shipments/a", undefined],
])("%s matches a shipment's path with the parameters %o", (pathname, parameters) => {
  expect(paths.shipment.match(pathname)).toEqual(parameters);
});

test("a path with a trailing slash redirects to the page without it", () => {
  expect(movedHref("/w/7/", "?days=7")).toBe("/w/7?days=7");
  expect(movedHref("/platform/drafts/", "")).toBe("/platform/drafts");
  for (const path of ["/", "/w/7", "/sign-in/"]) expect(movedHref(path, "")).toBeUndefined();
});

test("old settings paths redirect to their sections on the settings page, with their queries", () => {
  expect(movedHref("/w/7/settings/payments", "?back=done")).toBe(settingsHref("payments", { back: "done" }, 7n));
  expect(settingsHref("members", {}, 7n)).toBe("/w/7/settings#members");
  for (const path of ["/w/7/settings", "/w/7/settings/api", "/w/7/settings/other"]) {
    expect(movedHref(path, "")).toBeUndefined();
  }
});
