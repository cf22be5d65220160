/** Each statement runs in its own transaction, so that no lock is held while the index is built. */
export const isTransactional = false;

export const statements = [
  `drop index if exists "shipment_words";`,
  String.raw`create index if not exists "shipment_words" on "shipment" using gin ((array_to_tsvector(string_to_array(workspace_id::text || '/' || regexp_replace(lower(coalesce(external_reference, '') || ' ' || coalesce(dropoff_address, '') || ' ' || coalesce(pickup_address, '') || ' ' || coalesce(cancel_note, '') || ' ' || coalesce(recipient_name, '') || ' ' || coalesce(recipient_phone, '') || ' ' || coalesce(recipient_email, '')), '[\s!-/:-@[-\x60{-~]+', ' ' || workspace_id::text || '/', 'g'), ' '))));`,
];
