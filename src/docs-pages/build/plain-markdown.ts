import type { GuideSource } from "./guide-source.ts";
import { markdownPathOf, resolveLink } from "./links.ts";

/** Matches fenced code, inline code, or a link or picture. */
const PART =
  /(?<fence>^ *```\w*)[^\n]*(?<code>[^]*?^ *```)|(`+)[^`]+?\3|(?<mark>!?)\[(?<text>[^\]]*)\]\((?<link>[^)\s]+)\)/gm;

type Parts = Readonly<Record<"fence" | "code" | "mark" | "text" | "link", string | undefined>>;

/**
 * Returns a guide as Markdown for readers who only have access to the server. Links point to Markdown guides. Links to
 * files that are not served become the file's path. Info strings of code blocks keep only the language.
 */
export function plainMarkdown({ file, markdown, picture }: GuideSource): string {
  return markdown.replaceAll(PART, (whole, ...rest) => {
    const { fence, code, mark, text, link } = rest.at(-1) as Parts;
    if (fence !== undefined) return `${fence}${code}`;
    if (link === undefined) return whole;
    const target = resolveLink(link, file);
    if ("href" in target) return `${mark}[${text}](${markdownPathOf(target.href)})`;
    if (mark === "!") return `![${text}](${picture(target.file).src})`;
    return target.file.endsWith(text!.replaceAll("`", "")) ? text! : `${text} (in the repository: ${target.file})`;
  });
}
