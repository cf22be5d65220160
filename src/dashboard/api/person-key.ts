/** Storage key of the signed-in person, which notifies all tabs. Removed on sign-out. */
export const PERSON_KEY = "person";
