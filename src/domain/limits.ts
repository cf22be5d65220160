/** What one call may ask for, over gRPC and JSON alike. */

/** The largest request body or message, in bytes. */
export const MAX_REQUEST_BYTES = 64 * 1024;
/** The most results of one page. */
export const MAX_PAGE_SIZE = 100;
/** The most routes of one batch quote. */
export const MAX_BATCH_ROUTES = 100;
/** The most webhooks of one workspace. */
export const MAX_WEBHOOKS = 20;
/** The most notes on one shipment. */
export const MAX_METADATA_KEYS = 20;
