import type { DescMessage, MessageShape } from "@bufbuild/protobuf";

/** What a list answers a page with. */
interface PageShape {
  readonly data: readonly unknown[];
  /** Leads to the next page; empty on the last. */
  readonly nextPageToken: string;
}

/**
 * The answer to a list: await it for one page, or iterate over it for everything.
 *
 *     for await (const shipment of client.shipments.listShipments({ pageSize: 100 })) ...
 */
export interface Pages<Page extends PageShape>
  extends Promise<Page>, AsyncIterable<Page["data"][number]> {}

/** What a method answers with: pages where it is a list, else one message. */
export type Answer<O extends DescMessage> =
  MessageShape<O> extends PageShape ? Pages<MessageShape<O>> : Promise<MessageShape<O>>;

export function isPaged(output: DescMessage): boolean {
  return "nextPageToken" in output.field;
}

/**
 * Adds to the promise of a page that it can be iterated over: what is on it, then on those after it. A
 * page is loaded when what was before it has been taken.
 *
 * @param loadNext loads the page that a token leads to
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
