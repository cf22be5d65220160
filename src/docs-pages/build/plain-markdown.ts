import type { GuideSource } from "./guide-source.ts";
import { markdownPathOf, resolveLink } from "./places.ts";

/** Fenced code; code in a line, which stays as it is; or else a link or a picture. */
const PART =
  /(?<fence>^ *```\w*)[^\n]*(?<code>[^]*?^ *```)|(`+)[^`]+?\3|(?<mark>!?)\[(?<text>[^\]]*)\]\((?<link>[^)\s]+)\)/gm;

type Parts = Readonly<Record<"fence" | "code" | "mark" | "text" | "link", string | undefined>>;

/**
 * A guide as Markdown for readers who have only what the server serves: links lead to guides in Markdown, and
 * what the server does not have is named instead, by its path in the repository. Of code the language is said alone.
 */
export function plainMarkdown({ file, markdown, picture }: GuideSource): string {
  return markdown.replaceAll(PART, (whole, ...rest) => {
    const { fence, code, mark, text, link } = rest.at(-1) as Parts;
    if (fence !== undefined) return `${fence}${code}`;
    if (link === undefined) return whole;
    const target = resolveLink(link, file);
    if ("href" in target) return `${mark}[${text}](${markdownPathOf(target.href)})`;
    if (mark === "!") return `![${text}](${picture(target.file).src})`;
    return target.file.endsWith(text!.replaceAll("`", ""))
      ? text!
      : `${text} (in the repository: ${target.file})`;
  });
}
