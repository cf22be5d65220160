/**
 * Storage key of the signed-in person's id and sign-in time, shared by all tabs, which are notified
 * of changes. Removed on sign-out.
 */
export const PERSON_KEY = "person";
