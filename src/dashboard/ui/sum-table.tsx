import type { ComponentChildren } from "preact";

/** A small table of figures, also on narrow screens. The first cell of each row is its heading. */
export function SumTable(props: {
  readonly label: string;
  readonly headings: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
}) {
  return (
    <table class="sum" aria-label={props.label}>
      <thead>
        <tr>
          {props.headings.map((heading) => (
            <th scope="col">{heading}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map(([heading, ...cells]) => (
          <tr>
            <th scope="row">{heading}</th>
            {cells.map((cell) => (
              <td>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
