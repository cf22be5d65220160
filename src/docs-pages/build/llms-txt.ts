import type { Guides } from "./guides.ts";
import { markdownPathOf } from "./links.ts";
import type { Guide } from "./render-guide.ts";

const REFERENCE = `- [OpenAPI](/openapi.json): all operations of the JSON API, with their fields, examples and refusals
- [Proto files](/protos.tar.gz): the same for gRPC and Connect, as an archive`;

/** Returns the list of documents for language models, in the format of llmstxt.org. */
export function llmsTxt({ guides, changelog }: Guides): string {
  const [start] = guides;
  return `# ${start!.title}

> ${start!.description}

All guides are Markdown. Agents with a key can use tools at \`/mcp\` (Model Context Protocol).

## Guides

${guides.map(lineOf).join("\n")}

## Reference

${REFERENCE}
${lineOf(changelog)}
`;
}

function lineOf({ path, title, description }: Guide): string {
  return `- [${title}](${markdownPathOf(path)}): ${description}`;
}
