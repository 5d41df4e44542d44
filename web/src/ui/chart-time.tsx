import type { KeyboardEvent, PointerEvent } from 'react';
import { dateTime } from '../lib/format.ts';

/** A place of a chart, and from where on places are chosen: both are the number of a bar. */
export interface ChartPoint {
  readonly at: number;
  readonly from: number | undefined;
}

/** When the stretch of that place ends, in milliseconds; there are two places or more, all of the same length. */
export function endOf(starts: readonly string[], index: number): number {
  const stepMs = Date.parse(starts[1] ?? '') - Date.parse(starts[0] ?? '');
  return Date.parse(starts[index] ?? '') + stepMs;
}

interface ChartTimeProps {
  readonly label: string;
  readonly starts: readonly string[];
  /** The numbers at that place, in words. */
  readonly said: (index: number) => string;
  readonly point: ChartPoint | undefined;
  readonly setPoint: (next: ChartPoint | undefined) => void;
  readonly onPick: (from: string, to: string) => void;
}

/**
 * Lies over the bars of a chart: points at one, and chooses one or, dragged over, several. With the keyboard the arrows
 * point, with Shift they take more, Enter chooses. Fingers that move up or down still scroll the page.
 */
export function ChartTime({ label, starts, said, point, setPoint, onPick }: ChartTimeProps) {
  const last = starts.length - 1;
  const at = Math.min(point?.at ?? last, last);
  const within = (index: number): number => Math.min(last, Math.max(0, index));
  const placeOf = ({ currentTarget, clientX }: PointerEvent<HTMLElement>): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return within(Math.floor(((clientX - left) / width) * starts.length));
  };
  const pick = (one: number, other: number): void => {
    setPoint(undefined);
    // Both ends belong to it.
    onPick(starts[Math.min(one, other)] ?? '', new Date(endOf(starts, Math.max(one, other)) - 1).toISOString());
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = moved(event.key, at, last, point === undefined);
    if (next !== undefined) setPoint({ at: within(next), from: event.shiftKey ? (point?.from ?? at) : undefined });
    else if (event.key === 'Enter' || event.key === ' ') pick(at, point?.from ?? at);
    else if (event.key === 'Escape' && point) setPoint(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={`${dateTime(starts[at] ?? '')}: ${said(at)}`}
      className="absolute inset-0 cursor-crosshair touch-pan-y rounded-sm select-none"
      onKeyDown={onKeyDown}
      onBlur={() => setPoint(undefined)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setPoint({ at: placeOf(event), from: placeOf(event) });
      }}
      onPointerMove={(event) => setPoint({ at: placeOf(event), from: point?.from })}
      onPointerUp={(event) => {
        if (point?.from !== undefined) pick(placeOf(event), point.from);
      }}
      onPointerCancel={() => setPoint(undefined)}
      onPointerLeave={() => {
        if (point?.from === undefined) setPoint(undefined);
      }}
    />
  );
}

/** Where a key leads to. The first arrow shows the newest place. */
function moved(key: string, at: number, last: number, isFirst: boolean): number | undefined {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return isFirst ? at : at - 1;
    case 'ArrowRight':
    case 'ArrowUp':
      return isFirst ? at : at + 1;
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}
