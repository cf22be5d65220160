/** Adds word indexes. Each statement runs in its own transaction, so that no transaction locks two tables. */
export const isTransactional = false;

export const statements = [
  String.raw`create index if not exists "customer_words" on "customer" using gin ((array_to_tsvector(string_to_array(workspace_id::text || '/' || regexp_replace(lower(coalesce(name, '') || ' ' || coalesce(email, '') || ' ' || coalesce(phone, '') || ' ' || coalesce(regexp_replace(phone, '\D', '', 'g'), '') || ' ' || coalesce(left(notes, 500), '')), '[\s!-/:-@[-\x60{-~]+', ' ' || workspace_id::text || '/', 'g'), ' '))));`,
  `drop index if exists "customer_search_email";`,
  `drop index if exists "shipment_search_dropoff";`,
  `drop index if exists "shipment_search_external_reference";`,
  `drop index if exists "shipment_search_pickup";`,
];
