/** An error that screen readers announce. Empty without a text. */
export function ErrorNote({ text }: { readonly text: string | false | undefined }) {
  if (!text) return null;
  return (
    <p class="error" role="alert">
      {text}
    </p>
  );
}
