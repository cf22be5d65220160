import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Tool } from "@modelcontextprotocol/server";
import MiniSearch from "minisearch";
import { z } from "zod";
import { markdownPathOf } from "../../docs-pages/build/links.ts";
import { SEARCH_OPTIONS, type SearchedSection } from "../../docs-pages/search-options.ts";
import { loadOnce } from "../../domain/load-once.ts";
import { nearestByWords } from "../../domain/nearest-name.ts";
import { Refusal } from "../../domain/refusal.ts";
import { unknownFieldViolation } from "../http/json-route.ts";
import type { CallOutcome } from "./call-rpc.ts";
import { callListTool } from "./call-tool.ts";
import { cut, type JsonObject } from "./tool-result.ts";

const DEFAULT_LIMIT = 3;

const Request = z.strictObject({
  query: z.string().trim().min(1).max(200).describe("Search terms, such as `refund dispute`."),
  limit: z.int().min(1).max(10).default(DEFAULT_LIMIT).describe("Maximum number of sections, 1 to 10. Default: 3."),
  page_token: z.string().optional().describe("The next_page_token of the previous page."),
});

const Response = z.object({
  notice: z.string(),
  data: z.array(
    z.object({
      guide: z.string(),
      heading: z.string(),
      address: z.string().describe("Path of the section on this server."),
      text: z.string(),
    }),
  ),
  next_page_token: z.string(),
});

/** Maximum length of a section's text, in characters. Ten sections then usually fit in a result. */
const MAX_TEXT = 1_500;

export const SEARCH_GUIDES = {
  name: "search_guides",
  title: "Searches the guides",
  description:
    "Searches the guides and the API reference. They cover prices, delivery windows, payments, the shipment life cycle, errors and limits.",
  inputSchema: jsonSchemaOf(Request),
  outputSchema: jsonSchemaOf(Response),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
} satisfies Tool;

/**
 * Creates a search in the index of the guides, which is read on first use.
 *
 * @param folder build folder of the guides
 * @returns a function that finds sections with some of the words, best first. Throws Refusal FIELD_INVALID
 */
export function createSearchGuides(folder: string) {
  const index = loadOnce(async () => {
    const assets = join(folder, "assets");
    const name = (await readdir(assets)).find((it) => /^search-.*\.json$/.test(it));
    if (name === undefined) throw new Error(`${assets} has no search index`);
    const json = await readFile(join(assets, name), "utf8");
    return MiniSearch.loadJSON<SearchedSection>(json, SEARCH_OPTIONS);
  });

  async function search(args: unknown): Promise<CallOutcome> {
    const { success, data, error } = Request.safeParse(args);
    if (!success) return { refusal: toRefusal(error) };
    const { query, limit } = data;
    const sections = await index.get();
    // Agents send whole words and sentences, so prefixes and typos are not matched.
    const found = sections.search(query, { combineWith: "OR", prefix: false, fuzzy: false });
    return { json: { data: found.slice(0, limit).map(toSection) }, replayed: false };
  }

  return (args: JsonObject) =>
    callListTool({ size: ["limit", DEFAULT_LIMIT], paging: { lists: ["data"] } }, args, search);
}

function toSection({ id, guide, heading, text }: Record<string, string>) {
  const address = markdownPathOf(id!);
  return { guide, heading, address, text: cut(text!, MAX_TEXT, ` at ${address}`) };
}

function toRefusal({ issues }: z.ZodError): Refusal {
  return new Refusal(
    issues.flatMap((issue) => {
      if (issue.code === "unrecognized_keys") {
        const names = Object.keys(Request.shape);
        return issue.keys.map((key) => unknownFieldViolation(key, nearestByWords(key, names)));
      }
      const subject = issue.path.join(".");
      return [{ reason: "FIELD_INVALID", subject, text: `${subject}: ${issue.message}.` }];
    }),
  );
}

function jsonSchemaOf(schema: z.ZodObject): Tool["inputSchema"] {
  return z.toJSONSchema(schema, { io: "input" }) as Tool["inputSchema"];
}
