import { z } from "zod";
import { quoted } from "../domain/faults.ts";

/** What is wrong with the environment, said variable by variable. */
export class ConfigError extends Error {}

/** Marks variables whose value is not shown. */
export const SECRET = { secret: true };

export function wholeNumber(least: number, most: number) {
  return z
    .string()
    .refine((text) => /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most, {
      error: `must be a whole number from ${least} to ${most}`,
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

/** The origin of a site: a scheme, a host, perhaps a port, and nothing more. */
export function originLike(example: string) {
  return addressLike(
    example,
    ({ protocol, origin, href }) => /^https?:$/.test(protocol) && href === `${origin}/`,
    "an origin",
  )
    .transform((text) => new URL(text).origin)
    .optional();
}

/** Where the paths of a server begin, without a slash at the end. */
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

/** Values by commas. */
export const list = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== ""),
  );

/** @throws ConfigError that names each variable that is not set, and what for it has to be */
export function requireSet<T extends object>(variables: T, purpose: string) {
  const missing = Object.entries(variables).filter(([, value]) => value === undefined);
  if (missing.length === 0) return variables as { [K in keyof T]-?: NonNullable<T[K]> };
  throw new ConfigError(missing.map(([name]) => `${name}: must be set for ${purpose}`).join("\n"));
}

/**
 * Reads variables by their schema.
 *
 * @throws ConfigError that names every variable at fault with its value, one a line
 */
export function parseVariables<T extends z.ZodRawShape>(
  schema: z.ZodObject<T>,
  given: Readonly<Record<string, string | undefined>>,
): z.output<z.ZodObject<T>> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const faults = read.error.issues.map(({ path, message }) => {
    const name = String(path[0]);
    const variable = schema.shape[name] as unknown as z.ZodType;
    // Other sentences quote what is wrong themselves.
    const isShown = message.startsWith("must") && !z.globalRegistry.get(variable)?.["secret"];
    return `${name}: ${message}${isShown ? `; it is ${shown(given[name]!)}` : ""}`;
  });
  throw new ConfigError(faults.join("\n"));
}

/** A value, without a user and password or a query, where it may be an address with a key. */
function shown(value: string): string {
  return quoted(value.replace(/^.*:.*@/s, "...@").replace(/\?.*$/s, "?..."));
}
