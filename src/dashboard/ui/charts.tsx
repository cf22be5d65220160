import type { TargetedPointerEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { namedPoints, scaleTo } from "./chart-scale.ts";
import "./charts.css";

export interface Point {
  readonly label: string;
  readonly value: number;
  readonly text: string;
}

export interface LinePoint extends Point {
  /** Short label, such as a day without its year. */
  readonly short: string;
}

interface LineChartProps {
  readonly label: string;
  readonly points: readonly LinePoint[];
  /** Points of an earlier period, equal in number. Drawn as a fainter line for comparison. */
  readonly before?: readonly LinePoint[] | undefined;
  readonly names?: readonly [now: string, before: string];
  /** Formats an axis value as briefly as possible. */
  readonly tickText: (value: number) => string;
  readonly isWhole?: boolean;
  readonly size?: "large" | "small";
}

/** Plot height in pixels and approximate number of axis steps, by chart size. */
const SIZES = { large: { height: 220, steps: 4 }, small: { height: 96, steps: 2 } } as const;
const EMPTY_HEIGHT = 24;
/** Margins around the plot and width of one character on the axis, in pixels. */
const ROOM = { top: 8, end: 12, below: 22, character: 6.8 };
/** Maximum width of a point's name including its gap, in pixels. */
const NAME_WIDTH = 76;

/** A line chart. Values can be read with a pointer, a finger, the arrow keys or a hidden table. */
export function LineChart(props: LineChartProps) {
  const { label, points, before = [], names } = props;
  const [frame, width] = useWidth();
  const [active, setActive] = useState<number | undefined>(undefined);
  const reader = useRef<HTMLInputElement>(null);
  const plot = plotOf(props, width);
  const last = points.length - 1;
  const read = ({ clientX, currentTarget }: TargetedPointerEvent<SVGSVGElement>) =>
    setActive(plot.nearest(clientX - currentTarget.getBoundingClientRect().left));
  const shown = active === undefined ? undefined : points[active];
  return (
    <figure class="chart" ref={frame}>
      <p class="reading" aria-hidden="true">
        {shown === undefined ? (
          names && before.length > 0 && <Legend names={names} />
        ) : (
          <Reading now={shown} before={before[active!]} />
        )}
      </p>
      <div class="plot">
        <svg
          width={width}
          height={plot.floor + ROOM.below}
          aria-hidden="true"
          onPointerMove={read}
          onPointerDown={read}
          onPointerLeave={({ pointerType }) => {
            // Keeps the values visible after a touch, and while the chart has the keyboard focus.
            const isKept = pointerType !== "mouse" || document.activeElement === reader.current;
            if (!isKept) setActive(undefined);
          }}
        >
          <Grid plot={plot} points={points} />
          <Lines plot={plot} points={points} before={before} />
          {shown && (
            <>
              <line class="cursor" {...plot.column(active!)} />
              <Dots plot={plot} at={active!} now={shown} before={before[active!]} />
            </>
          )}
        </svg>
        {points.length > 0 && (
          <input
            ref={reader}
            type="range"
            min={0}
            max={last}
            value={active ?? last}
            aria-label={`Values of ${label}`}
            aria-valuetext={readingText(points[active ?? last]!, before[active ?? last])}
            onInput={({ currentTarget }) => setActive(Number(currentTarget.value))}
            onFocus={() => setActive((at) => at ?? last)}
            onBlur={() => setActive(undefined)}
          />
        )}
      </div>
      <Values {...{ label, points, before, names }} />
    </figure>
  );
}

type Plot = ReturnType<typeof plotOf>;

function plotOf({ points, before = [], tickText, isWhole = false, size = "large" }: LineChartProps, width: number) {
  const peak = Math.max(0, ...[...points, ...before].map(({ value }) => value));
  const { max, ticks } = scaleTo(peak, SIZES[size].steps, isWhole);
  const texts = ticks.map((tick) => tickText(tick));
  const left = Math.max(...texts.map(({ length }) => length)) * ROOM.character + 8;
  const plotWidth = Math.max(width - left - ROOM.end, 1);
  const height = peak === 0 ? EMPTY_HEIGHT : SIZES[size].height;
  const floor = ROOM.top + height;
  const last = points.length - 1;
  const x = (i: number) => left + (last === 0 ? plotWidth / 2 : (i / last) * plotWidth);
  const y = (value: number) => ROOM.top + height * (1 - value / max);
  return {
    x,
    y,
    left,
    floor,
    ticks: ticks.map((tick, i) => ({ y: y(tick), text: texts[i] })),
    row: (at: number) => ({ x1: left, x2: width - ROOM.end, y1: at, y2: at }),
    column: (i: number) => ({ x1: x(i), x2: x(i), y1: ROOM.top, y2: floor }),
    named: namedPoints(points.length, Math.max(Math.floor(plotWidth / NAME_WIDTH), 1)),
    /** Returns the index of the point nearest to a horizontal position, in pixels. */
    nearest: (at: number) => Math.min(Math.max(Math.round(((at - left) / plotWidth) * last), 0), last),
  };
}

function Grid({ plot, points }: { readonly plot: Plot; readonly points: readonly LinePoint[] }) {
  return (
    <>
      {plot.ticks.map(({ y, text }, i) => (
        <g key={i}>
          <line class={i === 0 ? "floor" : "grid"} {...plot.row(y)} />
          <text x={plot.left - 8} y={y} dy="0.32em" text-anchor="end">
            {text}
          </text>
        </g>
      ))}
      {plot.named.map((i) => (
        <text key={i} x={plot.x(i)} y={plot.floor + 16} text-anchor={anchorOf(i, points.length)}>
          {points[i]!.short}
        </text>
      ))}
    </>
  );
}

function Lines(props: { readonly plot: Plot; readonly points: readonly Point[]; readonly before: readonly Point[] }) {
  const { plot, points, before } = props;
  const lineOf = (line: readonly Point[]) => line.map(({ value }, i) => `${plot.x(i)},${plot.y(value)}`).join(" ");
  const [first, end] = [plot.x(0), plot.x(points.length - 1)];
  return (
    <>
      <polygon points={`${first},${plot.floor} ${lineOf(points)} ${end},${plot.floor}`} />
      <polyline class="before" points={lineOf(before)} />
      <polyline points={lineOf(points)} />
      {/* A line with a single point would be invisible. */}
      {points.length === 1 && <Dots plot={plot} at={0} now={points[0]!} before={before[0]} />}
    </>
  );
}

function Dots(props: {
  readonly plot: Plot;
  readonly at: number;
  readonly now: Point;
  readonly before: Point | undefined;
}) {
  const { plot, at, now, before } = props;
  return (
    <>
      {before && <circle class="before" cx={plot.x(at)} cy={plot.y(before.value)} r={4} />}
      <circle cx={plot.x(at)} cy={plot.y(now.value)} r={4} />
    </>
  );
}

/** Returns the text anchor that keeps the first and last names within the chart. */
function anchorOf(i: number, count: number): "start" | "middle" | "end" {
  if (count === 1) return "middle";
  if (i === 0) return "start";
  return i === count - 1 ? "end" : "middle";
}

/** Tracks the width of an element in pixels. Pass the returned `ref` to the element. */
function useWidth() {
  const element = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measure = () => setWidth(element.current?.clientWidth ?? 0);
    const observer = new ResizeObserver(measure);
    observer.observe(element.current!);
    measure();
    return () => observer.disconnect();
  }, []);
  return [element, width] as const;
}

function Legend({ names }: { readonly names: readonly [string, string] }) {
  return (
    <>
      {names.map((name, i) => (
        <span key={name} class="name">
          <svg width={22} height={8}>
            <line class={i === 0 ? "key" : "key before"} x1={0} x2={22} y1={4} y2={4} />
          </svg>{" "}
          {name}
        </span>
      ))}
    </>
  );
}

function Reading({ now, before }: { readonly now: Point; readonly before: Point | undefined }) {
  return (
    <>
      <span>
        {now.label}: <strong>{now.text}</strong>
      </span>
      {before && (
        <span>
          {before.label}: {before.text}
        </span>
      )}
    </>
  );
}

function readingText(now: Point, before: Point | undefined): string {
  return `${now.label}: ${now.text}${before ? `; ${before.label}: ${before.text}` : ""}`;
}

function Values({ label, points, before = [], names }: Pick<LineChartProps, "label" | "points" | "before" | "names">) {
  return (
    // The table needs a wrapper: a table is never smaller than its contents and would lengthen the page.
    <div class="visually-hidden">
      <table>
        <caption>{label}</caption>
        {before.length > 0 && (
          <thead>
            <tr>
              <td />
              {names?.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {points.map(({ label: name, text }, i) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{text}</td>
              {before[i] && <td>{before[i].text}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Shows each value as a bar with its name and formatted value. Values must not be negative. */
export function BarList(props: {
  readonly label: string;
  readonly points: readonly Point[];
  /** Value of a full bar. Default: the largest value. */
  readonly full?: number;
}) {
  const { label, points } = props;
  const max = props.full ?? (Math.max(...points.map(({ value }) => value), 0) || 1);
  return (
    <table class="chart bar-list" role="table">
      <caption>{label}</caption>
      <tbody role="rowgroup">
        {points.map(({ label: name, value, text }) => (
          <tr key={name} role="row">
            <th scope="row" role="rowheader">
              {name}
            </th>
            <td class="bar-room" role="cell">
              <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                <rect class="bar" width={Math.min(value / max, 1) * 100} height={1} />
              </svg>
            </td>
            <td role="cell">{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
