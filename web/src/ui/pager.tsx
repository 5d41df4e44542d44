import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Pagination } from '../api/types.ts';
import { IconButton } from './button.tsx';

interface PagerProps {
  readonly pagination: Pagination;
  /** Which page of how many, in words. */
  readonly text: string;
  readonly onPage: (page: number) => void;
}

export function Pager({ pagination: { page, hasNextPage, hasPrevPage }, text, onPage }: PagerProps) {
  const { t } = useTranslation();
  return (
    <nav aria-label={text} className="border-line flex items-center gap-1 border-t px-3 py-1.5">
      <p role="status" className="text-soft mr-auto text-xs tabular-nums">
        {text}
      </p>
      <IconButton
        icon={ChevronLeft}
        label={t('common.previous')}
        disabled={!hasPrevPage}
        onClick={() => onPage(page - 1)}
      />
      <IconButton
        icon={ChevronRight}
        label={t('common.next')}
        disabled={!hasNextPage}
        onClick={() => onPage(page + 1)}
      />
    </nav>
  );
}
