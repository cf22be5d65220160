import type { Guides } from "./guides.ts";
import { markdownPathOf } from "./links.ts";
import type { Guide } from "./render-guide.ts";

const REFERENCE = `- [OpenAPI](/openapi.json): every call of the JSON API, with its fields, examples and refusals
- [Proto files](/protos.tar.gz): the same for gRPC and Connect, as an archive`;

/** Returns the list of documents for language models, in the format of llmstxt.org. */
export function llmsTxt({ guides, changelog }: Guides): string {
  const [start] = guides;
  return `# ${start!.title}

> ${start!.description}

Every guide here is Markdown. Agents with a key have tools at \`/mcp\`, by the Model Context Protocol.

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
