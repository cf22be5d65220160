import type { DescMessage, MessageShape } from "@bufbuild/protobuf";

interface PageShape {
  readonly data: readonly unknown[];
  /** Token of the next page. Empty on the last page. */
  readonly nextPageToken: string;
}

/**
 * A list response. Await it to get one page, or iterate over it to get all items.
 *
 *     for await (const shipment of client.shipments.listShipments({ pageSize: 100 })) ...
 */
export interface Pages<Page extends PageShape> extends Promise<Page>, AsyncIterable<Page["data"][number]> {}

/** Response of a method: pages for a list, otherwise one message. */
export type Answer<O extends DescMessage> =
  MessageShape<O> extends PageShape ? Pages<MessageShape<O>> : Promise<MessageShape<O>>;

export function isPaged(output: DescMessage): boolean {
  return "nextPageToken" in output.field;
}

/**
 * Makes the promise of a page iterable over all items. Later pages are loaded when needed.
 *
 * @param loadNext loads the page with the given token
 */
export function toPages<Page extends PageShape>(
  first: Promise<Page>,
  loadNext: (pageToken: string) => Promise<Page>,
): Pages<Page> {
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      for (let page = await first; ; page = await loadNext(page.nextPageToken)) {
        yield* page.data;
        if (page.nextPageToken === "") return;
      }
    },
  });
}
