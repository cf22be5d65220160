import { InvalidArgumentError, Option } from "commander";
import { PAYMENT_PROVIDERS } from "../features/workspaces/payment-connection.entity.ts";
import { CommandRefused } from "./run-command.ts";

/** How long old keys can go on working after a rotation, in seconds: 7 days. */
const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;

/** `--json`: prints one JSON object on standard output, and nothing else. */
export function jsonOption(): Option {
  return new Option("--json", "print one JSON object").default(false);
}

export function option(flags: string, description: string): Option {
  return new Option(flags, description);
}

/** An option that has to be given. */
export function required(flags: string, description: string): Option {
  return option(flags, description).makeOptionMandatory();
}

/** An option that is a whole number from `least` to `most`. */
export function wholeNumber(
  flags: string,
  description: string,
  [least, most]: readonly [number, number],
): Option {
  return option(flags, description).argParser((text) => parseWholeNumber(text, least, most));
}

/** `--workspace ID` or `--operator ID`, as a `bigint` */
export function idOption(of: "workspace" | "operator"): Option {
  return required(`--${of} <id>`, `the ${of}'s id`).argParser((text) =>
    BigInt(parseWholeNumber(text, 1, Number.MAX_SAFE_INTEGER)),
  );
}

/** `--last4 XXXX`: names a key. */
export function last4Option(): Option {
  return new Option("--last4 <characters>", "the key's last four characters").argParser(parseLast4);
}

function parseLast4(text: string): string {
  if (/^[0-9A-Za-z]{4}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be four letters or digits.");
}

/** `--overlap SECONDS` */
export function overlapOption(description: string): Option {
  return wholeNumber("--overlap <seconds>", description, [0, MAX_OVERLAP_SECONDS]).default(0);
}

/**
 * The one of some keys that ends in four characters.
 *
 * @throws CommandRefused when none does, or several do
 */
export function keyEndingIn<Key extends { readonly last4: string }>(
  keys: readonly Key[],
  last4: string,
  owner: string,
): Key {
  const [key, another] = keys.filter((it) => it.last4 === last4);
  if (key === undefined)
    throw new CommandRefused(`${owner} has no working key that ends in ${last4}.`);
  if (another === undefined) return key;
  throw new CommandRefused(`${owner} has several working keys that end in ${last4}; use its RPC.`);
}

/** `--test`: of the workspace's test twin. */
export function testOption(): Option {
  return option("--test", "of its test twin, whose keys begin with shp_test_");
}

/** `--provider manual`, or with other flags. */
export function providerOption(flags = "--provider <provider>"): Option {
  return option(flags, "the payment provider").choices([...PAYMENT_PROVIDERS]);
}

/**
 * Parses the text of an option.
 *
 * @throws InvalidArgumentError when it is not a whole number from `least` to `most`
 */
export function parseWholeNumber(text: string, least: number, most: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
}

/** The value of an enum by the name that the JSON dialect gives it. */
export function valueNamed<V, N extends string | undefined>(
  values: Readonly<Record<string, string | V>>,
  name: N,
): V | (undefined extends N ? undefined : never) {
  return (name && values[name.toUpperCase()]) as V;
}
