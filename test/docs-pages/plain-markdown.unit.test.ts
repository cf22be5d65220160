import { expect, test } from "vitest";
import { markdownPathOf } from "../../src/docs-pages/build/links.ts";
import { plainMarkdown } from "../../src/docs-pages/build/plain-markdown.ts";

const picture = () => ({ src: "/docs/assets/book-abc.png", width: 1, height: 1 });

test.each([
  ["[Clients](clients.md)", "[Clients](/docs/clients.md)"],
  ["[keys\nand JSON](clients.md#json)", "[keys\nand JSON](/docs/clients.md#json)"],
  ["[README](../../README.md#start)", "[README](/docs/index.md#start)"],
  ["[`REASONS`](errors.md)", "[`REASONS`](/docs/errors.md)"],
  ["[the API](../../gen/openapi/openapi.json)", "[the API](/openapi.json)"],
  ["[reference](/docs/api)", "[reference](/docs/api)"],
  ["[below](#json) [RFC](https://example.org/a.md)", "[below](#json) [RFC](https://example.org/a.md)"],
  ["![A book](pictures/book.png)", "![A book](/docs/assets/book-abc.png)"],
  ["[sample](../demo/sample-tariff.json)", "sample (in the repository: src/demo/sample-tariff.json)"],
  ["[`proto/shipments/v1`](../../proto/shipments/v1)", "`proto/shipments/v1`"],
  ["`[code](clients.md)`", "`[code](clients.md)`"],
  ["```sh background=/v1\n[code](clients.md)\n```", "```sh\n[code](clients.md)\n```"],
])("converts %j to %j", (markdown, expected) => {
  expect(plainMarkdown({ file: "src/docs/tariff.md", markdown, picture })).toBe(expected);
});

test.each([
  ["/docs", "/docs/index.md"],
  ["/docs#start", "/docs/index.md#start"],
  ["/docs/clients#json", "/docs/clients.md#json"],
  ["/docs/api", "/docs/api"],
  ["/docs/api#/QuoteService/createQuote", "/docs/api#/QuoteService/createQuote"],
  ["/docs/assets/book-abc.png", "/docs/assets/book-abc.png"],
  ["/metrics", "/metrics"],
  ["#json", "#json"],
])("the page %s is available as Markdown at %s", (href, expected) => {
  expect(markdownPathOf(href)).toBe(expected);
});
