import type { Options } from "minisearch";

/** An indexed section of a guide, or an operation of the API. */
export interface SearchedSection {
  /** Unique URL. */
  readonly href: string;
  readonly heading: string;
  /** Title of the page that contains the section. */
  readonly guide: string;
  readonly text: string;
}

/** Options of the search index. Building and reading the index require the same options. */
export const SEARCH_OPTIONS: Options<SearchedSection> = {
  idField: "href",
  fields: ["heading", "guide", "text"],
  storeFields: ["heading", "guide", "text"],
  // Punctuation separates words, so that `<b>` and `a=b` are found by their words.
  tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u),
  searchOptions: {
    boost: { heading: 3, guide: 2 },
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    combineWith: "AND",
  },
};
