import { readFileSync } from "node:fs";
import { createPricing } from "../../../src/domain/pricing/pricing.ts";
import { readTariff } from "../../../src/domain/pricing/tariff.ts";

/** The tariff of the peers, which TARIFF_FILE holds, ready for quoting. */
export const pricing = createPricing(
  readTariff(JSON.parse(readFileSync(process.env.TARIFF_FILE!, "utf8"))).tariff!,
);
