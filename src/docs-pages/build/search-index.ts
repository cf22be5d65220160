import MiniSearch from "minisearch";
import { SEARCH_OPTIONS, type SearchedSection } from "../search-options.ts";
import { operationsOf, type ApiDocument, type Operation } from "./api-html.ts";
import type { Guide, Section } from "./render-guide.ts";

/** Returns the index of all guide sections and API operations, as JSON for `MiniSearch.loadJSON`. */
export function searchIndex(guides: readonly Guide[], api: ApiDocument): string {
  const sections: SearchedSection[] = [
    ...guides.flatMap((guide) => guide.sections.map((it) => ({ ...it, guide: guide.title }))),
    ...operationsOf(api).map((it) => ({ ...sectionOfOperation(it), guide: "API reference" })),
  ];
  const index = new MiniSearch<SearchedSection>(SEARCH_OPTIONS);
  index.addAll(sections);
  return JSON.stringify(index);
}

function sectionOfOperation({ href, method, path, description }: Operation): Section {
  return { href, heading: `${method} ${path}`, text: description };
}
