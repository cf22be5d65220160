import { describe, expect, test } from "vitest";
import { createSlugs, resolveLink } from "../../src/docs-pages/build/links.ts";

describe("a link of a guide", () => {
  test.each([
    ["operations.md#running-as-root", "src/docs/tariff.md", "/docs/operations#running-as-root"],
    ["../../README.md#where-to-go-next", "src/docs/tariff.md", "/docs#where-to-go-next"],
    ["src/docs/clients.md", "README.md", "/docs/clients"],
    ["CHANGELOG.md", "README.md", "/docs/changelog"],
    ["../../gen/openapi/openapi.json", "src/docs/clients.md", "/openapi.json"],
    ["#json", "src/docs/clients.md", "#json"],
    ["https://example.org/a.md", "README.md", "https://example.org/a.md"],
    ["/metrics", "README.md", "/metrics"],
  ])("%s in %s resolves to %s", (link, from, href) => {
    expect(resolveLink(link, from)).toEqual({ href });
  });

  test.each([
    ["../../proto/shipments/v1", "proto/shipments/v1"],
    ["../demo/sample-tariff.json", "src/demo/sample-tariff.json"],
    ["pictures/book.png", "src/docs/pictures/book.png"],
    ["../../test/bench/results.md", "test/bench/results.md"],
  ])("%s resolves to a repository file that the server does not serve", (link, file) => {
    expect(resolveLink(link, "src/docs/clients.md")).toEqual({ file });
  });
});

test("heading anchors match GitHub's, with numbers for repeated texts", () => {
  const slugOf = createSlugs();
  expect(
    ["Running as root", "By `OIDC_ISSUER`, or not?", "curl and buf curl", "Größe & C++", "Added", "Added", "Added"].map(
      slugOf,
    ),
  ).toEqual([
    "running-as-root",
    "by-oidc_issuer-or-not",
    "curl-and-buf-curl",
    "größe--c",
    "added",
    "added-1",
    "added-2",
  ]);
});
