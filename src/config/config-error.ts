import type { z } from "zod";

/** What is wrong with the environment, said variable by variable. */
export class ConfigError extends Error {}

/**
 * Reads variables by their schema.
 *
 * @throws ConfigError that names every variable at fault, one a line
 */
export function parseVariables<T extends z.ZodType>(schema: T, given: unknown): z.output<T> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const faults = read.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new ConfigError(faults.join("\n"));
}
