import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../lib/cx.ts';
import { count, many, percent } from '../../lib/format.ts';
import { type BilledTool, sumOf } from './bill.ts';
import { type Box, largest, type Sized, squarified } from './treemap.ts';

interface MapProps {
  /** Those that are on. */
  readonly tools: readonly BilledTool[];
  /** Empty: all servers. */
  readonly server: string;
  readonly onServer: (server: string) => void;
}

const mostServers = 40;
const mostTools = 400;
const edge = 2;
const headHeight = 20;

/** What costs most is largest: servers, and in them their tools. It decorates the list, which has all of it as text. */
export function CostMap({ tools, server, onServer }: MapProps) {
  const { t } = useTranslation();
  const frame = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(frame);
  const servers = serversOf(server === '' ? tools : tools.filter((each) => each.server === server));
  const { shown, others } = largest(servers, mostServers);
  const sum = sumOf(tools);
  const rest = others.reduce((all, { size }) => all + size, 0);
  const blocks = bySize(rest > 0 ? [...shown, { name: '', size: rest, tools: [] }] : shown);
  const boxes = squarified(
    blocks.map(({ size }) => size),
    { x: 0, y: 0, width, height },
  );
  const most = shownOf(shown);
  const named = shown.slice(0, 5).map(({ name, size }) => `${name} ${t('common.tokens', { tokens: count(size) })}`);
  return (
    <figure aria-label={`${t('costs.map')}: ${named.join(', ')}`}>
      <div ref={frame} aria-hidden className="bg-page relative h-96 overflow-hidden rounded-md sm:h-80">
        {width > 0 &&
          blocks.map((block, at) => {
            const box = boxes[at];
            if (!box) return null;
            const share = percent(block.size / sum);
            const name = block.name === '' ? t('costs.otherServers', many(others.length)) : block.name;
            return (
              <Block key={block.name} box={box} label={`${name} · ${share}`} onChoose={() => onServer(block.name)}>
                <Cells tools={block.tools} box={inside(box)} most={most.get(block.name) ?? 0} />
              </Block>
            );
          })}
      </div>
    </figure>
  );
}

interface ServerSize {
  readonly name: string;
  readonly size: number;
  readonly tools: readonly BilledTool[];
}

function serversOf(tools: readonly BilledTool[]): readonly ServerSize[] {
  const found = new Map<string, BilledTool[]>();
  for (const tool of tools) {
    const of = found.get(tool.server) ?? [];
    found.set(tool.server, of);
    of.push(tool);
  }
  return [...found].map(([name, tools]) => ({ name, size: sumOf(tools), tools }));
}

function bySize<T extends Sized>(all: readonly T[]): readonly T[] {
  return all.toSorted((a, b) => b.size - a.size);
}

/** How many tools of each server have a rectangle of their own: the largest of all. */
function shownOf(servers: readonly ServerSize[]): ReadonlyMap<string, number> {
  const { shown } = largest(
    servers.flatMap(({ name, tools }) => tools.map(({ tokens }) => ({ name, size: tokens }))),
    mostTools,
  );
  const numbers = new Map<string, number>();
  for (const { name } of shown) numbers.set(name, (numbers.get(name) ?? 0) + 1);
  return numbers;
}

function inside({ x, y, width, height }: Box): Box {
  return { x, y, width: Math.max(0, width - 2 * edge), height: Math.max(0, height - headHeight - edge) };
}

interface BlockProps {
  readonly box: Box;
  readonly label: string;
  readonly onChoose: () => void;
  readonly children: ReactNode;
}

/** A server. For the mouse and fingers: by keyboard it is chosen above the list. */
function Block({ box, label, onChoose, children }: BlockProps) {
  return (
    <div className="absolute" style={{ left: box.x, top: box.y, width: box.width, height: box.height }}>
      <button
        type="button"
        tabIndex={-1}
        aria-label={label}
        title={label}
        onClick={onChoose}
        className="border-panel bg-hover touch block size-full border text-left"
      >
        <span className="absolute inset-x-1 top-0 truncate text-xs leading-5 font-medium">
          {box.width > 40 && box.height > 18 && label}
        </span>
        {children}
      </button>
    </div>
  );
}

interface CellsProps {
  readonly tools: readonly BilledTool[];
  readonly box: Box;
  /** How many of them are shown; all others are one. */
  readonly most: number;
}

function Cells({ tools, box, most }: CellsProps) {
  const { t } = useTranslation();
  if (box.width < 8 || box.height < 8) return null;
  const sorted = tools.filter(({ tokens }) => tokens > 0).toSorted((a, b) => b.tokens - a.tokens);
  const shown = sorted.slice(0, most);
  const rest = sumOf(sorted.slice(shown.length));
  const cells = bySize([
    ...shown.map((tool) => ({ tool, name: tool.tool, size: tool.tokens })),
    ...(rest > 0
      ? [{ tool: undefined, name: t('costs.otherTools', many(sorted.length - shown.length)), size: rest }]
      : []),
  ]);
  const boxes = squarified(
    cells.map(({ size }) => size),
    { ...box, x: edge, y: headHeight },
  );
  return cells.map(({ tool, name, size }, at) => {
    const { x = 0, y = 0, width = 0, height = 0 } = boxes[at] ?? {};
    return (
      <span
        key={tool?.tool ?? ''}
        title={`${name}: ${t('common.tokens', { tokens: count(size) })}`}
        className={cx(
          'border-panel absolute truncate border px-1 text-[0.6875rem] leading-4',
          tool?.unused ? 'bg-warn-wash text-warn' : tool ? 'bg-accent-wash text-accent-ink' : 'bg-line text-soft',
        )}
        style={{ left: x, top: y, width, height }}
      >
        {width > 44 && height > 15 && name}
      </span>
    );
  });
}

function useSize(frame: RefObject<HTMLDivElement | null>) {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    if (!frame.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setSize({ width: entry.contentRect.width, height: entry.contentRect.height });
    });
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, [frame]);
  return size;
}
