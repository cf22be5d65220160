import { InvalidArgumentError, Option } from "commander";
import { PAYMENT_PROVIDERS } from "../features/workspaces/payment-connection.entity.ts";
import { CommandRefused } from "./run-command.ts";

/** `--json`: prints one JSON object on standard output, and nothing else. */
export function jsonOption(): Option {
  return new Option("--json", "print one JSON object").default(false);
}

/** `--workspace ID` */
export function workspaceOption(): Option {
  return new Option("--workspace <id>", "the workspace's id")
    .argParser((text) => readWholeNumber(text, 1, Number.MAX_SAFE_INTEGER))
    .makeOptionMandatory();
}

/** `--last4 XXXX`: names a key. */
export function last4Option(): Option {
  return new Option("--last4 <characters>", "the key's last four characters").argParser(readLast4);
}

function readLast4(text: string): string {
  if (/^[0-9A-Za-z]{4}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be four letters or digits.");
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

/** `--provider manual`, or with other flags. */
export function providerOption(flags = "--provider <provider>"): Option {
  return new Option(flags, "the payment provider").choices([...PAYMENT_PROVIDERS]);
}

/**
 * Reads a whole number from the text of an option.
 *
 * @throws InvalidArgumentError when it is not a whole number from `least` to `most`
 */
export function readWholeNumber(text: string, least: number, most: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
}
