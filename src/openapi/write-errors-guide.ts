/** Writes the reasons into the guide to errors, by status. */
import { readFileSync, writeFileSync } from "node:fs";
import { REASONS } from "../domain/refusal-reasons.ts";

const GUIDE = new URL("../docs/errors.md", import.meta.url);

/** The statuses that no gRPC caller meets: HTTP/2 says the same in its own way. */
const BY_HTTP_ALONE: readonly number[] = [405, 408, 415, 431];

const byStatus = Map.groupBy(Object.entries(REASONS), ([, { code, httpStatus }]) => {
  const name = code.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  return BY_HTTP_ALONE.includes(httpStatus) ? `${httpStatus}` : `${httpStatus} ${name}`;
});
const sections = [...byStatus].map(([status, reasons]) => {
  const lines = reasons.map(([reason, { subject, text, isFixed }]) => {
    const about = subject === undefined ? "" : ` (\`${subject}\`)`;
    return `- \`${reason}\`${about}: ${isFixed ? "" : "e.g. "}${text}`;
  });
  return `### ${status}\n\n${lines.join("\n")}\n`;
});
const guide = readFileSync(GUIDE, "utf8");
writeFileSync(
  GUIDE,
  guide.replace(/^### 400.*?(?=\n## )/ms, () => sections.join("\n")),
);
