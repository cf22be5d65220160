/** Characters of right-to-left scripts, and those that set directions (Unicode Standard Annex 9). */
const TURNS =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\u202a-\u202e\u2066-\u2069]/u;
const CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Isolates a text that somebody entered, so that it does not turn round the sentence that it becomes part of. Removes its own
 * controls of direction, which could end the isolation. A text that is only written from left to right stays the same.
 */
export function isolateText(text: string): string {
  return TURNS.test(text) ? `\u2068${text.replaceAll(CONTROLS, "")}\u2069` : text;
}
