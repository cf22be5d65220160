/** Limits on single calls over gRPC and JSON, and on the resources of a workspace or person. */

/** Default maximum size of a request body or message, in bytes. An RPC can declare a different maximum. */
export const MAX_REQUEST_BYTES = 64 * 1024;
export const MAX_PAGE_SIZE = 100;
/**
 * Maximum size of the results on one page, in bytes. By default, gRPC clients accept messages up to
 * 4 MiB, so this leaves room for framing.
 */
export const MAX_PAGE_BYTES = 3.5 * 1024 * 1024;
export const MAX_BATCH_ROUTES = 100;
export const MAX_WEBHOOKS = 20;
/** Maximum number of active links and devices of one courier. */
export const MAX_COURIER_LINKS = 5;
export const MAX_COURIER_DEVICES = 5;
/** Maximum number of links emailed to one courier within 15 minutes, and to a workspace's couriers within an hour. */
export const MAX_COURIER_EMAILS = 3;
export const MAX_COURIER_EMAILS_OF_HOUR = 1_000;
/** Maximum number of couriers in one workspace that are not archived. */
export const MAX_COURIERS = 5_000;
export const MAX_SAVED_FILTERS = 50;
export const MAX_MEMBERS = 200;
/** Maximum number of API keys without an expiry in one workspace. */
export const MAX_API_KEYS = 10;
/** Maximum number of active API keys in one workspace, including keys with an expiry. */
export const MAX_WORKING_API_KEYS = 20;
/** Maximum number of quotes of one workspace that hold slots. */
export const MAX_HOLDS = 50;
export const MAX_METADATA_KEYS = 20;
/** Maximum number of running simulations in one test twin. */
export const MAX_SIMULATIONS = 1_000;
export const MAX_TARIFF_DRAFTS = 50;
export const MAX_ZONES_BYTES = 64 * 1024 * 1024;
