import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useCallback, useLayoutEffect, useRef, useState } from 'react';

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
  useLayoutEffect(() => {
    setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
  }, [items.length]);
  // Another function has all rows measured again: scrolling alone must not make one.
  const getItemKey = useCallback((index: number) => keyOf(items[index] as T), [items, keyOf]);
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => height,
    getItemKey,
    overscan: 8,
    scrollMargin: top,
  });
  return (
    <ul ref={list} aria-label={label} className="relative" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => (
        <li
          key={key}
          ref={virtual.measureElement}
          data-index={index}
          aria-setsize={items.length}
          aria-posinset={index + 1}
          className="border-line absolute inset-x-0 top-0 border-b last:border-b-0"
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
