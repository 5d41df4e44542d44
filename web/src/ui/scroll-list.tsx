import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useCallback, useRef } from 'react';
import { cx } from '../lib/cx.ts';

interface ScrollListProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  /** Of every row, in pixels. */
  readonly height: number;
  readonly className?: string;
  readonly render: (item: T) => ReactNode;
}

/** A list of any length that scrolls in itself: only the rows in sight are there. */
export function ScrollList<T>({ label, items, keyOf, height, className, render }: ScrollListProps<T>) {
  const place = useRef<HTMLDivElement>(null);
  // Another function has all rows measured again: scrolling alone must not make one.
  const getItemKey = useCallback((index: number) => keyOf(items[index] as T), [items, keyOf]);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => place.current,
    estimateSize: () => height,
    getItemKey,
    overscan: 10,
  });
  return (
    <div
      ref={place}
      tabIndex={0}
      role="group"
      aria-label={label}
      className={cx('overflow-y-auto focus-visible:-outline-offset-2', className)}
    >
      <ul aria-label={label} className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start, size }) => (
          <li
            key={key}
            aria-setsize={items.length}
            aria-posinset={index + 1}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${start}px)`, height: size }}
          >
            {render(items[index] as T)}
          </li>
        ))}
      </ul>
    </div>
  );
}
