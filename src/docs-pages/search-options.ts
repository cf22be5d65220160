import type { Options } from "minisearch";

/** A section of a guide, or an operation of the API, in the index. */
export interface SearchedSection {
  /** Its address, which no other has. */
  readonly href: string;
  readonly heading: string;
  /** The title of the page. */
  readonly guide: string;
  readonly text: string;
}

/** How the index is made when pages are built, and read in browsers: both have to be the same. */
export const SEARCH_OPTIONS: Options<SearchedSection> = {
  idField: "href",
  fields: ["heading", "guide", "text"],
  storeFields: ["heading", "guide", "text"],
  // Signs split words as well, so that `<b>` and `a=b` are found by their words.
  tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u),
  searchOptions: {
    boost: { heading: 3, guide: 2 },
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    combineWith: "AND",
  },
};
