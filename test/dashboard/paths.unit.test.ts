import { expect, onTestFinished, test, vi } from "vitest";
import { movedHref, paths, settingsHref } from "../../src/dashboard/routes/paths.ts";

test("a path is built of its parameters, escaped, and a query of what is given", () => {
  expect(paths.shipment({ workspace: 7n, reference: "a/b ?" })).toBe("/w/7/shipments/a%2Fb%20%3F");
  expect(paths.shipments({ workspace: "7" }, { status: "1", customer: undefined, from: "", to: "a b" })).toBe(
    "/w/7/shipments?status=1&to=a+b",
  );
});

test("a link leads within the workspace of the page that it stands on", () => {
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
])("%s has the parameters of a shipment's path: %o", (pathname, parameters) => {
  expect(paths.shipment.match(pathname)).toEqual(parameters);
});

test("an address with a slash at its end is that of the page without", () => {
  expect(movedHref("/w/7/", "?days=7")).toBe("/w/7?days=7");
  expect(movedHref("/platform/drafts/", "")).toBe("/platform/drafts");
  for (const path of ["/", "/w/7", "/sign-in/"]) expect(movedHref(path, "")).toBeUndefined();
});

test("addresses of settings from before lead to their parts of the one page, with their queries", () => {
  expect(movedHref("/w/7/settings/payments", "?back=done")).toBe(settingsHref("payments", { back: "done" }, 7n));
  expect(settingsHref("members", {}, 7n)).toBe("/w/7/settings#members");
  for (const path of ["/w/7/settings", "/w/7/settings/api", "/w/7/settings/other"]) {
    expect(movedHref(path, "")).toBeUndefined();
  }
});
