import { z } from "zod";
import { quoted } from "../domain/faults.ts";

/** Thrown if variables are invalid. The message has one line per variable. */
export class ConfigError extends Error {}

/** Marks variables whose values must not be shown. */
export const SECRET = { secret: true };

export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .refine((text) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    })
    .transform(Number);
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `must be ${values.slice(0, -1).join(", ")} or ${values.at(-1)}` });
}

export function addressLike(example: string, isValid: (url: URL) => boolean, a = "an address") {
  return z.string().refine((text) => URL.canParse(text) && isValid(new URL(text)), {
    error: `must be ${a} such as ${example}`,
  });
}

/** Whether a text is valid percent-encoding. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Parses an origin, which is only a scheme, a host and an optional port. */
export function originLike(example: string) {
  return addressLike(
    example,
    ({ protocol, origin, href }) => /^https?:$/.test(protocol) && href === `${origin}/`,
    "an origin",
  )
    .transform((text) => new URL(text).origin)
    .optional();
}

/** Parses a base URL without a trailing slash. */
export function baseLike(example: string) {
  return addressLike(
    `${example}, without user, query or fragment`,
    ({ protocol, username, password, search, hash }) =>
      /^https?:$/.test(protocol) && username + password + search + hash === "",
  )
    .transform((text) => new URL(text).href.replace(/\/+$/, ""))
    .optional();
}

export const flag = z.stringbool({ error: "must be true or false" });

export const list = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== ""),
  );

/** @throws ConfigError that lists each missing variable and its required form */
export function requireSet<T extends object>(variables: T, purpose: string) {
  const missing = Object.entries(variables).filter(([, value]) => value === undefined);
  if (missing.length === 0) return variables as { [K in keyof T]-?: NonNullable<T[K]> };
  throw new ConfigError(missing.map(([name]) => `${name}: must be set for ${purpose}`).join("\n"));
}

/**
 * Parses variables with a schema.
 *
 * @throws ConfigError that lists every invalid variable with its value, one per line
 */
export function parseVariables<T extends z.ZodRawShape>(
  schema: z.ZodObject<T>,
  given: Readonly<Record<string, string | undefined>>,
): z.output<z.ZodObject<T>> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const errors = read.error.issues.map(({ path, message }) => {
    const name = String(path[0]);
    const variable = schema.shape[name] as unknown as z.ZodType;
    // All other messages already quote the value.
    const isShown = message.startsWith("must") && !z.globalRegistry.get(variable)?.["secret"];
    return `${name}: ${message}${isShown ? `; it is ${shown(given[name]!)}` : ""}`;
  });
  throw new ConfigError(errors.join("\n"));
}

/** Returns a value without user, password and query, because they can contain secrets. */
function shown(value: string): string {
  return quoted(value.replace(/^.*:.*@/s, "...@").replace(/\?.*$/s, "?..."));
}
