import MiniSearch from "minisearch";
import { SEARCH_OPTIONS, type SearchedSection } from "../search-options.ts";

/** A matching section and the words that matched. */
export interface SearchHit extends SearchedSection {
  readonly terms: readonly string[];
}

/** Returns the sections that contain all words of a query, best first. Words can be incomplete. */
export type Find = (query: string) => readonly SearchHit[];

const MAX_HITS = 12;

/** Creates the search with the prebuilt index. */
export function createFind(json: string): Find {
  const index = MiniSearch.loadJSON<SearchedSection>(json, SEARCH_OPTIONS);
  return (query) =>
    index
      .search(query)
      .slice(0, MAX_HITS)
      .map(({ id, heading, guide, text, terms }) => ({
        href: String(id),
        heading: String(heading),
        guide: String(guide),
        text: String(text),
        terms,
      }));
}
