import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";

interface Rule {
  readonly annotations?: { readonly runbook: string };
}

/** Matches the sentences from the word "log" on. */
const ABOUT_THE_LOG = /\b(?:log|logs|logged)\b(?:[^.`]|`[^`]*`|\.(?!\s))*/g;

/** Returns the quotations that follow the word "log" in a sentence, without single words, which are often fields. */
function messagesIn(text: string): string[] {
  const paragraphs = text.split(/\n\n|\n *- /).map((it) => it.replace(/\s+/g, " "));
  return paragraphs
    .flatMap((it) => it.match(ABOUT_THE_LOG) ?? [])
    .flatMap((part) => [...part.matchAll(/`([a-z][\w'-]*(?: [\w'-]+)+)`/gi)].map(([, quoted]) => quoted!));
}

test("every log message that an alert or a guide quotes is in the source", () => {
  const { groups } = parse(readFileSync("src/deploy/monitoring/alerts.yaml", "utf8")) as {
    groups: { rules: Rule[] }[];
  };
  const runbooks = groups.flatMap(({ rules }) => rules.map(({ annotations }) => annotations?.runbook ?? ""));
  const guides = ["README.md", ...globSync("src/docs/*.md")].map((name) => readFileSync(name, "utf8"));
  const messages = [...new Set([...runbooks, ...guides].flatMap(messagesIn))];
  expect(messages).toContain("payment account not checked");
  expect(messages).toContain("sign-in refused by OIDC");
  const files = globSync("src/**/*.ts").filter((name) => !/\/(built|dashboard)\//.test(name));
  const source = files.map((name) => readFileSync(name, "utf8")).join("\n");
  expect(messages.filter((it) => !source.includes(`"${it}`) && !source.includes(`\`${it}`))).toEqual([]);
});
