export type JsonSchema = Readonly<Record<string, unknown>>;
export type SchemasByName = Readonly<Record<string, JsonSchema>>;

/** The formats of numbers, which are OpenAPI's own. */
const NUMBER_FORMAT = /^(double|int32|int64)$/;
const OF_SCHEMAS = new Set(["items", "propertyNames", "additionalProperties"]);

/** What results are described without: all of it in a dozen tools would be more than agents care to read. */
const LEFT_OUT = new Set(["description", "required"]);

/**
 * A schema of the OpenAPI document by itself, with what it refers to in `$defs`; of a result, where nothing is null.
 *
 * @param schemas those that it refers to, by name
 */
export function selfContained(
  schema: JsonSchema,
  schemas: SchemasByName,
  { forResult }: { readonly forResult: boolean },
): JsonSchema {
  const $defs: Record<string, JsonSchema> = {};
  const copyAll = (named: SchemasByName) =>
    Object.fromEntries(Object.entries(named).map(([name, it]) => [name, copy(it)]));

  function copy(it: JsonSchema): JsonSchema {
    const { anyOf, ...rest } = it as { readonly anyOf?: readonly [JsonSchema, JsonSchema] };
    // The other is null.
    if (anyOf !== undefined) return copy({ ...rest, ...anyOf[0] });
    const kept = Object.entries(it).filter(
      ([keyword, value]) =>
        !(forResult && LEFT_OUT.has(keyword)) &&
        !(keyword === "format" && NUMBER_FORMAT.test(String(value))),
    );
    return Object.fromEntries(kept.map(([keyword, value]) => [keyword, copied(keyword, value)]));
  }

  function copied(keyword: string, value: unknown): unknown {
    if (keyword === "$ref") return refer(nameOf(String(value)));
    if (keyword === "properties") return copyAll(value as SchemasByName);
    if (keyword === "type" && Array.isArray(value)) return value[0];
    return OF_SCHEMAS.has(keyword) && typeof value === "object" ? copy(value as JsonSchema) : value;
  }

  function refer(name: string): string {
    if (!Object.hasOwn($defs, name)) {
      // Before its copy is there, for one that refers to itself.
      $defs[name] = {};
      $defs[name] = copy(schemas[name]!);
    }
    return `#/$defs/${name}`;
  }

  const own = copy(schema);
  return Object.keys($defs).length === 0 ? own : { ...own, $defs };
}

/** `#/components/schemas/Shipment` is that of `Shipment`. */
export function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf("/") + 1);
}
