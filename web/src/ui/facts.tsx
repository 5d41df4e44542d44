import type { ReactNode } from 'react';

interface FactsProps {
  /** Names and values; what is undefined is left out. */
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
}

/** What is known of one thing, a line each. */
export function Facts({ facts }: FactsProps) {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-5 gap-y-1.5 text-sm">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name} className="contents">
            <dt className="text-soft">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
