import { Link } from '@tanstack/react-router';
import { type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../lib/cx.ts';
import { many, percent, short } from '../../lib/format.ts';
import type { Flow, FlowNode, PlacedNode } from './flow.ts';
import { placed } from './flow.ts';

export interface Way {
  readonly to: '/activity' | '/activity/traffic';
  readonly search: Readonly<Record<string, string | undefined>>;
}

interface PictureProps {
  readonly flow: Flow;
  /** Of each column. */
  readonly titles: readonly string[];
  readonly nameOf: (node: FlowNode) => string;
  /** Where a node leads; undefined for those that stand for many. */
  readonly wayOf: (node: FlowNode) => Way | undefined;
}

const barWidth = 10;
/** The share of failures from which it is said in red. */
const noted = 0.05;

/** Calls as bands from column to column: width is calls, red is failures. Its names are links, column by column. */
export function Picture({ flow, titles, nameOf, wayOf }: PictureProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [pointed, setPointed] = useState<FlowNode>();
  const isNarrow = width < 560;
  const room = isNarrow ? 42 : 30;
  const most = Math.max(...flow.columns.map((column) => column.length));
  const height = Math.max(isNarrow ? 360 : 400, most * (room + 6));
  const { nodes, links } = useMemo(
    () => placed(flow, { width, height, barWidth, room, gap: 4 }),
    [flow, width, height, room],
  );
  const isDim = (...ends: readonly FlowNode[]) => pointed !== undefined && !ends.includes(pointed);
  return (
    <div>
      <div aria-hidden className="text-soft mb-1 flex justify-between text-xs font-medium">
        {titles.map((title) => (
          <span key={title}>{title}</span>
        ))}
      </div>
      <div ref={frame} className="relative" style={{ height }} onPointerLeave={() => setPointed(undefined)}>
        <svg aria-hidden width={width} height={height} className="absolute inset-0">
          {links.map(({ link, good, failed }) => (
            <g
              key={JSON.stringify([link.from.column, link.from.value, link.to.value])}
              className={cx('transition-opacity', isDim(link.from, link.to) && 'opacity-15')}
            >
              <path d={good} className="fill-accent/25" />
              {failed !== undefined && <path d={failed} className="fill-danger/70" />}
            </g>
          ))}
          {nodes.map(({ node, x, y, height, failedHeight }) => (
            <g key={JSON.stringify([node.column, node.value])}>
              <rect x={x} y={y} width={barWidth} height={height - failedHeight} className="fill-accent" />
              <rect
                x={x}
                y={y + height - failedHeight}
                width={barWidth}
                height={failedHeight}
                className="fill-danger"
              />
            </g>
          ))}
        </svg>
        {width > 0 &&
          titles.map((title, column) => (
            <ul key={title} aria-label={title}>
              {nodes
                .filter(({ node }) => node.column === column)
                .map((place) => (
                  <Name
                    key={place.node.value ?? ''}
                    place={place}
                    name={nameOf(place.node)}
                    way={wayOf(place.node)}
                    box={nameBox(place, { width, isNarrow, isLast: column === titles.length - 1 })}
                    isNarrow={isNarrow}
                    onPoint={() => setPointed(place.node)}
                  />
                ))}
            </ul>
          ))}
      </div>
    </div>
  );
}

interface NameProps {
  readonly place: PlacedNode;
  readonly name: string;
  readonly way: Way | undefined;
  readonly box: NameBox;
  /** In two lines. */
  readonly isNarrow: boolean;
  readonly onPoint: () => void;
}

function Name({ place, name, way, box, isNarrow, onPoint }: NameProps) {
  const { t } = useTranslation();
  const { node, top, room } = place;
  const { calls, failed } = node;
  const said = failed === 0 ? t('traffic.calls', many(calls)) : t('traffic.failedOf', { ...many(calls), failed });
  const look = cx('flex h-full min-w-0 items-center', places[box.place]);
  const words = (
    <span
      className={cx(
        'bg-panel/75 flex min-w-0 rounded-sm px-1 text-xs leading-4',
        isNarrow ? 'flex-col' : 'items-baseline gap-1.5',
        isNarrow && sides[box.place],
      )}
    >
      <span className="max-w-full truncate font-medium">{name}</span>
      <span
        aria-hidden
        className={cx('shrink-0 tabular-nums', failed >= noted * calls && failed > 0 ? 'text-bad' : 'text-soft')}
      >
        {failed > 0 && failed < calls ? `${short(calls)} · ${percent(failed / calls)}` : short(calls)}
      </span>
      <span className="sr-only">{said}</span>
    </span>
  );
  return (
    <li className="absolute" style={{ top, height: room, left: box.left, width: box.width }} onPointerEnter={onPoint}>
      {way ? (
        <Link
          {...way}
          title={`${name}: ${said}`}
          onFocus={onPoint}
          className={cx(look, 'rounded-sm focus-visible:-outline-offset-2')}
        >
          {words}
        </Link>
      ) : (
        <span title={`${name}: ${said}`} className={look}>
          {words}
        </span>
      )}
    </li>
  );
}

interface NameBox {
  readonly left: number;
  readonly width: number;
  /** Where in it the name is. */
  readonly place: 'start' | 'middle' | 'end';
}

const places = { start: '', middle: 'justify-center', end: 'justify-end' } as const;
const sides = { start: 'items-start', middle: 'items-center', end: 'items-end' } as const;
const middleWidth = 92;

/** Beside its bar; where there is no room for that, those in the middle are on it. */
function nameBox(
  { x, node }: PlacedNode,
  { width, isNarrow, isLast }: { width: number; isNarrow: boolean; isLast: boolean },
): NameBox {
  const most = isNarrow ? (width - middleWidth) / 2 - barWidth - 6 : width / 3;
  if (isLast) return { left: x - 2 - most, width: most, place: 'end' };
  if (isNarrow && node.column > 0)
    return { left: x + (barWidth - middleWidth) / 2, width: middleWidth, place: 'middle' };
  return { left: x + barWidth + 2, width: most, place: 'start' };
}

function useWidth(frame: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!frame.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, [frame]);
  return width;
}
