/** Prefix of commands, in an installed package or in a clone. With `--no`, npx downloads nothing. */
export const COMMAND = import.meta.url.includes("/node_modules/")
  ? "npx --no -- shipment-booking"
  : "npm run --silent shipments --";
