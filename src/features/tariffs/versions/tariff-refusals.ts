import type { TariffFault } from "../../../domain/faults.ts";
import { Refusal, refuse, unavailable, type Violation } from "../../../domain/refusal.ts";

/** The refusal of a price while no tariff is in force. */
export function noTariffError(): Refusal {
  return unavailable("No tariff has been published yet; the operator publishes one.");
}

/** The refusal of a draft that there is not. */
export function draftNotFoundError(): Refusal {
  return refuse("TARIFF_DRAFT_NOT_FOUND", "There is no such draft.");
}

/** The refusal to show the tariff in force, or to compare with it, while there is none. */
export function noTariffInForceError(): Refusal {
  return refuse("TARIFF_VERSION_NOT_FOUND", "No tariff is in force yet.");
}

/** The refusal of a version that there is not. */
export function versionNotFoundError(version: number): Refusal {
  return refuse("TARIFF_VERSION_NOT_FOUND", `There is no tariff version ${version}.`);
}

/** The refusal of a draft that has faults, at least one, each of them under its path. */
export function faultyTariffError(faults: readonly TariffFault[]): Refusal {
  const violations = faults.map(({ path, text }): Violation => ({
    reason: "TARIFF_FAULTY",
    subject: path,
    text: `${path} ${text}`,
  }));
  return new Refusal(violations as [Violation, ...Violation[]]);
}
