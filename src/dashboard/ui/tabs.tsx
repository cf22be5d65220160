/** Views of one thing beside each other, each with an address of its own. */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly {
    readonly label: string;
    readonly href: string;
    readonly current: boolean;
  }[];
}) {
  return (
    <nav class="tabs" aria-label={props.label}>
      {props.tabs.map(({ label, href, current }) => (
        <a key={href} href={href} aria-current={current ? "page" : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
