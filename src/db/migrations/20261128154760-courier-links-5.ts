/** Each statement is a transaction, so that no lock is held while the next one runs. */
export const isTransactional = false;

export const statements = [`alter table "audit_entry" validate constraint "audit_entry_actor"`];
