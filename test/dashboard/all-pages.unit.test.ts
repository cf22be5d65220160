import { expect, test } from "vitest";
import { loadAllPages } from "../../src/dashboard/api/all-pages.ts";

test("loads every page of a list, in order", async () => {
  const pages = { "": [[1, 2], "second"], second: [[3], "third"], third: [[], ""] } as const;
  const rows = await loadAllPages(({ pageToken }) => {
    const [data, nextPageToken] = pages[pageToken as keyof typeof pages];
    return Promise.resolve({ data: data as readonly number[], nextPageToken });
  });
  expect(rows).toEqual([1, 2, 3]);
});
