export type JsonSchema = Readonly<Record<string, unknown>>;
export type SchemasByName = Readonly<Record<string, JsonSchema>>;

/** Matches OpenAPI's number formats. */
const NUMBER_FORMAT = /^(double|int32|int64)$/;
const OF_SCHEMAS = new Set(["items", "propertyNames", "additionalProperties"]);

/**
 * Returns the schema of a request with all referenced schemas in `$defs`.
 *
 * @param schemas all schemas of the document, by name
 */
export function selfContained(schema: JsonSchema, schemas: SchemasByName): JsonSchema {
  const $defs: Record<string, JsonSchema> = {};
  const copyAll = (named: SchemasByName) =>
    Object.fromEntries(Object.entries(named).map(([name, it]) => [name, copy(it)]));

  function copy(it: JsonSchema): JsonSchema {
    const entries = Object.entries(it).filter(
      ([keyword, value]) => !(keyword === "format" && NUMBER_FORMAT.test(String(value))),
    );
    return Object.fromEntries(entries.map(([keyword, value]) => [keyword, copied(keyword, value)]));
  }

  function copied(keyword: string, value: unknown): unknown {
    if (keyword === "$ref") return refer(nameOf(String(value)));
    if (keyword === "properties") return copyAll(value as SchemasByName);
    return OF_SCHEMAS.has(keyword) && typeof value === "object" ? copy(value as JsonSchema) : value;
  }

  function refer(name: string): string {
    if (!Object.hasOwn($defs, name)) {
      // The name is registered before the schema is copied, because schemas can be recursive.
      $defs[name] = {};
      $defs[name] = copy(schemas[name]!);
    }
    return `#/$defs/${name}`;
  }

  const own = copy(schema);
  return Object.keys($defs).length === 0 ? own : { ...own, $defs };
}

/** Returns the type of a response field, without null. Message names become titles. */
export function outline(schema: JsonSchema, schemas: SchemasByName): JsonSchema {
  const { $ref, anyOf, type, items } = schema as {
    readonly $ref?: string;
    /** A schema or null. */
    readonly anyOf?: readonly [JsonSchema, JsonSchema];
    readonly type?: string | readonly [string, "null"];
    readonly items?: JsonSchema;
  };
  if (anyOf !== undefined) return outline(anyOf[0], schemas);
  if ($ref !== undefined) {
    const name = nameOf($ref);
    return { type: schemas[name]!["type"], title: name };
  }
  const kind = typeof type === "string" ? type : type?.[0];
  return items === undefined ? { type: kind } : { type: kind, items: outline(items, schemas) };
}

/** Returns `Shipment` for `#/components/schemas/Shipment`. */
export function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf("/") + 1);
}
