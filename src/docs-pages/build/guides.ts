import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Picture } from "./guide-source.ts";
import { CHANGELOG, GUIDES, START } from "./links.ts";
import { renderGuide, type Guide } from "./render-guide.ts";

/** Matches a link to a guide in the README. */
const LINK = /\]\((src\/docs\/[\w-]+\.md)[)#]/g;
/** Heading of the README's list of guides. */
const LIST = "\n## Where to go next\n";

/** The changelog, and the guides in reading order. */
export interface Guides {
  readonly guides: readonly Guide[];
  readonly changelog: Guide;
}

/** Renders the README, the guides it lists in their order, unlisted guides, and the changelog. */
export function readGuides(repository: string, picture: (file: string) => Picture): Guides {
  const render = (file: string) =>
    renderGuide({ file, markdown: readFileSync(join(repository, file), "utf8"), picture });
  return {
    guides: [START, ...guideFiles(repository)].map(render),
    changelog: render(CHANGELOG),
  };
}

function guideFiles(repository: string): string[] {
  const readme = readFileSync(join(repository, START), "utf8");
  const list = readme.split(LIST)[1];
  if (list === undefined) throw new Error(`${START} has no heading "${LIST.trim()}".`);
  const named = [...list.matchAll(LINK)].map(([, file]) => file!);
  const found = readdirSync(join(repository, GUIDES))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${GUIDES}/${name}`);
  return [...new Set([...named.filter((file) => found.includes(file)), ...found.toSorted()])];
}
