import type { ReactNode } from 'react';

/** Ways to go on, of which one is chosen by one click. */
export function Options({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div role="group" aria-label={label} className="grid gap-2 sm:grid-cols-2 lg:grid-cols-4">
      {children}
    </div>
  );
}

interface OptionProps {
  readonly name: string;
  readonly text?: string;
  readonly disabled?: boolean;
  readonly onChoose: () => void;
}

export function Option({ name, text, disabled = false, onChoose }: OptionProps) {
  return (
    <button
      type="button"
      disabled={disabled}
      onClick={onChoose}
      className="border-edge hover:bg-hover flex min-h-11 flex-col justify-center rounded-lg border px-3 py-2 text-left text-sm disabled:opacity-50"
    >
      <span className="font-medium">{name}</span>
      {text !== undefined && <span className="text-soft text-xs">{text}</span>}
    </button>
  );
}
