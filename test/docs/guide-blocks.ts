import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

export interface GuideBlock {
  /** Number of the block's first line, from 1. */
  readonly line: number;
  readonly language: string;
  /** Text after the language, which readers do not see. It determines how the block is run. */
  readonly note: string;
  readonly text: string;
  /** Text between the previous block and this one. */
  readonly before: string;
}

/** A page of the documentation with its code blocks in order. */
export interface Guide {
  readonly name: string;
  readonly path: string;
  readonly blocks: readonly GuideBlock[];
}

/** Reads README.md and every page of `src/docs`. */
export function readGuides(): Guide[] {
  const pages = readdirSync("src/docs").filter((it) => it.endsWith(".md"));
  const paths = ["README.md", ...pages.map((it) => join("src/docs", it))];
  return paths.map((path) => ({
    name: basename(path),
    path,
    blocks: blocksOf(readFileSync(path, "utf8")),
  }));
}

/** Replaces responses in a guide. `answers` maps a block's first line to the new response. */
export function correctAnswers(path: string, answers: ReadonlyMap<number, string>): void {
  if (answers.size === 0) return;
  const lines = readFileSync(path, "utf8").split("\n");
  const lastFirst = [...answers].toSorted(([one], [other]) => other - one);
  for (const [line, answer] of lastFirst) {
    lines.splice(line, lines.indexOf("```", line) - line, ...answer.split("\n"));
  }
  writeFileSync(path, lines.join("\n"));
}

function blocksOf(page: string): GuideBlock[] {
  let end = 0;
  return [...page.matchAll(/^ *```(\w*) ?(.*)\n([^]*?)^ *```$/gm)].map((found) => {
    const [whole, language, note, text] = found as unknown as [string, string, string, string];
    const before = page.slice(end, found.index);
    end = found.index + whole.length;
    const line = page.slice(0, found.index).split("\n").length;
    return { line, language, note, text, before };
  });
}
