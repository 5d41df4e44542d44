import {
  Brain,
  Briefcase,
  Cloud,
  Code,
  Database,
  FileText,
  Globe,
  type LucideIcon,
  MessagesSquare,
  Palette,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { boot } from '../../boot.ts';
import type { Category, KnownServer } from './known.ts';
import { requirementsOf } from './known.ts';
import { TakeButton } from './registry-results.tsx';
import { Requirements } from './requirements.tsx';

/** Signs of what a server is for. Logos of its maker would be theirs, and requests to strangers. */
export const icons: Readonly<Record<Category, LucideIcon>> = {
  files: FileText,
  code: Code,
  web: Globe,
  data: Database,
  work: Briefcase,
  talk: MessagesSquare,
  cloud: Cloud,
  media: Palette,
  mind: Brain,
};

interface KnownCardProps {
  readonly server: KnownServer;
  readonly programs: boolean;
  readonly onTake: (server: KnownServer) => void;
}

/** A server of the list, with what it needs. */
export function KnownCard({ server, programs, onTake }: KnownCardProps) {
  const { t } = useTranslation();
  const { name, title, category, about, home, url } = server;
  const Icon = icons[category];
  return (
    <li className="panel flex flex-col gap-2 p-4">
      <div className="flex items-center gap-3">
        <span className="bg-accent-wash text-accent-ink rounded-lg p-2">
          <Icon size={18} aria-hidden />
        </span>
        <div className="min-w-0 flex-1">
          <h3 className="font-medium break-words">{title}</h3>
          <a
            href={home}
            target="_blank"
            rel="noreferrer"
            className="text-soft touch block truncate text-xs hover:underline"
          >
            {new URL(home).hostname}
            <span className="sr-only"> ({title})</span>
          </a>
        </div>
        {!boot.readonly && (
          <TakeButton name={title} allowed={programs || url !== undefined} onClick={() => onTake(server)} />
        )}
      </div>
      <p className="text-soft flex-1 text-sm">{t(`catalog.about.${name}`, about)}</p>
      <Requirements needs={requirementsOf(server)} />
    </li>
  );
}
