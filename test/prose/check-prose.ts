/**
 * Checks the English of guides, comments, proto comments and messages. Counts phrases that technical documentation
 * hardly uses, per 1,000 words. Exits with code 1 if a kind of text or a folder exceeds its budget.
 *
 *     node test/prose/check-prose.ts [PATH]   lists every hit in a file or folder if a path is given
 */
import { globSync, readFileSync } from "node:fs";

/** Maximum number of hits per 1,000 words, for each kind of text. */
const BUDGET = 5;
/** Maximum number of hits per 1,000 words, for each kind of text in a folder. Small folders are not checked. */
const FOLDER_BUDGET = 8;
const MIN_FOLDER_WORDS = 500;

/** Phrases to avoid, with the advice that is printed. */
const PHRASES: readonly (readonly [advice: string, phrase: RegExp])[] = [
  ["use a noun instead of a 'what' clause", /\bwhat(ever)?\b/g],
  ["name the person or role", /\b(nobody|somebody|whoever|whomever|whosever)\b/g],
  ["state it positively, or use 'no' with a noun", /\b(nothing|none)\b/g],
  ["programs return, report, log or send", /\b(says?|said|tells?|told|asks?|asked)\b/g],
  ["use the noun itself", /\b(ones?|those|that) (that|of|which|who)\b/g],
  ["use 'if no ...'", /\b(there (is|are|was) (none|no more)|where there (is|are))\b/g],
  ["use 'own', 'separate'", /\b(of (its|their|one's) own|(by|for) (itself|themselves))\b/g],
  ["use a precise verb", /\b(stands?|stood)\b|\b(comes?|came|goes|went|gone) (by|with|from|of|on|before|after)\b/g],
  ["use 'again', 'while' or 'without'", /\b(anew|meanwhile|thereby|thereof|but for|of before|no more|likewise)\b/g],
  ["use 'must' or the active voice", /\b(has|have|had|is|are|was|were) to be\b/g],
  ["use 'unchanged'", /\bas (it|they|he|she) (is|are|was|were|has|had|does|comes?|stands?)\b/g],
  ["begin with the subject", /(^|[.!?]\s+|\n\s*)(what|how|where|of|whose|who|whom)\b/g],
];

interface Passage {
  readonly kind: string;
  readonly path: string;
  readonly text: string;
}

/** Removes code, links, addresses and placeholders from a text. */
function plain(text: string): string {
  return text
    .replaceAll(/```[^]*?```/g, " ")
    .replaceAll(/`[^`\n]*`/g, "X")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/https?:\S+|\$\{[^}]*\}/g, "X");
}

const COMMENT = /(?<=^|\s)\/\*\*?([^]*?)\*\/|(?:^\s*\/\/.*\n)+/gm;
const LITERAL = /"((?:[^"\\\n]|\\.){12,})"|`((?:[^`\\]|\\.){12,})`|>([^<>{}]{12,})</g;
const WORD = /[A-Za-z']+/g;
const SQL_OR_CODE = /\b(select|insert into|update|delete from|create (table|index))\b|=>|;\s*$|const |\w\(|^[./@]/;

/** Returns a file's passages: sections of a guide, comments, or string literals with at least three words. */
function passagesOf(path: string): Passage[] {
  const text = readFileSync(path, "utf8");
  const passages = (kind: string, texts: readonly string[]) =>
    texts.map((it) => ({ kind, path, text: plain(it).toLowerCase() }));
  if (path.endsWith(".md")) return passages("guides", text.replaceAll(/```[^]*?```/g, "").split(/\n\n+/));
  const comments = [...text.matchAll(COMMENT)].map(([whole, block]) =>
    (block ?? whole).replaceAll(/^\s*(\*|\/\/) ?/gm, "").replaceAll(/@\w+( \w+)?/g, ""),
  );
  if (path.endsWith(".proto")) return passages("proto comments", comments);
  const code = text.replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
  const literals = [...code.matchAll(LITERAL)].map(([, a, b, c]) => a ?? b ?? c ?? "");
  const messages = literals.filter((it) => (it.match(/ [a-z]+/g) ?? []).length > 1 && !SQL_OR_CODE.test(it));
  return [...passages("comments", comments), ...(path.startsWith("src/") ? passages("messages", messages) : [])];
}

/** Returns the module that a file belongs to, such as `src/db` or `src/features/shipments`. */
function folderOf(path: string): string {
  const parts = path.split("/").slice(0, -1);
  return parts.slice(0, ["features", "dashboard"].includes(parts[1] ?? "") ? 3 : 2).join("/");
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function hitsOf({ text }: Passage): string[] {
  return PHRASES.flatMap(([advice, phrase]) => (text.match(phrase) ?? []).map((hit) => `"${hit.trim()}": ${advice}`));
}

const FILES = ["*.md", "src/docs/*.md", "proto/shipments/**/*.proto", "{src,test}/**/*.{ts,tsx}"];
const only = process.argv[2] ?? "";
const paths = globSync(FILES, { exclude: ["**/built/**", "**/migrations/**", "CHANGELOG.md"] });
const groups = new Map<string, { words: number; hits: number; budget: number }>();
for (const passage of paths.filter((it) => it.startsWith(only)).flatMap(passagesOf)) {
  const hits = hitsOf(passage);
  const words = passage.text.match(WORD)?.length ?? 0;
  if (only) for (const hit of hits) print(`${passage.path}: ${hit}`);
  const names = [passage.kind, `${folderOf(passage.path)} (${passage.kind})`];
  for (const [index, name] of names.entries()) {
    const group = groups.get(name) ?? {
      words: 0,
      hits: 0,
      budget: index === 0 ? BUDGET : FOLDER_BUDGET,
    };
    groups.set(name, { ...group, words: group.words + words, hits: group.hits + hits.length });
  }
}
const exceeded = [...groups].filter(
  ([, { words, hits, budget }]) => words >= MIN_FOLDER_WORDS && (1000 * hits) / words > budget,
);
for (const [name, { words, hits, budget }] of exceeded) {
  print(`${name}: ${((1000 * hits) / words).toFixed(1)} hits per 1,000 words, at most ${budget}`);
}
process.exitCode = exceeded.length > 0 ? 1 : 0;
