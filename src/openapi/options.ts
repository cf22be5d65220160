import { getOption, hasOption, type AnyDesc, type DescField, type Message, type Registry } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { getComments } from "@bufbuild/protoplugin";

export type Json = Readonly<Record<string, unknown>>;

/**
 * Reads options by extension name from the given files, because the generated code that declares the
 * options does not exist yet.
 */
export type Options = <T>(desc: AnyDesc, name: string) => T | undefined;

export function createOptions(registry: Registry): Options {
  return <T>(desc: AnyDesc, name: string) => {
    const extension = registry.getExtension(name);
    if (extension === undefined) throw new Error(`there is no option ${name}`);
    return hasOption(desc as never, extension) ? (getOption(desc as never, extension) as T) : undefined;
  };
}

export function rulesOf(field: DescField, options: Options, registry: Registry): ReflectMessage | undefined {
  const rules = options<Message>(field, "buf.validate.field");
  return rules && reflect(registry.getMessage("buf.validate.FieldRules")!, rules);
}

export function isRequired(rules: ReflectMessage | undefined): boolean {
  const required = rules?.fields.find(({ name }) => name === "required");
  return required !== undefined && rules!.get(required) === true;
}

/**
 * Returns a declaration's comment with joined lines, as the member `description`. Returns an empty
 * object if there is no comment.
 */
export function descriptionOf(desc: Parameters<typeof getComments>[0]): {
  readonly description?: string;
} {
  const text = getComments(desc)
    .leading?.trim()
    .replace(/\s*\n\s*/g, " ");
  return text === undefined || text === "" ? {} : { description: text };
}

/** Returns the description of a response's `data`, such as "The shipments." Empty for other fields. */
export function dataDescription(field: DescField | undefined): { readonly description?: string } {
  if (field?.name !== "data" || field.message === undefined) return {};
  const noun = nounOf(field.message.name);
  return { description: field.fieldKind === "list" ? `The ${pluralOf(noun)}.` : `The ${noun}.` };
}

/** Returns the noun for a message name: "workspace" for `AdminWorkspace`, "API key" for `ApiKey`. */
function nounOf(name: string): string {
  const words = name.replace(/^Admin(?=[A-Z])/, "").replace(/(?<=[a-z])(?=[A-Z])/g, " ");
  return words.toLowerCase().replace(/\bapi\b/, "API");
}

function pluralOf(noun: string): string {
  return noun.endsWith("y") && !noun.endsWith("key") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
