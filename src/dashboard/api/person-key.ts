/** `localStorage` key of the signed-in person. Changes notify the other tabs. Removed on sign-out. */
export const PERSON_KEY = "person";
