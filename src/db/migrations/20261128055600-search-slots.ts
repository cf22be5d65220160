/**
 * Replaces the word index of customers: adds slots (see `WordIndex`) and more columns. Each statement runs in its own
 * transaction, so that no transaction locks two tables.
 */
export const isTransactional = false;

export const statements = [
  `drop index if exists "customer_words";`,
  String.raw`create index if not exists "customer_words" on "customer" using gin ((array_to_tsvector(string_to_array(workspace_id::text || '.' || (id % 32)::text || '/' || regexp_replace(lower(coalesce(name, '') || ' ' || coalesce(email, '') || ' ' || coalesce(phone, '') || ' ' || coalesce(regexp_replace(phone, '\D', '', 'g'), '') || ' ' || coalesce('←' || reverse(regexp_replace(phone, '\D', '', 'g')), '') || ' ' || coalesce(left(notes, 500), '')), '[\x01-/:-@[-\x60{-\x7f\u00a0\u2000-\u206f\u3000]+', ' ' || workspace_id::text || '.' || (id % 32)::text || '/', 'g'), ' ')))) with (gin_pending_list_limit = 64);`,
];
