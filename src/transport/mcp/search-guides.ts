import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Tool } from "@modelcontextprotocol/server";
import MiniSearch from "minisearch";
import { z } from "zod";
import { markdownPathOf } from "../../docs-pages/build/places.ts";
import { SEARCH_OPTIONS, type SearchedSection } from "../../docs-pages/search-options.ts";
import { loadOnce } from "../../domain/load-once.ts";
import { Refusal } from "../../domain/refusal.ts";

const Request = z.object({
  query: z.string().trim().min(1).max(200).describe("Words, such as `refund dispute`."),
  limit: z
    .int()
    .min(1)
    .max(10)
    .default(3)
    .describe("How many sections, 1 to 10; 3 when not given."),
});

const Response = z.object({
  notice: z.string(),
  data: z.array(
    z.object({
      guide: z.string(),
      heading: z.string(),
      address: z.string().describe("Where it is on this server."),
      text: z.string(),
    }),
  ),
});

/** How much of a section is answered, in characters, so that ten fit a result. */
const MAX_TEXT = 1_500;

export const SEARCH_GUIDES = {
  name: "search_guides",
  title: "Searches the guides",
  description:
    "Searches the guides and the reference of the API, which explain prices, windows, payments, the life of a shipment, refusals and limits.",
  inputSchema: jsonSchemaOf(Request),
  outputSchema: jsonSchemaOf(Response),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
} satisfies Tool;

/**
 * Builds the search in the index that the guides' pages have, which is read when it is first needed.
 *
 * @param folder where the pages were built
 * @returns finds sections with some of the words, the best first. Throws Refusal FIELD_INVALID
 */
export function createSearchGuides(folder: string) {
  const index = loadOnce(async () => {
    const assets = join(folder, "assets");
    const name = (await readdir(assets)).find((it) => /^search-.*\.json$/.test(it));
    if (name === undefined) throw new Error(`${assets} has no search index`);
    const json = await readFile(join(assets, name), "utf8");
    return MiniSearch.loadJSON<SearchedSection>(json, SEARCH_OPTIONS);
  });
  return async (args: unknown) => {
    const { success, data, error } = Request.safeParse(args);
    if (!success) throw toRefusal(error);
    const { query, limit } = data;
    const sections = await index.get();
    // Agents write whole words, and sentences of them.
    const found = sections.search(query, { combineWith: "OR", prefix: false, fuzzy: false });
    return { data: found.slice(0, limit).map(toSection) };
  };
}

function toSection({ id, guide, heading, text }: Record<string, string>) {
  return { guide, heading, address: markdownPathOf(id!), text: text!.slice(0, MAX_TEXT) };
}

function toRefusal({ issues }: z.ZodError): Refusal {
  return new Refusal(
    issues.map(({ path, message }) => {
      const subject = path.join(".");
      return { reason: "FIELD_INVALID", subject, text: `${subject}: ${message}.` };
    }),
  );
}

function jsonSchemaOf(schema: z.ZodObject): Tool["inputSchema"] {
  return z.toJSONSchema(schema, { io: "input" }) as Tool["inputSchema"];
}
