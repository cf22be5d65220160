import MiniSearch from "minisearch";
import { SEARCH_OPTIONS, type SearchedSection } from "../search-options.ts";

/** A section that was found, with the words in it that match. */
export interface Found extends SearchedSection {
  readonly terms: readonly string[];
}

/** Finds sections that have all words of a query, the best first; a word may be begun only. */
export type Find = (query: string) => readonly Found[];

const MOST = 12;

/** Reads the index that was built with the pages. */
export function createFind(json: string): Find {
  const index = MiniSearch.loadJSON<SearchedSection>(json, SEARCH_OPTIONS);
  return (query) =>
    index
      .search(query)
      .slice(0, MOST)
      .map(({ id, heading, guide, text, terms }) => ({
        href: String(id),
        heading: String(heading),
        guide: String(guide),
        text: String(text),
        terms,
      }));
}
