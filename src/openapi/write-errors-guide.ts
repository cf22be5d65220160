/** Writes the reasons and remedies into the guide to errors, reasons of API callers first. */
import { readFileSync, writeFileSync } from "node:fs";
import { REASONS } from "../domain/refusal-reasons.ts";
import { BEYOND_KEYS, REMEDIES } from "../domain/refusal-remedies.ts";
import type { RefusalReason } from "../domain/refusal.ts";

const GUIDE = new URL("../docs/errors.md", import.meta.url);

/** Statuses that only HTTP has. gRPC reports these errors at the HTTP/2 level. */
const HTTP_ONLY: readonly number[] = [405, 408, 415, 431];

const reasons = Object.keys(REASONS) as RefusalReason[];
const callers = reasons.filter((it) => !BEYOND_KEYS.has(it));
const sections = [...Map.groupBy(callers, statusOf)].map(
  ([status, group]) => `### ${status}\n\n${group.map((it) => describe(it)).join("\n")}\n`,
);
const others = reasons.filter((it) => BEYOND_KEYS.has(it));
sections.push(
  `### Operators and signed-in people\n\n${others.map((it) => describe(it, `${REASONS[it].httpStatus}`)).join("\n")}\n`,
);
const guide = readFileSync(GUIDE, "utf8");
writeFileSync(
  GUIDE,
  guide.replace(/^### 400.*?(?=\n## )/ms, () => sections.join("\n")),
);

function statusOf(reason: RefusalReason): string {
  const { code, httpStatus } = REASONS[reason];
  const name = code.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  return HTTP_ONLY.includes(httpStatus) ? `${httpStatus}` : `${httpStatus} ${name}`;
}

/** Whether a reason's name already explains the problem. */
function isClear(reason: RefusalReason): boolean {
  return reason.endsWith("_LIMIT") || ![400, 401, 409, 422].includes(REASONS[reason].httpStatus);
}

/** Returns a reason's line of the guide: the first sentence of its message unless its name is clear, and its remedy. */
function describe(reason: RefusalReason, status?: string): string {
  const { subject, text } = REASONS[reason];
  const key = subject === undefined ? undefined : `\`${subject}\``;
  const about = [key, status].filter((it) => it !== undefined).join(", ");
  const [beginning = ""] = text.split(/[.;] /);
  return [
    `- \`${reason}\`${about === "" ? "" : ` (${about})`}:`,
    ...(isClear(reason) ? [] : [beginning.endsWith(".") ? beginning : `${beginning}.`]),
    `**${REMEDIES[reason]}**`,
  ].join(" ");
}
