import { InvalidArgumentError, Option } from "commander";
import { PAYMENT_PROVIDERS } from "../features/workspaces/payment-connection.entity.ts";

/** `--json`: one JSON object on standard output and nothing else there. */
export function jsonOption(): Option {
  return new Option("--json", "print one JSON object").default(false);
}

/** `--workspace ID` */
export function workspaceOption(): Option {
  return new Option("--workspace <id>", "the workspace's id")
    .argParser((text) => readWholeNumber(text, 1, Number.MAX_SAFE_INTEGER))
    .makeOptionMandatory();
}

/** `--provider manual`, or under another name. */
export function providerOption(flags = "--provider <provider>"): Option {
  return new Option(flags, "the payment provider").choices([...PAYMENT_PROVIDERS]);
}

/**
 * Reads a whole number from an option's text.
 *
 * @throws InvalidArgumentError when it is not one from `least` to `most`
 */
export function readWholeNumber(text: string, least: number, most: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
}
