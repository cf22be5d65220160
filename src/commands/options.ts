import { InvalidArgumentError, Option } from "commander";
import { PAYMENT_PROVIDERS } from "../features/workspaces/payment-connection.entity.ts";

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
