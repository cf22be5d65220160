/** Characters of right-to-left scripts, and direction controls (Unicode Standard Annex 9). */
const TURNS =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\u202a-\u202e\u2066-\u2069]/u;
const CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Isolates user-supplied text so that it does not change the direction of the surrounding sentence. Removes direction
 * controls from the text, which could end the isolation. Returns left-to-right text unchanged.
 */
export function isolateText(text: string): string {
  return TURNS.test(text) ? `\u2068${text.replaceAll(CONTROLS, "")}\u2069` : text;
}
