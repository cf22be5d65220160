/** What one call may ask for, over gRPC and JSON alike, and how much a workspace or person may have. */

/** The largest request body or message, of an RPC that does not say otherwise. */
export const MAX_REQUEST_BYTES = 64 * 1024;
export const MAX_PAGE_SIZE = 100;
/**
 * The most bytes of results on one page: gRPC clients take messages of up to 4 MiB unless told
 * otherwise, and the rest is for what frames the results.
 */
export const MAX_PAGE_BYTES = 3.5 * 1024 * 1024;
export const MAX_BATCH_ROUTES = 100;
export const MAX_WEBHOOKS = 20;
export const MAX_SAVED_FILTERS = 50;
export const MAX_MEMBERS = 200;
/** The most API keys of one workspace that are not to end. */
export const MAX_API_KEYS = 10;
/** The most API keys of one workspace that work, with those that are to end. */
export const MAX_WORKING_API_KEYS = 20;
export const MAX_METADATA_KEYS = 20;
/** The most simulations that are under way in one test twin. */
export const MAX_SIMULATIONS = 1_000;
export const MAX_TARIFF_DRAFTS = 50;
export const MAX_ZONES_BYTES = 64 * 1024 * 1024;
