import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useCallback, useLayoutEffect, useRef, useState } from 'react';
import { cx } from '../lib/cx.ts';

interface VirtualListProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  /** About how high a row is, in pixels; the true height is measured. */
  readonly height: number;
  readonly render: (item: T) => ReactNode;
}

/** A list of any length that scrolls with the page: only the rows in sight are there. */
export function VirtualList<T>({ label, items, keyOf, height, render }: VirtualListProps<T>) {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  // As high as those that are there: with another height, each row that comes into sight moves all that follow.
  const likely = useRef(height);
  useLayoutEffect(() => {
    setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
  }, [items.length]);
  // Another function has all rows measured again: scrolling alone must not make one.
  const getItemKey = useCallback((index: number) => keyOf(items[index] as T), [items, keyOf]);
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => likely.current,
    getItemKey,
    overscan: 8,
    scrollMargin: top,
  });
  const rows = virtual.getVirtualItems();
  const hasRows = rows.length > 0;
  useLayoutEffect(() => {
    const row = list.current?.firstElementChild;
    // Whole pixels, as rows are measured.
    if (row instanceof HTMLElement) likely.current = row.offsetHeight;
  }, [hasRows, height]);
  return (
    <ul ref={list} aria-label={label} className="relative" style={{ height: virtual.getTotalSize() }}>
      {rows.map(({ index, key, start }) => (
        <li
          key={key}
          ref={virtual.measureElement}
          data-index={index}
          aria-setsize={items.length}
          aria-posinset={index + 1}
          // By its index: the last one that is there is another at each step of scrolling, and would be measured again.
          className={cx('border-line absolute inset-x-0 top-0', index < items.length - 1 && 'border-b')}
          style={{ transform: `translateY(${start - top}px)` }}
        >
          <Content item={items[index] as T} render={render} />
        </li>
      ))}
    </ul>
  );
}

interface ContentProps<T> {
  readonly item: T;
  readonly render: (item: T) => ReactNode;
}

/** Scrolling renders the list for each frame, and its rows only where they are new. */
const Content = memo(function ContentOf<T>({ item, render }: ContentProps<T>) {
  return render(item);
}) as <T>(props: ContentProps<T>) => ReactNode;
