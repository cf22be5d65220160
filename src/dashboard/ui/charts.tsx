import type { ComponentChildren } from "preact";
import "./charts.css";

export interface Point {
  /** What the value belongs to, such as a day. */
  readonly label: string;
  readonly value: number;
  /** The value in words, such as an amount with its currency. */
  readonly text: string;
}

/** The size of a bar chart in its own units; it takes the width that it is given. */
const BARS = { width: 600, height: 140, gap: 2 };

/** A bar for each value, from zero; negative values go down. */
export function BarChart(props: { readonly label: string; readonly points: readonly Point[] }) {
  const { points, label } = props;
  const { width, height, gap } = BARS;
  const most = Math.max(...points.map(({ value }) => value), 0);
  const least = Math.min(...points.map(({ value }) => value), 0);
  const scale = height / (most - least || 1);
  const step = width / Math.max(points.length, 1);
  const zero = most > least ? most * scale : height;
  const highest = points.find(({ value }) => value === most && value > 0);
  return (
    <Chart label={label} points={points}>
      <p class="most" aria-hidden="true">
        {highest && `At most ${highest.text}`}
      </p>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {points.map(({ label: name, value, text }, i) => (
          <g key={name}>
            <title>{`${name}: ${text}`}</title>
            <rect class="hit" x={i * step} y={0} width={step} height={height} />
            <rect
              class={value < 0 ? "bar negative" : "bar"}
              x={i * step + gap / 2}
              y={value < 0 ? zero : zero - value * scale}
              width={Math.max(step - gap, 1)}
              height={Math.abs(value) * scale}
            />
          </g>
        ))}
        <line x1={0} x2={width} y1={zero} y2={zero} />
      </svg>
      <p class="axis" aria-hidden="true">
        <span>{points[0]?.label}</span>
        <span>{points.at(-1)?.label}</span>
      </p>
    </Chart>
  );
}

/** A picture of values with the values themselves as a table for screen readers. */
function Chart(props: {
  readonly label: string;
  readonly points: readonly Point[];
  readonly children: ComponentChildren;
}) {
  return (
    <figure class="chart bars">
      {props.children}
      {/* A table itself is never smaller than what it holds, and would make the page longer. */}
      <div class="visually-hidden">
        <table>
          <caption>{props.label}</caption>
          <tbody>
            {props.points.map(({ label, text }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** A bar for each value beside its name and the value in words; none is below zero. */
export function BarList(props: { readonly label: string; readonly points: readonly Point[] }) {
  const { label, points } = props;
  const most = Math.max(...points.map(({ value }) => value), 0) || 1;
  return (
    <table class="chart bar-list">
      <caption>{label}</caption>
      <tbody>
        {points.map(({ label: name, value, text }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="bar-room">
              <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                <rect class="bar" width={(value / most) * 100} height={1} />
              </svg>
            </td>
            <td>{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
