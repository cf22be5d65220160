/** Prefix of commands in messages, for an installed package or a clone. With `--no`, npx downloads nothing. */
export const COMMAND = import.meta.url.includes("/node_modules/")
  ? "npx --no -- shipment-booking"
  : "npm run --silent shipments --";
