type Json = Readonly<Record<string, unknown>>;

/**
 * Resolves the references within a part of an OpenAPI document and merges `allOf`. swagger-ui calls this function when
 * an operation is opened. Its own one resolves the whole document each time, which takes more than a second. A schema
 * that refers to itself keeps the inner reference.
 *
 * @param path keys from the document's root to the part
 */
export async function resolveSubtree(document: unknown, path: readonly string[]) {
  const valueAt = (keys: readonly string[]) =>
    keys.reduce<unknown>((value, key) => (value as Json | undefined)?.[key], document);
  const resolved = (value: unknown, within: readonly string[]): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => resolved(item, within));
    const { $ref: reference, ...others } = value as { readonly $ref?: string };
    const own = Object.fromEntries(Object.entries(others).map(([key, item]) => [key, resolved(item, within)]));
    if (reference === undefined) return "allOf" in own ? withAllOf(own) : own;
    if (within.includes(reference)) return value;
    const target = resolved(valueAt(reference.split("/").slice(1)), [...within, reference]);
    // swagger-ui names a schema by the reference to it.
    return { ...(target as Json), ...own, $$ref: reference };
  };
  return { spec: resolved(valueAt(path), []), errors: [] };
}

/** Merges the parts of `allOf`. Later parts narrow properties of earlier ones. */
function withAllOf({ allOf, ...own }: Json): Json {
  return [...(allOf as readonly Json[]), own].reduce((one, other) => {
    const before = propertiesOf(one);
    const narrowed = Object.entries(propertiesOf(other)).map(([key, it]) => [key, { ...before[key], ...it }]);
    return { ...one, ...other, properties: { ...before, ...Object.fromEntries(narrowed) } };
  });
}

function propertiesOf(schema: Json): Readonly<Record<string, Json>> {
  return (schema["properties"] ?? {}) as Readonly<Record<string, Json>>;
}
