import type { Tool } from "@modelcontextprotocol/server";
import type { JsonSchema, SchemasByName } from "./self-contained-schema.ts";

const SENTENCE_END = /(?<=\.) (?=[A-Z`])/;

/**
 * Removes from the field descriptions of each tool the sentences that a field with the same name has in an earlier tool
 * of the list. This shortens the list, which agents read completely: updates have most fields of a booking.
 */
export function describeOnce(tools: readonly Tool[]): Tool[] {
  const described = new Set<string>();

  function fieldsOf({ properties, $defs, ...schema }: JsonSchema): JsonSchema {
    return {
      ...schema,
      ...(properties === undefined ? {} : { properties: mapFields(properties as SchemasByName) }),
      ...($defs === undefined ? {} : { $defs: mapFields($defs as SchemasByName) }),
    };
  }

  function mapFields(fields: SchemasByName): SchemasByName {
    return Object.fromEntries(
      Object.entries(fields).map(([name, { description, ...schema }]) => {
        const rest = sentencesOf(name, description as string | undefined);
        return [name, { ...fieldsOf(schema), ...(rest === "" ? {} : { description: rest }) }];
      }),
    );
  }

  function sentencesOf(name: string, description = ""): string {
    const added = description.split(SENTENCE_END).filter((sentence) => !described.has(`${name} ${sentence}`));
    for (const sentence of added) described.add(`${name} ${sentence}`);
    return added.join(" ");
  }

  return tools.map((tool) => ({ ...tool, inputSchema: fieldsOf(tool.inputSchema) as Tool["inputSchema"] }));
}
