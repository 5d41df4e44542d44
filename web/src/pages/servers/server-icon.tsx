import type { ServerSummary } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';

interface ServerIconProps {
  readonly server: Pick<ServerSummary, 'name' | 'icon'>;
  readonly small: boolean;
}

/** The picture that a server has of itself, as far as it is in its answer; else the beginnings of its name. */
export function ServerIcon({ server: { name, icon }, small }: ServerIconProps) {
  const size = small ? 'size-6 rounded text-[0.625rem]' : 'size-8 rounded-md text-xs';
  if (icon !== undefined) return <img src={icon} alt="" className={cx(size, 'shrink-0 object-contain')} />;
  return (
    <span
      aria-hidden
      className={cx(size, 'bg-hover text-soft flex shrink-0 items-center justify-center font-semibold uppercase')}
    >
      {initials(name)}
    </span>
  );
}

/** Of its first two words, or of the only one; of a number two figures, for it tells servers apart. */
function initials(name: string): string {
  const [first = name, second] = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const letters = Array.from(first);
  if (second === undefined) return letters.slice(0, 2).join('');
  return [letters[0], ...Array.from(second).slice(0, /^\d/.test(second) ? 2 : 1)].join('');
}
